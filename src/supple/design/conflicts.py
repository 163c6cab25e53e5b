"""Wishes that contradict each other, told before anything is simulated.

Examples that have something in common under the base damping C share their strengths: what is felt
along example i is x_iᵀ Ĉ x_i / x_iᵀ C x_i, in which the strengths of all examples take part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import log

import numpy as np

from supple.core.types import Floats
from supple.damping import Measure
from supple.damping.examples.felt import coupling
from supple.damping.examples.felt import felt as felt_with
from supple.design.search.bench import Asked
from supple.design.search.root import HIGHEST, LOWEST
from supple.design.targets import Unloading
from supple.design.testbed import Testbed

_LESS = 0.97  # of what a small swing loses, or leaves, that a large one may before it is told
_SAME = 1e-9  # cycles
_OFF = 0.25  # by which a strength may differ, as a quotient, before it is worth a word


def felt(G: Floats, gamma: Floats, *, symmetric: bool = False) -> Floats:
    """How strongly motion along each example is damped, times the base: x_iᵀĈx_i / x_iᵀCx_i.

    ``G`` = XᵀCX (k, k), ``gamma`` (k,) the strengths set.
    """
    G = np.ascontiguousarray(G)
    return felt_with(G, coupling(G, gamma, symmetric=symmetric, definite=True))


def strengths_for(G: Floats, wanted: Floats, *, symmetric: bool = False) -> Floats:
    """The strengths (k,), within bounds, with which what is felt is nearest to ``wanted``."""
    from scipy.optimize import least_squares  # slow to import

    low, high = np.log([LOWEST, HIGHEST])

    def off(z: Floats) -> Floats:
        got = felt(G, np.exp(z), symmetric=symmetric)
        logs: Floats = np.log(np.maximum(got, 1e-9) / wanted)
        return logs

    start = np.clip(np.log(wanted), low + 1e-6, high - 1e-6)
    found = least_squares(off, start, bounds=(low, high))
    strengths: Floats = np.exp(found.x)
    return strengths


def contradictions(bed: Testbed, asked: Sequence[Asked]) -> list[str]:
    """What examples have in common that makes wishes contradict each other, in words.

    Linear: each target is taken for the strength that small swings would need.
    """
    told = _swings_at_odds(bed, asked)
    k = len(bed.damping.examples)
    if k < 2:
        return told
    G, masses = bed.base_products()
    if not (np.diag(G) > 0).all():
        return told
    curves = [float(example.curve(0.0)) for example in bed.damping.examples]
    needed = {n: _needed(bed, each, G, masses) for n, each in enumerate(asked)}
    rest = np.clip(curves, LOWEST, HIGHEST)
    for n in sorted(needed, key=lambda n: -asked[n].target.start):
        rest[asked[n].example] = needed[n]  # others hardly move: their strength when small
    for n, each in enumerate(asked):
        wanted = rest.copy()
        wanted[each.example] = needed[n]
        symmetric = bed.damping.symmetric
        got = felt(G, strengths_for(G, wanted, symmetric=symmetric), symmetric=symmetric)
        i = each.example
        if abs(log(got[i] / wanted[i])) > log(1 + _OFF):
            told.append(_words(bed, each, G, wanted, got))
    return told


@dataclass(frozen=True)
class _Swing:
    """What a wish says of a swing from rest: its size, and what is left after some cycles."""

    wish: Unloading
    start: float
    cycles: float
    left: float
    in_time: bool = False
    """Whether the cycles are as many as there is time for, and may be fewer."""

    @property
    def lost(self) -> float:
        return self.start - self.left

    def __str__(self) -> str:
        from_there = "" if self.start == self.wish.start else f" (from {self.start:.3g} on)"
        return f"{self.wish}{from_there}"


def _swings(target: Unloading, period: float) -> list[_Swing]:
    """All swings that a wish speaks of: at each turn a body is let go anew."""
    turns, timed = [(0, target.start)], []
    for aim in target.aims(period):
        if aim.unit == "s":
            timed.append((aim.when / period, target.start * aim.share))
        else:
            turns.append((int(aim.when), aim.share * (turns[-1][1] if aim.each else target.start)))
    swings = [
        _Swing(target, a, after - before, b) for (before, a), (after, b) in combinations(turns, 2)
    ]
    return swings + [_Swing(target, target.start, n, left, in_time=True) for n, left in timed]


def _swings_at_odds(bed: Testbed, asked: Sequence[Asked]) -> list[str]:
    """Wishes of one example that no curve fulfils for small swings.

    A small swing is that of an oscillator, ẍ + c γ ẋ + ω² x = 0. Its amplitude r, with
    r² = x² + ẋ²/ω², goes from turn to turn, with x counted along the way, as

        dr/dx = −(c γ / ω) √(1 − x²/r²).

    For γ(|x|), of two swings the larger therefore loses more at every x, and passes every x that
    the smaller one passes: after as many cycles it has lost at least as much. The least it can lose
    is as much, by damping at x = 0 alone, as dry friction does. And for γ of any kind, paths in
    the plane of x and ẋ do not cross: after as many cycles the larger one is still the larger.
    """
    told: dict[tuple[str, str, bool], tuple[float, str]] = {}
    for one, other in product(asked, asked):
        if one.example != other.example:
            continue
        period = bed.linear_period(one.example)
        by_rate = bed.damping.examples[one.example].measure is Measure.RATE
        pairs = product(_swings(one.target, period), _swings(other.target, period))
        for small, large in ((a, b) for a, b in pairs if a.start < b.start):
            at_least = not large.in_time and large.cycles >= small.cycles - _SAME
            at_most = not small.in_time and large.cycles <= small.cycles + _SAME
            found = []
            if at_least and not by_rate and large.lost < _LESS * small.lost:
                found.append((True, (small.lost - large.lost) / large.start, _loses_less))
            if at_most and large.left < _LESS * small.left:
                found.append((False, (small.left - large.left) / large.start, _leaves_less))
            for kind, by, words in found:
                key = str(small.wish), str(large.wish), kind
                if by > told.get(key, (0.0, ""))[0]:
                    told[key] = by, words(small, large)
    return [words for _, words in told.values()]


def _loses_less(small: _Swing, large: _Swing) -> str:
    return (
        f"{large} is to lose {large.lost:.3g} in {_count(large)}, and {small} {small.lost:.3g} in "
        f"{_count(small)}: a curve of the excitation takes at least as much of a large swing as of "
        f"a small one, so that {large.start - small.lost:.3g} is left at most, but for what large "
        "swings or coarse steps change. A curve of the rate can take less: "
        "Example(shape, measure=Measure.RATE)"
    )


def _leaves_less(small: _Swing, large: _Swing) -> str:
    return (
        f"{large} is to leave {large.left:.3g} after {_count(large)}, and {small} {small.left:.3g} "
        f"after {_count(small)}: whatever the damping, of two swings the larger stays the larger, "
        f"so that {small.left:.3g} is left at least, but for what large swings or coarse steps "
        "change. Ask for less of the smaller one, or for more of the larger"
    )


def _count(swing: _Swing) -> str:
    if swing.in_time:
        return f"the time of {swing.cycles:.3g} cycles"
    return "a cycle" if swing.cycles == 1 else f"{swing.cycles:g} cycles"


def _needed(bed: Testbed, each: Asked, G: Floats, masses: Floats) -> float:
    """γ with which a small swing keeps what the target asks for: ζ over that of the base."""
    i, period = each.example, bed.linear_period(each.example)
    share = each.target.wanted(period) / each.target.start
    lost = -log(min(max(share, 1e-6), 1 - 1e-6))
    own = G[i, i] * period / (4 * np.pi * masses[i, i])
    return float(np.clip(lost / np.hypot(2 * np.pi, lost) / own, LOWEST, HIGHEST))


def _words(bed: Testbed, each: Asked, G: Floats, wanted: Floats, got: Floats) -> str:
    i = each.example
    roots = np.sqrt(np.diag(G))
    alike = np.abs(G[i] / (roots[i] * roots))
    alike[i] = 0
    j = int(np.argmax(alike * np.abs(np.log(wanted / wanted[i]))))
    names = [example.name or f"example {n}" for n, example in enumerate(bed.damping.examples)]
    angle = np.degrees(np.arccos(min(alike[j], 1.0)))
    return (
        f"{each.target} needs about {wanted[i]:.3g} times the base damping along {names[i]}, and "
        f"{names[j]} about {wanted[j]:.3g}; they are only {angle:.0f}° apart under the base "
        f"damping, and what can be had is {got[i]:.3g} and {got[j]:.3g}. Ask for what differs "
        "less, or give examples that have less in common"
    )
