"""A stage of a step of a character: the reduced model of the pose, and the forces from outside.

The rig's vertices go through the same rule as the coordinates, which gives their acceleration.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref

from supple._kernels.character.basis import (
    interpolate_gap,
    interpolate_mass,
    interpolation_weights,
    shape_cells,
)
from supple._kernels.character.damping import (
    BASE,
    BESIDE,
    LawRoom,
    add_beside,
    add_laws,
    add_linear_derivative,
    add_linear_stress,
    carry_fibres,
    damp_examples,
    damp_examples_in_cells,
    fill_constant,
    find_rate,
    keep_elastic,
    overall,
)
from supple._kernels.character.forces import Room, add_inertia, assemble, strain_cells
from supple._kernels.compiling import inlined_kernel, inner_kernel, kernel, reordering_kernel
from supple._kernels.damping.matched import add_matched
from supple._kernels.damping.principal import Sums
from supple._kernels.elasticity.material_call import evaluate_at
from supple._kernels.reduction.newton import Balance
from supple._kernels.reduction.stepping import begin_stage, end_stage


class Options(NamedTuple):
    """How a character is moved."""

    material: int  # its address
    gravity: np.ndarray  # (3,) [m/s²]
    beta: float  # of the base: cells have the material part of β K̃ [s]
    beta_at_rest: float  # and what they have of it at rest, times this [s]
    max_acceleration: float  # that a vertex of the rig is felt to have [m/s²]
    max_jump: float  # of its speed, that is felt at once however short a frame is [m/s]
    path_acceleration: bool  # the rig's acceleration is that of its path, not the integrator's
    cut_distance: float  # a frame that leaves the path by more is a cut [m]
    cut_speed: float  # or one that changes the speed of its parts by more [m/s]
    min_det_F: float  # det F that a step may leave in a cell; −∞ where any will do
    max_iterations: int
    best_effort: bool  # take what there is after so many
    tolerance: float
    rounding: float  # corrections below this are rounding
    max_norm_square: float  # Σ q² of flesh that has left the body [kg m²]
    order: int  # of the rule
    may_gain: float  # share of the energy at play that a rule may make of nothing
    unseen: float  # energy that nobody sees [J]
    small: float  # energy from which on every step is looked at [J]
    short: float  # step from which on so is every one [s]


class Cells(NamedTuple):
    """c cubature cells, as a material evaluates them."""

    F: np.ndarray  # (c, 1, 3, 3)
    lam: np.ndarray  # (c,)
    mu: np.ndarray  # (c,)
    psi: np.ndarray  # (c, 1)
    P: np.ndarray  # (c, 1, 3, 3)
    A: np.ndarray  # (c, 1, 6, 3, 3)
    rate: np.ndarray  # (c, 1, 3, 3) Ḟ [1/s]
    beta: np.ndarray  # (c,) of the damping [s]
    power: np.ndarray  # (c, 1) scratch
    stress: np.ndarray  # (c, 1, 3, 3) scratch


class Rig(NamedTuple):
    """s inertial vertices in a stage, (3 s,) each, named as the coordinates in ``Balance``."""

    x: np.ndarray  # where they are
    x_v: np.ndarray
    x_a: np.ndarray
    v: np.ndarray
    a: np.ndarray


class ExactRoom(NamedTuple):
    """For Newton's method with the whole Jacobian."""

    J: np.ndarray  # (r, r) −∂force/∂x [1/s²]
    factors: np.ndarray  # (r, r) scratch [1/s²]
    start: np.ndarray  # (r,) x before a correction [√kg m]
    force: np.ndarray  # (r,) what is left of the forces there [√kg m/s²]
    delta: np.ndarray  # (r,) the correction [√kg m]
    left: np.ndarray  # (r,) the one after it, by the same J [√kg m]


class Workspace(NamedTuple):
    """State and scratch of one character with r coordinates, m poses and c cubature cells."""

    history: np.ndarray  # (vectors, r)
    rig_history: np.ndarray  # (vectors, 3 s)
    w: np.ndarray  # (m,)
    distances: np.ndarray  # (m,)
    gap_w: np.ndarray  # (g,)
    gap_distances: np.ndarray  # (g,)
    scale: np.ndarray  # (r,) Υ
    entries: np.ndarray  # of the mass, or of the stiffness
    U: np.ndarray  # basis of a cell
    G: np.ndarray  # gradients of all cells
    volumes: np.ndarray  # (c,)
    cells: Cells
    room: Room
    law_room: LawRoom
    gap: np.ndarray  # (r, r) D
    balance: Balance
    exact: ExactRoom
    rig: Rig
    excess: np.ndarray  # (3 s,) of its speed, that is not felt [m/s]
    lag: np.ndarray  # (3 s,) how far the frame before this was taken to catch up [m]
    effective: np.ndarray  # (3 s,) what both change, or the acceleration of its path
    interpolated_x: np.ndarray  # (k, 3) the rig between two frames
    interpolated_frames: np.ndarray  # (k, 3, 3)
    interpolated_features: np.ndarray  # (f,)
    saved: np.ndarray  # (vectors, r)
    rig_saved: np.ndarray  # (vectors, 3 s)
    account: np.ndarray  # (7,) of the energy, places are in ``energy`` [J]
    external: np.ndarray  # (r,) the force from outside at the last stage [√kg m/s²]
    account_saved: np.ndarray  # (7,)
    external_saved: np.ndarray  # (r,)
    counts: np.ndarray  # (7,) iterations, and what Python counts


@structref.register
class StepContextType(types.StructRef):
    """For Numba."""


class StepContext(structref.StructRefProxy):
    """PoseArrays, Workspace, Options, Constants, Laws, and Examples or None, as one pointer.

    Python would have to take sixty arrays out of their tuples at every call, which takes as long
    as a small step.
    """


_define: Any = structref.define_proxy
_make: Any = StepContext
_fields = ["model", "workspace", "options", "constants", "laws", "examples"]
_define(StepContext, StepContextType, _fields)


@kernel
def step_context(model, workspace, options, constants, laws, examples):
    """All six behind one pointer."""
    return _make(model, workspace, options, constants, laws, examples)


@inlined_kernel
def strain(q, model, workspace):
    """Strains all cells; returns the smallest det F."""
    columns, F = workspace.room.columns, workspace.cells.F
    return strain_cells(q, workspace.scale, model.cells, workspace.G, columns, F)


@inlined_kernel
def find_forces(q, options, model, workspace):
    """ψ of the cells, R and K (Eqs. 21–22) at q, for which they are strained."""
    evaluate_cells(options, workspace)
    add_up(q, model, workspace)


@inlined_kernel
def evaluate_cells(options, workspace):
    """ψ, the stress and its derivative in the cells, as they are strained."""
    cells = workspace.cells
    evaluate_at(options.material, cells.F, cells.lam, cells.mu, cells.psi, cells.P, cells.A, 2)


@inlined_kernel
def evaluate_energy(options, workspace):
    """ψ of the cells alone, as they are strained."""
    cells = workspace.cells
    evaluate_at(options.material, cells.F, cells.lam, cells.mu, cells.psi, cells.P, cells.A, 0)


@inlined_kernel
def add_up(q, model, workspace):
    """R and K from the stresses of the cells and their derivatives."""
    cells, balance = workspace.cells, workspace.balance
    assemble(
        cells.P, cells.A, workspace.volumes, workspace.scale, model.cells, workspace.G,
        workspace.room, workspace.gap, q, balance.K, balance.R,
    )  # fmt: skip


@inlined_kernel
def damp_cells(v, c_v, g, stress, options, model, workspace):
    """Adds g times the viscous stress at a velocity v, and c_v its derivative, to the elastic one.

    With ``stress``, how it turns with the shape too, as far as that is positive.
    """
    cells = workspace.cells
    find_rate(v, model, workspace)
    if options.beta != 0.0:
        cells.power[:] = 0.0
        cells.beta[:] = g * options.beta
        sums = Sums(cells.power, cells.P, cells.A, 2, c_v)
        add_matched(cells.F, cells.rate, cells.P, cells.A, cells.beta, sums, stress)
    if options.beta_at_rest != 0.0:
        add_linear_stress(g * options.beta_at_rest, cells, cells.P)
        add_linear_derivative(c_v * g * options.beta_at_rest, cells)


@inlined_kernel
def find_damped_forces(c_v, context, model, workspace):
    """As ``find_forces`` in a stage, with B v in R and c_v B in K."""
    balance, options, laws = workspace.balance, context.options, context.laws
    constants, examples = context.constants, context.examples
    x, x_v, v = balance.x, balance.x_v, balance.v
    evaluate_cells(options, workspace)
    count = len(laws.addresses)
    in_cells = options.beta != 0.0 or options.beta_at_rest != 0.0 or count > 0
    if in_cells or constants.has_beside:
        for i in range(len(x)):
            v[i] = c_v * (x[i] - x_v[i])
    if in_cells:
        g = overall(examples, balance)
        damp_examples(balance.C0, examples)
        damp_examples_in_cells(examples, options.beta, options.beta_at_rest, laws, model, workspace)
        if count > 0:
            keep_elastic(workspace.cells, workspace.law_room)
        damp_cells(v, c_v, g, True, options, model, workspace)
        if count > 0:
            add_laws(c_v, g, True, True, True, laws, workspace)
    add_up(x, model, workspace)
    if constants.has_beside:
        add_beside(v, c_v, workspace.law_room, balance)


@inlined_kernel
def take_pose(x, frames, features, context, model, workspace):
    """Everything that depends on the pose alone."""
    w, gap_w, scale, entries = workspace.w, workspace.gap_w, workspace.scale, workspace.entries
    balance, cells, constants = workspace.balance, workspace.cells, context.constants
    M, K, C, at_rest = balance.M, balance.K, balance.C0, balance.delta
    gap = workspace.gap
    interpolation_weights(features, model.poses, workspace.distances, w)
    interpolate_mass(w, model, entries, M, scale)
    interpolation_weights(features, model.gap_poses, workspace.gap_distances, gap_w)
    interpolate_gap(gap_w, scale, model, entries, workspace.gap)
    U, G, volumes = workspace.U, workspace.G, workspace.volumes
    shape_cells(x, frames, w, model, U, G, volumes, cells.lam, cells.mu)
    if len(context.laws.addresses) > 0:
        carry_fibres(x, model, context.laws)
    if constants.needs_stiffness:
        for i in range(len(M)):
            at_rest[i] = 0.0
        strain(at_rest, model, workspace)
        find_forces(at_rest, context.options, model, workspace)
    fill_constant(BASE, constants, M, K, gap, w, scale, C)
    if constants.has_beside:
        fill_constant(BESIDE, constants, M, K, gap, w, scale, workspace.law_room.C1)
    damp_examples(C, context.examples)


@reordering_kernel
def model_pose(x, frames, features, q, context):
    """The reduced model of a pose, with ψ, R and K at q."""
    model, workspace = context.model, context.workspace
    take_pose(x, frames, features, context, model, workspace)
    strain(q, model, workspace)
    find_forces(q, context.options, model, workspace)


@reordering_kernel
def damp_pose(q, v, beside, context):
    """B v in R and B in K, beside what is elastic, at q in a pose that was modelled.

    Of what examples scale, or of what is ``beside`` that.
    """
    model, workspace, options = context.model, context.workspace, context.options
    strain(q, model, workspace)
    evaluate_cells(options, workspace)
    if beside:
        find_rate(v, model, workspace)
    keep_elastic(workspace.cells, workspace.law_room)
    if not beside:
        damp_cells(v, 1.0, 1.0, False, options, model, workspace)
    add_laws(1.0, 1.0, False, not beside, beside, context.laws, workspace)
    add_up(q, model, workspace)


@inlined_kernel
def enter_stage(s, stages, x, frames, force, options, model, workspace):
    """q̂_v, q̂_a, the first guess and all forces from outside; returns the smallest det F there."""
    balance, rig = workspace.balance, workspace.rig
    begin_stage(s, stages, workspace.history, balance.x_v, balance.x_a, balance.x)
    begin_stage(s, stages, workspace.rig_history, rig.x_v, rig.x_a, rig.x)
    effective, places, f = workspace.effective, model.places, balance.f
    rig_x, rig_a = rig.x, rig.x_a
    for k in range(len(places)):
        for i in range(3):
            n = 3 * k + i
            rig_x[n] = x[places[k], i]
            if options.path_acceleration:
                rig_a[n] = rig_x[n] - effective[n] / stages.c_a[s]
            else:
                rig_x[n] += effective[n]
    for i in range(len(f)):
        f[i] = force[i]
    add_inertia(
        stages.c_a[s], rig_a, rig_x, frames, options.gravity, workspace.w, workspace.scale,
        model, workspace.U, f,
    )  # fmt: skip
    return strain(balance.x, model, workspace)


@inlined_kernel
def leave_stage(s, c_v, c_a, workspace):
    """Keeps the state of stage s, and the rig's; returns whether it is finite."""
    row = np.uint64(6 + 3 * s)
    end_stage(row, c_v, c_a, workspace.rig, workspace.rig_history)
    return end_stage(row, c_v, c_a, workspace.balance, workspace.history)


@inner_kernel
def end_step(last, rows):
    """The state of the last stage, from that row on, is that of now."""
    for k in range(3):
        for i in range(rows.shape[1]):
            rows[3 + k, i] = rows[k, i]
            rows[k, i] = rows[last + k, i]
