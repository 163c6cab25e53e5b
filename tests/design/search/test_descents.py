"""Descents from many places, for wishes that are missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.design.search.benches import bench_of

import supple as sp
from supple.design.search.bench import Bench
from supple.design.search.descents import descend
from supple.design.search.knots import Knots
from supple.design.search.reasons import reason
from supple.design.testbeds import make_testbed


@pytest.fixture
def bench(reduced, examples) -> Bench:
    """Of two swings that contradict each other, with a curve that is far from both."""
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.3), examples[:1])
    targets = [sp.Unloading("bend", 0.5, 0.15), sp.Unloading("bend", 1.0, 0.8)]
    bench = bench_of(make_testbed(reduced, damping, dt=1 / 30), damping, targets)
    bench.trial(Knots({0: np.array([0.5, 1.0])}), np.array([2.0, 2.0]))
    return bench


def test_descents_lead_on_and_end_where_they_may(bench):
    far = bench.best.quality
    descend(bench, sum(bench.simulations), seed=0)
    assert bench.cut_short
    assert bench.best.quality == far
    assert sum(bench.simulations) == 2 + 4  # one more of each target from two nudged starts
    descend(bench, sum(bench.simulations) + 5, seed=0)  # the nudges, and then one descent
    assert bench.cut_short
    assert bench.best.quality < (far[0], 0.5 * far[1])
    assert "not closer in" in reason(bench, bench.best, 0)
    assert bench.frozen == frozenset()


def test_what_rounding_decides_is_not_met(bench):
    """A release from another ninth digit of the start that failed, beside one that is as wished."""
    left = [bench.release(bench.damping, i).residual for i in (0, 1)]
    damping = bench.damping
    targets = [sp.Unloading("bend", a, x) for a, x in zip((0.5, 1.0), left, strict=True)]
    met = bench_of(bench.bed, damping, targets)
    trial = met.trial(Knots({0: np.array([0.5])}), np.array([0.0]))
    assert trial.met(met.tolerance)
    unsure = replace(trial, nudged={1: (True, 0.0)})
    assert unsure.is_met(0, met.tolerance)
    assert not unsure.met(met.tolerance)
    assert "rounding decides" in reason(met, unsure, 1)
