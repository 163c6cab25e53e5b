"""Tracks between their keys, and clips played over and over."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation
from tests.character.bodies import rig_of
from tests.refusals import refusals, refused

from supple.character import Channel, Clip, Interpolation, Track

KEYS = np.array([0.5, 1.0, 2.0])
TIMES = np.linspace(0.0, 2.5, 41)
ONE_JOINT = rig_of(("joint",), [-1], [(0, 0, 0)])


def places(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(3, 3))


def test_steps_stay_until_the_next_key():
    track = Track(0, Channel.TRANSLATION, KEYS, places(), Interpolation.STEP)
    found = track.at([0.0, 0.5, 0.99, 1.0, 1.99, 2.0, 9.0])
    np.testing.assert_array_equal(found, places()[[0, 0, 0, 1, 1, 2, 2]])


def test_lines_between_keys():
    track = Track(0, Channel.SCALE, KEYS, places())
    first, second, last = places()
    expected = [0.5 * (first + second), 0.75 * second + 0.25 * last]
    np.testing.assert_allclose(track.at([0.75, 1.25]), expected)


def test_cubics_have_the_slopes_given():
    """With one slope at each key they are Hermite's, as SciPy has them."""
    slopes = places(1)
    values = np.stack([slopes, places(), slopes], axis=1)
    track = Track(0, Channel.TRANSLATION, KEYS, values, Interpolation.CUBICSPLINE)
    expected = CubicHermiteSpline(KEYS, places(), slopes)(np.clip(TIMES, 0.5, 2.0))
    np.testing.assert_allclose(track.at(TIMES), expected, atol=1e-12)


def test_cubics_may_have_a_corner_at_a_key():
    values = np.zeros((3, 3, 3))
    values[1, 0, 0], values[1, 2, 0] = 3.0, -2.0
    track = Track(0, Channel.TRANSLATION, KEYS, values, Interpolation.CUBICSPLINE)
    before, at, after = track.at([1 - 1e-6, 1.0, 1 + 1e-6])[:, 0]
    assert (at - before) / 1e-6 == pytest.approx(3.0, rel=1e-4)
    assert (after - at) / 1e-6 == pytest.approx(-2.0, rel=1e-4)


def test_rotations_turn_evenly_the_short_way():
    """The second key is written with the other sign, as files may."""
    turns = Rotation.from_rotvec([[0, 0, 0], [0, 0, 1.0], [0, 0, 2.0]]).as_quat()
    turns[1] *= -1
    angle = Rotation.from_quat(Track(0, Channel.ROTATION, KEYS, turns).at(TIMES)).as_rotvec()[:, 2]
    np.testing.assert_allclose(angle, np.interp(TIMES, KEYS, [0, 1, 2]), atol=1e-12)


def test_cubic_rotations_are_of_length_one():
    turns = Rotation.from_rotvec([[0, 0, 0], [0.5, 0, 1.0], [0, 1.0, 2.0]]).as_quat()
    values = np.stack([0.3 * turns, turns, 0.3 * turns], axis=1)
    track = Track(0, Channel.ROTATION, KEYS, values, Interpolation.CUBICSPLINE)
    np.testing.assert_allclose(np.linalg.norm(track.at(TIMES), axis=1), 1.0)


@pytest.mark.parametrize("between", list(Interpolation))
def test_a_single_key_stays(between):
    values = np.array([[1.0, 2.0, 3.0]])
    if between is Interpolation.CUBICSPLINE:
        values = np.stack([np.ones((1, 3)), values, np.ones((1, 3))], axis=1)
    track = Track(0, Channel.SCALE, [1.0], values, between)
    np.testing.assert_array_equal(track.at([0.0, 5.0]), [[1, 2, 3]] * 2)


def test_a_loop_closes_within_the_time_before_its_first_key():
    """Keys at 0.5, 1 and 2 s: a round of 2 s, of which 0.5 s lead from the last to the first."""
    clip = Clip("round", [Track(0, Channel.TRANSLATION, KEYS, places())])
    assert clip.duration == 1.5
    assert clip.period == 2.0
    x = clip.looped(ONE_JOINT, [0.0, 0.5, 1.5, 1.75, 2.0, 2.5]).translations[:, 0]
    first, second, last = places()
    expected = [first, second, last, 0.5 * (first + last), first, second]
    np.testing.assert_allclose(x, expected, atol=1e-12)


def test_rounds_end_at_their_last_key():
    clip = Clip("round", [Track(0, Channel.TRANSLATION, [0.0, 1.0], places()[:2])])
    x = clip.looped(ONE_JOINT, [0.0, 1.0, 1.5, 2.0]).translations[:, 0]
    first, last = places()[:2]
    np.testing.assert_allclose(x, [first, last, 0.5 * (first + last), last], atol=1e-12)


ENDS = {"times": [0.0, 1.0], "values": np.zeros((2, 3))}
test_bad_tracks = refusals(
    ({"times": [1.0, 1.0]}, "later"),
    ({"times": []}, "one or more"),
    ({"values": np.zeros((2, 4))}, r"give \(2, 3\)"),
    ({"between": Interpolation.CUBICSPLINE}, r"give \(2, 3, 3\)"),
    make=lambda given: Track(0, Channel.TRANSLATION, **ENDS | given),
)


def test_a_clip_needs_tracks():
    refused("no tracks", Clip, "still", [])
