"""Spline: ψ = Σ_i f(σ_i) + Σ_{i<j} g(σ_i σ_j) + h(σ₀ σ₁ σ₂), whose derivatives are drawn as curves.

Isotropic, after Valanis and Landel, with cubic splines for f′, g′ and h′ [Xu, Sin, Zhu, Barbič
2015, Nonlinear material design using principal stretches]. σ are the stretches of F with the sign
of det F in the smallest, as in the corotational material. Beyond its knots a curve goes on along
its tangent, so that it stays as stiff as it was.

What kernels read of the three curves is one row of numbers, a *table*: how many knots each of them
has, then for each in turn their places, values, slopes, and the integral of the curve from 1 to
each of them, all for μ = 1.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.svd3 import svd3
from supple._kernels.linear_algebra.tensors import add_outer
from supple.core.checks import instance, numbers
from supple.core.errors import InputError
from supple.core.parameters import CELL_NUMBERS, Kind, Parameter, parameter
from supple.core.types import Floats, Ints
from supple.materials.base import MATERIALS, Material, MaterialWarning
from supple.materials.spline_curves import (
    CURVES,
    SplineCurves,
    is_table,
    linear_tables,
    stable_ranges,
)
from supple.materials.spline_fitting import fitted_curves

_LEAST_SPAN = 1e-6  # of σ_a + σ_b, where the rotation of F is not defined


@pointwise
def _piece(table, start, n, x):
    """On which piece of a curve x is: from -1, before the first knot, to n - 1, after the last."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if table[start + middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low - 1


@pointwise
def _cubic(table, start, n, i):
    """Place, integral, and the coefficients of piece i about its knot."""
    k = max(i, 0)
    x, y, d = table[start + k], table[start + n + k], table[start + 2 * n + k]
    total = table[start + 3 * n + k]
    if i < 0 or i == n - 1:
        return x, total, y, d, 0.0, 0.0
    h = table[start + k + 1] - x
    rise = (table[start + n + k + 1] - y) / h
    end = table[start + 2 * n + k + 1]
    return x, total, y, d, (3.0 * rise - 2.0 * d - end) / h, (d + end - 2.0 * rise) / (h * h)


@pointwise
def _curve(table, start, n, at):
    """Integral, value and slope of a curve."""
    x, total, y, b, c, d = _cubic(table, start, n, _piece(table, start, n, at))
    t = at - x
    whole = total + t * (y + t * (0.5 * b + t * (c / 3.0 + 0.25 * t * d)))
    return whole, y + t * (b + t * (c + t * d)), b + t * (2.0 * c + 3.0 * t * d)


@pointwise
def _mean_slope(table, start, n, p, q):
    """(y(p) − y(q))/(p − q), also where these are near each other or the same."""
    if p < q:
        p, q = q, p
    high, low = _piece(table, start, n, p), _piece(table, start, n, q)
    if high > low + 1:
        return (_curve(table, start, n, p)[1] - _curve(table, start, n, q)[1]) / (p - q)
    x, _, _, b, c, d = _cubic(table, start, n, high)
    s = p - x
    if high == low:
        t = q - x
        return b + c * (s + t) + d * (s * s + s * t + t * t)
    above = b + s * (c + s * d)  # from the knot between them to p
    knot = table[start + high]
    x, _, _, b, c, d = _cubic(table, start, n, low)
    s, t = knot - x, q - x
    below = b + c * (s + t) + d * (s * s + s * t + t * t)
    return (above * (p - knot) + below * (knot - q)) / (p - q)


@pointwise
def stretch_terms(table, x, p, H, values):
    """Fills ∂ψ/∂σ (3,) and ∂²ψ/∂σ² (3, 3) at σ = x for μ = 1; returns ψ.

    p_a = f′(a) + b g′(ab) + c g′(ac) + bc h′(abc). ``values`` (3, 3) gets f′ of each stretch, g′ of
    the two others, and h′.
    """
    nf, ng, nh = int(table[0]), int(table[1]), int(table[2])
    of_g, of_h = 3 + 4 * nf, 3 + 4 * (nf + ng)
    psi, y, slope = _curve(table, of_h, nh, x[0] * x[1] * x[2])
    values[2, 0] = y
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        p[a] = x[b] * x[c] * y
        H[a, a] = (x[b] * x[c]) ** 2 * slope
        H[b, c] = H[c, b] = x[a] * (y + x[0] * x[1] * x[2] * slope)
    for a in range(3):
        whole, y, slope = _curve(table, 3, nf, x[a])
        values[0, a] = y
        psi += whole
        p[a] += y
        H[a, a] += slope
        b, c = (a + 1) % 3, (a + 2) % 3
        whole, y, slope = _curve(table, of_g, ng, x[b] * x[c])
        values[1, a] = y  # of the pair that a is not of
        psi += whole
        p[b] += x[c] * y
        p[c] += x[b] * y
        H[b, b] += x[c] * x[c] * slope
        H[c, c] += x[b] * x[b] * slope
        H[b, c] += y + x[b] * x[c] * slope
        H[c, b] = H[b, c]
    return psi


@pointwise
def _add_turns(table, x, values, scale, U, V, Q, A):
    """Adds what ∂P/∂F has beside stretches: for each pair of axes

    (p_a − p_b)/(a − b) on (u_a v_bᵀ + u_b v_aᵀ)/√2 and (p_a + p_b)/(a + b) on their difference.
    """
    nf, ng = int(table[0]), int(table[1])
    h = values[2, 0]
    for c in range(3):
        a, b = (c + 1) % 3, (c + 2) % 3
        both = values[1, c] + x[c] * h  # g′(ab) + c h′(abc)
        flip = _mean_slope(table, 3, nf, x[a], x[b]) - both
        flip += x[c] * x[c] * _mean_slope(table, 3 + 4 * nf, ng, x[a] * x[c], x[b] * x[c])
        span = x[a] + x[b]
        if abs(span) < _LEAST_SPAN:
            span = _LEAST_SPAN
        total = values[0, a] + values[0, b] + x[c] * (values[1, b] + values[1, a])
        twist = total / span + both
        for sign in (1.0, -1.0):
            for i in range(3):
                for j in range(3):
                    Q[i, j] = U[i, a] * V[j, b] + sign * U[i, b] * V[j, a]
            add_outer(A, 0.5 * scale * (flip if sign > 0.0 else twist), Q, Q)


@kernel
def evaluate_splines(F, mu, tables, psi, P, A, order):
    """ψ, P and ∂P/∂F at the quadrature points of some cells, up to ``order``."""
    U, x, V, Q, R = (np.empty((3, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3)),
                     np.empty((3, 3)))  # fmt: skip
    p, H, values = np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(mu)):
        table, scale = tables[e % len(tables)], mu[e]
        for q in range(F.shape[1]):
            svd3(F[e, q], U, x, V)
            psi[e, q] = scale * stretch_terms(table, x, p, H, values)
            if order >= 1:
                for i in range(3):
                    for j in range(3):
                        P[e, q, i, j] = scale * (
                            p[0] * U[i, 0] * V[j, 0]
                            + p[1] * U[i, 1] * V[j, 1]
                            + p[2] * U[i, 2] * V[j, 2]
                        )
            if order >= 2:
                block = A[e, q]
                block[:] = 0.0
                for a in range(3):
                    for i in range(3):
                        for j in range(3):
                            Q[i, j] = U[i, a] * V[j, a]
                            R[i, j] = (
                                H[a, 0] * U[i, 0] * V[j, 0]
                                + H[a, 1] * U[i, 1] * V[j, 1]
                                + H[a, 2] * U[i, 2] * V[j, 2]
                            )
                    add_outer(block, scale, Q, R)
                _add_turns(table, x, values, scale, U, V, Q, block)


@kernel
def evaluate_spline_stretches(sigma, mu, tables, psi, p, H):
    """ψ, ∂ψ/∂σ and ∂²ψ/∂σ² at F = diag(σ), whatever the signs of σ."""
    x, r, y, h, values = (np.empty(3), np.empty(3), np.empty(3), np.empty((3, 3)),
                          np.empty((3, 3)))  # fmt: skip
    for e in range(len(mu)):
        table, scale = tables[e % len(tables)], mu[e]
        for q in range(sigma.shape[1]):
            least, det = 0, 1.0
            for i in range(3):
                r[i] = -1.0 if sigma[e, q, i] < 0.0 else 1.0
                det *= r[i]
                if abs(sigma[e, q, i]) < abs(sigma[e, q, least]):
                    least = i
            r[least] *= det  # only the smallest stretch is negative, if any
            for i in range(3):
                x[i] = r[i] * sigma[e, q, i]
            psi[e, q] = scale * stretch_terms(table, x, y, h, values)
            s = 0
            for i in range(3):
                p[e, q, i] = scale * r[i] * y[i]
                for j in range(i, 3):
                    H[e, q, s] = scale * r[i] * r[j] * h[i, j]
                    s += 1


# -- parameters --------------------------------------------------------------------------


def _knots(of: Parameter, value: Any) -> tuple[tuple[float, float], ...]:
    """Pairs of a place and a value, the places ascending."""
    found = numbers(of.name, value)
    if found.ndim != 2 or found.shape[1] != 2 or len(found) < 2:
        raise InputError(
            f"{of.name} has shape {found.shape}; give two knots or more, such as "
            "[(0.5, -2e4), (1, 0), (2, 3e4)]",
            parameter=of.name,
        )
    if not (np.diff(found[:, 0]) > 0).all():
        raise InputError(
            f"{of.name} must go from left to right: {found[:, 0].tolist()}", parameter=of.name
        )
    return tuple((float(x), float(y)) for x, y in found)


KNOTS = Kind("pairs of numbers", _knots)
_CURVE: Any = {"kind": KNOTS, "unit": "Pa"}


@MATERIALS.register
@dataclass(frozen=True, eq=False, kw_only=True)
class SplineMaterial(Material):
    """Isotropic material whose stress is drawn: knots of f′, g′ and h′ over the stretches.

    ψ = Σ f(σ_i) + Σ g(σ_i σ_j) + h(σ₀ σ₁ σ₂), with cubic splines through the knots that go on along
    their tangents. Young's modulus and the Poisson ratio follow from the curves. Another ``young``
    scales all of them; without curves, ``young`` and ``poisson`` make the straight lines of the
    corotational material.
    """

    young: ArrayLike = parameter(
        None,
        "Young's modulus at rest, to which the curves are scaled; theirs",
        kind=CELL_NUMBERS,
        unit="Pa",
        above=0,
        too_low="stiffness must be positive",
    )
    poisson: ArrayLike = parameter(
        None,
        "Poisson ratio at rest; that of the curves",
        kind=CELL_NUMBERS,
        above=-1,
        below=0.5,
        too_low="a stable material has more than -1",
        too_high="½ is incompressible; use less than 0.5, e.g. 0.49",
    )
    stretch: ArrayLike | None = parameter(None, "f′ over a stretch σ_i", **_CURVE)
    area: ArrayLike | None = parameter(None, "g′ over the change of an area σ_i σ_j; 0", **_CURVE)
    volume: ArrayLike | None = parameter(None, "h′ over the change of volume J; 0", **_CURVE)

    survives_inversion: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        curves = self.curves
        if curves is None:
            self._check_lines()
            return
        young, poisson = curves.young, curves.poisson
        if self.poisson is not None and not np.allclose(self.poisson, poisson, rtol=0, atol=1e-6):
            raise InputError.of(
                "poisson", self.poisson, f": the curves have {poisson:.6g}; leave it out"
            )
        is_new = self.poisson is None  # else a copy, of which all has been told
        object.__setattr__(self, "poisson", poisson)
        if self.young is None:
            object.__setattr__(self, "young", young)
        for mode, (low, high) in stable_ranges(curves).items() if is_new else ():
            warnings.warn(
                f"this SplineMaterial is stable {mode} for stretches of {low:.3g} to {high:.3g} "
                "only; beyond, more of it takes less force. Let its curves rise there too",
                MaterialWarning,
                stacklevel=3,
            )

    def _check_lines(self) -> None:
        others = [name for name in CURVES[1:] if getattr(self, name) is not None]
        if others:
            raise InputError(f"{others[0]}= needs the curve stretch= too", parameter="stretch")
        if self.young is None or self.poisson is None:
            missing = "young" if self.young is None else "poisson"
            raise InputError(
                "a SplineMaterial needs stretch=, the knots of a curve such as [(0.5, -2e4), "
                "(1, 0), (2, 3e4)], or young= and poisson= for straight lines",
                parameter=missing,
            )

    @classmethod
    def from_material(
        cls, material: Material, *, knots: ArrayLike = 11, reach: float = 3.0
    ) -> SplineMaterial:
        """The spline material that is nearest to another, to be bent with ``with_curves``.

        ``knots`` are the places of the knots of all three curves, or how many there are from
        1/``reach`` to ``reach``. Young's modulus, the Poisson ratio and the density are those of
        ``material``. What cannot be written as f, g and h is told by a warning.
        """
        instance("material", material, Material, "NeoHookean(young=1e5, poisson=0.45)")
        curves, error = fitted_curves(material, knots, reach)
        if error > 0.01:
            warnings.warn(
                f"the curves miss the stress of {type(material).__name__} by {100 * error:.2g} % "
                "(RMS); give more knots, or a smaller reach=",
                MaterialWarning,
                stacklevel=2,
            )
        with warnings.catch_warnings():  # what it was made of is no more stable
            warnings.simplefilter("ignore", MaterialWarning)
            return cls(density=material.density, **curves)

    def with_curves(self, **curves: ArrayLike) -> SplineMaterial:
        """The material with other knots of ``stretch``, ``area`` or ``volume``, scaled anew."""
        unknown = [name for name in curves if name not in CURVES]
        if unknown:
            raise InputError(f"{unknown[0]}= is no curve; give {', '.join(CURVES)}")
        kept: dict[str, Any] = {name: getattr(self, name) for name in (*CURVES, "density")}
        return type(self)(**(kept | curves))

    # -- by cell -------------------------------------------------------------------------

    @property
    def curves(self) -> SplineCurves | None:
        """The three curves as they were given [Pa]; None for straight lines."""
        if self.stretch is None:
            return None
        return SplineCurves.of(*(getattr(self, name) for name in CURVES))

    def extra(self, cells: Ints) -> tuple[Floats, ...]:
        """The table of the curves, (1, numbers), unless λ and μ say it all."""
        curves = self.curves
        return () if curves is None else (curves.table,)

    @staticmethod
    def takes(extra: Floats) -> bool:
        return extra.ndim == 2 and is_table(extra)

    # -- what is compiled ----------------------------------------------------------------

    @staticmethod
    def evaluate(
        F: Floats,
        lam: Floats,
        mu: Floats,
        psi: Floats,
        P: Floats,
        A: Floats,
        order: int,
        *extra: Floats,
    ) -> None:
        tables = extra[0] if extra else linear_tables(lam, mu)
        evaluate_splines(F, mu, tables, psi, P, A, order)

    def evaluate_stretches(
        self,
        sigma: Floats,
        lam: Floats,
        mu: Floats,
        psi: Floats,
        p: Floats,
        H: Floats,
        *extra: Floats,
    ) -> None:
        tables = extra[0] if extra else linear_tables(lam, mu)
        evaluate_spline_stretches(sigma, mu, tables, psi, p, H)
