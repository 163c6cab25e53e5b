"""Curves far from those known: where wishes are missed, many descents from many places.

What is left is a rough function of the strengths, with valleys that end far above others: turns
come and go, and releases buckle one way or another. Each descent evolves a curve for a while
(``evolution.py``), which jumps over ridges and hardly arrives anywhere, and then follows measured
derivatives, which do. Descents begin in turn at a constant and at the best curve so far, with as
many points as the design has and with evenly spaced ones, as valleys of one set of points are none
of another. They end when all wishes are met that can be, or when the releases are used up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats
from supple.design.search.alone import OUT, is_near, nearest_alone
from supple.design.search.bench import BESIDE, GIVEN_UP, HIGH, LOW, Bench, Trial
from supple.design.search.evolution import evolved, smooth_spread
from supple.design.search.knots import Knots, evenly_spaced
from supple.design.search.root import HIGHEST, LOWEST
from supple.design.search.together import solve_by_derivatives

_LEVELS = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)  # log₁₀ γ of constants to begin with
_FAR, _NEAR = 0.4, 0.15  # decades by which curves differ from where an evolution begins
_MOVED = 0.1  # of the loss of other examples, by which a curve may raise it unnoticed


@dataclass(frozen=True)
class _Descent:
    """Where one begins, and how long it evolves."""

    points: int
    """Evenly spaced ones; 0 for those of the best so far."""
    tries: int
    spread: float
    """Decades by which curves differ from where it begins."""
    from_best: bool = False


_DESCENTS = (
    _Descent(0, 250, _FAR),
    _Descent(0, 150, _NEAR, from_best=True),
    _Descent(14, 100, _FAR, from_best=True),
    _Descent(8, 150, _FAR, from_best=True),
    _Descent(0, 150, _NEAR, from_best=True),
    _Descent(10, 100, _FAR),
    _Descent(14, 100, _FAR, from_best=True),
    _Descent(0, 150, _NEAR, from_best=True),
)
_NEARER = (_Descent(0, 150, _NEAR, from_best=True), _Descent(10, 150, _FAR, from_best=True))


def descend(bench: Bench, most: int, seed: int) -> None:
    """Descents for each example with wishes that are missed.

    None begins when ``most`` releases were made, beside those that tell what is out of reach; the
    bench is told that it was cut short then.
    """
    assert bench.best is not None
    bench.be_wary()
    made = sum(bench.simulations)
    if made < most:
        _give_up_what_is_out_of_reach(bench, seed)
        most += sum(bench.simulations) - made
        if bench.is_done:
            return
    moves: set[int] = set()  # examples whose curves move what others leave
    for n, descent in enumerate(_DESCENTS):
        for example in bench.best.knots.places:
            if bench.is_done:
                return
            if bench.is_met_along(example):
                continue
            if sum(bench.simulations) >= most:
                bench.cut_short = True
                return
            whole = example in moves
            moved, _ = _descend(bench, bench.best, example, descent, seed + n, whole=whole)
            if moved:
                moves.add(example)


def bring_nearer(bench: Bench, seed: int) -> None:
    """Bring what is out of reach as near as goes, beside what is met and stays so.

    It counts for more while a descent evolves and first follows derivatives, which leads to a
    compromise; from there the way goes back to what can be had.
    """
    assert bench.chosen is not None
    examples = bench.missed_out_of_reach
    if examples and not bench.is_wary:
        bench.be_wary()
    for n, descent in enumerate(_NEARER):
        for example in examples:
            bench.weigh_given_up(BESIDE)
            _, compromise = _descend(bench, bench.chosen, example, descent, seed + n, whole=True)
            bench.weigh_given_up(GIVEN_UP)
            again = bench.trial(compromise.knots, compromise.z)
            bench.frozen = frozenset(again.knots.places) - {example}
            solve_by_derivatives(bench, again, patiently=True, whole=True)
            bench.frozen = frozenset()


def _give_up_what_is_out_of_reach(bench: Bench, seed: int) -> None:
    """Also look again at what constants told to be beyond reach: curves may do better."""
    assert bench.best is not None
    missed = [i for i in range(len(bench.asked)) if not bench.best.is_near(i, OUT)]
    for i, nearest in [(i, nearest_alone(bench, i, seed)) for i in missed]:
        if is_near(nearest):
            bench.take_up(i)
        else:
            bench.give_up(i)
            bench.nearest_alone[i] = nearest


def _descend(
    bench: Bench, best: Trial, example: int, descent: _Descent, seed: int, *, whole: bool
) -> tuple[bool, Trial]:
    """One descent: whether it moved what other examples leave, and where it ended.

    Their targets are released at its ends alone, unless ``whole``.
    """
    knots = best.knots
    if descent.points:
        places = dict(knots.places)
        largest = float(places[example][-1])
        places[example] = evenly_spaced(largest, descent.points)
        knots = Knots(places)
        best = bench.trial(knots, knots.read(best.damping, LOWEST, HIGHEST))
    own = knots.part(example)

    def rate(part: Floats) -> tuple[int, float]:
        z = best.z.copy()
        z[own] = part
        return bench.trial(knots, z, None if whole else best).quality

    count = len(knots.places[example])
    begin = best.z[own]
    if not descent.from_best:
        begin = min((np.full(count, level) for level in _LEVELS), key=rate)
    z = best.z.copy()
    z[own] = evolved(
        rate,
        begin,
        smooth_spread(knots.places[example], descent.spread),
        tries=descent.tries,
        seed=seed,
        low=LOW,
        high=HIGH,
    )
    bench.frozen = frozenset(knots.places) - {example}
    found = bench.trial(knots, z)
    if not found.met(bench.tolerance):
        found = solve_by_derivatives(bench, found, patiently=True, whole=whole)
    bench.frozen = frozenset()
    others = [i for i, each in enumerate(bench.asked) if each.example != example]
    moved = found.quality_of(others)[1] - best.quality_of(others)[1]
    return moved > _MOVED * best.quality_of(others)[1] + bench.tolerance**2, found
