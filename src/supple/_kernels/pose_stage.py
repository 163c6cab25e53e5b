"""A stage of a step of a character, in two calls: up to the strains, and from the stresses on.

Between them the material is evaluated. The rig's vertices go through the same rule as the
coordinates, which gives their acceleration.
"""

from typing import NamedTuple

import numpy as np

from .compiling import LARGEST, reordering_kernel
from .pose_basis import add_inertia, interpolate_gap, interpolate_mass, shape_cells, weigh
from .pose_forces import assemble, strain_cells
from .stepping import begin_stage, correct, end_stage


class Room(NamedTuple):
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
    lam: np.ndarray  # (c,)
    mu: np.ndarray  # (c,)
    F: np.ndarray  # (c, 1, 3, 3)
    P: np.ndarray  # (c, 1, 3, 3)
    A: np.ndarray  # (c, 1, 6, 3, 3)
    T: np.ndarray  # products of a few cells
    S: np.ndarray  # stiffness of a group
    columns: np.ndarray  # force of a group
    M: np.ndarray  # (r, r)
    K: np.ndarray  # (r, r)
    gap: np.ndarray  # (r, r) D
    C: np.ndarray  # (r, r) damping, but for the part with the stiffness now
    matrix: np.ndarray  # (r, r)
    R: np.ndarray  # (r,)
    f: np.ndarray  # (r,)
    x: np.ndarray  # (r,)
    x_v: np.ndarray  # (r,)
    x_a: np.ndarray  # (r,)
    v: np.ndarray  # (r,)
    a: np.ndarray  # (r,)
    delta: np.ndarray  # (r,)
    rig: np.ndarray  # (3 s,) where the inertial vertices are
    rig_v: np.ndarray  # (3 s,)
    rig_a: np.ndarray  # (3 s,)
    rig_rates: np.ndarray  # (2, 3 s)


@reordering_kernel
def take_pose(x, frames, features, alpha, model, room):
    """Everything that depends on the pose alone; C = α M̃."""
    weigh(features, model.features, model.coefficients, model.rounding, room.distances, room.w)
    interpolate_mass(room.w, model, room.entries, room.M, room.scale)
    weigh(
        features, model.gap_features, model.gap_coefficients, model.gap_rounding,
        room.gap_distances, room.gap_w,
    )  # fmt: skip
    interpolate_gap(room.gap_w, room.scale, model, room.entries, room.gap)
    shape_cells(x, frames, room.w, model, room.U, room.G, room.volumes, room.lam, room.mu)
    M, C = room.M, room.C
    for i in range(len(M)):
        for j in range(len(M)):
            C[i, j] = alpha * M[i, j]


@reordering_kernel
def enter_stage(s, w_v, w_a, w_guess, c_a, x, frames, force, limit, gravity, model, room):
    """q̂_v, q̂_a, the first guess and all forces from outside; returns the smallest det F there."""
    begin_stage(s, w_v, w_a, w_guess, room.history, room.x_v, room.x_a, room.x)
    begin_stage(s, w_v, w_a, w_guess, room.rig_history, room.rig_v, room.rig_a, room.rig)
    rig, places, f = room.rig, model.places, room.f
    for k in range(len(places)):
        for i in range(3):
            rig[3 * k + i] = x[places[k], i]
    for i in range(len(f)):
        f[i] = force[i]
    add_inertia(c_a, room.rig_a, rig, frames, limit, gravity, room.w, room.scale, model, room.U, f)
    return strain_cells(room.x, room.scale, model.cells, room.G, room.columns, room.F)


@reordering_kernel
def open_stage(
    s, w_v, w_a, w_guess, c_a, x, frames, features, alpha, force, limit, gravity, model, room
):  # fmt: skip
    """``take_pose`` and ``enter_stage`` in one call."""
    take_pose(x, frames, features, alpha, model, room)
    return enter_stage(s, w_v, w_a, w_guess, c_a, x, frames, force, limit, gravity, model, room)


@reordering_kernel
def leave_stage(s, c_v, c_a, room):
    """Keeps the state of stage s, and the rig's; returns whether it is finite."""
    row = np.uint64(6 + 3 * s)
    rates = room.rig_rates
    end_stage(row, c_v, c_a, room.rig_v, room.rig_a, room.rig, rates[0], rates[1], room.rig_history)
    return end_stage(row, c_v, c_a, room.x_v, room.x_a, room.x, room.v, room.a, room.history)


@reordering_kernel
def correct_stage(beta, c_v, c_a, s, last, least, model, room):
    """One Newton iteration on the force balance, as ``stepping.correct``, and whether it is done.

    If it is the ``last`` one and leaves no det F below ``least``, −∞ where any will do, the state
    of stage s is kept; infinity tells that it is not finite.
    """
    assemble(
        room.P, room.A, room.volumes, room.scale, model.cells, room.G,
        room.T, room.S, room.columns, room.gap, room.x, room.K, room.R,
    )  # fmt: skip
    size = correct(
        room.K, room.R, room.f, False, room.M, room.C, beta, c_v, c_a,
        room.x_v, room.x_a, room.x, room.v, room.a, room.matrix, room.delta,
    )  # fmt: skip
    if not last or size < 0.0:
        return size, False
    if least > -LARGEST:
        smallest = strain_cells(room.x, room.scale, model.cells, room.G, room.columns, room.F)
        if smallest < least:
            return size, False
    return (size if leave_stage(s, c_v, c_a, room) else np.inf), True


@reordering_kernel
def end_step(last, history, rig_history):
    """The state of the last stage, from that row on, is that of now."""
    for rows in (history, rig_history):
        for k in range(3):
            for i in range(rows.shape[1]):
                rows[3 + k, i] = rows[k, i]
                rows[k, i] = rows[last + k, i]


@reordering_kernel
def surprise(new, now, before, ratio, places, masses):
    """How far vertices are from where they would be at the speed they had, RMS by mass [m]."""
    total, mass = 0.0, 0.0
    for k in range(len(places)):
        n = places[k]
        for i in range(3):
            d = new[n, i] - now[n, i] - ratio * (now[n, i] - before[n, i])
            total += masses[k] * d * d
        mass += masses[k]
    return np.sqrt(total / mass) if mass > 0.0 else 0.0
