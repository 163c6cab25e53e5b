"""Curves of γ: where they run, and that they are data."""

from __future__ import annotations

import json
import pickle
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator
from tests.helpers import EPS
from tests.refusals import refused

import supple as sp
from supple import Curve, Joining
from supple.damping.files.text_format import as_toml

POINTS = ((0.0, 0.3), (0.4, 5.0), (0.5, 2.0), (1.3, 2.5), (2.0, 0.01))
every_joining = pytest.mark.parametrize("joining", Joining, ids=lambda j: j.value)


@st.composite
def points(draw, least: int = 1) -> tuple[tuple[float, float], ...]:
    """(x, γ) over many decades of γ; x at least 1e-3 apart."""
    count = draw(st.integers(least, 6))
    gaps = draw(st.lists(st.floats(1e-3, 3.0), min_size=count, max_size=count))
    logs = draw(st.lists(st.floats(-4, 4), min_size=count, max_size=count))
    start = draw(st.sampled_from([0.0, gaps[0]]))
    x = start + np.cumsum(gaps) - gaps[0]
    return tuple(zip(x.tolist(), (10.0 ** np.array(logs)).tolist(), strict=True))


def between(curve: Curve, count: int = 50) -> np.ndarray:
    """Fine samples from each point to the next, ends included, (pieces, count)."""
    x = np.array(curve.points)[:, 0]
    return np.linspace(x[:-1], x[1:], count, axis=1)


# -- where they run --------------------------------------------------------------------------


@every_joining
@given(points())
def test_curve_passes_through_its_points(joining, given_points):
    curve = Curve(given_points, joining)
    x, gamma = np.array(given_points).T
    np.testing.assert_allclose(curve(x), gamma, rtol=1e-10)
    # constant before the first point and beyond the last
    assert curve(x[-1] + 1e-3) == curve(1e6) == pytest.approx(gamma[-1], rel=1e-10)
    assert curve(0.5 * x[0]) == pytest.approx(gamma[0], rel=1e-10)


@every_joining
@given(points(), st.lists(st.floats(-10, 10), min_size=1, max_size=5))
def test_vectors_negative_x_and_scalars_agree(joining, given_points, x):
    curve = Curve(given_points, joining)
    found = curve(np.array(x).reshape(1, -1))
    assert found.shape == (1, len(x))
    for each, value in zip(x, found[0], strict=True):
        assert isinstance(curve(each), float)
        assert curve(each) == curve(-each) == pytest.approx(value, rel=4 * EPS)
    assert curve(np.empty((0, 3))).shape == (0, 3)


@every_joining
@given(points(least=2))
def test_strengthening_mirrors_weakening(joining, given_points):
    """1/γ at the points gives 1/γ everywhere."""
    curve = Curve(given_points, joining)
    mirror = Curve(tuple((x, 1 / gamma) for x, gamma in given_points), joining)
    x = between(curve)
    np.testing.assert_allclose(curve(x) * mirror(x), 1.0, rtol=1e-9)


@pytest.mark.parametrize("joining", [Joining.LINEAR, Joining.MONOTONE], ids=lambda j: j.value)
@given(points(least=2))
def test_curve_stays_between_its_points(joining, given_points):
    curve = Curve(given_points, joining)
    gamma = np.array(given_points)[:, 1]
    values = curve(between(curve))
    assert (values >= np.minimum(gamma[:-1], gamma[1:])[:, None] * (1 - 1e-9)).all()
    assert (values <= np.maximum(gamma[:-1], gamma[1:])[:, None] * (1 + 1e-9)).all()
    # and runs one way from point to point
    steps = np.diff(np.log10(values), axis=1) * np.sign(np.diff(np.log10(gamma)))[:, None]
    assert steps.min() >= -1e-9


def test_linear_runs_straight_in_logarithms():
    curve = Curve.linear([(0.0, 0.1), (2.0, 10.0)])
    assert curve(1.0) == pytest.approx(1.0, rel=1e-14)
    assert curve(0.5) == pytest.approx(10**-0.5, rel=1e-14)


@pytest.mark.parametrize("moved", range(len(POINTS)))
def test_moving_a_point_of_a_linear_curve_is_local(moved):
    old = Curve.linear(POINTS)
    changed = [list(point) for point in POINTS]
    changed[moved][1] *= 7.0
    new = Curve.linear(changed)
    x = between(old)
    same = np.isclose(old(x), new(x), rtol=1e-12).all(axis=1)
    expected = [moved not in (piece, piece + 1) for piece in range(len(POINTS) - 1)]
    assert same.tolist() == expected


@given(points(least=2))
def test_bezier_is_smooth_also_where_it_ends(given_points):
    """Value and slope of log γ agree from both sides of every point; level at both ends."""
    x, cubics = Curve.bezier(given_points).cubics
    h = np.diff(x)[:, None]
    a, b, c, d = cubics.T[:, :, None]
    ends = np.hstack([a, a + h * (b + h * (c + h * d))])
    slopes = np.hstack([b, b + h * (2 * c + h * 3 * d)])
    size = (np.abs(cubics) * h ** np.arange(4)).sum(axis=1).max()
    assert np.abs(ends[1:, 0] - ends[:-1, 1]).max(initial=0) <= 1e-12 * size
    rough = 1e-12 * size / h.min()
    assert np.abs(slopes[1:, 0] - slopes[:-1, 1]).max(initial=0) <= 10 * rough
    assert max(abs(slopes[0, 0]), abs(slopes[-1, 1])) <= 10 * rough


@every_joining
def test_curve_is_continuous(joining):
    curve = Curve(((0.2, 0.3), *POINTS[1:]), joining)
    for x, gamma in curve.points:
        for side in (-1e-9, 1e-9):
            assert curve(x + side) == pytest.approx(gamma, rel=1e-6)


@pytest.mark.parametrize("joining", [Joining.MONOTONE, Joining.BEZIER], ids=lambda j: j.value)
def test_cubics_are_scipys(joining):
    x, y = np.array(POINTS).T
    y = np.log10(y)
    slopes = np.concatenate([[0.0], (y[2:] - y[:-2]) / (x[2:] - x[:-2]), [0.0]])
    monotone = joining is Joining.MONOTONE
    spline = PchipInterpolator(x, y) if monotone else CubicHermiteSpline(x, y, slopes)
    curve = Curve(POINTS, joining)
    samples = between(curve)
    np.testing.assert_allclose(np.log10(curve(samples)), spline(samples), atol=1e-13)
    breaks, cubics = curve.cubics
    np.testing.assert_array_equal(breaks, x)
    assert cubics.shape == (len(x) - 1, 4)
    assert cubics.flags.c_contiguous


def test_two_monotone_points_ease_in_and_out():
    """As with more points and Bézier pieces, nothing to gain from a corner at the ends."""
    curve = Curve.monotone([(0.0, 1.0), (1.0, 100.0)])
    assert curve(0.5) == pytest.approx(10.0)
    assert np.log10(curve(0.01)) < 1e-3


# -- constants -------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.0, 1e-300, 0.3, 7.0, 1e300])
def test_constants(gamma):
    curve = Curve.constant(gamma)
    assert curve.is_constant
    np.testing.assert_allclose(curve([0.0, 0.1, 1e9]), gamma, rtol=1e-12)
    assert curve.table() == gamma
    assert not Curve.linear(POINTS).is_constant


# -- data ------------------------------------------------------------------------------------


@every_joining
@settings(max_examples=50)
@given(points())
def test_tables_survive_files(joining, given_points):
    """The very same curve back, bit by bit, from TOML and from JSON."""
    curve = Curve(given_points, joining)
    assert Curve.of(curve.table()) == curve
    assert Curve.of(json.loads(json.dumps(curve.table()))) == curve
    assert Curve.of(tomllib.loads(f"curve = {as_toml(curve.table())}")["curve"]) == curve


def test_what_a_person_writes():
    assert Curve.of(3) == Curve.constant(3.0) == Curve.of(Curve.constant(3.0))
    text = "curve = {bezier = [[0, 0.3], [0.5, 5]]}"
    assert Curve.of(tomllib.loads(text)["curve"]) == Curve.bezier([(0, 0.3), (0.5, 5.0)])
    assert Curve.linear(POINTS).table() == {"linear": [list(point) for point in POINTS]}


def test_curves_are_compared_hashed_and_pickled():
    one, two = Curve.bezier(POINTS), Curve.bezier([list(point) for point in POINTS])
    one(0.3)  # what it keeps for itself does not count
    assert one == two
    assert hash(one) == hash(two)
    assert one != Curve.monotone(POINTS)
    assert one != Curve.bezier(POINTS[1:])
    assert len({one, two, Curve.linear(POINTS)}) == 2
    assert pickle.loads(pickle.dumps(one)) == one


def test_curves_are_printed():
    assert str(Curve.constant(0.25)) == "γ = 0.25"
    text = str(Curve.bezier(POINTS))
    assert "bezier" in text
    for x, gamma in POINTS:
        assert f"{gamma:.4g} at {x:.4g}" in text


# -- what is refused -------------------------------------------------------------------------


@every_joining
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], "at least one point"),
        ([(0.0, 1.0), (0.0, 2.0)], "grow from point to point"),
        ([(1.0, 1.0), (0.5, 2.0)], "grow from point to point"),
        ([(-0.1, 1.0), (0.5, 2.0)], "zero or more"),
        ([(0.0, 1.0), (0.5, 0.0)], "γ must be positive"),
        ([(0.0, -1.0)], "γ must be positive"),
        ([(0.0, np.nan)], "finite"),
        ([(0.0, 1.0), (np.inf, 1.0)], "finite"),
        ([(0.0, 1.0, 2.0)], "pairs"),
        ([1.0, 2.0], "pairs"),
        ([("a", "b")], "pairs"),
        ([(0, 10**400)], "pairs"),
        (None, "pairs"),
        (3.0, "pairs"),
    ],
)
def test_bad_points_named(joining, bad, message):
    refused(message, getattr(Curve, joining.value), bad)


@pytest.mark.parametrize(
    "bad",
    [
        -1.0,
        np.nan,
        "strong",
        None,
        [1.0],
        {},
        {"spline": [[0, 1]]},
        {"linear": "flat"},
        {"linear": 1.0},
        {"linear": [[0, 1]], "bezier": [[0, 1]]},
        {"bezier": [[0, 1], [1]]},
        {"bezier": []},
    ],
    ids=str,
)
def test_bad_descriptions_named(bad):
    with pytest.raises(sp.InputError):
        Curve.of(bad)


def test_bad_joining_named():
    refused("joining", Curve, POINTS, "bezier")
