"""All targets at once, in the least squares: a trust-region method with a model of its own.

What damping takes from a swing along example i in a time span is, by the balance of energy, in
proportion to ∫ γ(|χ|) χ̇² dt; so the decrement with other strengths 10^z is about

    d(z) = d₀ (1 − s + s S(z)/S(z₀)),    S(z) = ∫ 10^(z·φ(|χ|)) χ̇² dt

along the motion seen, with φ the hats of the knots and s the share of d₀ that is due to the
example's own damping: at first by xᵀCx / xᵀMx, then what the next release shows (a secant). The
model is fitted to the targets within a box around the strengths it was made for, and the box
follows how well that goes. This takes no derivatives of releases, which would need a release a
knot. Where it does not lead on, derivatives are measured after all, and kept up to date by
Broyden's rule.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from supple.core.types import Bools, Floats
from supple.damping import Measure
from supple.design.moments import Moment
from supple.design.search.bench import GAINED, HIGH, LOW, Bench, Trial, finite, off, residuals
from supple.design.search.knots import strengths
from supple.design.unloading import UnloadingTest
from supple.design.wishes import Aim

_FINER = 6  # parts of a time step in which the motion is looked at
_LEAST = 0.02  # decrement that strengths can be told from
_SMOOTH = 0.01  # weight of a bend of one decade against an error of 100 %
_STAY = 1e-3  # weight of a strength that moves by a decade, so that unseen ones stay
_FIRST_SHARE = (0.4, 1.3)  # the same, as far as it is to be believed before it was seen
_SHARE = (0.05, 3.0)  # of the decrement that may be due to the example
_RADII = (1e-3, 1.0, 3.0)  # of the box in decades: given up, at first, at most
_STILL = 1e-5  # decades that count as no step
_PROBES = (-0.1, 0.04)  # decades by which strengths are moved to measure derivatives, in turn;
# first downwards: beyond critical damping nothing comes back, and nothing can be measured
_MEASURED = 16  # steps by derivatives that were measured once, at most
_PATIENCE = 5  # times that both probes are used
_LEADS_ON = 0.7  # of the sum of squares that is left by derivatives that are worth others


def solve_together(bench: Bench, begin: Trial, simulations: int) -> Trial:
    """The best trial with the knots of ``begin``, in at most so many releases a target."""
    best, tolerance = begin, bench.tolerance
    limit = [count + simulations for count in bench.simulations]
    model = _Model(bench, best)
    radius = _RADII[1]
    while True:
        if best.met(tolerance):
            if not any(best.stale):
                return best
            best = bench.trial(best.knots, best.z)  # with all curves as they are
            model = _Model(bench, best, model)
            continue
        bench.cut_short = any(
            made >= most for made, most in zip(bench.simulations, limit, strict=True)
        )
        if radius < _RADII[0] or bench.cut_short:
            return bench.trial(best.knots, best.z) if any(best.stale) else best
        z = model.fitted(radius)
        if np.abs(z - best.z).max() < _STILL:
            if not any(best.stale):
                return best
            best = bench.trial(best.knots, best.z)
            model = _Model(bench, best, model)
            continue
        new = bench.trial(best.knots, z, best)
        model.learn(new)
        if new.quality < best.quality:
            best, model = new, _Model(bench, new, model)
            radius = min(2 * radius, _RADII[2])
        else:
            radius = 0.35 * min(radius, float(np.abs(z - best.z).max()))


def solve_by_derivatives(
    bench: Bench, begin: Trial, *, patiently: bool = False, whole: bool = False
) -> Trial:
    """The same by measured derivatives (Levenberg–Marquardt in a box, with Broyden's updates).

    ``patiently`` measures them anew for as long as that leads on; ``whole`` also releases targets
    of examples whose curves stay, where those of others move them.
    """
    best, bench.cut_short = begin, False
    probes = _PROBES * (_PATIENCE if patiently else 1)
    idle = 0
    for probe in probes:
        before = best.quality
        model, radius = _Measured.at(bench, best, probe, whole), 0.5
        for _ in range(_MEASURED):
            if best.met(bench.tolerance) or radius < 10 * _RADII[0]:
                break
            z = model.fitted(best.z, radius)
            if np.abs(z - best.z).max() < _STILL:
                break
            new = bench.trial(best.knots, z, None if whole else best)
            model.learn(best, new)
            if new.quality < best.quality:
                best, radius = new, min(2 * radius, _RADII[1])
            else:
                radius *= 0.35
        idle = idle + 1 if best.quality[1] > _LEADS_ON * before[1] else 0
        if best.met(bench.tolerance) or idle == len(_PROBES):
            break
    return bench.trial(best.knots, best.z) if any(best.stale) else best


class _Measured:
    """Residuals of all moments as a linear function of the strengths."""

    def __init__(self, residuals: Floats, J: Floats, free: Bools, bends: Floats) -> None:
        self._r, self._J, self._free, self._bends = residuals, J, free, bends

    @classmethod
    def at(cls, bench: Bench, trial: Trial, probe: float, whole: bool) -> _Measured:
        """Measured around a trial, one strength after the other."""
        r, z = residuals(trial), trial.z
        J = np.zeros((len(r), len(z)))
        free = _unmet(bench, trial, bench.tolerance)
        for k in free.nonzero()[0]:
            step = probe if LOW <= z[k] + probe <= HIGH else -probe
            moved = z.copy()
            moved[k] += step
            new = bench.trial(trial.knots, moved, None if whole else trial)
            J[:, k] = _changes(trial, new) / step
        return cls(r, J, free, trial.knots.bends())

    def learn(self, best: Trial, new: Trial) -> None:
        """Broyden's rule: the least change with which the step is as it was seen."""
        delta, seen = new.z - best.z, _changes(best, new)
        self._J += np.outer(seen - self._J @ delta, delta) / float(delta @ delta)
        if new.quality < best.quality:
            self._r = residuals(new)

    def fitted(self, z0: Floats, radius: float) -> Floats:
        from scipy.optimize import lsq_linear  # slow to import

        low = np.maximum(z0 - radius, LOW)
        high = np.minimum(z0 + radius, HIGH)
        smooth = 0.1 * _SMOOTH * self._bends
        A = np.vstack([self._J, smooth, _STAY * np.eye(len(z0))])
        b = np.concatenate([-self._r, -smooth @ z0, np.zeros(len(z0))])
        free, z = self._free, z0.copy()
        bounds = (low - z0)[free] - 1e-12, (high - z0)[free] + 1e-12
        z[free] = np.clip((z0[free] + lsq_linear(A[:, free], b, bounds=bounds).x), LOW, HIGH)
        return z


def _changes(one: Trial, other: Trial) -> Floats:
    """From the residuals of one trial to those of another, nothing where a test failed."""
    known = np.array(
        [
            isfinite(a.error) and isfinite(b.error)
            for each, new in zip(one.moments, other.moments, strict=True)
            for a, b in zip(each, new, strict=True)
        ]
    )
    return np.where(known, residuals(other) - residuals(one), 0.0)


def _unmet(bench: Bench, trial: Trial, tolerance: float) -> Bools:
    """Which unknowns are of examples whose targets are not all met."""
    unmet = np.zeros(trial.knots.count, dtype=bool)
    for example in trial.knots.places:
        mine = [i for i, each in enumerate(bench.asked) if each.example == example]
        done = all(trial.is_met(i, tolerance) or trial.weights[i] < 1 for i in mine)
        unmet[trial.knots.part(example)] = not done and example not in bench.frozen
    return unmet


class _Row:
    """The model of one moment of one target."""

    def __init__(self, example: int, moment: Moment, hats: Floats, weights: Floats) -> None:
        self.example, self.moment = example, moment
        self.hats, self.weights = hats, weights
        self.d0, self.wanted = finite(moment), moment.wanted_decrement
        self.scale = max(self.d0, _LEAST)  # of what the example's own damping takes
        self.share, self.weight = 1.0, 1.0

    def amounts(self, z: Floats) -> Floats:
        """γ χ̇² of every sample."""
        return strengths(self.hats, z) * self.weights

    def start(self, z: Floats) -> None:
        self.S0 = max(float(self.amounts(z).sum()), 1e-300)

    def residual(self, z: Floats) -> tuple[float, Floats]:
        """Of the least squares, and its derivative by z."""
        amounts = self.amounts(z)
        own = self.scale * self.share
        d = max(self.d0 + own * (float(amounts.sum()) / self.S0 - 1), GAINED)
        slope = own / self.S0 * np.log(10.0) * (amounts @ self.hats)
        value, by_d = off(d, self.wanted)
        return self.weight * value, self.weight * by_d * slope


class _Model:
    """What is expected of strengths near those of a trial."""

    def __init__(self, bench: Bench, at: Trial, before: _Model | None = None) -> None:
        self.at, self.knots = at, at.knots
        self.bench = bench
        self.rows: dict[tuple[int, int], _Row] = {}
        for i, each in enumerate(bench.asked):
            for k, moment in enumerate(at.moments[i]):
                if at.tests[i].is_failed:
                    continue
                measure = bench.damping.examples[each.example].measure
                x, weights = _samples(at.tests[i], moment.aim, measure)
                row = _Row(each.example, moment, self.knots.shares(each.example, x), weights)
                row.weight = at.weights[i]
                row.start(at.z[self.knots.part(each.example)])
                if before is not None and (i, k) in before.rows:
                    row.share = before.rows[i, k].share
                elif at.tests[i].oscillates:
                    rate = bench.base_rates[each.example]
                    row.share = _own_share(row, at.tests[i], each.target.start, rate)
                self.rows[i, k] = row
        self._bends = self.knots.bends()

    def learn(self, new: Trial) -> None:
        """See from a trial how much of each decrement is the example's own (a secant)."""
        for (i, k), row in self.rows.items():
            if new.tests[i].is_failed or new.stale[i]:
                continue
            S = float(row.amounts(new.z[self.knots.part(row.example)]).sum()) / row.S0
            seen = (finite(new.moments[i][k]) - row.d0) / row.scale
            if abs(S - 1) > 0.02:
                row.share = float(np.clip(seen / (S - 1), *_SHARE))

    def fitted(self, radius: float) -> Floats:
        """The strengths nearest to all targets in a box around those that are known."""
        from scipy.optimize import least_squares  # slow to import

        z0 = self.at.z
        low = np.maximum(z0 - radius, LOW)
        high = np.minimum(z0 + radius, HIGH)
        free = self._free() & (high > low)
        if not free.any():
            return z0
        weight = _SMOOTH if len(self.rows) < self.knots.count else 0.1 * _SMOOTH

        def evaluate(part: Floats) -> tuple[Floats, Floats]:
            z = z0.copy()
            z[free] = part
            J = np.zeros((len(self.rows), len(z)))
            r = np.zeros(len(self.rows))
            for n, row in enumerate(self.rows.values()):
                own = self.knots.part(row.example)
                r[n], J[n, own] = row.residual(z[own])
            smooth, stay = weight * self._bends, _STAY * np.eye(len(z))
            values = np.concatenate([r, smooth @ z, _STAY * (z - z0)])
            return values, np.vstack([J, smooth, stay])[:, free]

        found = least_squares(
            lambda part: evaluate(part)[0],
            np.clip(z0[free], low[free] + 1e-9, high[free] - 1e-9),
            jac=lambda part: evaluate(part)[1],
            bounds=(low[free], high[free]),
            max_nfev=60,
        )
        z = z0.copy()
        z[free] = found.x
        return z

    def _free(self) -> Bools:
        """Which unknowns may change: those of examples whose targets are not all met by far."""
        free = _unmet(self.bench, self.at, 0.8 * self.bench.tolerance)
        free = free if free.any() else np.ones_like(free)
        for example in self.bench.frozen:
            free[self.knots.part(example)] = False
        return free


def _own_share(row: _Row, test: UnloadingTest, start: float, rate: float) -> float:
    """How much of a decrement is due to the example, if it swings as an oscillator does.

    By the balance of energy it loses c ∫ γ χ̇² dt / ω² of the square of its amplitude, in which that
    lies between what it was and what it is: their logarithmic mean.
    """
    if not np.isfinite(row.moment.decrement) or row.d0 < _LEAST:
        return 1.0
    base = row.moment.wanted / row.moment.aim.share if row.moment.aim.each else start
    square = base**2 * (1 - np.exp(-2 * row.d0)) / (2 * row.d0)
    w = 2 * np.pi / test.period
    return float(np.clip(rate * row.S0 / (w**2 * square) / row.d0, *_FIRST_SHARE))


def _samples(test: UnloadingTest, aim: Aim, measure: Measure) -> tuple[Floats, Floats]:
    """|χ| or |χ̇| along the span of an aim, and χ̇² there, (s,) each; cubics between steps."""
    t, x, v = test.times, test.excitations, test.rates
    h = np.diff(t)
    s = (np.arange(_FINER) + 0.5) / _FINER
    a, b = x[:-1, None], x[1:, None]
    da, db = (v[:-1] * h)[:, None], (v[1:] * h)[:, None]
    c2, c3 = 3 * (b - a) - 2 * da - db, da + db - 2 * (b - a)
    place = a + s * (da + s * (c2 + s * c3))
    rate = (da + s * (2 * c2 + s * 3 * c3)) / h[:, None]
    times = t[:-1, None] + s * h[:, None]
    begin, end = test.span(aim)
    inside = (times >= begin) & (times <= end)
    if not inside.any():
        inside[:] = True
    of = np.abs(place if measure is Measure.EXCITATION else rate)
    return of[inside], (rate**2 * (h[:, None] / _FINER))[inside]
