"""How trials of strengths compare."""

from __future__ import annotations

import numpy as np
import pytest
from tests.design.search.benches import bench_of

import supple as sp
from supple.design.moments import Moment
from supple.design.search.bench import Trial
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
