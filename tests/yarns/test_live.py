"""Changes between two steps of woven cloth, and moments that are gone back to."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from tests.refusals import refused
from tests.yarns.test_simulation import hanging, patch

import supple as sp
from supple.solvers import Cholesky, ConjugateGradients, LaggedCholesky
from supple.yarns import YarnDamping, YarnRayleigh, YarnSimulation

DAMPING = YarnDamping(stretch=0.03, shear=0.02)


def falling(**options) -> YarnSimulation:
    """Cloth that falls over a ball with friction."""
    body = patch()
    x = body.net.positions
    centre = (*x[:, :2].mean(axis=0), -0.0035)
    ball = sp.Sphere(centre=centre, radius=0.003, friction=0.3)
    given = {"gravity": (0, 0, -9.81), "obstacles": [ball], "damping": DAMPING, "dt": 2e-3}
    return YarnSimulation(body, **{**given, **options})


def where(sim: YarnSimulation) -> bytes:
    parts = sim.q, sim.v, sim.contact_forces, np.array([sim.time, sim.frame().dissipated])
    return b"".join(part.tobytes() for part in parts)


def steps(sim: YarnSimulation, count: int) -> None:
    for _ in range(count):
        sim.step()


@pytest.mark.parametrize("linear", [None, Cholesky(), LaggedCholesky(), ConjugateGradients()])
def test_the_motion_after_a_snapshot_is_the_same_again(linear):
    sim, untouched = falling(linear=linear), falling(linear=linear)
    for each in (sim, untouched):
        steps(each, 8)
    kept = sim.snapshot()
    for each in (sim, untouched):
        steps(each, 8)
    assert np.abs(sim.contact_forces).max() > 0
    assert where(sim) == where(untouched)
    for _ in range(2):
        sim.restore(kept)
        assert sim.time == pytest.approx(16e-3)
        steps(sim, 8)
        assert where(sim) == where(untouched)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_are_independent_and_exact(copied):
    sim = falling()
    steps(sim, 8)
    other = copied(sim)
    before = where(sim)
    assert where(other) == before
    steps(other, 4)
    assert where(sim) == before
    steps(sim, 4)
    assert where(sim) == where(other)


def test_settings_change_and_come_back():
    sim = falling()
    twin = copy.copy(sim)
    kept = sim.snapshot()
    sim.damping, sim.gravity, sim.dt = YarnRayleigh(stiffness=1e-4), (0, 0, 3), 5e-4
    sim.obstacles = ()
    steps(sim, 5)
    assert sim.time == pytest.approx(5 * 5e-4)
    assert sim.v[:, 2].max() > 0
    assert not sim.contact_forces.any()
    sim.restore(kept)
    for each in (sim, twin):
        steps(each, 9)
    assert where(sim) == where(twin)
    assert (sim.dt, sim.damping) == (2e-3, DAMPING)


def test_steps_of_their_own_length():
    sim, other = (hanging(patch(), damping=DAMPING) for _ in range(2))
    other.dt = 3e-4
    for _ in range(5):
        sim.step(dt=3e-4)
        other.step()
    assert where(sim) == where(other)
    assert sim.dt == 1e-3
    assert len(sim.run(3e-3, dt=5e-4)) == 7


def test_an_obstacle_that_is_elsewhere():
    sim = falling()
    steps(sim, 30)
    for height in (0.0005, 0.001):
        ball = sim.obstacles[0]
        sim.obstacles = sp.Sphere(centre=np.add(ball.centre, (0, 0, height)), radius=ball.radius)
        steps(sim, 2)
        moved = sim.obstacles[0]
        away = np.linalg.norm(sim.q[:, :3] - np.asarray(moved.centre), axis=1)
        assert away.min() > moved.radius


def test_what_cannot_be_set():
    sim = falling()
    refused("did you mean damping", setattr, sim, "dampin", None)
    refused("set_state", setattr, sim, "q", sim.q)
    refused("another simulation", setattr, sim, "supports", ())
    refused("dt", setattr, sim, "dt", 0.0)
    refused("bounce", setattr, sim, "obstacles", sp.Plane(normal=(0, 0, 1), vertex_restitution=0.5))
    refused("another cloth", sim.restore, falling().snapshot())
    refused("damping", setattr, sim, "damping", sp.Rayleigh(mass=1.0))
    sim.step()
