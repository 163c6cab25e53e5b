"""Where the curves of a design have their points, and the strengths there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats
from supple.damping import Curve, ExampleDamping

_CLOSE = 1.1  # knots nearer than this, as a quotient, are one
_FAR = 1.5  # neighbours farther apart get one between them
_BELOW = (0.03, 0.06, 0.12, 0.25, 0.45, 0.7)  # times the smallest start
_MOST = 14
_LEAST = 0.02  # of the largest place: the smallest of evenly spaced ones
_DECADE = np.log(10.0)


@dataclass(frozen=True, eq=False)
class Knots:
    """The points of the curves of some examples; unknowns are their log₁₀ γ, one after the other.

    ``places`` are |χ| or |χ̇| [1/s], ascending, by the number of the example.
    """

    places: dict[int, Floats]

    @property
    def count(self) -> int:
        """Of all unknowns."""
        return sum(map(len, self.places.values()))

    def part(self, example: int) -> slice:
        """Which unknowns are those of an example."""
        begin = 0
        for index, places in self.places.items():
            if index == example:
                return slice(begin, begin + len(places))
            begin += len(places)
        raise KeyError(example)

    def damping(self, damping: ExampleDamping, z: Floats) -> ExampleDamping:
        """The damping with the curves of strengths 10^z."""
        curves = list(damping.curves)
        for index, places in self.places.items():
            gamma = (10.0 ** z[self.part(index)]).tolist()
            # a constant is told as such, so that its releases are known for what they are
            alike = len(set(gamma)) == 1
            points = list(zip(places.tolist(), gamma, strict=True))
            curves[index] = Curve.constant(gamma[0]) if alike else Curve.linear(points)
        return damping.with_curves(curves)

    def read(self, damping: ExampleDamping, low: float, high: float) -> Floats:
        """The log₁₀ γ that the curves of a damping have at these points, within bounds."""
        found = [np.asarray(damping.curves[i](x), dtype=float) for i, x in self.places.items()]
        z: Floats = np.log10(np.clip(np.concatenate(found), low, high))
        return z

    def shares(self, example: int, x: Floats) -> Floats:
        """What each unknown of an example counts for at x (s,), (s, knots): hats."""
        places = self.places[example]
        if len(places) == 1:
            return np.ones((len(x), 1))
        at = np.clip(x, places[0], places[-1])
        k = np.clip(np.searchsorted(places, at, side="right") - 1, 0, len(places) - 2)
        s = (at - places[k]) / (places[k + 1] - places[k])
        hats = np.zeros((len(x), len(places)))
        rows = np.arange(len(x))
        hats[rows, k], hats[rows, k + 1] = 1 - s, s
        return hats

    def bends(self) -> Floats:
        """How much neighbouring strengths differ from a straight line, as rows for all unknowns."""
        rows = []
        for index, places in self.places.items():
            begin = self.part(index).start
            for k in range(len(places) - 2):
                row = np.zeros(self.count)
                row[begin + k : begin + k + 3] = (0.5, -1.0, 0.5)
                rows.append(row)
        return np.reshape(rows, (-1, self.count))


def strengths(hats: Floats, z: Floats) -> Floats:
    """γ where the unknowns count as ``hats`` says."""
    gamma: Floats = np.exp(_DECADE * (hats @ z))
    return gamma


def evenly_spaced(largest: float, count: int) -> Floats:
    """Places with the same quotient from one to the next, down to where little happens."""
    places: Floats = largest * np.geomspace(_LEAST, 1.0, count)
    return places


def first_knots(
    starts: dict[int, list[float]], levels: dict[int, list[float]], given: Sequence[Curve]
) -> Knots:
    """At each start and, where wishes have several moments, at the amplitude of each.

    Curves that are ``given`` keep their points, so that a design begins with what they do.
    """
    places = {}
    for example, own in starts.items():
        several = levels[example] if len(levels[example]) > len(own) else []
        first, others = own, sorted(several, reverse=True)
        if not given[example].is_constant:
            least = _BELOW[0] * min(
                own
            )  # for a point at zero, as quotients of places are looked at
            first = sorted({max(x, least) for x, _ in given[example].points})
            others = [*own, *others]
        places[example] = _merged(first, others)
    return Knots(places)


def more_knots(knots: Knots, starts: dict[int, list[float]]) -> Knots:
    """Also below the smallest start, through which every motion passes, and in wide gaps."""
    places = {}
    for example, own in starts.items():
        least = min(own)
        known = _merged(knots.places[example].tolist(), [share * least for share in _BELOW])
        gaps = np.sqrt(known[1:] * known[:-1])[known[1:] > _FAR * known[:-1]]
        inner = sorted(gaps[gaps > least].tolist(), reverse=True)
        places[example] = _merged(known.tolist(), inner)
    return Knots(places)


def _merged(first: Sequence[float], others: Iterable[float]) -> Floats:
    """All of the first, and of the others those that are not close to one that is there."""
    found = sorted(first)
    for x in others:
        if len(found) < _MOST and all(max(x / y, y / x) > _CLOSE for y in found):
            found = sorted([*found, x])
    return np.array(found)
