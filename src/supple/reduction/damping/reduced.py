"""What a damping is on the coordinates of a reduced model: C̃ = C₀ + B̃(q), and what is beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.core.errors import InputError
from supple.core.types import Floats
from supple.reduction.damping.examples import ReducedExamples
from supple.reduction.damping.points import PointDamping
from supple.reduction.damping.strain_rate import StrainRateForm


@dataclass(frozen=True, eq=False)
class ReducedDamping:
    """The force on the coordinates is −(C̃(q) v + what is ``beside`` it + ``steady``).

    C̃(q) = ``constant`` (r, r) + B̃(q) of ``rate`` + those of ``points``; ``examples`` change it to
    Ĉ. Dampings may be added. Units, for a mass-orthonormal basis: ``constant`` [1/s], ``steady``
    (r,) [√kg m/s²].
    """

    constant: Floats
    rate: StrainRateForm | None = None
    """What follows the shape in closed form."""
    points: tuple[PointDamping, ...] = ()
    """What follows the shape and is linear in the velocity."""
    examples: ReducedExamples | None = None
    steady: Floats | None = None
    """What is left of the force where nothing moves, such as that of a wind."""
    beside: tuple[PointDamping, ...] = ()
    """What examples do not change: all that is not linear in the velocity."""

    @property
    def is_constant(self) -> bool:
        """Whether C̃ is the same at every q, and there is nothing beside it."""
        return self.rate is None and not self.points and not self.beside

    @property
    def is_closed_form(self) -> bool:
        """Whether all of it is in closed form, which every kernel knows."""
        return not self.points and not self.beside and not self._goes_along

    @property
    def is_compiled(self) -> bool:
        """Whether kernels that call laws can do without Python."""
        others = (*self.points, *self.beside)
        return not self._goes_along and all(each.laws is not None for each in others)

    @property
    def _goes_along(self) -> bool:
        """Whether examples go with a part of the body, which are turned in Python."""
        return self.examples is not None and bool(self.examples.local)

    def without_laws(self) -> ReducedDamping:
        """What kernels have no laws of: that in closed form, and what only Python knows."""
        points, beside = (
            tuple(each for each in some if each.laws is None) for some in (self.points, self.beside)
        )
        return replace(self, points=points, beside=beside)

    def matrix(self, q: Floats) -> Floats:
        """C̃ at q; without the examples."""
        C = self.constant.copy()
        if self.rate is not None:
            C += self.rate.matrix(q)
        for each in self.points:
            C += each.matrix(q)
        return C

    def evaluate_beside(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """What is beside C̃ v, (r,), and its derivative by v, (r, r)."""
        found = [each.evaluate(q, v) for each in self.beside]
        force = sum((f for f, _ in found), np.zeros_like(v))
        return force, sum((C for _, C in found), np.zeros_like(self.constant))

    def force(self, q: Floats, v: Floats) -> Floats:
        """Ĉ v and what is beside it, at q."""
        C = self.matrix(q)
        linear = C @ v if self.examples is None else self.examples.force(q, v, C)
        return linear + self.evaluate_beside(q, v)[0]

    def push(self) -> Floats:
        """The force (r,) at rest, on the coordinates."""
        return np.zeros(len(self.constant)) if self.steady is None else -self.steady

    def __add__(self, other: ReducedDamping) -> ReducedDamping:
        if self.examples is not None or other.examples is not None:
            return _beside_examples(self, other)
        rates = [each.rate for each in (self, other) if each.rate is not None]
        still = self.steady is None and other.steady is None
        steady = None if still else -(self.push() + other.push())
        return ReducedDamping(
            self.constant + other.constant,
            sum(rates[1:], rates[0]) if rates else None,
            self.points + other.points,
            steady=steady,
            beside=self.beside + other.beside,
        )


class _Linear(PointDamping):
    """A linear damping beside one with examples."""

    is_linear = True

    def __init__(self, damping: ReducedDamping) -> None:
        self._damping = damping

    def evaluate(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        C = self._damping.matrix(q)
        return C @ v, C


def _beside_examples(one: ReducedDamping, other: ReducedDamping) -> ReducedDamping:
    """The sum where one has examples, which scale their own base only."""
    designed, rest = (one, other) if one.examples is not None else (other, one)
    if rest.examples is not None:
        raise InputError(
            "two dampings by example in one list; give one, with the examples of both over one base"
        )
    closed = replace(rest, points=(), beside=(), steady=None)
    nothing = closed.is_constant and not closed.constant.any()
    beside = () if nothing else (_Linear(closed),)
    return replace(
        designed,
        steady=-(designed.push() + rest.push()),
        beside=(*designed.beside, *beside, *rest.points, *rest.beside),
    )
