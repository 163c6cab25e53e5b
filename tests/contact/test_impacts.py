"""Impacts: what presses comes to rest along its normal, and no step in contact gains energy."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contact.blocks import G, block
from tests.helpers import stepped

import supple as sp
from supple.contact.impacts import PressedNormals
from supple.core.errors import StepFailed
from supple.dynamics import safeguard
from supple.dynamics.stepping import Stepper
from supple.integrators import INTEGRATORS, ImplicitIntegrator

RULES = [rule for rule in INTEGRATORS if issubclass(rule, ImplicitIntegrator)]


def body_and_velocity():
    body = block((0.2, 0.2, 0.2), (2, 2, 2))
    v = np.random.default_rng(0).normal(size=(body.n_vertices, 3))
    return body, v


def kinetic(body, v):
    return 0.5 * float(np.vdot(v, body.mass_times(v)))


def test_velocities_are_projected_by_mass():
    """Against the dense solution of min ½ ‖v' − v‖²_M with n·v' = w, in a crease too."""
    body, v = body_and_velocity()
    vertex = np.array([0, 3, 3, 5, 7])
    normal = np.random.default_rng(1).normal(size=(5, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    wanted = np.array([0.1, -0.2, 0.0, 0.3, 0.0])
    carried = np.zeros_like(v)
    N = np.zeros((5, v.size))
    for row, (i, n) in enumerate(zip(vertex, normal, strict=True)):
        N[row, 3 * i : 3 * i + 3] = n
    # velocities of obstacles that have these components, also where two meet at one vertex
    carried = (np.linalg.pinv(N) @ wanted).reshape(v.shape)
    pressed = PressedNormals(vertex, normal, np.ones(v.shape, dtype=bool))
    found = pressed.projected(v, pressed.components(carried), body)
    M = body.mass.toarray()
    Minv_NT = np.linalg.solve(M, N.T)
    multipliers = np.linalg.solve(N @ Minv_NT, wanted - N @ v.ravel())
    exact = (v.ravel() + Minv_NT @ multipliers).reshape(v.shape)
    np.testing.assert_allclose(found, exact, atol=1e-8)


def test_velocities_are_projected_by_mass_where_cells_differ_in_size():
    """Masses of vertices from 1 to 10⁵: conjugate gradients by the mass alone are not done."""
    mesh = sp.TetMesh.box(size=(1.0, 1.0, 1.0), cells=(4, 4, 4))
    body = sp.Body(
        sp.TetMesh(mesh.vertices**3 + 0.01 * mesh.vertices, mesh.cells),
        sp.NeoHookean(young=1e5, poisson=0.3, density=1000),
    )
    v = np.random.default_rng(0).normal(size=mesh.vertices.shape)
    vertex = np.flatnonzero(mesh.vertices[:, 2] < 1e-9)
    pressed = PressedNormals(
        vertex, np.tile((0.0, 0.0, 1.0), (len(vertex), 1)), np.ones(v.shape, dtype=bool)
    )
    after = pressed.projected(v, np.zeros(len(vertex)), body)
    np.testing.assert_allclose(after[vertex, 2], 0.0, atol=1e-14)
    # each to what its own mass is worth
    left = pressed.tangential(body.mass_times(after - v)) / body.mass_diagonal[:, None]
    assert np.abs(left).max() < 1e-6 * np.abs(v).max()


def test_a_plastic_impact_takes_energy_and_leaves_what_is_held():
    body, v = body_and_velocity()
    free = np.ones(v.shape, dtype=bool)
    free[:4] = False
    v[:4] = 0.0
    vertex = np.arange(3, 9)
    pressed = PressedNormals(vertex, np.tile((0.0, 0.0, 1.0), (6, 1)), free)
    assert list(pressed.vertex) == [4, 5, 6, 7, 8]  # what is held has no way to give
    after = pressed.projected(v, np.zeros(5), body)
    assert kinetic(body, after) < kinetic(body, v)
    np.testing.assert_allclose(after[vertex[1:], 2], 0.0, atol=1e-14)
    np.testing.assert_array_equal(after[:4], 0.0)


def dropped(rule, young, rate, height=0.1):
    """Energies of a block [of that of its fall] that falls on a floor, and how high it jumps."""
    body = block((0.2, 0.2, 0.2), (2, 2, 2), at=(0, 0, height), young=young)
    floor = sp.Plane(normal=(0, 0, 1), friction=0.3)
    sim = sp.Simulation(body, obstacles=floor, integrator=rule(), dt=1 / rate, gravity=(0, 0, -G))
    energies = []
    for _ in range(int(0.45 * rate)):
        frame = sim.frame()
        energies.append(frame.kinetic + frame.elastic + frame.gravitational)
        sim.step()
    E = np.array(energies)
    return (E - E[0]) / (body.total_mass * G * height), sim


@pytest.mark.parametrize("rate", [24, 60, 240])
@pytest.mark.parametrize("young", [1e5, 1e7, 1e9])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_energy_comes_from_an_impact(rule, young, rate):
    """Not at the end, and not on the way: 1 % may come and go, which rules do not keep exactly."""
    E, sim = dropped(rule, young, rate)
    assert sim.stats.total.contacts > 0
    assert (E - np.minimum.accumulate(E)).max() < 0.01


def test_what_was_gained_is_no_reason_to_stop_a_body_that_flies():
    """The less it moves, the less may be gained; what was gained before is none of its doing."""
    E, sim = dropped(sp.TRBDF2, 1e9, 480)
    assert (E - np.minimum.accumulate(E)).max() < 0.01
    safe = sim._safe
    safe.gained = 0.004 * float(E.max() - E.min() + 1) * sim.body.total_mass * G
    stepped(sim, 20)
    assert safe.gained > 0


def test_a_moving_obstacle_puts_its_work_in():
    """A floor that rises at 0.5 m/s takes a block along, whatever that costs."""
    body = block((0.2, 0.2, 0.2), (2, 2, 2), young=1e5)
    lift = sp.Plane(normal=(0, 0, 1), motion=sp.Rails(position=lambda t: (0, 0, 0.5 * t)))
    sim = sp.Simulation(body, obstacles=lift, dt=1 / 60, gravity=(0, 0, -G))
    sim.state.v = np.tile((0.0, 0.0, 0.5), (body.n_vertices, 1))
    stepped(sim, 60)
    assert (body.mesh.vertices + sim.state.u)[:, 2].min() == pytest.approx(0.5, abs=0.02)


def test_a_step_that_fails_is_taken_in_parts(monkeypatch):
    """And told: what cannot be solved at once is, in eight parts."""
    implicit = Stepper.implicit

    def fails(self, part):
        if part.dt > 1 / 60 / 6:
            raise StepFailed("it was made to", time=part.now.time, residual=1.0, advice="None.")
        return implicit(self, part)

    monkeypatch.setattr(Stepper, "implicit", fails)
    sim = sp.Simulation(block(), dt=1 / 60, gravity=(0, 0, -G))
    sim.step()
    assert sim.stats.substeps == 8
    assert sim.state.time == pytest.approx(1 / 60)
    np.testing.assert_allclose(sim.state.v[:, 2], -G / 60, rtol=1e-9)


def test_a_step_that_fails_in_parts_too_leaves_all_as_it_was(monkeypatch):
    def fails(self, part):
        raise StepFailed("it was made to", time=part.now.time, residual=1.0, advice="None.")

    sim = sp.Simulation(block(), obstacles=sp.Plane(), dt=1 / 60, gravity=(0, 0, -G))
    stepped(sim, 3)
    u, v = sim.state.u.copy(), sim.state.v.copy()
    with monkeypatch.context() as patch:
        patch.setattr(Stepper, "implicit", fails)
        with pytest.raises(StepFailed, match="made to"):
            sim.step()
    np.testing.assert_array_equal(sim.state.u, u)
    np.testing.assert_array_equal(sim.state.v, v)
    twin = sp.Simulation(block(), obstacles=sp.Plane(), dt=1 / 60, gravity=(0, 0, -G))
    np.testing.assert_array_equal(stepped(sim, 1).state.u, stepped(twin, 4).state.u)


def test_steps_that_gain_energy_are_not_kept(monkeypatch):
    """With the least slack, what the safeguard lets pass is next to nothing."""
    monkeypatch.setattr(safeguard, "_COMES_AND_GOES", 1e-6)
    E, _ = dropped(sp.Newmark, 1e6, 60)
    assert (E - np.minimum.accumulate(E)).max() < 1e-4


@pytest.mark.parametrize("solver", [sp.Newton(), sp.ADMM(iterations=20)], ids=["Newton", "ADMM"])
def test_wind_may_push_what_lies_on_a_floor(solver):
    """What it puts in is no gain from nothing: the block goes as fast as drag and mass say."""
    mesh = sp.TetMesh.box(size=(0.2, 0.2, 0.1), cells=(2, 2, 1))
    body = sp.Body(mesh, sp.StableNeoHookean(young=1e6, poisson=0.3, density=100))
    area, strength, wind = 0.16, 20.0, 10.0
    sim = sp.Simulation(
        body, damping=sp.Drag(strength=strength, wind=(wind, 0, 0)), solver=solver,
        obstacles=sp.Plane(), gravity=(0, 0, -9.81), dt=1 / 60,
    )  # fmt: skip
    sim.run(0.5)
    rate = strength * area / body.total_mass
    speed = body.mass_times(sim.state.v)[:, 0].sum() / body.total_mass
    assert speed == pytest.approx(wind * (1 - np.exp(-rate * 0.5)), rel=1e-2)
    assert sim.stats.total.substeps <= 90
