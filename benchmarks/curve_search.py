"""A search over damping curves that knows nothing of ``supple.design``.

Curves have ten knots an example, equally spaced in the log of |χ|, γ from 0.001 to 1000. Releases
are traced with the reduced model, and their turns read off by splines; what goes through zero and
back within a tenth of a period is a ripple of the cycle, and ends none. Curves are rated as designs
rate theirs, by code of its own: with d the log of what there was over what is left, and d* as it
should be, a moment is off by x = (1 + d*) log((1 + d)/(1 + d*)), near a target about the relative
error; the loss is Σ x² / (1 + 4 x²) [Geman, McClure 1985], of the worst of three starts that differ
in the ninth digit, so that nothing counts which rounding decides. Curves are sought by CMA-ES
(Hansen, *The CMA Evolution Strategy: A Tutorial*, 2016) from several starts, then polished by least
squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares

import supple as sp
from supple.core.types import Floats

KNOTS = 10
LOWEST, HIGHEST = -3.0, 3.0  # log₁₀ γ
CLOSE = 1e-3  # off by that, near enough to look no farther
FAR = 1.0  # residual of a release that cannot be computed, beyond the bound of all others
BOUND = 0.5  # of residuals
GAINED, MOST = -0.5, 4.0  # decrements that are computed with; up to twice the one that is wanted
NUDGES = (0.0, 1e-9, -1e-9)  # of a start
RIPPLE = 0.1  # of a period: passes through zero that are closer are none


@dataclass(frozen=True)
class Goal:
    """What should be left of a release along an example: (moment, share of the base) pairs.

    Moments are seconds where ``in_seconds``, else cycles. With ``each``, the base is what was left
    a cycle before; otherwise it is the start.
    """

    example: int
    start: float
    moments: tuple[tuple[float, float], ...]
    in_seconds: bool = False
    each: bool = False


@dataclass(eq=False)
class Releases:
    """Releases of a reduced model with curves of its examples."""

    model: sp.ReducedModel
    damping: sp.ExampleDamping
    dt: float
    _starts: dict[tuple[int, float], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        X = np.array([self.model.coordinates(e.shape) for e in self.damping.examples])
        MX = X @ self.model.mass
        self.D = np.linalg.solve(MX @ X.T, MX)  # excitations by least squares, weighted by mass
        self._live: Any = self.model.simulation(
            damping=self.damping, dt=self.dt, integrator=sp.Bathe()
        )

    def start(self, example: int, amount: float) -> Floats:
        """The example at an excitation."""
        key = example, amount
        if key not in self._starts:
            self._starts[key] = self.model.coordinates(self.damping.examples[example].at(amount))
        return self._starts[key]

    def turns(
        self,
        goal: Goal,
        curves: Sequence[Any],
        seconds: float,
        nudge: float = 0.0,
        ripple: float = 0.0,
    ) -> Floats:
        """Times [s] and heights of the turns on the side of the start, (turns, 2).

        Passes through zero that are closer than ``ripple`` [s] do not count.
        """
        live = self._live
        live.damping = self.damping.with_curves(curves)
        live.q = self.start(goal.example, goal.start * (1 + nudge))
        live.v = np.zeros(self.model.size)
        q, v = live.trace(int(np.ceil(seconds / self.dt)))
        t = self.dt * np.arange(len(q))
        x, rate = q @ self.D[goal.example], v @ self.D[goal.example]
        height = CubicSpline(t, x)
        stops = CubicSpline(t, rate).roots(extrapolate=False)
        passes: list[float] = []
        for zero in height.roots(extrapolate=False):
            if passes and zero - passes[-1] < ripple:
                passes.pop()
            elif zero > 0:
                passes.append(float(zero))
        found = [(0.0, x[0])]
        for begin, end in zip(passes[1::2], [*passes[2::2], t[-1]], strict=False):
            tops = stops[(stops >= begin) & (stops <= end)]
            if len(tops):
                found.append((tops[0], float(height(tops[0]))))
        self.path = t, x
        return np.array(found)

    def rated(
        self, goal: Goal, curves: Sequence[Any], period: float, weight: float = 1.0
    ) -> tuple[Floats, Floats]:
        """Relative errors and residuals, a moment each, of the worst of nudged starts."""
        found = [self._rated(goal, curves, period, weight, nudge) for nudge in NUDGES]
        return max(found, key=lambda each: float(each[1] @ each[1]))

    def _rated(
        self, goal: Goal, curves: Sequence[Any], period: float, weight: float, nudge: float
    ) -> tuple[Floats, Floats]:
        last = max(when for when, _ in goal.moments)
        seconds = (last if goal.in_seconds else last * period) + 1.2 * period
        try:
            for _ in range(4):
                turns = self.turns(goal, curves, seconds, nudge, RIPPLE * period)
                if turns[-1, 0] >= last if goal.in_seconds else len(turns) > last:
                    break
                seconds += 1.5 * period
        except sp.StepFailed:
            return np.full(len(goal.moments), np.inf), np.full(len(goal.moments), FAR)
        left = np.array([self._left(goal, turns, when) for when, _ in goal.moments])
        shares = np.array([share for _, share in goal.moments])
        base = np.full(len(left), goal.start)
        if goal.each:  # of what never was, what should have been
            asked = goal.start * np.cumprod([1.0, *shares[:-1]])
            base = np.array([goal.start, *left[:-1]])
            base = np.where(base > 0, base, asked)
        wanted = -np.log(shares)
        d = np.log(base / np.maximum(left, 1e-12 * goal.start))
        d = np.clip(d, GAINED, np.maximum(MOST, 2 * wanted))
        x = weight * (1 + wanted) * np.log((1 + d) / (1 + wanted))
        return left / (base * shares) - 1, x / np.sqrt(1 + (x / BOUND) ** 2)

    def _left(self, goal: Goal, turns: Floats, when: float) -> float:
        if not goal.in_seconds:
            return float(turns[int(when), 1]) if when < len(turns) else 0.0
        if when > turns[-1, 0]:
            return abs(float(np.interp(when, *self.path)))
        return float(np.exp(np.interp(when, turns[:, 0], np.log(turns[:, 1]))))


def knots_of(goals: Sequence[Goal]) -> Floats:
    """Where curves for some goals have their knots."""
    return max(goal.start for goal in goals) * np.geomspace(0.02, 1.0, KNOTS)


def curve_of(z: Floats, goals: Sequence[Goal]) -> sp.Curve:
    """The curve with strengths 10^z at the knots."""
    gamma = 10.0 ** np.clip(z, LOWEST, HIGHEST)
    return sp.Curve.linear(list(zip(knots_of(goals).tolist(), gamma.tolist(), strict=True)))


def search(
    releases: Releases,
    goals: Sequence[Goal],
    curves: Sequence[Any],
    period: float,
    *,
    evaluations: int = 300,
    also: Sequence[Floats] = (),
    weights: Sequence[float] | None = None,
) -> tuple[Floats, Floats]:
    """Knots' log₁₀ γ with the least squares of all residuals, and these.

    All goals are of one example; the other curves stay. ``also`` has starts of the caller's,
    ``weights`` what each goal counts for, 1 if not given.
    """
    example = goals[0].example
    weights = weights or [1.0] * len(goals)

    def misses(z: Floats) -> Floats:
        own = list(curves)
        own[example] = curve_of(z, goals)
        beyond = 10 * (z - np.clip(z, LOWEST, HIGHEST))
        pairs = zip(goals, weights, strict=True)
        return np.concatenate([*(releases.rated(g, own, period, w)[1] for g, w in pairs), beyond])

    best, value = np.zeros(KNOTS), np.inf
    shapes = np.linspace(-1, 1, KNOTS)
    begins = [*also, *(0.7 + tilt * shapes for tilt in (0.0, 1.0, -1.0))]
    for seed, begin in enumerate(begins):
        z, square = _evolved(misses, begin, seed, evaluations // len(begins), 0.4)
        if square < value:
            best, value = z, square
        if value < CLOSE**2:
            break
    found = least_squares(
        misses, np.clip(best, LOWEST, HIGHEST), diff_step=0.02, max_nfev=12, xtol=1e-6
    )
    if float(found.fun @ found.fun) < value:
        best = found.x
    return np.clip(best, LOWEST, HIGHEST), misses(np.clip(best, LOWEST, HIGHEST))[:-KNOTS]


def _evolved(
    misses: Callable[[Floats], Floats], mean: Floats, seed: int, evaluations: int, sigma: float
) -> tuple[Floats, float]:
    """CMA-ES: the best point seen, and its sum of squares."""
    n = len(mean)
    rng = np.random.default_rng(seed)
    count = 4 + int(3 * np.log(n))
    mu = count // 2
    w = np.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
    w /= w.sum()
    mu_eff = 1 / (w @ w)
    cc, cs = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n), (mu_eff + 2) / (n + mu_eff + 5)
    c1 = 2 / ((n + 1.3) ** 2 + mu_eff)
    cmu = min(1 - c1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff))
    damps = 1 + 2 * max(0.0, np.sqrt((mu_eff - 1) / (n + 1)) - 1) + cs
    expected = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
    C, pc, ps = np.eye(n), np.zeros(n), np.zeros(n)
    r = misses(mean)
    best, value, used = mean, float(r @ r), 1
    while used < evaluations:
        values, B = np.linalg.eigh(C)
        root = np.sqrt(np.maximum(values, 1e-20))
        y = (rng.normal(size=(count, n)) * root) @ B.T
        squares = np.array([float(r @ r) for r in (misses(mean + sigma * each) for each in y)])
        used += count
        order = np.argsort(squares)
        if squares[order[0]] < value:
            best, value = mean + sigma * y[order[0]], float(squares[order[0]])
        step = w @ y[order[:mu]]
        mean = mean + sigma * step
        whitened = B @ ((B.T @ step) / root)
        ps = (1 - cs) * ps + np.sqrt(cs * (2 - cs) * mu_eff) * whitened
        early = np.linalg.norm(ps) / np.sqrt(1 - (1 - cs) ** (2 * used / count))
        goes = early < (1.4 + 2 / (n + 1)) * expected
        pc = (1 - cc) * pc + goes * np.sqrt(cc * (2 - cc) * mu_eff) * step
        rank = (y[order[:mu]] * w[:, None]).T @ y[order[:mu]]
        C = (1 - c1 - cmu) * C + c1 * np.outer(pc, pc) + cmu * rank
        sigma *= float(np.exp(cs / damps * (np.linalg.norm(ps) / expected - 1)))
        if sigma * root.max() < 1e-4 or value < CLOSE**2:
            break
    return best, value
