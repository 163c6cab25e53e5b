"""Wishes for swings of several sizes that contradict each other, and what designs say of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import supple as sp
from supple.design.conflicts import contradictions
from supple.design.search.bench import Asked
from supple.design.testbed import Watch
from supple.design.testbeds import make_testbed

BASE = sp.Rayleigh(mass=0.3)


def left_by_a_cycle(gamma, starts, *, by_rate: bool = False, steps: int = 2000):
    """What ẍ + γ(|x|) ẋ + x = 0 leaves of starts (s,) with many curves at once, (curves, s).

    ``gamma`` maps |x| or |ẋ| (curves, s) to strengths; Runge and Kutta's rule of order four.
    """
    x = np.array(starts, dtype=float)
    v = np.zeros_like(x)
    h = 6 * np.pi / steps

    def slope(x, v):
        return v, -x - gamma(np.abs(v if by_rate else x)) * v

    passes, left = np.zeros_like(x), np.zeros_like(x)
    for _ in range(steps):
        a = slope(x, v)
        b = slope(x + h / 2 * a[0], v + h / 2 * a[1])
        c = slope(x + h / 2 * b[0], v + h / 2 * b[1])
        d = slope(x + h * c[0], v + h * c[1])
        new = x + h / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
        v = v + h / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
        passes += new * x < 0
        x = new
        left = np.where(passes == 2, np.maximum(left, x), left)
    return left


def random_strengths(count: int, starts, seed: int):
    """Curves that are straight in log γ between 12 points, and starts for each of them."""
    places = np.geomspace(0.02, 2.0, 12)
    logs = np.random.default_rng(seed).uniform(-7, 0, size=(count, 12))

    def gamma(x):
        place = np.interp(x, places, np.arange(12.0))
        k = np.minimum(place.astype(int), 10)
        s = place - k
        rows = np.arange(count)[:, None]
        return np.exp((1 - s) * logs[rows, k] + s * logs[rows, k + 1])

    return gamma, np.tile(starts, (count, 1))


def test_large_swings_lose_more_and_stay_larger():
    """Of an oscillator: 300 curves of |x|, four starts."""
    starts = np.array([0.5, 0.8, 1.3, 2.0])
    gamma, begin = random_strengths(300, starts, seed=0)
    left = left_by_a_cycle(gamma, begin)
    assert (left > 0.1).mean() > 0.5  # not all of them creep
    assert (np.diff(left) >= -1e-6).all()
    assert (np.diff(starts - left) >= -1e-6).all()


def test_by_rate_large_swings_stay_larger_and_may_lose_less():
    starts = np.array([0.5, 0.8, 1.3, 2.0])
    gamma, begin = random_strengths(300, starts, seed=1)
    left = left_by_a_cycle(gamma, begin, by_rate=True)
    assert (np.diff(left) >= -1e-6).all()
    assert (np.diff(starts - left) < -0.05).any()


@pytest.mark.parametrize("width", [0.3, 0.1])
def test_the_bound_is_sharp(width):
    """Damping near x = 0 alone comes as near to it as one likes, and never beyond."""
    strengths = np.linspace(0.1, 0.4, 60)[:, None] / width
    one, two = left_by_a_cycle(
        lambda x: strengths * np.exp(-((x / width) ** 2)), np.tile([1.0, 2.0], (60, 1))
    ).T
    assert one[0] > 0.35 > one[-1]
    large = np.interp(-0.35, -one, two)
    assert 1.35 - 0.2 * width < large < 1.35


def told(reduced, examples, *targets, measure=sp.Measure.EXCITATION):
    bend = sp.Example(examples[0].shape, name="bend", measure=measure).scaled(0.01)
    bed = make_testbed(reduced, sp.ExampleDamping(BASE, [bend]))
    period = bed.linear_period(0)
    wishes = [sp.Unloading("bend", *target) for target in targets]
    return contradictions(bed, [Asked(0, each, Watch.of(each, period)) for each in wishes])


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ([(1.0, 0.35), (2.0, 1.5)], "lose 0.5 in a cycle.* 0.65 in a cycle.*1.35 is left at most"),
        ([(1.0, "20 % after 3 cycles"), (2.0, "80 % after 3 cycles")], "1.2 is left at most"),
        ([(1.0, "20 % after 2 cycles"), (2.0, "80 % after 3 cycles")], "1.2 is left at most"),
        ([(1.0, 0.35), (2.0, 0.2)], "larger stays the larger, so that 0.35 is left at least"),
        ([(1.0, "30 % after 3 cycles"), (2.0, "10 % after 2 cycles")], "0.3 is left at least"),
        ([(1.0, "90 % after 1 cycle, 50 % after 2 cycles")], "from 0.9 on.*0.6 is left at most"),
    ],
)
def test_told_before_anything_is_simulated(reduced, examples, targets, words):
    (note,) = told(reduced, examples, *targets)
    assert re.search(words, note), note


@pytest.mark.parametrize(
    "targets",
    [
        [(1.0, 0.35), (2.0, 1.34)],
        [(1.0, 0.35), (2.0, 0.36)],
        [(1.0, "10 % after 3 cycles"), (2.0, "90 % left")],
        [(1.0, "settles in 9 s"), (2.0, "90 % left")],
        [(1.0, "80 % in each of 3 cycles"), (2.0, "80 % in each of 3 cycles")],
    ],
)
def test_what_can_be_had_is_not_told(reduced, examples, targets):
    assert told(reduced, examples, *targets) == []


def test_a_curve_of_the_rate_knows_one_of_the_two(reduced, examples):
    rate = sp.Measure.RATE
    assert told(reduced, examples, (1.0, 0.35), (2.0, 1.5), measure=rate) == []
    (note,) = told(reduced, examples, (1.0, 0.35), (2.0, 0.2), measure=rate)
    assert "0.35 is left at least" in note
