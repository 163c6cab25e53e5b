"""What is seen when a body is released from an example deformation: how a swing dies away (§5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log

import numpy as np

from supple.core.types import Floats
from supple.design.wishes import Aim

_FAINTEST = 1e-4  # share of a start below which a motion counts as gone
_NONE: Floats = np.empty(0)


@dataclass(frozen=True, eq=False)
class UnloadingTest:
    """How an excitation went on after a release, up to the end of the cycles looked at."""

    times: Floats
    """[s], (steps + 1,)."""
    excitations: Floats
    """χ, (steps + 1,)."""
    residual: float
    """χ where the first cycle ends; 0 if it never came back, so strong was the damping."""
    period: float
    """Time of the first cycle [s]; NaN if it never came back."""
    rates: Floats = field(default_factory=lambda: _NONE)
    """χ̇ [1/s], (steps + 1,)."""
    turns: Floats = field(default_factory=lambda: np.empty((0, 2)))
    """Times [s] and χ at the ends of the cycles, (cycles, 2)."""
    substeps: int = 0
    """Steps that could be taken in smaller ones only."""
    failure: str = ""
    """Why the motion could not be computed, if so."""

    @classmethod
    def failed(cls, start: float, failure: str = "a step failed") -> UnloadingTest:
        """A test that could not be computed: nothing but its start is known."""
        return cls(np.zeros(2), np.array([start, start]), np.nan, np.nan, failure=failure)

    @property
    def is_failed(self) -> bool:
        """Whether a step of the motion failed."""
        return bool(np.isnan(self.residual))

    @property
    def oscillates(self) -> bool:
        """Whether the first cycle was completed."""
        return bool(np.isfinite(self.period))

    def amplitude(self, aim: Aim) -> float:
        """What is left of the excitation at the moment of an aim; 0 if nothing is."""
        if aim.unit == "cycles":
            k = int(aim.when)
            return float(self.turns[k - 1, 1]) if k <= len(self.turns) else 0.0
        return self.envelope(aim.when)

    def envelope(self, time: float) -> float:
        """The amplitude at a time [s]: exponential from one turn to the next.

        Where the body does not turn any more it is what is left of the excitation itself.
        """
        t = np.concatenate([[0.0], self.turns[:, 0]])
        if time > t[-1]:
            return abs(float(np.interp(time, self.times, self.excitations)))
        heights = np.concatenate([[self.excitations[0]], self.turns[:, 1]])
        return float(np.exp(np.interp(time, t, np.log(np.maximum(heights, 1e-300)))))

    def span(self, aim: Aim) -> tuple[float, float]:
        """From when to when [s] the motion tells whether an aim is met."""
        if aim.unit == "s":
            return 0.0, aim.when
        k, end = int(aim.when), float(self.times[-1])
        ends = [0.0, *self.turns[:, 0].tolist()]
        before = ends[k - 1] if k - 1 < len(ends) else end
        return before if aim.each else 0.0, ends[k] if k < len(ends) else end

    def base(self, aim: Aim) -> float:
        """The excitation that the share of an aim is one of."""
        k = int(aim.when) - 1
        if not aim.each or k == 0:
            return float(self.excitations[0])
        return float(self.turns[k - 1, 1]) if k <= len(self.turns) else 0.0

    def decrement(self, aim: Aim) -> float:
        """The logarithm of what there was over what is left; infinite where nothing is."""
        left, base = self.amplitude(aim), self.base(aim)
        start = float(self.excitations[0])
        if not (left > _FAINTEST * start * aim.share and base > 0):
            return inf
        if aim.unit == "s" and not len(self.turns) and left > aim.share * start:
            return inf  # it creeps, and is late because its damping is too strong
        return log(base / left)


def turning_ends(x: Floats, v: Floats, dt: float, *, least: float = 0.0) -> Floats:
    """Times [s] and heights of the turns that end cycles, (cycles, 2).

    ``x`` and its rate ``v`` are known at steps of ``dt`` [s], from a start at rest; between steps
    they are joined by cubics. A cycle ends at the turn after two passes of x through zero; two
    within less than ``least`` [s] are a ripple, and count as none.
    """
    passes = np.flatnonzero(np.sign(x[1:]) * np.sign(x[:-1]) <= 0)
    passes = passes[np.sign(x[passes + 1]) != 0]
    kept: list[int] = []
    for place in passes.tolist():
        if kept and (place - kept[-1]) * dt < least:
            kept.pop()
        else:
            kept.append(place)
    ends = []
    for begin, after in zip(kept[1::2], [*kept[2::2], len(x)], strict=False):
        way = np.sign(x[begin + 1])
        rising = way * v[begin : after + 1]
        turns = np.flatnonzero((rising[:-1] > 0) & (rising[1:] <= 0))
        if not len(turns):
            break
        k = begin + int(turns[0])
        time, height = _turn(x[k : k + 2], v[k : k + 2], dt)
        ends.append((dt * k + time, way * height))
    return np.reshape(ends, (-1, 2))


def _turn(x: Floats, v: Floats, dt: float) -> tuple[float, float]:
    """Where the cubic through x and v (2,) at both ends of a step turns: time [s] and height."""
    a, b = v * dt
    rise = x[1] - x[0]
    c2, c3 = 3 * rise - 2 * a - b, a + b - 2 * rise
    # its derivative, a parabola, is zero at the turn
    roots = np.roots([3 * c3, 2 * c2, a]) if c3 or c2 else np.array([0.0])
    inside = roots.real[(abs(roots.imag) < 1e-12) & (roots.real >= 0) & (roots.real <= 1)]
    s = float(inside[0]) if len(inside) else float(a / (a - b))
    return dt * s, float(x[0] + s * (a + s * (c2 + s * c3)))


def cycle_end(x: Floats, v: Floats, dt: float) -> tuple[float, float] | None:
    """Time [s] and height of the turn that ends the first cycle, if it does."""
    ends = turning_ends(x, v, dt)
    return (float(ends[0, 0]), float(ends[0, 1])) if len(ends) else None
