"""Free reduced bodies against other mechanics, and under forces."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tests.helpers import rotation
from tests.reduction.runtime.floating_bodies import IMPLICIT, STATE, bar, complete, small, thrown

import supple as sp

# -- against other mechanics -----------------------------------------------------------------


def test_a_stiff_body_turns_as_euler_says_and_flips():
    """Spun about its middle axis a racket turns over (Dzhanibekov)."""
    mesh = sp.TetMesh.box(size=(1.0, 0.6, 0.2), cells=(2, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e12, poisson=0.3, density=1000))
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=6))
    sim = sp.FloatingSimulation(model, dt=1e-3)
    sides = np.array([1.0, 0.6, 0.2]) ** 2
    J = body.total_mass / 12 * (sides.sum() - sides)
    np.testing.assert_allclose(sim.model.floating.inertia(np.zeros(6)), np.diag(J), atol=1e-10)

    start = np.array([0.1, 8.0, 0.05])
    sim.spin = start

    T = 2.0

    def euler(t, y):
        w, R = y[:3], y[3:].reshape(3, 3)
        return np.concatenate([-np.cross(w, J * w) / J, np.cross(R, w).ravel()])  # R ω×

    begin = np.concatenate([start, np.eye(3).ravel()])
    exact = solve_ivp(euler, (0, T), begin, rtol=1e-11, atol=1e-12)
    w, R = exact.y[:3, -1], exact.y[3:, -1].reshape(3, 3)
    assert w[1] < -7.0  # it has turned over
    sim.run_steps(2000)
    coarse = np.abs(sim.rotation - R).max()
    assert coarse < 2e-3
    assert (sim.rotation.T @ sim.spin)[1] == pytest.approx(w[1], abs=5e-3)
    fine = sp.FloatingSimulation(sim.model, dt=5e-4)
    fine.spin = start
    fine.run_steps(4000)
    assert coarse / np.abs(fine.rotation - R).max() == pytest.approx(4.0, rel=0.1)


def test_a_spinning_bar_stretches_as_the_full_body_does():
    """At rest in its frame, elastic forces hold every vertex on its circle: ∇U = M ω² ρ."""
    body, model = bar(), complete()
    sim = sp.FloatingSimulation(model, dt=2e-3, damping=sp.Rayleigh(stiffness=5e-3))
    for _ in range(5):  # about the axis of most inertia of the stretched bar: it must not nod
        sim.spin = 6.0 * np.linalg.eigh(sim.inertia)[1][:, 2]
        sim.run_steps(1500)
    assert np.abs(sim.v).max() < 1e-9
    u = sim.displacements()
    arm = body.mesh.vertices + u - sim.position
    inward = body.mass_times(np.cross(sim.spin, np.cross(sim.spin, arm)))
    assert np.abs(body.force(u) + inward).max() < 1e-8 * np.abs(inward).max()
    assert np.abs(model.displacements(sim.q)).max() > 0.005


def test_a_thrown_bar_moves_as_in_full_space():
    """The same rule at the same step: what differs is of second order, as both errors are."""
    body, model = bar(), complete()
    differences = []
    for dt in (1e-3, 5e-4):
        sim = thrown(model, dt=dt, gravity=(0, 0, -9.81), strength=0.6)
        full = sp.Simulation(
            body, dt=dt, integrator=sp.Newmark(), gravity=(0, 0, -9.81),
            solver=sp.Newton(tolerance=1e-12),
        )  # fmt: skip
        full.state.u, full.state.v = sim.displacements(), sim.velocities()
        steps = round(0.2 / dt)
        sim.run_steps(steps)
        for _ in range(steps):
            full.step()
        differences.append(np.abs(sim.displacements() - full.state.u).max())
    assert differences[0] < 2e-4  # of a bar of 1 m that turned by more than a radian
    assert differences[0] / differences[1] == pytest.approx(4.0, rel=0.2)


@pytest.mark.parametrize("integrator", [sp.Newmark(), sp.BDF2()], ids=repr)
def test_a_turned_start_gives_the_turned_motion(integrator):
    model, turn = small(), rotation(4)
    force = np.array([0.0, 20.0, 60.0])
    one, other = (thrown(model, integrator=integrator) for _ in range(2))
    other.rotation = turn
    other.spin, other.velocity = turn @ one.spin, turn @ one.velocity
    other.position = turn @ one.position
    one.run_steps(200, force=model.pull(3, force))
    other.run_steps(200, force=model.pull(3, turn @ force))
    np.testing.assert_allclose(other.q, one.q, atol=1e-9)
    np.testing.assert_allclose(other.rotation, turn @ one.rotation, atol=1e-9)
    X = model.mesh.vertices
    turned = (X + one.displacements()) @ turn.T
    np.testing.assert_allclose(X + other.displacements(), turned, atol=1e-9)


# -- loads -----------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", IMPLICIT, ids=repr)
def test_a_force_gives_its_impulse_and_its_torque(integrator):
    model, dt, vertex = small(), 1e-3, 7
    force = np.array([30.0, -20.0, 50.0])
    sim = thrown(model, integrator=integrator, dt=dt)
    sim.run_steps(3)
    before, momentum = sim.linear_momentum, sim.spin_momentum

    def torque():
        place = model.mesh.vertices[vertex] + sim.displacements()[vertex]
        return np.cross(place - sim.position, force)

    torques = [torque()]
    sim.step(force=model.pull(vertex, force))
    torques.append(torque())
    np.testing.assert_allclose(sim.linear_momentum, before + dt * force, rtol=1e-13)
    gained = sim.spin_momentum - momentum
    np.testing.assert_allclose(gained, dt * np.mean(torques, axis=0), atol=0.02 * dt * 60)
    if isinstance(integrator, sp.Newmark):  # whose quadrature is the mean of both ends
        np.testing.assert_allclose(gained, dt * np.mean(torques, axis=0), atol=1e-13)
    sim.run_steps(50)  # and nothing stays of it
    np.testing.assert_allclose(sim.linear_momentum, before + dt * force, rtol=1e-13)
    np.testing.assert_allclose(sim.spin_momentum - momentum, gained, atol=1e-13)


@pytest.mark.parametrize("integrator", IMPLICIT, ids=repr)
def test_a_force_that_jumps_acts_as_from_a_fresh_start(integrator):
    model = small()
    sim, fresh = (thrown(model, integrator=integrator) for _ in range(2))
    sim.run_steps(5, force=model.pull(2, (5.0, 1.0, 0.0)))
    for name in (*STATE, "velocity"):
        setattr(fresh, name, getattr(sim, name))
    load = model.pull(7, (30.0, -20.0, 50.0))
    sim.run_steps(5, force=load)
    fresh.run_steps(5, force=load)
    for name in STATE:
        np.testing.assert_allclose(getattr(sim, name), getattr(fresh, name), rtol=1e-8, atol=1e-8)


def test_loads_are_exact_in_any_pose():
    body, model = bar(), complete()
    sim = thrown(model)
    sim.rotation = rotation(1)
    forces = np.random.default_rng(1).normal(size=(body.n_vertices, 3))
    load = model.project(forces)
    np.testing.assert_allclose(load.force, forces.sum(axis=0), atol=1e-13)
    arms = body.mesh.vertices + sim.displacements() - sim.position
    turned = sim.rotation @ (load.moments[0] + np.tensordot(sim.q, load.moments[1:], 1))
    torque = [turned[1, 2] - turned[2, 1], turned[2, 0] - turned[0, 2], turned[0, 1] - turned[1, 0]]
    np.testing.assert_allclose(torque, np.cross(arms, forces).sum(axis=0), atol=1e-12)
    reduced = np.einsum("iab,ba->i", load.moments[1:], sim.rotation)
    wanted = np.einsum("ina,na->i", model.vectors, forces @ sim.rotation)
    np.testing.assert_allclose(reduced, wanted, atol=1e-12)


def test_loads_add_and_scale():
    model = small()
    one, two = model.pull(0, (1.0, 2.0, 3.0)), model.pull(5, (0.0, -1.0, 4.0))
    forces = np.zeros_like(model.mesh.vertices)
    forces[0], forces[5] = (2.0, 4.0, 6.0), (0.0, 1.0, -4.0)
    both = 2 * one - two
    np.testing.assert_allclose(both.moments, model.project(forces).moments, atol=1e-15)
    np.testing.assert_allclose(both.force, [2.0, 5.0, 2.0])
    with pytest.raises(sp.InputError, match="same model"):
        one + model.truncated(3).pull(0, (1, 2, 3))
    with pytest.raises(TypeError):
        one + 1.0
