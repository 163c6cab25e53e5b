"""Wishes that contradict each other, told before anything is simulated.

Examples that have something in common under the base damping C share their strengths: what is felt
along example i is x_iᵀ Ĉ x_i / x_iᵀ C x_i, in which the strengths of all examples take part.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from supple.core.types import Floats
from supple.damping import Measure
from supple.damping.examples.felt import coupling
from supple.damping.examples.felt import felt as felt_with
from supple.design.search import HIGHEST, LOWEST
from supple.design.testbed import Testbed
from supple.design.together import Asked

_LESS = 0.97  # of what a small swing loses that a large one may, before it is worth a word
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
    told = _larger_that_lose_less(bed, asked)
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


def _larger_that_lose_less(bed: Testbed, asked: Sequence[Asked]) -> list[str]:
    """Wishes of one example that no curve of the excitation fulfils for small swings.

    With v² = w the motion of an oscillator is dw/dx = −2 c γ(|x|) √w − 2 ω² x: of two swings the
    larger is faster everywhere, and damping takes at least as much of its amplitude. The least it
    can take is as much, by damping at χ = 0 alone, as dry friction does.
    """
    told = []
    for small in asked:
        for large in asked:
            same = small.example == large.example and small.target.start < large.target.start
            if not same or bed.damping.examples[small.example].measure is Measure.RATE:
                continue
            period = bed.linear_period(small.example)
            lost, less = (t.start - t.wanted(period) for t in (small.target, large.target))
            if less < _LESS * lost:
                told.append(
                    f"{large.target} is to lose {less:.3g} in a cycle, and {small.target} "
                    f"{lost:.3g}: a curve of the excitation takes at least as much of a large "
                    f"swing as of a small one, so that {large.target.start - lost:.3g} is left at "
                    "most, but for what large swings or coarse steps change. A curve of the rate, "
                    "measure=Measure.RATE, can take less"
                )
    return told


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
