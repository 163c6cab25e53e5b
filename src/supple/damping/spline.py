"""Damping shaped by a curve over the principal stretches of each cell, or over their rates.

Dissipative optimization, §5.2.2, with both of its forms.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from supple._kernels.damping.laws import factored_law
from supple._kernels.damping.principal_strain import (
    BY_RATE,
    BY_STRETCH,
    factors_by_rate,
    factors_by_stretch,
)
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.parameters import described, parameter
from supple.core.types import Floats, Ints
from supple.damping.base import DAMPINGS, BoundDamping, Damping, another_damping, body_for
from supple.damping.cells import (
    NO_DERIVATIVE,
    BoundCellDamping,
    Points,
    PointSums,
    add_shape_derivative,
)
from supple.damping.coefficients import spread_over_cells
from supple.damping.curve import CURVE, Curve, compiled_curves
from supple.damping.laws import CellLaw, curve_numbers
from supple.damping.principal_strain import AXIS_WIDTH, BoundPrincipalStrain, PrincipalStrain
from supple.damping.thin.bound import (
    BoundThinLaw,
    closeness,
    in_frame,
    principal_by_rate,
    principal_form,
    viscosity_of,
)
from supple.damping.thin.frames import Frame, ThinBody, thin
from supple.damping.thin.laws import ByRate, Law, Quadratic

_LOG_10 = float(np.log(10.0))
_CORNER = 1e-9  # jump of slope, as a share of the steepest, that is more than rounding
_STEEPEST = -2.0  # d log s/d log rate at which a faster motion loses no more power than a slower


class SplineOver(Enum):
    """What a curve of spline damping is a function of."""

    STRETCH = "stretch"
    """σ, 1 at rest: the size of the singular values of F."""
    RATE = "rate"
    """``|σ̇|`` [1/s]: how fast they change. The force is not linear in the velocity then."""


_BY = {SplineOver.STRETCH: BY_STRETCH, SplineOver.RATE: BY_RATE}


@DAMPINGS.register(name="spline")
@dataclass(frozen=True)
class SplineDamping(Damping):
    """Any damping of cells times a factor: r' = max_j s(σ_j) r, or max_j s(``|σ̇_j|``) r (Eq. 57).

    On ``PrincipalStrain`` each principal strain has a factor of its own. Over stretch it is
    r' = β/2 σ̇ᵀ S^½ K_σ S^½ σ̇ with S = diag(s(σ_j)). Over the rate that form may feed energy
    where factors change at different pace, so there K_σ = κ I + N is split, κ its smallest
    eigenvalue, and r' = β/2 (κ Σ_j s(``|σ̇_j|``) σ̇_j² + max_j s(``|σ̇_j|``) σ̇ᵀN σ̇).

    Over the rate the force is that of r' as it is, with the derivative of s. So the curve must be
    smooth, as ``Curve.bezier`` is, and may not fall so fast that a faster motion would be damped
    by less than nothing: d log s/d log ``|σ̇|`` ≥ −2. The largest of the three factors is their mean
    (⅓ Σ s_j^16)^(1/16) then, at most 7 % less, since forces would jump where factors change
    places. And ``base`` must be linear in the velocity. What base conserves stays conserved.

    Cloth has two stretches in its plane and a spring has one; there base is ClothStrainRate without
    bending, SpringStrainRate or PrincipalStrain.
    """

    base: Damping = field(
        metadata=described(
            "a sum over cells, such as StrainRate, MatchedStrainRate or PrincipalStrain",
            kind=another_damping("StrainRate(shear=10)"),
        )
    )
    curve: Curve | float = field(metadata=described("s, the factor", kind=CURVE))
    _: KW_ONLY
    over: SplineOver = parameter(
        SplineOver.STRETCH, "what the curve is a function of", kind=SplineOver
    )
    axis_width: float | None = parameter(
        None,
        "difference of stretches from which on axes are told apart, over the rate; 0.02, or that "
        "of a PrincipalStrain",
        above=0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axis_width is not None and isinstance(self.base, PrincipalStrain):
            raise InputError("give axis_width= to PrincipalStrain; spline damping uses that")
        if self.over is SplineOver.RATE:
            _check_smooth(Curve.of(self.curve))
            _check_fall(Curve.of(self.curve))

    @property
    def spares_rigid_motion(self) -> bool:
        return self.base.spares_rigid_motion

    def bind(self, body: ElasticBody) -> BoundDamping:
        sheet = thin(body)
        if sheet is not None:
            return _thin_spline(self, sheet, body)
        solid = body_for(self, Body, body)
        if isinstance(self.base, PrincipalStrain):
            return _BoundPrincipalSpline(self, self.base, solid)
        bound = self.base.bind(solid)
        cells = bound.in_cells()
        if cells is None or bound.outside_cells() is not None:
            raise InputError(
                f"spline damping needs a base that acts within cells, not {self.base!r}; give "
                "StrainRate, MatchedStrainRate or PrincipalStrain, and add other damping beside it"
            )
        if self.over is SplineOver.RATE and not cells.is_linear:
            raise InputError(
                f"over the rate, spline damping needs a base that is linear in the velocity, not "
                f"{self.base!r}; give StrainRate or the like, or use SplineOver.STRETCH"
            )
        return _BoundSpline(self, cells, solid)


def _thin_spline(damping: SplineDamping, sheet: ThinBody, body: ElasticBody) -> BoundDamping:
    curve, base, over_rate = Curve.of(damping.curve), damping.base, damping.over is SplineOver.RATE
    if isinstance(base, PrincipalStrain):
        beta = spread_over_cells("stiffness", base.stiffness, body)
        width = base.axis_width

        def principal(at: Frame, shape: Shape) -> Law:
            H, root = sheet.stretch_stiffness(at), closeness(at, width)
            if over_rate:
                return principal_by_rate(H, at, root, curve, beta)
            s = np.sqrt(curve(at.sigma))
            H = H * s[:, :, None] * s[:, None, :]
            return Quadratic(beta[:, None, None] * principal_form(H, at, root))

        return BoundThinLaw(sheet, principal, linear=not over_rate)
    viscosity = viscosity_of(base, body, "spline damping")
    tell_apart = AXIS_WIDTH if damping.axis_width is None else damping.axis_width

    def factored(at: Frame, shape: Shape) -> Law:
        Q = in_frame(at, viscosity(shape))
        if over_rate:
            return ByRate(Q, np.zeros(len(Q)), closeness(at, tell_apart), curve)
        return Quadratic(curve(at.sigma).max(axis=1)[:, None, None] * Q)

    return BoundThinLaw(sheet, factored, linear=not over_rate)


class _BoundPrincipalSpline(BoundPrincipalStrain):
    def __init__(self, damping: SplineDamping, base: PrincipalStrain, body: Body) -> None:
        super().__init__(base, body, Curve.of(damping.curve), _BY[damping.over])
        self.is_linear = damping.over is SplineOver.STRETCH


@dataclass(frozen=True, eq=False)
class _Factors:
    s: Floats
    """(c, q)"""
    slopes: Floats
    """∂s/∂F or over the rate ∂s/∂Ḟ, (c, q, 3, 3)."""
    growth: Floats
    """Times ∂²r/∂Ḟ² of the base, a definite stand-in for that of s r, (c, q)."""


class _BoundSpline(BoundCellDamping):
    def __init__(self, damping: SplineDamping, base: BoundCellDamping, body: Body) -> None:
        super().__init__(body)
        self._base = base
        self._over_rate = damping.over is SplineOver.RATE
        self._width = AXIS_WIDTH if damping.axis_width is None else damping.axis_width
        self._given = Curve.of(damping.curve)
        self._curve = compiled_curves([self._given])
        self.needs_elasticity = base.needs_elasticity
        self.is_linear = not self._over_rate and base.is_linear
        self.is_thinning = base.is_thinning

    def _factors(self, F: Floats, rate: Floats, second: Floats = NO_DERIVATIVE) -> _Factors:
        s, slopes = np.empty(F.shape[:2]), np.empty_like(F)
        if not self._over_rate:
            factors_by_stretch(F, self._curve, s, slopes)
            return _Factors(s, slopes, s)
        growth = np.empty_like(s)
        factors_by_rate(F, rate, self._width, self._curve, s, slopes, growth, second)
        return _Factors(s, slopes, growth)

    def laws(self, cells: Ints) -> tuple[CellLaw, ...] | None:
        inner = self._base.laws(cells)
        if inner is None or len(inner) != 1:
            return None
        numbers = [float(self._over_rate), self._width, *curve_numbers(self._given)]
        return (inner[0].within(factored_law, numbers),)

    def add_points(self, points: Points, to: PointSums) -> None:
        r, P, A = to.arrays
        r_base, P_base, A_base = (np.zeros_like(array) for array in to.arrays)
        self._base.add_points(points, replace(to, r=r_base, P=P_base, A=A_base))
        whole = to.order >= 2 and self._over_rate and not to.definite
        second = np.zeros_like(A) if whole else NO_DERIVATIVE
        by = self._factors(points.F, points.rate, second)
        r += by.s * r_base  # dissipative optimization, Eq. 57
        if to.order >= 1:
            P += _blocks(by.s, 2) * P_base
            if self._over_rate:
                P += _blocks(r_base, 2) * by.slopes
        if whole:
            A += _blocks(by.s, 3) * A_base + to.factor * _blocks(r_base, 3) * second
            A += to.factor * _both_ways(by.slopes, P_base)
        elif to.order >= 2:
            A += _blocks(by.growth, 3) * A_base

    def add_stress_points(self, points: Points, A: Floats) -> None:
        A_base = np.zeros_like(A)
        self._base.add_stress_points(points, A_base)
        A += _blocks(self._factors(points.F, points.rate).s, 3) * A_base

    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        r_base, G_base = np.zeros(G.shape[:2]), np.zeros_like(G)
        self._base.add_points(points, PointSums(r_base, order=0))
        self._base.add_shape_gradient_points(points, G_base, factor)
        by = self._factors(points.F, points.rate)
        slopes = by.slopes
        if self._over_rate:

            def density(F: Floats, order: int) -> tuple[Floats, Floats]:
                there = self._factors(F, points.rate)
                return there.s, there.slopes

            slopes = np.zeros_like(points.F)
            add_shape_derivative(density, points.F, points.rate, slopes, 1.0, self._width)
        G += _blocks(by.s, 2) * G_base + factor * _blocks(r_base, 2) * slopes


def _blocks(numbers: Floats, dimensions: int) -> Floats:
    """Numbers (c, q), to be multiplied with arrays that have so many dimensions more."""
    return numbers[(..., *(None,) * dimensions)]


def _both_ways(L: Floats, R: Floats) -> Floats:
    """L_ij R_kl + R_ij L_kl (c, q, 6, 3, 3), stored as stress derivatives are."""
    j, l = np.triu_indices(3)
    one: Floats = np.einsum("cqis,cqks->cqsik", L[..., j], R[..., l])
    other: Floats = np.einsum("cqis,cqks->cqsik", R[..., j], L[..., l])
    return one + other


def _check_smooth(curve: Curve) -> None:
    """Stop where the curve has a corner."""
    breaks, pieces = curve.cubics
    width = np.diff(breaks)
    begin = pieces[:, 1]
    end = pieces[:, 1] + width * (2 * pieces[:, 2] + width * 3 * pieces[:, 3])
    jumps = np.abs(np.append(begin, 0.0) - np.append(0.0, end))
    corners = breaks[jumps > _CORNER * np.abs(pieces[:, 1:]).max(initial=0.0)]
    if len(corners):
        raise InputError(
            f"the curve has a corner at rate {corners[0]:.4g} 1/s, where the force would jump; "
            f"over the rate give a smooth one, e.g. Curve.bezier({list(curve.points)!r})"
        )


def _check_fall(curve: Curve) -> None:
    """Stop where d log s/d log x < −2, so that power falls as the rate x grows."""
    breaks, pieces = curve.cubics
    for begin, width, c in zip(breaks, np.diff(breaks), pieces, strict=False):
        slope = _LOG_10 * Polynomial([begin, 1.0]) * Polynomial(c).deriv()
        turns: Any = slope.deriv().trim().roots()
        turns = turns[np.isreal(turns)].real
        s = np.concatenate([[0.0, width], turns[(turns > 0) & (turns < width)]])
        steepest = slope(s)
        k = int(steepest.argmin())
        if steepest[k] < _STEEPEST * (1 + 1e-12):
            x = begin + s[k]
            raise InputError(
                f"the curve falls too fast at rate {x:.4g} 1/s: s goes as rate^{steepest[k]:.3g} "
                "there, and below rate^-2 a faster motion would be damped by less than nothing; "
                "let it fall less, or over a wider range of rates"
            )
