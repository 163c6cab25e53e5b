"""Meshes that change shape as obstacles: where they are, how fast, and that nothing passes them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.contact.blocks import DAMPING, G, block, edge
from tests.helpers import stepped

import supple as sp

BALL = sp.Sphere(centre=(0, 0, 0), radius=0.3).surface()
TIMES = np.linspace(0.0, 1.0, 41)


def moved(surface: sp.Surface, place, **options: object) -> sp.AnimatedMesh:
    """A surface whose vertices x are at place(x, t)."""
    positions = np.array([place(surface.vertices, t) for t in TIMES])
    return sp.AnimatedMesh(triangles=surface.triangles, times=TIMES, positions=positions, **options)


def around(seed: int = 0, count: int = 200) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.6, 0.6, (count, 3))


def test_as_a_mesh_on_rails():
    """Carried along a path that cubics follow exactly: same distances, normals and velocities."""
    velocity = np.array([0.4, -0.2, 0.1])
    rigid = sp.MeshObstacle(BALL, motion=sp.Rails.path(position=lambda t: t * velocity))
    animated = moved(BALL, lambda x, t: x + t * velocity)
    for time in (0.0, 0.33, 0.5, 0.999):
        one, other = (obstacle.at(around(), time) for obstacle in (rigid, animated))
        np.testing.assert_allclose(other.distance, one.distance, atol=1e-12)
        np.testing.assert_allclose(other.normal, one.normal, atol=1e-9)
        np.testing.assert_allclose(other.velocity, one.velocity, atol=1e-10)


def test_velocity_is_that_of_the_surface():
    """A ball that swells: all of its surface moves outwards at the rate of its radius."""
    animated = moved(BALL, lambda x, t: (1 + t**2) * x)
    touch = animated.at(around(1), 0.5)
    place = around(1) - touch.distance[:, None] * touch.normal
    np.testing.assert_allclose(touch.velocity, place / 1.25, atol=2e-3)


def test_between_times_by_cubics_through_them():
    animated = moved(BALL, lambda x, t: x + np.array([np.sin(3 * t), 0, 0]))
    for k in (0, 7, 40):
        np.testing.assert_allclose(animated.vertices_at(TIMES[k])[0], animated.positions[k])
    for time in (0.11, 0.5, 0.87):
        ahead, behind = (animated.vertices_at(time + h)[0] for h in (1e-6, -1e-6))
        x, v = animated.vertices_at(time)
        np.testing.assert_allclose(v, (ahead - behind) / 2e-6, atol=1e-8)
        assert np.abs(x[:, 0] - BALL.vertices[:, 0] - np.sin(3 * time)).max() < 1e-5
    for time in (-1.0, 2.0):
        np.testing.assert_array_equal(animated.vertices_at(time)[1], 0.0)


def test_margin_keeps_off():
    """Distances are less by the margin, and nothing else changes."""
    near, far = (moved(BALL, lambda x, t: (1 + t) * x, margin=m) for m in (0.0, 0.01))
    one, other = (obstacle.at(around(2), 0.3) for obstacle in (near, far))
    np.testing.assert_allclose(other.distance, one.distance - 0.01, atol=1e-12)
    np.testing.assert_array_equal(other.normal, one.normal)
    np.testing.assert_array_equal(other.velocity, one.velocity)


def test_what_it_carries_goes_along():
    """Points tied to a ball that turns and moves go with it as if they were part of it."""

    def place(x, t):
        turn = Rotation.from_rotvec([0, 0, 2 * t]).as_matrix()
        return x @ turn.T + np.array([t, 0, 0])

    animated, start = moved(BALL, place), TIMES[8]
    for outside in (around(3), BALL.vertices, 1.05 * BALL.vertices):
        ride = animated.carried(place(outside, start), start)
        for time in (start, TIMES[20], TIMES[40]):
            np.testing.assert_allclose(ride(time), place(outside, time), atol=1e-9)


def test_drawn_where_it_is():
    animated = moved(BALL, lambda x, t: x + np.array([t, 0, 0]))
    np.testing.assert_allclose(
        animated.surface(0.5).vertices, BALL.vertices + np.array([0.5, 0, 0])
    )


@pytest.mark.parametrize("speed", [2.0, 20.0])
def test_a_fast_paddle_does_not_pass_through(speed):
    """4 cm thick and at 20 m/s a third of a metre a step: the block is always ahead of it."""
    plate = sp.Box(centre=(-0.3, 0, 0.1), size=(0.04, 0.8, 0.8)).surface()
    paddle = moved(plate, lambda x, t: x + np.array([speed * t, 0, 0]), friction=0.2)
    body = block(young=1e5)
    sim = sp.Simulation(body, obstacles=paddle, damping=DAMPING, dt=1 / 60, gravity=(0, 0, 0))
    touched = False
    for _ in range(int(0.5 * 60)):
        sim.step()
        touched |= bool(sim.contact_forces.any())
        front = -0.28 + speed * sim.state.time
        ahead = (body.mesh.vertices + sim.state.u)[:, 0] - front
        assert ahead.min() >= -1e-5 * edge(body)
    assert touched
    assert sim.state.v[:, 0].mean() > 0.9 * speed


def test_friction_is_with_the_moving_surface():
    """A belt that moves under a block carries it along."""
    plate = sp.Box(centre=(0, 0, -0.05), size=(6.0, 1.0, 0.1)).surface()
    belt = moved(plate, lambda x, t: x + np.array([t, 0, 0]), friction=0.5)
    body = block(young=1e6)
    sim = sp.Simulation(body, obstacles=belt, damping=DAMPING, dt=0.02, gravity=(0, 0, -G))
    stepped(sim, 40)
    assert abs(sim.state.v[:, 0].mean() - 1.0) < 1e-3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"times": [0.0]}, "two or more"),
        ({"times": [0.0, 0.0]}, "later"),
        ({"positions": np.zeros((3, 4, 3))}, r"\(T, n, 3\)"),
        ({"margin": -1e-3}, "at least 0"),
        ({"motion": sp.Rails.path(position=lambda t: (t, 0, 0))}, "rigid"),
    ],
)
def test_bad_input(given, words):
    options = {
        "triangles": BALL.triangles,
        "times": [0.0, 1.0],
        "positions": np.array([BALL.vertices, BALL.vertices]),
    }
    with pytest.raises(sp.InputError, match=words):
        sp.AnimatedMesh(**(options | given))
