"""Supports: what holds still, what follows a path, and how fast."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import EPS, small_mesh, soft, stepped
from tests.refusals import refusals, refused

import supple as sp
from supple.dynamics import safeguard
from supple.dynamics.problem import BodyProblem

MESH = small_mesh("tet")
N = MESH.n_vertices
ARM = np.array([[0.3, 0.1, 0.0], [0.0, 0.5, 0.2]])
PLACES = [(0, 0, 0), (1, 0, 2), (3, 1, 0)]

PATHS = {
    "oscillating slowly": (sp.Support.oscillating([0], (1, 2, 3), 0.1), 1, 10.0),
    "oscillating at 20 kHz": (sp.Support.oscillating([0], (1, 2, 3), 2e4), 1, 5e-5),
    "rotating": (sp.Support.rotating([0, 1], ARM, (0.1, 0, 0), (1.0, -2.0, 0.5)), 2, 1.0),
    "rotating at 10 kHz": (sp.Support.rotating([0, 1], ARM, (0, 0, 0), (0, 0, 6e4)), 2, 1e-4),
    "keyframes": (sp.Support.keyframes([0], [0, 0.3, 1], PLACES), 1, 0.9),
}


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("share", [0.13, 0.7])
def test_support_derivatives_exact(name, share):
    """Velocity and acceleration are those of the path, at any time scale."""
    support, count, period = PATHS[name]
    t, h = share * period, 1e-4 * period

    def at(time):
        return support.displacement_at(time, count)

    slope = (at(t + h) - at(t - h)) / (2 * h)
    curve = (at(t + h) - 2 * at(t) + at(t - h)) / h**2
    size = 1 + np.abs(at(t)).max()
    # Central differences: truncation (2π)^k (h/period)² / 6, rounding eps/h and 4 eps/h².
    assert np.abs(support.velocity_at(t, count) - slope).max() <= 40 * 1e-8 * 7 * size / period
    bound = (1600 * 1e-8 + 10 * EPS * 1e8) * size / period**2
    assert np.abs(support.acceleration_at(t, count) - curve).max() <= bound


def test_plain_function_derivatives_of_fourth_order():
    """Without derivatives given, differences over ``resolution`` are off by its fourth power."""
    for resolution in (1e-2, 1e-3):
        support = sp.Support([0], lambda t: (np.sin(5 * t), 0, 0), resolution=resolution)
        v, a = (f(0.3, 1)[0, 0] for f in (support.velocity_at, support.acceleration_at))
        bound = 5**5 / 30 * resolution**4 + 2 * EPS / resolution
        assert abs(v - 5 * np.cos(1.5)) <= bound
        bound = 5**6 / 90 * resolution**4 + 10 * EPS / resolution**2
        assert abs(a + 25 * np.sin(1.5)) <= bound


@pytest.mark.parametrize("times", [(0.0, 1.0), (0.0, 0.5, 1.0), (-1.0, 0.0, 0.1, 1.0)])
def test_keyframes_start_and_end_at_rest(times):
    places = np.cumsum(np.random.default_rng(0).random((len(times), 3)), axis=0)
    support = sp.Support.keyframes([0], times, places)
    for t, place in zip(times, places, strict=True):
        np.testing.assert_allclose(support.displacement_at(t, 1)[0], place, rtol=10 * EPS)
    for t in (times[0], times[-1], times[0] - 1, times[-1] + 1):
        assert np.abs(support.velocity_at(t, 1)).max() <= 100 * EPS / np.diff(times).min()
    # No overshoot: monotone keyframes give a monotone path.
    path = np.array([support.displacement_at(t, 1)[0] for t in np.linspace(-1.5, 1.5, 400)])
    assert (np.diff(path, axis=0) >= -EPS * 10).all()


@pytest.mark.parametrize("given", ["indices", "mask"])
def test_support_vertices_as_indices_or_mask(given):
    chosen = MESH.where(z=(None, 0.2))
    where = chosen if given == "indices" else np.isin(np.arange(N), chosen)
    moved = sp.Body(MESH, soft(sp.StVK), supports=[sp.Support(where, lambda t: (0, 0, t))])
    still = sp.Body(MESH, soft(sp.StVK), fixed=where)
    expected = np.ones((N, 3), bool)
    expected[chosen] = False
    np.testing.assert_array_equal(moved.free, expected)
    np.testing.assert_array_equal(still.free, expected)


def test_fixed_components_alone():
    mask = np.zeros((N, 3), bool)
    mask[3, 1] = mask[5] = True
    np.testing.assert_array_equal(sp.Body(MESH, soft(sp.StVK), fixed=mask).free, ~mask)
    for nothing in (None, [], np.zeros(N, bool)):
        assert sp.Body(MESH, soft(sp.StVK), fixed=nothing).free.all()


def test_simulation_follows_the_path():
    """Held vertices are where their path says, with its velocity, at every step."""
    base = MESH.where(x=(None, 0.2))
    support = sp.Support.rotating(base, MESH.vertices[base], (0, 0.4, 0.3), (3.0, 0, 0))
    sim = sp.Simulation(sp.Body(MESH, soft(sp.StVK), supports=[support]), dt=0.01)
    for _ in range(5):
        sim.step()
        t = sim.state.time
        np.testing.assert_array_equal(sim.state.u[base], support.displacement_at(t, len(base)))
        np.testing.assert_array_equal(sim.state.v[base], support.velocity_at(t, len(base)))


test_bad_supports_named = refusals(
    (lambda: sp.Support([0], (0, 0, 0)), "motion"),
    (lambda: sp.Support([0], lambda t: (0, 0, 0), velocity=3), "velocity"),
    (lambda: sp.Support([0], lambda t: (0, 0, 0), resolution=0), "resolution"),
    (lambda: sp.Support.oscillating([0], (1, 0), 1.0), "amplitude"),
    (lambda: sp.Support.oscillating([0], (1, 0, 0), np.nan), "frequency"),
    (lambda: sp.Support.keyframes([0], [0, 1], [(0, 0, np.nan), (0, 0, 0)]), "displacements"),
    (lambda: sp.Support.keyframes([0], [0, 0], np.zeros((2, 3))), "times"),
    (lambda: sp.Support.keyframes([0], [0], np.zeros((1, 3))), "times"),
    (lambda: sp.Support.rotating([0], np.zeros((1, 3)), (0, 0), (0, 0, 1)), "centre"),
    (lambda: sp.Support.rotating([0], np.zeros((1, 3)), (0, 0, 0), 1.0), "rate"),
    (lambda: body_with(sp.Support([N], lambda t: (0, 0, 0))), f"{N}"),
    (lambda: body_with(sp.Support([0.5], lambda t: (0, 0, 0))), "vert"),
    (lambda: body_with(sp.Support("base", lambda t: (0, 0, 0))), "vert"),
    (lambda: sp.Simulation(body_with(sp.Support([0], lambda t: (0, 0)))), "motion"),
    (lambda: sp.Simulation(body_with(sp.Support([0], lambda t: (0, 0, np.inf)))), "motion"),
)


def body_with(support: sp.Support) -> sp.Body:
    return sp.Body(MESH, soft(sp.StVK), supports=[support])


def test_vertex_twice_in_one_support_refused():
    """Two rows for one vertex would contradict each other."""
    support = sp.Support([0, 0], lambda t: np.array([[0, 0, t], [0, 0, -t]]))
    refused("vertex 0", body_with, support)


def shaken() -> sp.Simulation:
    """A column of four cells whose foot jumps by nearly two of them within a step."""
    mesh = sp.TetMesh.box((0.1, 0.1, 0.4), (1, 1, 4))
    foot = np.flatnonzero(mesh.vertices[:, 2] == 0)
    jump = sp.Support(foot, lambda t: (0.0, 0.0, min(t, 0.02) * 9.0))
    body = sp.Body(mesh, sp.NeoHookean(young=1e5, poisson=0.4, density=1000), supports=[jump])
    return sp.Simulation(body, damping=sp.StrainRate(shear=2000), dt=0.02)


def test_supports_may_jump_past_cells():
    """Where no start is sound, the body is led along by its supports to one that is."""
    sim = stepped(shaken(), 60)
    foot = sim.body.mesh.vertices[:, 2] == 0
    np.testing.assert_allclose(sim.state.u[foot][:, 2], 0.18)
    assert np.isfinite(sim.body.evaluate(sim.state.u, order=0).energy)
    assert np.abs(sim.state.u[:, 2] - 0.18).max() < 0.01  # the rest has followed


def test_without_being_led_and_in_one_step_they_may_not(monkeypatch):
    monkeypatch.setattr(safeguard, "_HALVINGS", 0)
    monkeypatch.setattr(BodyProblem, "start_from_supports", lambda *given: None)
    refused("inside out", shaken().step, error=sp.StepFailed)
