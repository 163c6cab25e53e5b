"""Curves γ(x) > 0: how damping changes with how far, or how fast, a body moves.

A curve is a few points (x, γ) and a way to join them. Everything between the points happens in
log γ, so that doubling and halving look alike, and γ stays positive whatever the points are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.reduction.example_newton import Curves
from supple.core.checks import instance, number, numbers
from supple.core.errors import InputError
from supple.core.parameters import Kind
from supple.core.types import Floats

_LOG_10 = float(np.log(10.0))
_LOG_OF_ZERO = -400.0  # 10**−400 is zero in double precision


class Joining(Enum):
    """How a curve runs between its points, as seen in (x, log γ)."""

    LINEAR = "linear"
    """Straight from point to point; moving one leaves all but its two neighbours' pieces alone."""
    MONOTONE = "monotone"
    """Smooth, and never beyond the two points it runs between."""
    BEZIER = "bezier"
    """Smooth cubic Bézier pieces with level ends; may swing beyond its points."""


@dataclass(frozen=True)
class Curve:
    """γ as a function of x ≥ 0, through ``points`` (x, γ) with x ascending.

    Before the first point and beyond the last one γ stays as it is there. Make one with
    ``Curve.constant``, ``linear``, ``monotone`` or ``bezier``.
    """

    points: tuple[tuple[float, float], ...]
    joining: Joining = Joining.LINEAR

    def __post_init__(self) -> None:
        instance("joining", self.joining, Joining, "Joining.MONOTONE")
        try:
            pairs = tuple((float(x), float(gamma)) for x, gamma in self.points)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"points={self.points!r}: give pairs (x, γ), such as [(0, 0.3), (0.5, 5.0)]"
            ) from error
        if not pairs:
            raise InputError("a curve needs at least one point (x, γ)")
        array = numbers("points", pairs)
        if array[0, 0] < 0 or (np.diff(array[:, 0]) <= 0).any():
            raise InputError(
                f"points={pairs!r}: x must be zero or more and grow from point to point"
            )
        lowest = array[:, 1].min()
        if lowest < 0 or (lowest == 0 and len(pairs) > 1):
            raise InputError(
                f"points={pairs!r}: γ must be positive, since curves run in log γ; for next to no "
                "damping give a small one such as 0.001 (a constant may be 0)"
            )
        object.__setattr__(self, "points", pairs)

    # -- making one ----------------------------------------------------------------------

    @classmethod
    def constant(cls, gamma: float) -> Curve:
        """The same γ everywhere: linear damping."""
        return cls(((0.0, number("gamma", gamma, at_least=0)),))

    @classmethod
    def linear(cls, points: Iterable[Sequence[float]]) -> Curve:
        """Straight pieces in log γ."""
        return cls(points, Joining.LINEAR)  # type: ignore[arg-type]

    @classmethod
    def monotone(cls, points: Iterable[Sequence[float]]) -> Curve:
        """Smooth, without swinging beyond the points."""
        return cls(points, Joining.MONOTONE)  # type: ignore[arg-type]

    @classmethod
    def bezier(cls, points: Iterable[Sequence[float]]) -> Curve:
        """Smooth Bézier pieces through the points."""
        return cls(points, Joining.BEZIER)  # type: ignore[arg-type]

    @classmethod
    def of(cls, given: Curve | float | Mapping[str, Any]) -> Curve:
        """A curve from itself, from a number, or from the table that ``table`` gives."""
        if isinstance(given, Curve):
            return given
        if not isinstance(given, Mapping):
            return cls.constant(number("curve", given, at_least=0))
        joinings = {joining.value: joining for joining in Joining}
        if len(given) == 1:
            name, points = next(iter(given.items()))
            if name in joinings and isinstance(points, Sequence) and not isinstance(points, str):
                return cls(tuple(points), joinings[name])
        raise InputError(
            f"curve={dict(given)!r}: give a number, or one of "
            + ", ".join(f"{{{name} = [[x, γ], ...]}}" for name in joinings)
        )

    def table(self) -> float | dict[str, list[list[float]]]:
        """The curve as plain data for TOML or JSON; ``Curve.of`` reads it."""
        if self == Curve.constant(self.points[0][1]):
            return self.points[0][1]
        return {self.joining.value: [list(point) for point in self.points]}

    # -- reading it ----------------------------------------------------------------------

    @property
    def is_constant(self) -> bool:
        """Whether γ is the same everywhere."""
        return len(self.points) == 1

    def __call__(self, x: ArrayLike) -> Any:
        """γ at x, a number or an array; a negative x counts as its size."""
        breaks, pieces = self.cubics
        size = np.clip(np.abs(np.asarray(x, dtype=float)), breaks[0], breaks[-1])
        k = np.clip(np.searchsorted(breaks, size, side="right") - 1, 0, len(pieces) - 1)
        s = size - breaks[k]
        c = pieces[k]
        log = c[..., 0] + s * (c[..., 1] + s * (c[..., 2] + s * c[..., 3]))
        gamma = 10.0**log
        return float(gamma) if np.ndim(x) == 0 else gamma

    def at(self, x: float) -> float:
        """γ at one x, without the cost of arrays."""
        return self.with_slope(x)[0]

    def with_slope(self, x: float) -> tuple[float, float]:
        """γ and its derivative by |x| at one x."""
        breaks, pieces = self._lists
        size = min(max(abs(x), breaks[0]), breaks[-1])
        k = min(bisect_right(breaks, size), len(pieces)) - 1
        s = size - breaks[k]
        c0, c1, c2, c3 = pieces[k]
        gamma = float(10.0 ** (c0 + s * (c1 + s * (c2 + s * c3))))
        if not breaks[0] < abs(x) < breaks[-1]:
            return gamma, 0.0
        return gamma, gamma * _LOG_10 * (c1 + s * (2 * c2 + s * 3 * c3))

    @cached_property
    def _lists(self) -> tuple[list[float], list[list[float]]]:
        breaks, pieces = self.cubics
        return breaks.tolist(), pieces.tolist()

    @cached_property
    def cubics(self) -> tuple[Floats, Floats]:
        """The curve as cubics: breaks (m + 1,) and coefficients (m, 4) of powers of x − break.

        They give log₁₀ γ; outside the breaks the curve is constant.
        """
        x, gamma = np.array(self.points).T
        y = np.log10(gamma) if gamma.all() else np.array([_LOG_OF_ZERO])
        if self.is_constant:
            return np.array([x[0], x[0] + 1.0]), np.array([[y[0], 0.0, 0.0, 0.0]])
        if self.joining is Joining.LINEAR:
            slopes = np.diff(y) / np.diff(x)
            zeros = np.zeros_like(slopes)
            return x, np.stack([y[:-1], slopes, zeros, zeros], axis=1)
        monotone = self.joining is Joining.MONOTONE and len(x) > 2
        return x, _cubics(x, y, _monotone_slopes(x, y) if monotone else _slopes(x, y))

    def __str__(self) -> str:
        if self.is_constant:
            return f"γ = {self.points[0][1]:.4g}"
        listed = ", ".join(f"{gamma:.4g} at {x:.4g}" for x, gamma in self.points)
        return f"γ = {listed} ({self.joining.value})"


def _slopes(x: Floats, y: Floats) -> Floats:
    """Slopes of Bézier pieces through the points: from neighbour to neighbour, level at the ends.

    Level ends make the curve smooth where its constant continuation begins.
    """
    slopes = np.zeros_like(y)
    slopes[1:-1] = (y[2:] - y[:-2]) / (x[2:] - x[:-2])
    return slopes


def _monotone_slopes(x: Floats, y: Floats) -> Floats:
    """Slopes of cubics that go up and down with the points, and no further (PCHIP).

    Where the slopes on both sides have one sign, their harmonic mean, weighted by how long the
    sides are; elsewhere 0 [Fritsch, Butland 1984].
    """
    h, rise = np.diff(x), np.diff(y) / np.diff(x)
    before, after = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    left, right = rise[:-1], rise[1:]
    turning = left * right <= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (before + after) / (before / left + after / right)
    inner = np.where(turning, 0.0, mean)
    first, last = _end_slope(h[0], h[1], rise[0], rise[1]), _end_slope(*h[:-3:-1], *rise[:-3:-1])
    return np.concatenate([[first], inner, [last]])


def _end_slope(h: float, next_h: float, rise: float, next_rise: float) -> float:
    """The slope of the parabola through the last three points, held back where it overshoots."""
    slope = ((2 * h + next_h) * rise - h * next_rise) / (h + next_h)
    if slope * rise <= 0:
        return 0.0
    return float(3 * rise if rise * next_rise <= 0 and abs(slope) > 3 * abs(rise) else slope)


def _cubics(x: Floats, y: Floats, slopes: Floats) -> Floats:
    """Coefficients (m, 4) of the cubics through the points with these slopes."""
    h, rise = np.diff(x), np.diff(y) / np.diff(x)
    start, end = slopes[:-1], slopes[1:]
    bend = (start + end - 2 * rise) / h
    return np.stack([y[:-1], start, (rise - start) / h - bend, bend / h], axis=1)


def compiled_curves(curves: Sequence[Curve]) -> Curves:
    """Curves as kernels read them, in arrays of one width."""
    counts = np.array([len(curve.cubics[1]) for curve in curves])
    breaks = np.zeros((len(curves), counts.max() + 1))
    pieces = np.zeros((len(curves), counts.max(), 4))
    for row, curve in enumerate(curves):
        x, c = curve.cubics
        breaks[row, : len(x)] = x
        pieces[row, : len(c)] = c
    return Curves(breaks, pieces, counts)


CURVE = Kind("a number, or a curve", lambda of, value: Curve.of(value))
"""What a parameter is that is a curve."""
