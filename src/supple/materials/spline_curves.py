"""The three curves of a spline material: what they say of it at rest and where it is stable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from supple.core.errors import InputError
from supple.core.types import Floats

CURVES = ("stretch", "area", "volume")
"""f′, g′ and h′."""
_REST = 1e-6  # stress at rest, as a share of Young's modulus, that may be the digits of a file
_STEPS = 200  # of stretch, from rest to the last knot, at which stability is looked at
_ITERATIONS = 40  # of Newton's method for sides that nothing holds

Knots = Sequence[Sequence[float]]


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve of cubic pieces with slopes at its knots, and straight beyond them. 1 is a knot."""

    x: Floats
    y: Floats
    slopes: Floats

    @classmethod
    def through(cls, knots: Knots | None) -> Curve:
        """The cubic spline through knots (x, y); zero without any."""
        if knots is None:
            return cls(np.ones(1), np.zeros(1), np.zeros(1))
        x, y = np.array(knots, dtype=float).T
        made = cls(x, y, spline_slopes(x) @ y)
        if 1.0 in x:
            return made
        value, slope = (float(z) for z in made.at(np.array(1.0)))
        k = int(np.searchsorted(x, 1.0))
        return cls(*(np.insert(a, k, b) for a, b in ((x, 1.0), (y, value), (made.slopes, slope))))

    def at(self, x: Floats) -> tuple[Floats, Floats]:
        """Value and slope."""
        n = len(self.x)
        k = np.searchsorted(self.x, x, side="right") - 1
        i = np.clip(k, 0, n - 1)
        t, b = x - self.x[i], self.slopes[i]
        c, d = np.zeros((2, *np.shape(x)))
        inside = (k >= 0) & (k < n - 1)
        j = np.minimum(i + 1, n - 1)
        h = np.where(inside, self.x[j] - self.x[i], 1.0)
        rise, end = (self.y[j] - self.y[i]) / h, self.slopes[j]
        c = np.where(inside, (3 * rise - 2 * b - end) / h, 0.0)
        d = np.where(inside, (b + end - 2 * rise) / (h * h), 0.0)
        return self.y[i] + t * (b + t * (c + t * d)), b + t * (2 * c + 3 * t * d)

    @property
    def integrals(self) -> Floats:
        """From 1 to each knot."""
        h = np.diff(self.x)
        pieces = (
            h * (self.y[:-1] + self.y[1:]) / 2 + h * h * (self.slopes[:-1] - self.slopes[1:]) / 12
        )
        total = np.concatenate([[0.0], np.cumsum(pieces)])
        return np.asarray(total - total[np.searchsorted(self.x, 1.0)])


def spline_slopes(x: Floats) -> Floats:
    """The matrix (n, n) from values at knots x to slopes there, of the cubic spline.

    Two pieces at each end are one cubic (*not a knot*), so that cubics are kept as they are; with
    three knots or two, there is no curvature at the ends.
    """
    n, h = len(x), np.diff(x)
    left, right = np.zeros((n, n)), np.zeros((n, n))
    for k in range(n):
        for i in (k - 1, k):  # the pieces beside knot k
            if 0 <= i < n - 1:
                left[k, k] += 2 / h[i]
                left[k, 2 * i + 1 - k] += 1 / h[i]
                right[k, i + 1] += 3 / h[i] ** 2
                right[k, i] -= 3 / h[i] ** 2
    if n > 3:
        for end, pieces in ((0, (0, 1)), (n - 1, (n - 3, n - 2))):
            left[end], right[end] = 0.0, 0.0
            for sign, i in zip((1, -1), pieces, strict=True):
                left[end, i : i + 2] += sign / h[i] ** 2
                right[end, i : i + 2] += np.array([-2, 2]) * sign / h[i] ** 3
    return np.asarray(np.linalg.solve(left, right))


@dataclass(frozen=True, eq=False)
class SplineCurves:
    """f′, g′ and h′ [Pa], with no stress at rest."""

    f: Curve
    g: Curve
    h: Curve

    @staticmethod
    def of(stretch: Knots, area: Knots | None, volume: Knots | None) -> SplineCurves:
        """The curves through these knots. Raises InputError where they are of no material."""
        return _curves(stretch, area, volume)

    @cached_property
    def _rest(self) -> tuple[Floats, Floats]:
        """Values and slopes of f′, g′ and h′ at 1, (3,) each."""
        found = [each.at(np.array(1.0)) for each in (self.f, self.g, self.h)]
        values, slopes = np.array(found, dtype=float).T
        return values, slopes

    @property
    def rest_stress(self) -> float:
        """f′(1) + 2 g′(1) + h′(1) [Pa]."""
        return float(self._rest[0] @ (1, 2, 1))

    @property
    def lame(self) -> tuple[float, float]:
        """λ and μ [Pa] of small strains: ∂²ψ/∂σ_a∂σ_b = λ and ∂²ψ/∂σ_a² = λ + 2μ."""
        (_, g, h), (df, dg, dh) = self._rest
        lam = float(g + dg + h + dh)
        return lam, float(df + 2 * dg + dh - lam) / 2

    @property
    def young(self) -> float:
        lam, mu = self.lame
        return mu * (3 * lam + 2 * mu) / (lam + mu)

    @property
    def poisson(self) -> float:
        lam, mu = self.lame
        return lam / (2 * (lam + mu))

    @cached_property
    def table(self) -> Floats:
        """What kernels read, for μ = 1, (1, numbers)."""
        scale = 1 / self.lame[1]
        rows = [np.array([len(each.x) for each in (self.f, self.g, self.h)], dtype=float)]
        for each in (self.f, self.g, self.h):
            rows += [each.x, scale * each.y, scale * each.slopes, scale * each.integrals]
        return np.concatenate(rows)[None]

    def stresses(self, x: Floats) -> tuple[Floats, Floats]:
        """∂ψ/∂σ (m, 3) and ∂²ψ/∂σ² (m, 3, 3) at stretches x (m, 3)."""
        volume = x.prod(axis=1)
        p, H = np.zeros(x.shape), np.zeros((len(x), 3, 3))
        h, slope_h = self.h.at(volume)
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            f, slope_f = self.f.at(x[:, a])
            pair = x[:, b] * x[:, c]
            g, slope_g = self.g.at(pair)
            p[:, a] += f + pair * h
            p[:, b] += x[:, c] * g
            p[:, c] += x[:, b] * g
            H[:, a, a] += slope_f + pair**2 * slope_h
            H[:, b, b] += x[:, c] ** 2 * slope_g
            H[:, c, c] += x[:, b] ** 2 * slope_g
            H[:, b, c] += g + pair * slope_g + x[:, a] * (h + volume * slope_h)
            H[:, c, b] = H[:, b, c]
        return p, H


@lru_cache(maxsize=64)
def _curves(stretch: Knots, area: Knots | None, volume: Knots | None) -> SplineCurves:
    made = SplineCurves(*(Curve.through(knots) for knots in (stretch, area, volume)))
    lam, mu = made.lame
    if not (mu > 0 and 3 * lam + 2 * mu > 0):
        raise InputError(
            f"the curves have λ = {lam:.4g} Pa and μ = {mu:.4g} Pa at rest, but a stable material "
            "has μ > 0 and λ > −2/3 μ; let stretch= rise through 1",
            parameter="stretch",
        )
    left = made.rest_stress
    if abs(left) > _REST * made.young:
        raise InputError(
            f"at rest the stress f′(1) + 2 g′(1) + h′(1) is {left:.6g} Pa, but a body at rest has "
            f"none; add {-left:.6g} to every value of stretch=, or to those of volume=",
            parameter="stretch",
        )
    f = made.f
    return SplineCurves(Curve(f.x, f.y - left, f.slopes), made.g, made.h)


def linear_tables(lam: Floats, mu: Floats) -> Floats:
    """Tables of the straight lines f′ = 2(σ − 1) + (λ/μ)(σ − 3) and g′ = λ/μ: the corotational."""
    ratio = lam / mu
    if len(ratio) and (ratio == ratio[0]).all():
        ratio = ratio[:1]
    tables = np.zeros((len(ratio), 3 + 3 * 4))
    tables[:, :3] = 1.0
    for first, value, slope in ((3, -2 * ratio, 2 + ratio), (7, ratio, 0.0), (11, 0.0, 0.0)):
        tables[:, first], tables[:, first + 1], tables[:, first + 2] = 1.0, value, slope
    return tables


def is_table(rows: Floats) -> bool:
    """Whether kernels can read these rows (m, numbers) without going astray."""
    for row in rows:
        if len(row) < 3 or not (row[:3] >= 1).all() or not (row[:3] <= len(row)).all():
            return False
        counts, first = row[:3].astype(int), 3
        if (counts != row[:3]).any() or 3 + 4 * counts.sum() != len(row):
            return False
        for count in counts:
            if not (np.diff(row[first : first + count]) > 0).all():
                return False
            first += 4 * int(count)
    return True


# -- stability ---------------------------------------------------------------------------


def stable_ranges(curves: SplineCurves) -> dict[str, tuple[float, float]]:
    """Ways of deforming that a material is not stable in up to its knots, and where it is.

    Stable means that more stretch takes more force, while the sides are free.
    """
    ways = {
        "when pulled or pressed one way": 1,
        "when pulled or pressed two ways": 2,
        "when it swells or shrinks": 3,
    }
    ends = min(float(curves.f.x[0]), 1.0), max(float(curves.f.x[-1]), 1.0)
    found = {}
    for name, loaded in ways.items():
        range_ = _last_stable(curves, loaded, ends[0]), _last_stable(curves, loaded, ends[1])
        if range_ != ends:
            found[name] = range_
    return found


def _last_stable(curves: SplineCurves, loaded: int, end: float) -> float:
    """How far towards the stretch ``end`` of the first ``loaded`` axes a material stays stable."""
    a = np.linspace(1.0, end, _STEPS + 1)[1:]
    H = _unloaded(curves, loaded, a)
    slope = H[:, 0, :loaded].sum(axis=1)
    good = np.ones(len(a), dtype=bool)
    if loaded < 3:
        own = H[:, loaded, loaded:].sum(axis=1)
        good = own > 0
        slope -= H[:, 0, loaded:].sum(axis=1) * H[:, loaded, :loaded].sum(axis=1) / own
    bad = np.flatnonzero(~(good & (slope > 0)))
    if not len(bad):
        return end
    return float(a[bad[0] - 1]) if bad[0] else 1.0


def _unloaded(curves: SplineCurves, loaded: int, a: Floats) -> Floats:
    """∂²ψ/∂σ² (m, 3, 3) at stretches that begin with a (m,), the others free of stress."""
    x = np.repeat(a[:, None], 3, axis=1)
    if loaded == 3:
        return curves.stresses(x)[1]
    nu = curves.poisson
    side = np.maximum(a, 1e-3) ** (-nu if loaded == 1 else -2 * nu / (1 - nu))  # of small strains
    for _ in range(_ITERATIONS):
        x[:, loaded:] = side[:, None]
        p, H = curves.stresses(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = -p[:, loaded] / H[:, loaded, loaded:].sum(axis=1)
        step[~np.isfinite(step)] = 0.0
        if (np.abs(step) <= 1e-10 * side).all():
            break
        side = np.clip(side + step, 0.5 * side, 2 * side)
    return H
