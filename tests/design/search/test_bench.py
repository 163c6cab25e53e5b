"""How trials of strengths compare."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.design.search.benches import bench_of

import supple as sp
from supple.design.moments import Moment
from supple.design.search.bench import GIVEN_UP, Bench, Trial
from supple.design.search.knots import Knots
from supple.design.testbeds import make_testbed
from supple.design.unloading import UnloadingTest
from supple.design.wishes import Aim

AIM = Aim(1, "cycles", 0.5)


def trial(*left: float) -> Trial:
    """One that left so much of releases from 1, where half was wanted of each."""
    damping = sp.ExampleDamping(sp.Rayleigh(mass=1.0), [])
    times = np.linspace(0.0, 1.0, 3)
    test = UnloadingTest(times, times, 0.5, 1.0, times, np.array([[1.0, 0.5]]))
    moments = tuple((Moment(AIM, 0.5, x, -np.log(x)),) for x in left)
    count = len(left)
    return Trial(
        Knots({}), np.zeros(0), damping, count * (test,), moments, count * (False,), count * (1.0,)
    )


def test_what_is_out_of_reach_does_not_outweigh_what_can_be_met():
    """By a plain sum of squares the first would be worse, for its third is farther off."""
    assert trial(0.5, 0.5, 0.04).quality < trial(0.4, 0.6, 0.06).quality


def test_what_was_given_up_draws_no_other_off():
    """However far off it is, no more than a wish that is missed by 1 %, which bringing it would."""
    far = replace(trial(0.5, 0.01), weights=(1.0, GIVEN_UP))
    beside = replace(trial(0.505, 0.5), weights=(1.0, GIVEN_UP))
    assert far.quality < beside.quality
    assert far.met(0.005)


class Bed:
    """Releases that leave what they are told to, one after the other."""

    linear_period = staticmethod(lambda _: 1.0)
    base_products = staticmethod(lambda: (np.eye(1), np.eye(1)))

    def __init__(self, *lefts: tuple[float, ...]) -> None:
        self._left = iter([x for left in lefts for x in left])

    def try_unloading(self, damping, example, start, watch) -> UnloadingTest:
        times, left = np.linspace(0.0, 1.0, 3), next(self._left)
        swing = np.array([start, 0.0, left])
        return UnloadingTest(times, swing, left, 1.0, times, np.array([[1.0, left]]))


def tried(*lefts: tuple[float, ...]) -> Bench:
    """A bench after trials that left so much of starts of 1 and more, where half was wanted."""
    damping = sp.ExampleDamping(sp.Rayleigh(mass=1.0), [sp.Example(np.ones((4, 3)))])
    targets = [sp.Unloading(0, 1.0 + i, 0.5) for i in range(len(lefts[0]))]
    bench = bench_of(Bed(*lefts), damping, targets)
    for n in range(len(lefts)):
        bench.trial(Knots({0: np.array([1.0])}), np.array([0.1 * n]))
    return bench


@pytest.mark.parametrize("order", [1, -1])
def test_a_met_wish_is_not_given_up_to_lower_the_sum_of_misses(order):
    """The others are missed either way; whichever trial came first."""
    met, nearest = (0.5, 0.4), (0.45, 0.45)
    bench = tried(*(met, nearest)[::order])
    assert [m[0].reached for m in bench.best.moments] == list(nearest)
    assert [m[0].reached for m in bench.chosen.moments] == list(met)


@pytest.mark.parametrize("order", [1, -1])
def test_all_nearly_met_is_better_than_one_met_by_chance(order):
    by_chance, nearly = (0.5, 0.05), (0.504, 0.496)
    bench = tried(*(by_chance, nearly)[::order])
    assert bench.chosen is bench.best
    assert [m[0].reached for m in bench.chosen.moments] == list(nearly)


def test_what_can_be_had_is_chosen_however_far_off_what_cannot_be_is():
    """Met beside one that is out of reach, not missed by 1 % to bring that one near."""
    bench = tried((0.5, 0.01), (0.505, 0.48))
    bench.give_up(1)
    assert bench.is_done
    assert [m[0].reached for m in bench.chosen.moments] == [0.5, 0.01]


def test_of_trials_that_meet_as_many_the_nearest_is_chosen():
    bench = tried((0.5, 0.4), (0.4, 0.5), (0.5, 0.42), (0.45, 0.46))
    assert [m[0].reached for m in bench.chosen.moments] == [0.5, 0.42]


@pytest.mark.parametrize("near", [0.45, 0.55])
def test_close_to_a_target_it_is_the_square(near):
    """Of about the log of the amplitude: half as far is a quarter, within 10 %."""
    half = 0.5 + 0.5 * (near - 0.5)
    one, other = (trial(x).quality[1] for x in (near, half))
    assert one == pytest.approx(4 * other, rel=0.1)


def test_the_best_of_each_example_is_put_together(reduced, examples):
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.3), examples)
    targets = [sp.Unloading("bend", 0.5, "40 % left"), sp.Unloading("twist", 0.5, "80 % left")]
    bed = make_testbed(reduced, damping, dt=1 / 120)
    bench = bench_of(bed, damping, targets)
    knots = Knots({0: np.array([0.5]), 1: np.array([0.5])})
    trials = [bench.trial(knots, np.array(z)) for z in ([1.0, 2.0], [-1.0, 0.0], [2.0, 1.0])]
    best = bench.put_together(knots)
    assert all(best.quality <= each.quality for each in trials)
    np.testing.assert_allclose(best.z, [1.0, 1.0])  # of the first trial and of the third
