"""Rails: where material points go, and how fast."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.helpers import EPS
from tests.refusals import refusals

import supple as sp

X = np.random.default_rng(0).normal(size=(5, 3))
KEYS = Rotation.from_rotvec([(0, 0, 0), (0.5, 1.0, 0), (1.0, 1.5, -2.0), (0, 2.0, 0)])
TIMES = [0.0, 0.3, 1.0, 1.4]
PLACES = [(0, 0, 0), (1, 0, 2), (1.5, 1, 0), (0, 0, 0)]

RAILS = {
    "path": sp.Rails.path(position=lambda t: (np.sin(3 * t), t**2, 0)),
    "path with velocity": sp.Rails.path(
        position=lambda t: (np.sin(3 * t), t**2, 0),
        velocity=lambda t: (3 * np.cos(3 * t), 2 * t, 0),
    ),
    "turning": sp.Rails.turning(centre=(0.3, 0, 1), rate=(1, -2, 0.5)),
    "keyframes": sp.Rails.keyframes(TIMES, PLACES),
    "keyframes that turn": sp.Rails.keyframes(TIMES, PLACES, KEYS, centre=(1, 0, 0)),
    "any": sp.Rails(
        position=lambda t: (t, 0, np.cos(t)),
        rotation=lambda t: (np.sin(2 * t), t, 0.3),
        centre=(0, 1, 0),
    ),
}


@pytest.mark.parametrize("name", RAILS)
@pytest.mark.parametrize("time", [0.15, 0.7, 1.2])
def test_velocity_is_that_of_material_points(name, time):
    rails, h = RAILS[name], 1e-4
    pose = rails.pose(time)
    np.testing.assert_allclose(pose.to_rest(pose.to_world(X)), X, atol=20 * EPS)
    a, b, d, e = (rails.pose(time + s * h).to_world(X) for s in (-2, -1, 1, 2))
    slope = (8 * (d - b) - (e - a)) / (12 * h)
    # Truncation: fifth derivatives are below 1e6 / s⁵ here; and rounding.
    bound = 1e6 / 30 * h**4 + 30 * EPS / h
    assert np.abs(pose.velocity_at(pose.to_world(X)) - slope).max() < bound


def test_motion_is_the_one_described():
    rails, t = RAILS["any"], 0.8
    R = Rotation.from_rotvec((np.sin(2 * t), t, 0.3)).as_matrix()
    centre = np.array([0, 1, 0])
    expected = centre + (t, 0, np.cos(t)) + (X - centre) @ R.T
    np.testing.assert_allclose(rails.pose(t).to_world(X), expected, atol=10 * EPS)


def test_differences_of_fourth_order():
    """Without derivatives given, differences over ``resolution`` are off by its fourth power."""
    for resolution in (1e-2, 1e-3):
        rails = sp.Rails(
            position=lambda t: (np.sin(5 * t), 0, 0),
            rotation=lambda t: (0, 0, np.sin(5 * t)),
            resolution=resolution,
        )
        pose, speed = rails.pose(0.3), 5 * np.cos(1.5)
        bound = 5**5 / 30 * resolution**4 + 4 * EPS / resolution
        assert abs(pose.velocity_at(np.array([rails.position(0.3)]))[0, 0] - speed) < bound
        # The fifth derivative of the matrix has terms of the fifth power of the rate, and more.
        np.testing.assert_allclose(pose.spin, (0, 0, speed), atol=60 * bound)


def test_keyframes_are_met_from_rest_to_rest():
    rails = RAILS["keyframes that turn"]
    for time, place, turn in zip(TIMES, PLACES, KEYS, strict=True):
        pose = rails.pose(time)
        np.testing.assert_allclose(pose.rotation, turn.as_matrix(), atol=1e-12)
        np.testing.assert_allclose(
            pose.to_world(np.array([[1.0, 0, 0]]))[0], np.add(place, (1, 0, 0)), atol=1e-14
        )
    for time in (TIMES[0], TIMES[-1], TIMES[0] - 1, TIMES[-1] + 1):
        pose = rails.pose(time)
        assert np.abs(pose.spin).max() < 1e-12
        assert np.abs(pose.velocity_at(X)).max() < 1e-12
    np.testing.assert_array_equal(rails.pose(9.0).rotation, rails.pose(TIMES[-1]).rotation)


def test_rotations_given_in_any_way_are_the_same():
    for given in (KEYS, KEYS.as_matrix(), KEYS.as_rotvec()):
        rails = sp.Rails.keyframes(TIMES, PLACES, given)
        expected = sp.Rails.keyframes(TIMES, PLACES, KEYS).pose(0.5).rotation
        np.testing.assert_allclose(rails.pose(0.5).rotation, expected, atol=1e-12)


test_bad_rails_named = refusals(
    (lambda: sp.Rails(position=(0, 0, 1)), "position"),
    (lambda: sp.Rails(rotation=np.eye(3)), "rotation"),
    (lambda: sp.Rails(velocity=lambda t: (0, 0, 1)), "position="),
    (lambda: sp.Rails(spin=lambda t: (0, 0, 1)), "rotation="),
    (lambda: sp.Rails(resolution=0), "resolution"),
    (lambda: sp.Rails(centre=(0, 0)), "centre"),
    (lambda: sp.Rails.turning(rate=3.0), "rate"),
    (lambda: sp.Rails.keyframes([0, 0], np.zeros((2, 3))), "times"),
    (lambda: sp.Rails.keyframes([0], np.zeros((1, 3))), "times"),
    (lambda: sp.Rails.keyframes([0, 1], np.zeros((2, 2))), "positions"),
    (lambda: sp.Rails.keyframes([0, 1], np.zeros((2, 3)), np.ones((2, 3, 3))), "rotations"),
    (lambda: sp.Rails.keyframes([0, 1], np.zeros((2, 3)), KEYS), "rotations"),
    (lambda: sp.Rails.path(position=lambda t: (0, 0)).pose(1.5), r"position\(1.5\)"),
    (lambda: sp.Rails(rotation=lambda t: t * np.eye(3)).pose(1.5), r"rotation\(1.5\)"),
)
