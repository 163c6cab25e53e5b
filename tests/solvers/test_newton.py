"""Newton's method: every linear solver gives the same motion, and failures leave no trace."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.helpers import deformation_gradients, small_mesh, soft, stepped
from tests.refusals import refusals, refused

import supple as sp
from supple.materials import MATERIALS
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear import pardiso

LINEAR = [sp.Cholesky(), sp.LaggedCholesky(), sp.ConjugateGradients(), sp.AutomaticSolver()]
BEAM = sp.TetMesh.box((1, 0.2, 0.2), (6, 2, 2))


def beam(material=sp.StVK, **constants) -> sp.Body:
    return sp.Body(BEAM, soft(material, young=1e6, **constants), fixed=BEAM.where(x=0))


def tip_after(body: sp.Body, solver: sp.Newton, **options) -> np.ndarray:
    sim = sp.Simulation(body, solver=solver, gravity=(0, 0, -9.81), **options)
    return stepped(sim, 15).state.u


@pytest.mark.parametrize("linear", LINEAR, ids=repr)
@pytest.mark.parametrize(
    "damping", [None, sp.Rayleigh(mass=0.1, stiffness=1e-2)], ids=["bare", "damped"]
)
def test_motion_same_with_every_linear_solver(linear, damping):
    exact = tip_after(beam(), sp.Newton(tolerance=1e-12, linear=sp.Cholesky()), damping=damping)
    found = tip_after(beam(), sp.Newton(tolerance=1e-8, linear=linear), damping=damping)
    # 30 stages, each off by 1e-8 of the forces at play; accelerations twice integrated.
    assert np.abs(found - exact).max() <= 30 * 1e-8 * np.abs(exact).max() * 10


def test_motion_same_without_mkl(monkeypatch):
    exact = tip_after(beam(), sp.Newton(tolerance=1e-10, linear=sp.Cholesky()))
    monkeypatch.setattr(pardiso, "library", lambda: None)
    for linear in LINEAR:
        found = tip_after(beam(), sp.Newton(tolerance=1e-8, linear=linear))
        assert np.abs(found - exact).max() <= 30 * 1e-8 * np.abs(exact).max() * 10


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.TRBDF2(), sp.Bathe()], ids=repr)
def test_single_iteration_bounded(material, rule):
    """One full step a stage, as real-time codes take.

    The energy never rises above the start's, and the solver's error is no worse than the
    integrator's: it falls at least as fast with dt.
    """
    body = beam(material, poisson=0.4)
    damping = sp.Rayleigh(mass=0.1, stiffness=1e-3)
    options = {"integrator": rule, "gravity": (0, 0, -9.81), "damping": damping}
    lags = []
    for dt in (1 / 60, 1 / 120):
        motion, exact = (
            sp.Simulation(body, solver=solver, dt=dt, **options).run(0.5)
            for solver in (sp.Newton(iterations=1), sp.Newton(tolerance=1e-9))
        )
        total = motion.kinetic + motion.elastic + motion.gravitational
        assert total.max() == total[0]
        lags.append(np.abs(motion.displacements - exact.displacements).max())
    assert np.log2(lags[0] / lags[1]) >= rule.order


def test_iterations_converge_to_newton():
    """More fixed iterations come closer and closer to the converged step."""
    body = beam()
    exact = tip_after(body, sp.Newton(tolerance=1e-12, linear=sp.Cholesky()))
    errors = [
        np.abs(tip_after(body, sp.Newton(iterations=k, linear=sp.Cholesky())) - exact).max()
        for k in (1, 2, 3)
    ]
    assert errors[1] < 0.1 * errors[0]
    assert errors[2] < 0.1 * errors[1] or errors[2] < 1e-12


@pytest.mark.parametrize("poisson", [0.49, 0.499, 0.4999])
@pytest.mark.parametrize("linear", LINEAR, ids=repr)
def test_nearly_incompressible_body_moves(poisson, linear):
    """Every step is solved, though the condition number is a hundred thousand times worse."""
    tip_after(beam(sp.StableNeoHookean, poisson=poisson), sp.Newton(linear=linear))


def test_thin_steel_plate_moves():
    plate = sp.TetMesh.box((1, 0.2, 0.001), (8, 2, 1)).quadratic()
    steel = sp.StVK(young=2e11, poisson=0.0, density=7800)
    body = sp.Body(plate, steel, fixed=plate.where(x=0))
    found = tip_after(body, sp.Newton())
    exact = tip_after(body, sp.Newton(linear=sp.Cholesky()))
    # 30 stages, each off by 1e-6 of the forces at play.
    assert np.abs(found - exact).max() <= 30 * 1e-6 * np.abs(exact).max() * 10


def test_stiff_body_free_fall_far_away():
    """Rounding of large displacements must not keep Newton from converging."""
    block = sp.TetMesh.box((0.05, 0.05, 0.05), (4, 4, 4))
    body = sp.Body(block, sp.StVK(young=2e11, poisson=0.3, density=7800))
    for rule in (sp.TRBDF2(), sp.Trapezoidal()):
        sim = sp.Simulation(body, integrator=rule, gravity=(0, 0, -9.81))
        sim.state.u = np.tile([0, 0, -1000.0], (body.n_vertices, 1))
        sim.state.v = np.tile([0, 0, -100.0], (body.n_vertices, 1))
        stepped(sim, 30)
        t = 0.5
        np.testing.assert_allclose(sim.state.u[:, 2], -1000 - 100 * t - 9.81 / 2 * t * t, rtol=1e-9)


# -- failure ---------------------------------------------------------------------------------


def crushed(rule: sp.Integrator) -> sp.Simulation:
    """A neo-Hookean block whose support is about to be driven through it."""
    mesh = small_mesh("brick")
    ends = mesh.where(x=1)
    support = sp.Support(ends, lambda t: (-100.0 * max(t - 0.03, 0.0), 0, 0))
    body = sp.Body(mesh, soft(sp.NeoHookean), fixed=mesh.where(x=0), supports=[support])
    return sp.Simulation(body, integrator=rule, dt=0.02, gravity=(0, 0, -9.81))


@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.BDF2(), sp.TRBDF2()], ids=repr)
def test_failed_step_leaves_the_state(rule):
    """Also after a first stage that went well, and the run can go on with a remedy."""
    sim, twin = crushed(rule), crushed(rule)
    for s in (sim, twin):
        s.step()
    u, v, t, lost = sim.state.u.copy(), sim.state.v.copy(), sim.state.time, sim.dissipated
    with pytest.raises(sp.StepFailed) as failure:
        sim.step(dt=0.2)
    assert failure.value.time > t
    assert failure.value.advice in str(failure.value)
    np.testing.assert_array_equal(sim.state.u, u)
    np.testing.assert_array_equal(sim.state.v, v)
    assert (sim.state.time, sim.dissipated) == (t, lost)
    sim.step(dt=0.001)
    twin.step(dt=0.001)
    # History, too, is as if the failed step had never been tried (a kept factor may differ).
    np.testing.assert_allclose(sim.state.u, twin.state.u, atol=1e-9)


@pytest.mark.parametrize("rule", [sp.TRBDF2(), sp.RK4()], ids=repr)
def test_inverted_start_fails_and_keeps_the_state(rule):
    mesh = small_mesh("tet")
    sim = sp.Simulation(sp.Body(mesh, soft(sp.NeoHookean)), integrator=rule, dt=1e-3)
    inverted = mesh.vertices * [-2.0, 0, 0]
    sim.state.u = inverted
    assert sim.body.energy(inverted) == np.inf
    refused("inside out", sim.step, error=sp.StepFailed)
    np.testing.assert_array_equal(sim.state.u, inverted)
    assert sim.state.time == 0.0


@pytest.mark.parametrize(
    "material", [m for m in MATERIALS if m.survives_inversion], ids=lambda m: m.__name__
)
@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.TRBDF2()], ids=repr)
def test_inverted_body_recovers(material, rule):
    """Materials that survive inversion come back from a start with cells inside out."""
    body = beam(material, poisson=0.4)
    u = 0.1 * np.random.default_rng(0).normal(size=BEAM.vertices.shape) * body.free
    assert np.linalg.det(deformation_gradients(BEAM, u)).min() < 0
    sim = sp.Simulation(body, integrator=rule, damping=sp.Rayleigh(mass=5.0))
    sim.state.u = u
    motion = sim.run(1.0)
    # Mass damping leaves e^{−αt} of the energy of any vibration.
    assert motion.elastic[-1] + motion.kinetic[-1] <= 2 * np.exp(-5.0) * motion.elastic[0]


def test_unstable_explicit_step_fails():
    sim = sp.Simulation(beam(), integrator=sp.SymplecticEuler(), dt=0.1, gravity=(0, 0, -9.81))
    refused("unstable", sim.run, 100.0, error=sp.StepFailed)
    assert np.isfinite(sim.state.u).all()


def test_step_failed_survives_pickling():
    error = sp.StepFailed("reason", time=1.5, residual=2.5, advice="Try less.")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is sp.StepFailed
    assert (copy.time, copy.residual, copy.advice) == (1.5, 2.5, "Try less.")
    assert str(copy) == str(error)


test_bad_newton_options_named = refusals(
    ({"tolerance": 0.0}, "tolerance"),
    ({"tolerance": 1.0}, "tolerance"),
    ({"tolerance": "tight"}, "tolerance"),
    ({"iterations": 0}, "iterations"),
    ({"max_iterations": 0}, "max_iterations"),
    ({"max_iterations": 2.5}, "max_iterations"),
    ({"linear": "cholesky"}, "linear"),
    ({"linear": sp.Cholesky}, "linear"),
    make=lambda options: sp.Newton(**options),
)


def test_solver_that_fails_on_a_second_solve_gets_the_definite_matrix():
    """A matrix may turn out indefinite only for a later right-hand side."""

    class Fussy(sp.Cholesky):
        def bind(self, pattern, free):
            bound = super().bind(pattern, free)
            take, solve, solved = bound.take, bound.solve, []

            def taken(values, low_rank=None, frames=None):
                solved.clear()
                take(values, low_rank)

            def fussy(rhs, tolerance=0.0):
                solved.append(rhs)
                if len(solved) == 2:
                    rejected.append(rhs)
                    raise NotPositiveDefinite("second thoughts")
                return solve(rhs, tolerance)

            bound.take, bound.solve = taken, fussy
            return bound

    rejected: list[np.ndarray] = []
    body = beam(sp.StVK)
    found = tip_after(body, sp.Newton(linear=Fussy()))
    assert rejected
    exact = tip_after(body, sp.Newton(linear=sp.Cholesky()))
    assert np.abs(found - exact).max() <= 30 * 1e-6 * np.abs(exact).max() * 10
