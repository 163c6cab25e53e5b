"""Targets that are out of reach by themselves, and those beside them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.design.search.benches import bench_of

import supple as sp
from supple.design.search import descents
from supple.design.search.alone import is_near, nearest_alone
from supple.design.search.bench import GIVEN_UP, Bench
from supple.design.search.descents import bring_nearer, descend
from supple.design.search.knots import Knots, evenly_spaced
from supple.design.search.reasons import beyond_reach, met_alone, reason
from supple.design.testbeds import make_testbed

NEITHER_NOR = sp.Envelope(((1, 0.9), (2, 0.2), (3, 0.18)), unit="cycles")
"""Hardly anything goes in the first cycle, nearly all in the second, nothing in the third."""


def bench_for(reduced, examples, targets) -> Bench:
    """With a constant for a curve."""
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.3), examples[:1])
    bench = bench_of(make_testbed(reduced, damping, dt=1 / 30), damping, targets)
    bench.trial(Knots({0: np.array([0.5, 1.0])}), np.zeros(2))
    return bench


@pytest.mark.verify
def test_reach_is_that_of_curves_with_many_points(reduced, examples):
    """What a curve that rises and falls leaves is within reach, though no constant leaves it."""
    wavy = Knots({0: evenly_spaced(1.0, 10)})
    z = 0.5 + 0.8 * np.sin(np.arange(10.0))
    first = bench_for(reduced, examples, [sp.Unloading("bend", 1.0, NEITHER_NOR)])
    test = first.release(wavy.damping(first.damping, z), 0)
    shares = tuple((k + 1, float(test.turns[k, 1])) for k in range(3))
    wish = sp.Unloading("bend", 1.0, sp.Envelope(shares, unit="cycles"))
    bench = bench_for(reduced, examples, [wish])
    assert met_alone(bench, bench.damping, 0).gamma is None
    assert is_near(nearest_alone(bench, 0, seed=0))
    assert not beyond_reach(first, first.best, 0)  # constants do not tell
    assert not is_near(nearest_alone(first, 0, seed=0))


@pytest.mark.verify
def test_a_wish_beside_one_out_of_reach_is_met(reduced, examples, monkeypatch):
    targets = [
        sp.Unloading("bend", 0.5, sp.ShareLeft(0.6)),
        sp.Unloading("bend", 1.0, NEITHER_NOR),
    ]

    def designed() -> Bench:
        bench = bench_for(reduced, examples, targets)
        descend(bench, 1300, seed=0)
        return bench

    bench = designed()
    found = bench.chosen
    assert found.is_met(0, 0.005)
    assert found.weights == (1.0, GIVEN_UP)
    assert reason(bench, found, 1).startswith("out of reach by itself: of curves with 10 points")
    assert np.array_equal(found.z, designed().chosen.z)
    monkeypatch.setattr(descents, "is_near", lambda _: True)
    drawn_off = designed().best
    assert drawn_off.weights == (1.0, 1.0)
    assert not drawn_off.is_met(0, 0.005)


@pytest.mark.verify
def test_what_constants_do_not_reach_is_taken_up_where_curves_do(reduced, examples):
    """Nothing but a look at curves tells that it was given up too soon."""
    targets = [sp.Unloading("bend", 1.0, sp.ShareLeft(0.6))]
    bench = bench_for(reduced, examples, targets)
    bench.give_up(0)
    assert bench.is_done
    assert not bench.chosen.is_met(0, 0.005)
    descend(bench, 1300, seed=0)
    assert bench.chosen.weights == (1.0,)
    assert bench.chosen.is_met(0, 0.005)


@pytest.mark.verify
def test_what_is_out_of_reach_is_brought_nearer_beside_what_stays_met(reduced, examples):
    targets = [
        sp.Unloading("bend", 0.5, sp.ShareLeft(0.6)),
        sp.Unloading("bend", 1.0, NEITHER_NOR),
    ]
    bench = bench_for(reduced, examples, targets)
    descend(bench, 1300, seed=0)
    before = bench.chosen
    bring_nearer(bench, seed=0)
    after = bench.chosen
    assert before.is_met(0, 0.005)
    assert after.is_met(0, 0.005)
    assert after.missed(1) < before.missed(1)
    assert after.weights == (1.0, GIVEN_UP)
    assert bench.frozen == frozenset()
