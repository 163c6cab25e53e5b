"""Free reduced bodies: their equations, momenta and energy, and the order of accuracy."""

from functools import lru_cache

import numpy as np
import pytest
from numba import njit
from tests.helpers import rotation
from tests.reduction.runtime.floating_bodies import (
    IMPLICIT,
    STATE,
    THROW,
    bar,
    complete,
    momenta,
    small,
    thrown,
)

import supple as sp
from supple._kernels.reduction import floating as kernels
from supple._kernels.reduction import floating_newton as newton
from supple._kernels.reduction.frame import OMEGA, R_NOW, R_STAGE, Flight, L, P, V
from supple.reduction.damping.strain_rate import NO_RATE
from supple.reduction.polynomial import NO_POLYNOMIAL
from supple.reduction.runtime.floating_parts import floating_workspace
from supple.reduction.runtime.stage_table import StageTable

# -- the equations ---------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 1.7])
def test_accelerations_are_those_of_the_full_body(alpha):
    """With every deformation in the basis, M a = f − ∇U − α M v holds vertex by vertex."""
    body, model = bar(), complete()
    sim = thrown(model, damping=sp.Rayleigh(mass=alpha), gravity=(0.0, 1.0, -9.81), dt=1e-2)
    sim.rotation = rotation(5)
    forces = np.random.default_rng(2).normal(size=(body.n_vertices, 3)) * 50
    sim.step(force=model.project(forces))
    u, v = sim.displacements(), sim.velocities()
    wanted = forces - body.force(u) - alpha * body.mass_times(v) + body.weight(sim.gravity)
    found = body.mass_times(sim.accelerations())
    assert np.abs(found - wanted).max() < 1e-9 * np.abs(body.force(u)).max()


def test_energy_and_momentum_are_those_of_the_mesh():
    body, sim = bar(), thrown(complete())
    sim.rotation = rotation(3)
    sim.run_steps(7)
    v = sim.velocities()
    assert sim.kinetic == pytest.approx(0.5 * np.vdot(v, body.mass_times(v)), rel=1e-12)
    assert sim.elastic == pytest.approx(body.energy(sim.displacements()), rel=1e-10)
    linear, angular = momenta(sim)
    np.testing.assert_allclose(sim.linear_momentum, linear, rtol=1e-12)
    np.testing.assert_allclose(sim.angular_momentum, angular, rtol=1e-11)


@njit
def inertial_force(load, alpha, now, R, Z, H, force):
    newton.inertial_force(load, alpha, now, R, Z, H, force)


@njit
def fill_matrix(c_v, c_a, options, D, now, frame, w):
    newton.fill_changes(options.alpha, c_v, c_a, now, frame, w)
    newton.fill_matrix(c_v, c_a, options, D, now, w)


def test_newton_matrix_is_the_derivative_of_the_inertial_forces():
    """But for terms that are smaller by the square of the angle turned in a step."""
    model, r = complete(), complete().size
    sim = thrown(model, dt=1e-3, damping=sp.Rayleigh(mass=0.7))
    sim.spin = (10.0, 5.0, 20.0)
    sim.run_steps(3)
    table = StageTable.of(sim.integrator, sim.dt, start=False)
    c_v, c_a, alpha, load = table.c_v[0], table.c_a[0], 0.7, np.zeros((r + 1, 3, 3))
    history, rigid, frame = np.zeros((9, r)), np.zeros((3, 8, 3)), np.zeros((7, 3, 3))
    history[:2], history[3], frame[R_NOW] = (sim.q, sim.v), sim.q - sim.dt * sim.v, sim.rotation
    rigid[0, [P, V, L]] = sim.position, sim.velocity, sim.spin_momentum
    rigid[0, OMEGA] = sim.rotation.T @ sim.spin
    moments, now, w = model.floating.compiled, rigid[2], floating_workspace(r)
    options, D = newton.FloatingOptions(alpha, 1, True, 0.1), moments.D
    flight = Flight(history, rigid, frame)
    given = moments, flight, w, options
    context = kernels.floating_context(table.compiled(), NO_POLYNOMIAL, NO_RATE, *given)
    kernels.enter_stage(context, 0, np.zeros(3))
    x = w.X[0].copy()

    def force(q):
        w.X[0], result = q, np.empty(r)
        assert kernels.move_stage(context, 0, load)
        inertial_force(load, alpha, now, frame[R_STAGE], w.Z, w.H, result)
        return result

    force(x)
    w.K[:] = 0.0
    fill_matrix(c_v, c_a, options, D, now, frame, w)
    A = w.A.copy()
    step = 1e-4
    rows = [(force(x + step * e) - force(x - step * e)) / (2 * step) for e in np.eye(r)]
    assert np.abs(A - np.transpose(rows)).max() < 1e-4 * np.abs(A - c_a * model.mass).max()


# -- momentum and energy ---------------------------------------------------------------------


@pytest.mark.parametrize("integrator", IMPLICIT, ids=repr)
def test_momentum_is_conserved_over_thousands_of_steps(integrator):
    options = {"damping": sp.Rayleigh(stiffness=2e-4), "solver": sp.DenseNewton()}
    sim = thrown(small(), integrator=integrator, **options)
    body_momentum = sim.linear_momentum, sim.spin_momentum
    q = sim.q
    sim.run_steps(3000)
    assert np.abs(sim.q - q).max() > 0.1  # it did move
    np.testing.assert_array_equal(sim.linear_momentum, body_momentum[0])
    np.testing.assert_array_equal(sim.spin_momentum, body_momentum[1])
    orbit = np.linalg.norm(sim.position) * np.linalg.norm(sim.linear_momentum)
    assert np.abs(sim.angular_momentum - thrown(small()).angular_momentum).max() < 1e-12 * orbit
    assert np.abs(sim.rotation.T @ sim.rotation - np.eye(3)).max() < 1e-14


def test_a_single_iteration_conserves_momentum_too():
    sim = thrown(small(), solver=sp.DenseNewton(iterations=1))
    before = momenta(sim)
    sim.run_steps(2000)
    for old, new in zip(before, momenta(sim), strict=True):
        assert np.abs(new - old).max() < 3e-12 * np.linalg.norm(old)


def test_energy_of_an_undamped_flight_keeps_within_a_second_order_band():
    bands = []
    for dt in (5e-4, 2.5e-4):
        sim = thrown(small(), dt=dt)
        energies = [sim.kinetic + sim.elastic]
        for _ in range(100):
            sim.run_steps(round(0.01 / dt))
            energies.append(sim.kinetic + sim.elastic)
        bands.append(np.ptp(energies) / energies[0])
        assert abs(np.mean(energies[-20:]) - np.mean(energies[:20])) < 0.5 * np.ptp(energies)
    assert bands[0] < 3e-3
    assert bands[0] / bands[1] == pytest.approx(4.0, rel=0.25)


def test_damping_by_stiffness_takes_the_wobble_and_leaves_the_spin():
    """Energy falls towards what the momentum needs: a turn about the axis of most inertia."""
    sim = thrown(small(), damping=sp.Rayleigh(stiffness=5e-3))
    momentum, rate = sim.spin_momentum, np.abs(sim.v).max()
    energies, spinning, stretched = [], [], []
    for _ in range(8):
        sim.run_steps(1000)
        energies.append(sim.kinetic + sim.elastic)
        spinning.append(0.5 * sim.spin @ sim.inertia @ sim.spin)
        stretched.append(sim.elastic)
    assert np.abs(sim.v).max() < 1e-3 * rate
    assert (np.diff(energies) < 0).all()
    # once the vibrations are gone; as it wobbles the spin and the stretch that it causes take turns
    assert (np.diff(np.add(spinning, stretched)[3:]) < 0).all()
    np.testing.assert_array_equal(sim.spin_momentum, momentum)
    turning = np.linalg.norm(momentum) ** 2 / (2 * np.linalg.eigvalsh(sim.inertia)[-1])
    assert turning < spinning[-1]
    assert turning < energies[-1] - 0.5 * sim.model.floating.mass * np.dot(THROW, THROW)


@pytest.mark.parametrize("integrator", [sp.Newmark(), sp.TRBDF2(), sp.BDF2()], ids=repr)
def test_damping_by_mass_drags_all_motion(integrator):
    alpha, T = 2.0, 0.5
    sim = thrown(small(), damping=sp.Rayleigh(mass=alpha), integrator=integrator)
    before = sim.linear_momentum, sim.spin_momentum
    sim.run_steps(500)
    left = np.exp(-alpha * T)
    np.testing.assert_allclose(sim.linear_momentum, left * before[0], rtol=2e-6)
    np.testing.assert_allclose(sim.spin_momentum, left * before[1], rtol=2e-6)


# -- accuracy --------------------------------------------------------------------------------


def flight(dt: float, steps: int, **options: object) -> dict[str, np.ndarray]:
    """States at ten moments of a flight of ``steps`` steps."""
    sim = thrown(small(), dt=dt, gravity=(0, 0, -9.81), **options)
    states: dict[str, list[np.ndarray]] = {name: [] for name in STATE}
    for _ in range(10):
        sim.run_steps(steps // 10)
        for name, values in states.items():
            values.append(getattr(sim, name))
    return {name: np.array(values) for name, values in states.items()}


@lru_cache
def fine_flight() -> dict[str, np.ndarray]:
    return flight(1.25e-5, 8000)


def errors_of_flight(dt: float, **options: object) -> np.ndarray:
    """Distances to the fine flight, of all but the position, and that of the position."""
    found, exact = flight(dt, round(0.1 / dt), **options), fine_flight()
    return np.array([np.linalg.norm(found[name] - exact[name]) for name in STATE])


@pytest.mark.parametrize("integrator", IMPLICIT[:-1], ids=repr)
def test_second_order_in_deformation_rotation_and_place(integrator):
    coarse, fine = (errors_of_flight(dt, integrator=integrator) for dt in (2e-4, 1e-4))
    np.testing.assert_allclose(np.log2(coarse / fine)[:-1], 2.0, atol=0.15)
    assert max(coarse[-1], fine[-1]) < 1e-10  # the parabola is exact


def test_backward_euler_is_of_first_order():
    rule = sp.BackwardEuler()
    soft = {"integrator": rule, "strength": 0.0}  # no fast vibrations: these it damps at any step
    exact = flight(1.25e-5, 8000, strength=0.0)
    errors = [
        [np.linalg.norm(found[n] - exact[n]) for n in ("rotation", "spin", "position")]
        for found in (flight(dt, round(0.1 / dt), **soft) for dt in (2e-4, 1e-4))
    ]
    np.testing.assert_allclose(np.log2(np.divide(*errors)), 1.0, atol=0.15)


def test_one_iteration_a_step_keeps_the_order():
    one = sp.DenseNewton(iterations=1)
    coarse, fine = (errors_of_flight(dt, solver=one) for dt in (2e-4, 1e-4))
    np.testing.assert_allclose(np.log2(coarse / fine)[:-1], 2.0, atol=0.15)
