"""Compiled steps of models with a cubature: forces, tangents, and the motion as from Python."""

from __future__ import annotations

import pickle
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from tests.helpers import soft
from tests.reduction.conftest import every_cell

import supple as sp
from supple._kernels.reduction import point_stepping
from supple.damping import Curve, Example, ExampleDamping, Measure
from supple.reduction.runtime.simulation import ReducedSimulation

BETA = sp.Rayleigh(mass=0.3, stiffness=4e-3)
TIGHT = sp.DenseNewton(tolerance=1e-13, max_iterations=60)


class Interpreted(ReducedSimulation):
    """The same simulation, moved by the loop in Python."""

    def _find_loop(self, model: sp.ReducedModel) -> None:
        super()._find_loop(model)
        self._loop = None


@lru_cache
def bar(material: type[sp.Material] = sp.StVK, bricks: bool = True) -> sp.ReducedModel:
    """A cantilever in eight coordinates, summed over all of its cells; none is approximate."""
    mesh = sp.HexMesh.box((1.0, 0.2, 0.2), (8, 2, 2))
    mesh = mesh if bricks else mesh.tetrahedra()
    body = sp.Body(mesh, soft(material), fixed=mesh.where(x=0))
    basis = sp.modal_derivative_basis(body, modes=4, size=8)
    return sp.reduce(body, basis, cubature=every_cell(body, basis.vectors), compare=False)


def designed(model: sp.ReducedModel, base: sp.Damping = BETA) -> ExampleDamping:
    """Three examples: of the amplitude, of the rate, and constant; and a curve for all damping."""
    shapes = model.vectors[:3]
    return ExampleDamping(
        base,
        [
            Example(shapes[0], Curve.monotone([(0.0, 0.3), (0.5, 3.0), (1.0, 10.0)])).scaled(0.1),
            Example(shapes[1], Curve.linear([(0.0, 3.0), (4.0, 0.5)]), measure=Measure.RATE).scaled(
                0.1
            ),
            Example(shapes[2], 2.0).scaled(0.1),
        ],
        overall=Curve.linear([(0.0, 1.0), (0.1, 2.0)]),
    )


def bending(model: sp.ReducedModel) -> ExampleDamping:
    """The same, the first of them along a path."""
    damping = designed(model)
    first, *others = damping.examples
    bend = np.stack([0.3 * others[1].shape, -0.1 * others[0].shape])
    return replace(damping, examples=[first.with_bend(bend, 1.2), *others])


DAMPINGS = {
    "none": lambda model: None,
    "current stiffness": lambda model: BETA,
    "mass": lambda model: sp.Rayleigh(mass=2.0),
    "strain rate": lambda model: sp.StrainRate(shear=20.0, bulk=10.0),
    "both": lambda model: [sp.Rayleigh(stiffness=2e-3), sp.StrainRate(shear=20.0)],
    "examples": designed,
    "examples that bend": bending,
}
every_damping = pytest.mark.parametrize("name", DAMPINGS)


def released(kind: type[ReducedSimulation], model: sp.ReducedModel, **options) -> ReducedSimulation:
    """Bent by a sixth of its length and let go."""
    live = kind(model, **{"dt": 1 / 60, "integrator": sp.Bathe()} | options)
    q = np.zeros(model.size)
    q[:3] = np.array([1.0, 0.3, 0.1])
    live.q = q * 0.16 / np.abs(model.displacements(q)).max()
    live.v = np.linspace(0.3, -0.2, model.size) * np.linalg.norm(live.q)
    return live


# -- forces and tangents ---------------------------------------------------------------


def balance_at(live: ReducedSimulation, x: np.ndarray, c_v: float, c_a: float):
    """What is left of the forces at x, and the tangent with mass and constant damping."""
    context, balance = live._context(live._table), live._balance
    balance.x[:] = x
    g = point_stepping.evaluate_points(context, c_v, c_a)
    S = live._loop.points.tangent[:, : len(x)].copy()
    A = np.tril(S) + np.tril(S, -1).T + c_a * balance.M + c_v * g * balance.C0
    return balance.force.copy(), A


@every_damping
@pytest.mark.parametrize("material", [sp.StVK, sp.StableNeoHookean, sp.NeoHookean])
def test_compiled_residual_is_that_of_the_model(material, name):
    model = bar(material)
    live = released(ReducedSimulation, model, damping=DAMPINGS[name](model))
    assert live._loop is not None
    rng = np.random.default_rng(1)
    x, c_v, c_a = live.q, 150.0, 9e3
    balance = live._balance
    balance.x_v[:] = x - 0.02 * np.abs(x).max() * rng.normal(size=model.size)
    balance.x_a[:] = x + 0.01 * np.abs(x).max() * rng.normal(size=model.size)
    balance.f[:] = rng.normal(size=model.size)
    found, _ = balance_at(live, x, c_v, c_a)
    v, a = c_v * (x - balance.x_v), c_a * (x - balance.x_a)
    parts = [balance.f, live._mass @ a, live._damping.force(x, v), model.force(x)]
    expected = parts[0] - parts[1] - parts[2] - parts[3]
    assert np.abs(found - expected).max() <= 1e-12 * max(np.abs(p).max() for p in parts)


@pytest.mark.parametrize("material", [sp.StVK, sp.StableNeoHookean])
def test_tangent_is_the_derivative_of_the_residual(material):
    """Where nothing moves and damping has no stress: second order of what is left, by Taylor."""
    model = bar(material)
    live = released(ReducedSimulation, model, damping=BETA)
    x, c_v, c_a = live.q, 150.0, 9e3
    live._balance.x_v[:] = x
    force, A = balance_at(live, x, c_v, c_a)
    d = np.random.default_rng(2).normal(size=model.size)
    d *= 0.1 * np.linalg.norm(x) / np.linalg.norm(d)
    steps = 2.0 ** -np.arange(3, 9)
    left = [
        np.linalg.norm(balance_at(live, x + h * d, c_v, c_a)[0] - force + h * (A @ d))
        for h in steps
    ]
    slopes = np.diff(np.log2(left)) / np.diff(np.log2(steps))
    assert (slopes > 1.9).all(), slopes


# -- motion ----------------------------------------------------------------------------


@every_damping
@pytest.mark.parametrize("rule", [sp.Bathe(), sp.Newmark(), sp.BackwardEuler(), sp.TRBDF2()])
def test_compiled_motion_is_that_from_python(rule, name):
    model = bar()
    options = {"damping": DAMPINGS[name](model), "integrator": rule, "solver": TIGHT}
    one, other = (released(kind, model, **options) for kind in (ReducedSimulation, Interpreted))
    force = np.linspace(0.1, -0.1, 30)[:, None] * model.weight((0.0, 0.0, -9.81))
    (q, v), (p, w) = (live.trace(30, force=force) for live in (one, other))
    # both stop within 1e-13 of each step; thirty steps carry that on
    assert np.abs(q - p).max() <= 1e-10 * np.abs(p).max()
    # velocities are differences of coordinates over a step
    assert np.abs(v - w).max() <= 1e-10 * max(np.abs(w).max(), np.abs(p).max() / one.dt)


@pytest.mark.parametrize("material", [sp.StableNeoHookean, sp.NeoHookean, sp.Corotational])
def test_other_materials_move_as_from_python(material):
    model = bar(material, bricks=False)
    options = {"damping": designed(model), "solver": TIGHT}
    one, other = (released(kind, model, **options) for kind in (ReducedSimulation, Interpreted))
    q, p = (live.trace(30)[0] for live in (one, other))
    assert one._loop is not None
    assert np.abs(q - p).max() <= 1e-10 * np.abs(p).max()


def test_matrices_are_kept_from_step_to_step():
    model = bar()
    live = released(ReducedSimulation, model, damping=BETA, dt=1e-3)
    live.run_steps(100)
    assert live._loop.kept.made[0, 0] <= 5
    # nor does what is converged to depend on it
    other = released(Interpreted, model, damping=BETA, dt=1e-3)
    other.run_steps(100)
    assert np.abs(live.q - other.q).max() <= 1e-4 * np.abs(other.q).max()


@every_damping
def test_energy_never_grows(name):
    model = bar()
    if DAMPINGS[name](model) is None:
        return
    live = released(ReducedSimulation, model, damping=DAMPINGS[name](model), dt=1 / 120)
    energies = []
    for _ in range(120):
        energies.append(live.kinetic + live.elastic)
        live.step()
        assert live.damping_power >= 0
    # Bathe's rule loses energy by itself; tolerance 1e-6 of each coordinate
    assert (np.diff(energies) <= 1e-5 * energies[0]).all()


# -- going back, copies, changes -------------------------------------------------------


def test_snapshots_and_copies_are_exact_to_the_last_bit():
    model = bar()
    live = released(ReducedSimulation, model, damping=designed(model))
    live.run_steps(7)
    kept, twin = live.snapshot(), deepcopy(live)
    live.run_steps(9)
    q, v = live.q, live.v
    live.run_steps(3)
    live.restore(kept)
    live.run_steps(9)
    assert q.tobytes() == live.q.tobytes()
    assert v.tobytes() == live.v.tobytes()
    twin.run_steps(9)
    assert q.tobytes() == twin.q.tobytes()
    assert v.tobytes() == twin.v.tobytes()
    again = pickle.loads(pickle.dumps(live))
    again.run_steps(4)
    live.run_steps(4)
    assert again.q.tobytes() == live.q.tobytes()


def test_rule_step_damping_and_model_change_between_steps():
    model = bar()
    live = released(ReducedSimulation, model, damping=designed(model))
    live.run_steps(5)
    live.integrator = sp.TRBDF2()
    live.run_steps(5)
    live.step(dt=1 / 200)
    live.damping = sp.Rayleigh(mass=0.1)
    live.run_steps(5)
    live.edit(young=2e5)
    live.run_steps(5)
    live.model = live.model.detail(6)
    assert live._loop is not None
    live.run_steps(200)
    assert live.q.shape == (6,)
    assert np.isfinite(live.q).all()


def test_best_effort_takes_so_many_iterations():
    live = released(ReducedSimulation, bar(), damping=BETA, solver=sp.DenseNewton(iterations=1))
    other = released(Interpreted, bar(), damping=BETA, solver=sp.DenseNewton(iterations=1))
    for each in (live, other):
        each.run_steps(20)
    assert live.stats.iterations == 40  # two stages a step
    # one linearization each; the compiled one also has the viscous stress that pulls
    assert np.abs(live.q - other.q).max() <= 0.02 * np.abs(other.q).max()


def test_step_that_fails_leaves_the_state():
    live = released(ReducedSimulation, bar(sp.NeoHookean), damping=BETA)
    live.run_steps(3)
    before = live.q, live.v, live.time
    with pytest.raises(sp.StepFailed):
        live.step(force=np.full(8, 1e300))
    assert before[0].tobytes() == live.q.tobytes()
    assert before[1].tobytes() == live.v.tobytes()
    assert live.time == before[2]
    live.run_steps(3)


def test_materials_with_more_than_moduli_go_through_python():
    mesh = sp.HexMesh.box((1.0, 0.2, 0.2), (4, 1, 1))
    spline = sp.SplineMaterial.from_material(sp.StableNeoHookean(young=1e5, poisson=0.4))
    body = sp.Body(mesh, spline, fixed=mesh.where(x=0))
    basis = sp.modal_derivative_basis(body, modes=2, size=3)
    model = sp.reduce(body, basis, cubature=every_cell(body, basis.vectors), compare=False)
    live = model.simulation(damping=sp.Rayleigh(mass=0.1), dt=1e-3)
    assert live._loop is None
    live.run_steps(3)
