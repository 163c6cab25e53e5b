"""The search for the γ of one target, on functions with known answers."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supple.design.search.root import HIGHEST, LOWEST, Search

pytestmark = pytest.mark.processors


def tries(decrement, wanted, *, start=1.0, tolerance=0.005, limit=15):
    """How many evaluations until the residual exp(−decrement) is met, and the last γ."""
    search, gamma = Search(), start
    for count in range(1, limit + 1):
        value = decrement(gamma)
        if value < 700 and abs(np.exp(wanted - value) - 1) <= tolerance:
            return count, gamma
        search.tell(gamma, value, wanted)
        if search.exhausted:
            return None, gamma
        gamma = search.next()
    return limit + 1, gamma


@given(
    answer=st.floats(-2.9, 2.9),
    own=st.floats(0.0, 0.5),
    power=st.floats(0.2, 1.0),
    wanted=st.floats(0.05, 2.5),
)
def test_decrements_that_grow_with_gamma(answer, own, power, wanted):
    """d = own + c γ^p: what the time step takes itself, and what a point of a curve adds."""
    gain = (wanted - own * wanted) / 10.0 ** (power * answer)
    count, gamma = tries(lambda g: own * wanted + gain * g**power, wanted)
    assert count is not None
    assert count <= 10
    assert np.exp(wanted - own * wanted - gain * gamma**power) == pytest.approx(1, abs=0.005)


def test_overdamped_tests_count_as_too_strong():
    """Beyond critical damping nothing comes back: an infinite decrement."""
    count, gamma = tries(lambda g: 0.3 * g if g < 5 else inf, 1.2, start=500.0)
    assert count is not None
    assert gamma == pytest.approx(4.0, rel=0.01)


@pytest.mark.parametrize("level", [0.1, 3.0])
def test_out_of_reach(level):
    """A decrement that γ hardly changes: the end of the range is tried, then given up."""
    count, gamma = tries(lambda g: level * g**0.001, 1.0)
    assert count is None
    assert gamma == pytest.approx(HIGHEST if level < 1 else LOWEST)


def test_a_jump_closes_the_bracket():
    """Nothing between 0.5 and infinity: said after a dozen tries, not after the last one."""
    search, gamma = Search(), 1.0
    for _ in range(40):
        search.tell(gamma, 0.5 if gamma < 7.0 else inf, 1.0)
        if search.closed:
            break
        assert not search.exhausted
        gamma = search.next()
    assert search.closed
    assert gamma == pytest.approx(7.0, rel=0.01)
    assert len(search.tried) < 20
