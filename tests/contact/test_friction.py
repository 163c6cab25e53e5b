"""Friction and restitution: what obstacles take from a motion and give back."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.contact.blocks import SOLVERS, G, block, on_slope, simulation
from tests.helpers import stepped

import supple as sp

pytestmark = pytest.mark.processors

MU = 0.5
LIMIT = np.arctan(MU)
both = pytest.mark.parametrize("solver", SOLVERS)
rules = pytest.mark.parametrize("rule", [sp.BackwardEuler, sp.TRBDF2], ids=lambda r: r.__name__)


def moving(sim: sp.Simulation, v: tuple[float, float, float]) -> sp.Simulation:
    sim.state.v = np.tile(v, (sim.body.n_vertices, 1))
    return sim


def mean_velocity(sim: sp.Simulation) -> np.ndarray:
    return sim.frame().linear_momentum / sim.body.total_mass


@both
@rules
def test_sticks_just_below_the_angle(solver, rule):
    """Once settled, not a micrometre in a second."""
    floor = sp.Plane(friction=MU)
    sim = simulation(block(), solver, floor, gravity=on_slope(0.98 * LIMIT), integrator=rule())
    start = stepped(sim, 30).state.u.copy()
    stepped(sim, 50)
    assert np.abs(sim.state.u - start).max() < 1e-6
    force, weight = sim.contact_forces.sum(axis=0), sim.body.total_mass * G
    expected = -weight * np.array([np.sin(0.98 * LIMIT), 0, -np.cos(0.98 * LIMIT)])
    np.testing.assert_allclose(force, expected, atol=1e-4 * weight)


@both
@rules
def test_slides_just_above_the_angle(solver, rule):
    """a = g (sin θ − μ cos θ)."""
    angle, dt = 1.1 * LIMIT, 0.02
    sim = simulation(
        block(), solver, sp.Plane(friction=MU), gravity=on_slope(angle), integrator=rule(), dt=dt
    )
    moving(sim, (0.3, 0.0, 0.0))
    before = mean_velocity(stepped(sim, 8))
    after = mean_velocity(stepped(sim, 8))
    expected = G * (np.sin(angle) - MU * np.cos(angle))
    assert (after - before)[0] / (8 * dt) == pytest.approx(expected, rel=0.01)


@both
def test_decelerates_and_stops(solver):
    """On a level floor at −μ g, until it stands, and then it stands."""
    dt, v = 0.02, 0.8
    sim = simulation(block(), solver, sp.Plane(friction=MU), dt=dt, integrator=sp.BackwardEuler())
    moving(sim, (v, 0.0, 0.0))
    speed = [mean_velocity(stepped(sim, 1))[0] for _ in range(12)]
    stop = v / (MU * G)  # 0.163 s
    still = [s for k, s in enumerate(speed) if (k + 1) * dt > stop + 2 * dt]
    assert len(still) >= 2
    assert np.abs(still).max() < 0.02 * v
    # the middle of the slide, clear of settling and of stopping
    assert (speed[5] - speed[2]) / (3 * dt) == pytest.approx(-MU * G, rel=0.02)
    way = v**2 / (2 * MU * G) - 0.5 * v * dt  # backward Euler is half a step behind
    assert sim.state.u[:, 0].mean() == pytest.approx(way, rel=0.05)


@both
def test_force_within_the_cone_and_against_the_slip(solver):
    sim = simulation(
        block(), solver, sp.Plane(friction=MU), gravity=on_slope(1.3 * LIMIT),
        integrator=sp.BackwardEuler(),
    )  # fmt: skip
    moving(sim, (0.3, 0.4, 0.0))
    slid = 0
    for _ in range(8):
        sim.step()
        force, v = sim.contact_forces, sim.state.v
        f_n, f_t = force[:, 2], force[:, :2]
        size, slip = np.linalg.norm(f_t, axis=1), np.linalg.norm(v[:, :2], axis=1)
        slack = 1e-3 * sim.body.total_mass * G  # limits are those of the last iteration
        assert (f_n >= 0).all()
        assert (size <= MU * f_n + slack).all()
        sliding = (f_n > 1e-3 * f_n.max()) & (slip > 1e-3)
        slid += sliding.sum()
        along = np.einsum("ki,ki->k", f_t, v[:, :2])[sliding]
        # all of the cone, and straight against the slip
        expected = -(MU * f_n * slip)[sliding]
        np.testing.assert_allclose(along, expected, atol=slack * slip.max())
    assert slid > 20


@both
def test_no_friction_no_force_along(solver):
    sim = moving(simulation(block(), solver, sp.Plane()), (0.5, 0.2, 0.0))
    stepped(sim, 10)
    assert np.abs(sim.contact_forces[:, :2]).max() < 1e-9 * sim.body.total_mass * G
    np.testing.assert_allclose(mean_velocity(sim)[:2], (0.5, 0.2), rtol=1e-6)


# -- obstacles that move ------------------------------------------------------------------------


def sliding_floor(acceleration: float) -> sp.Plane:
    """Starts from rest along x."""
    rails = sp.Rails.path(
        position=lambda t: (0.5 * acceleration * t * t, 0, 0),
        velocity=lambda t: (acceleration * t, 0, 0),
    )
    return sp.Plane(friction=MU, motion=rails)


@both
@rules
def test_floor_carries_the_block_along(solver, rule):
    """Below μ g it stays where it stands on the floor."""
    a, steps, dt = 0.8 * MU * G, 12, 0.02
    sim = simulation(block(), solver, sliding_floor(a), integrator=rule(), dt=dt)
    stepped(sim, steps)
    low = sim.body.mesh.vertices[:, 2] < 1e-9
    slip = sim.state.u[low, 0] - 0.5 * a * (steps * dt) ** 2
    np.testing.assert_allclose(sim.state.v[low, 0], a * steps * dt, rtol=0.03)
    # backward differences of the floor's motion are behind by half a step of it
    assert np.abs(slip).max() < 0.6 * a * steps * dt * dt


@both
def test_floor_pulls_with_no_more_than_friction(solver):
    """From under the block: it follows at μ g."""
    sim = simulation(block(), solver, sliding_floor(3 * MU * G), integrator=sp.BackwardEuler())
    before = mean_velocity(stepped(sim, 5))
    after = mean_velocity(stepped(sim, 8))
    assert (after - before)[0] / (8 * 0.02) == pytest.approx(MU * G, rel=0.02)
    expected = np.array([MU, 1.0]) * sim.body.total_mass * G
    np.testing.assert_allclose(sim.contact_forces.sum(axis=0)[[0, 2]], expected, rtol=0.02)


@both
@pytest.mark.parametrize("friction", [0.5, 0.1])
def test_turning_disc(solver, friction):
    """At r = 0.5 m and ω = 2/s it takes μ > ω²r/g = 0.2 to stay on."""
    rate, r, steps, dt = 2.0, 0.5, 16, 0.02
    disc = sp.Plane(friction=friction, motion=sp.Rails.turning(rate=(0, 0, rate)))
    body = block(at=(r, 0, 0))
    sim = simulation(body, solver, disc, dt=dt)
    sim.state.v = np.cross((0, 0, rate), body.mesh.vertices)
    stepped(sim, steps)
    centre = (body.mesh.vertices + sim.state.u).mean(axis=0)
    radius, angle = np.hypot(*centre[:2]), np.arctan2(centre[1], centre[0])
    if friction == 0.5:
        assert radius == pytest.approx(r, abs=0.005)
        assert angle == pytest.approx(rate * steps * dt, abs=0.01)
    else:
        assert radius > r + 0.02
        assert angle < rate * steps * dt - 0.02


@both
def test_lifted_by_a_rising_floor(solver):
    rails = sp.Rails.path(position=lambda t: (0, 0, 0.3 * t), velocity=lambda t: (0, 0, 0.3))
    sim = moving(simulation(block(), solver, sp.Plane(motion=rails)), (0, 0, 0.3))
    stepped(sim, 15)
    x = sim.body.mesh.vertices + sim.state.u
    assert x[:, 2].min() == pytest.approx(0.3 * sim.state.time, abs=1e-6)


# -- energy ------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("rule", "restitution"),
    [(sp.BackwardEuler, None), (sp.BackwardEuler, 0.0), (sp.TRBDF2, 0.0), (sp.BDF2, 0.0)],
    ids=lambda given: getattr(given, "__name__", repr(given)),
)
def test_energy_never_grows(solver, rule, restitution):
    """Falling, landing, sliding and coming to rest."""
    floor = sp.Plane(friction=0.3, vertex_restitution=restitution)
    sim = simulation(block(at=(0, 0, 0.02)), solver, floor, integrator=rule())
    moving(sim, (0.6, 0.2, -0.3))
    frames = [sim.frame(), *(stepped(sim, 1).frame() for _ in range(18))]
    own = np.array([f.kinetic + f.elastic + f.gravitational for f in frames])
    spent = np.array([f.dissipated for f in frames])
    size = own[0] - own[-1]
    assert size > 1.0  # all but a little of the fall and the slide
    assert np.diff(own).max() < 1e-3 * size
    assert np.diff(spent).min() >= -1e-9 * size
    assert spent[-1] < 1.05 * size


@both
def test_energy_of_a_slide_adds_up(solver):
    """What a slide takes, friction has: ½ m v₀² − ½ m v² = μ m g s."""
    dt = 0.01
    sim = simulation(block(), solver, sp.Plane(friction=MU), dt=dt, integrator=sp.BackwardEuler())
    moving(sim, (1.5, 0.0, 0.0))
    first = stepped(sim, 8).frame()
    x = sim.state.u[:, 0].mean()
    last = stepped(sim, 8).frame()
    way = sim.state.u[:, 0].mean() - x
    lost = (first.kinetic + first.elastic) - (last.kinetic + last.elastic)
    spent = last.dissipated - first.dissipated
    work = MU * sim.body.total_mass * G * way
    assert spent == pytest.approx(work, rel=0.01)
    # backward Euler goes at the speed of the end of a step and loses ½ m (μ g dt)² in each itself
    by_rule = 8 * 0.5 * sim.body.total_mass * (MU * G * dt) ** 2
    assert lost == pytest.approx(spent + by_rule, rel=0.01)


# -- restitution -----------------------------------------------------------------------------------


def landed(solver: str, restitution: float | None, rule: sp.Integrator) -> float:
    """The highest speed upward [m/s] of a stiff body that falls on a floor at 1 m/s."""
    floor = sp.Plane(vertex_restitution=restitution)
    body = block((0.02, 0.02, 0.02), (1, 1, 1), at=(0, 0, 0.01), young=1e7)
    sim = simulation(body, solver, floor, integrator=rule, dt=0.004)
    moving(sim, (0.0, 0.0, -1.0))
    return max(mean_velocity(stepped(sim, 1))[2] for _ in range(12))


@both
@rules
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_restitution_of_a_stiff_body(solver, restitution, rule):
    assert landed(solver, restitution, rule()) == pytest.approx(restitution, abs=0.1)


@both
def test_restitution_none_at_all_or_left_to_elasticity(solver):
    """Elastic bodies jump back by themselves, slower than they came; with restitution 0 none."""
    assert landed(solver, 0.0, sp.TRBDF2()) < 0.05
    assert landed(solver, None, sp.BackwardEuler()) < 0.05
    assert 0.1 < landed(solver, None, sp.TRBDF2()) < 1.0


@both
def test_at_rest_nothing_bounces(solver):
    """A body that stands has nothing to bounce with, even with restitution 1."""
    body, floor = block(), sp.Plane(vertex_restitution=1.0)
    sim = simulation(body, solver, floor)
    sim.state.u = sp.static_shape(
        dataclasses.replace(body, fixed=np.flatnonzero(body.mesh.vertices[:, 2] < 1e-9)),
        gravity=(0, 0, -G),
    )
    stepped(sim, 25)
    assert np.abs(sim.state.v).max() < 0.02
