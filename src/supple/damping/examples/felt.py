"""What is felt of each strength: examples that have much in common cannot differ at will."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from supple._kernels.damping.examples import couple
from supple.core.types import Floats
from supple.damping.examples.deformation import Example, label_of

_TOLERATED = 0.1  # share of a strength by which what is felt may differ from it, untold
_SMALLEST = 0.01  # strength from which on that is a share


class StrengthWarning(UserWarning):
    """Examples whose strengths contradict each other, so that others are felt."""


def coupling(G: Floats, gamma: Floats, *, symmetric: bool, definite: bool) -> Floats:
    """W with Ĉ = C + C X W (C X)ᵀ, for G = XᵀCX and scales γ (Eqs. 8–9).

    With ``definite`` it is Π, the non-negative part of Π̄ = R Γ R⁻¹ (App. B); else Π̄ itself.
    """
    W: Floats = np.empty_like(G)
    couple(G, gamma, symmetric, definite, W, np.empty_like(G), np.empty_like(G))
    return W


def felt(G: Floats, W: Floats) -> Floats:
    """xᵢᵀĈxᵢ / xᵢᵀCxᵢ (k,), how strongly motion along each example is damped."""
    found: Floats = 1.0 + np.diag(G @ W @ G) / np.diag(G)
    return found


def strengths(examples: Sequence[Example], sizes: Sequence[float] | Floats) -> Floats:
    """γ (k,) that is asked for where the measure of each example is of that size."""
    return np.array([e.curve.at(x) for e, x in zip(examples, sizes, strict=True)])


def warn_of_contradictions(
    examples: Sequence[Example], G: Floats, *, symmetric: bool, stacklevel: int = 2
) -> None:
    """Tell where strengths at rest, or along one example alone, are not what will be felt.

    Once for each deformation: searches try many curves for it.
    """
    worst, told = 0.0, None
    for sizes in _occasions(examples):
        asked = strengths(examples, sizes)
        got = felt(G, coupling(G, asked, symmetric=symmetric, definite=True))
        off = np.abs(got - asked) / np.maximum(asked, _SMALLEST)
        if off.max(initial=0.0) > max(worst, _TOLERATED):
            worst, told = float(off.max()), (asked, got, off)
    if told is None:
        return
    involved, message = _message(examples, G, *told)
    news = [examples[i].is_news("contradiction") for i in involved]
    if any(news):
        warnings.warn(message, StrengthWarning, stacklevel=stacklevel + 1)


def _occasions(examples: Sequence[Example]) -> Iterator[list[float]]:
    """At rest, and along one example alone up to each point of its curve."""
    still = [0.0] * len(examples)
    yield still
    for i, example in enumerate(examples):
        if not example.curve.is_constant:
            for x, _ in example.curve.points:
                yield [*still[:i], x, *still[i + 1 :]]


def _message(
    examples: Sequence[Example], G: Floats, asked: Floats, got: Floats, off: Floats
) -> tuple[list[int], str]:
    """Which examples contradict each other, and what to say of them."""
    scale = 1.0 / np.sqrt(np.diag(G))
    cosines = np.abs(G * np.outer(scale, scale))
    np.fill_diagonal(cosines, 0.0)
    cosines[asked[:, None] == asked] = 0.0  # equal ones do not contradict
    i, j = sorted(map(int, np.unravel_index(int(cosines.argmax()), cosines.shape)))
    angle = np.degrees(np.arccos(min(float(cosines[i, j]), 1.0)))
    off_too = np.flatnonzero(off > _TOLERATED).tolist()
    involved = [i, j, *(k for k in off_too if k not in (i, j))]
    listed = [
        f"{label_of(examples, k)} asks for {asked[k]:.3g} and gets {got[k]:.3g}" for k in involved
    ]
    return involved, (
        f"examples contradict each other: {'; '.join(listed)}. Examples {i} and {j} are at "
        f"{angle:.3g}° to each other in the sense of the base damping. Leave one out, bring their "
        "strengths closer, or take from one what it shares with the other: "
        "damping.made_orthogonal(body)"
    )
