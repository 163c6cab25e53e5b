"""Finding the γ at which one unloading target is met."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite, log10

LOWEST, HIGHEST = 1e-3, 1e3
"""The range in which γ is sought."""

_NARROWEST = 1e-3  # bracket, in log₁₀ γ, within which a continuous residual would be met


@dataclass
class Search:
    """A root of a decreasing function of γ, known to lie between ``LOWEST`` and ``HIGHEST``.

    ``tell`` it what a γ led to, and it says which γ to try ``next``. The decrement of a cycle
    grows with γ, nearly in proportion, so it is interpolated log against log between the ends of a
    bracket, drawn towards an end that stays (the Illinois rule); past critical damping, where
    nothing comes back, the bracket is halved in log γ.
    """

    tried: list[tuple[float, float]] = field(default_factory=list)
    """(log₁₀ γ, log₁₀ of decrement over decrement wanted): zero where the target is met."""
    _below: tuple[float, float] | None = None  # too weak: the best γ that leaves too much
    _above: tuple[float, float] | None = None
    _side: int = 0  # on which side of the target the last one was

    def tell(self, gamma: float, decrement: float, wanted: float) -> None:
        """``gamma`` gave a log decrement of ``decrement`` instead of ``wanted``."""
        ratio = inf if decrement > 0 else -inf
        if 0 < decrement < inf:
            ratio = log10(decrement / wanted)
        point = log10(gamma), ratio
        self.tried.append(point)
        side = -1 if ratio < 0 else 1
        again = side == self._side
        self._side = side
        if side < 0:
            if self._below is None or point[0] > self._below[0]:
                self._below = point
            if again and self._above is not None:  # draw the next one towards the end that stays
                self._above = self._above[0], 0.5 * self._above[1]
        else:
            if self._above is None or point[0] < self._above[0]:
                self._above = point
            if again and self._below is not None:
                self._below = self._below[0], 0.5 * self._below[1]

    @property
    def exhausted(self) -> bool:
        """Whether the end of the range is on the wrong side of the target: it cannot be met."""
        low, high = log10(LOWEST), log10(HIGHEST)
        return any((x <= low and ratio > 0) or (x >= high and ratio < 0) for x, ratio in self.tried)

    @property
    def closed(self) -> bool:
        """Whether the bracket has closed on a jump: no γ leads to anything between its ends."""
        if self._below is None or self._above is None:
            return False
        return abs(self._above[0] - self._below[0]) < _NARROWEST

    def next(self) -> float:
        """The γ to try next."""
        x = self._interpolated() if self._below and self._above else self._extrapolated()
        return float(10.0 ** min(max(x, log10(LOWEST)), log10(HIGHEST)))

    def _interpolated(self) -> float:
        assert self._below is not None
        assert self._above is not None
        (x0, r0), (x1, r1) = self._below, self._above
        if not (isfinite(r0) and isfinite(r1)) or x1 <= x0:
            return 0.5 * (x0 + x1)
        return x0 + (x1 - x0) * r0 / (r0 - r1)

    def _extrapolated(self) -> float:
        x, ratio = self.tried[-1]
        if not isfinite(ratio):
            return x - 1.0 if ratio > 0 else x + 1.0
        slope = 1.0
        if len(self.tried) > 1:
            (x0, r0), (x1, r1) = self.tried[-2:]
            if isfinite(r0) and x1 != x0 and (r1 - r0) / (x1 - x0) > 0.1:
                slope = min((r1 - r0) / (x1 - x0), 1.0)
            else:  # hardly moves: go to the end of the range
                return log10(LOWEST) if ratio > 0 else log10(HIGHEST)
        return x - 1.1 * ratio / slope if len(self.tried) > 1 else x - ratio
