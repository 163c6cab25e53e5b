"""Power-law damping: forces that grow with the p-th power of the rate of deformation.

With p = 0 they are dry, as of clay: of one size however slow the motion, which stops for good. With
p < 1 motion dies out sooner than exponentially, with p = 1 exponentially, with p > 1 later.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from supple._kernels.damping.laws import power_of_law, stretch_power_law
from supple._kernels.damping.stretch_rate import (
    add_power_law,
    add_power_law_by_shape,
    lead_directions,
)
from supple.bodies.assembly import Asked, Part, add_up, gradients_at
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.parameters import described, parameter
from supple.core.types import Floats, Ints
from supple.damping.base import (
    DAMPINGS,
    BoundDamping,
    Damping,
    DampingTangent,
    another_damping,
    body_for,
)
from supple.damping.cells import (
    NO_DERIVATIVE,
    NO_STRESS,
    BoundCellDamping,
    Points,
    PointSums,
    nested_call,
)
from supple.damping.coefficients import Coefficient, coefficient, spread_over_cells
from supple.damping.laws import CellLaw
from supple.damping.thin.bound import BoundThinLaw, in_frame, stretch_form, viscosity_of
from supple.damping.thin.frames import Frame, ThinBody, thin
from supple.damping.thin.laws import Law, Power

_BEND = 0.9
"""Share of the softening along the motion, where p < 1, that Newton's method is told of.

With all of it the matrix is next to nothing in that direction, and steps go far beyond; with none,
as in the definite matrix, convergence is slow. A law of stretch starts so and then remembers.
"""
_COLUMNS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class PowerLaw(Damping):
    """r = β ‖Ṡ‖^(p+1), Ṡ the rate of the stretch S = √(FᵀF) of the polar decomposition F = R S.

    (Dissipative optimization, Eq. 75.) With ``of=``, a damping that is quadratic in the velocity
    and acts in cells, such as StrainRate, r = A^(1−q) r_of^q with q = (p + 1)/2 (Eq. 54): the same
    damping as ``of`` where that has the density A.

    Where p < 1 forces would jump as motion stops. Newton's method takes
    r = β ((‖Ṡ‖² + ε²)^q − ε^(p+1)) in place of that, ε the ``width``: stretching slower than ε
    feels drag that is linear, and creeps where the true law stands still.

    S has no rate in a cell crushed to a line: stretches a, b count as a + b ≥ 10⁻⁶. Cells turned
    inside out are damped as their mirror image. Where ``of`` feeds energy there is no damping.
    Rigid motion makes no Ṡ: linear and angular momentum are conserved; with ``of=``, where that
    conserves them. In cloth S is that of the sheet in its plane, in springs their length over that
    at rest.
    """

    exponent: float = field(metadata=described("p", at_least=0))
    strength: Coefficient | None = coefficient(
        "β; of cloth in N sᵖ/m, of springs in N sᵖ", "Pa sᵖ", default=None
    )
    width: float = parameter(
        1e-2,
        "ε, where p < 1: the rate of stretch below which drag is linear; with ``of`` that of "
        "√(r_of/A)",
        unit="1/s",
        above=0,
    )
    of: Damping | None = parameter(
        None,
        "instead of ``strength``: a damping of cells, quadratic in the velocity",
        kind=another_damping("StrainRate(shear=5)"),
    )
    scale: float | None = parameter(
        None,
        "A, with ``of``: where the two are the same; of cloth in W/m², of springs in W/m",
        unit="W/m³",
        above=0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of is None:
            if self.strength is None:
                raise InputError("a power law needs its strength=, e.g. 40, or a damping of=")
            if self.scale is not None:
                raise InputError("scale= goes with of=; without it give strength= alone")
        elif self.strength is not None:
            raise InputError("give strength=, or of= and scale=, not both")
        elif self.scale is None:
            raise InputError("of= needs scale= [W/m³], where the two dampings are the same")

    @property
    def spares_rigid_motion(self) -> bool:
        return self.of is None or self.of.spares_rigid_motion

    def bind(self, body: ElasticBody) -> BoundDamping:
        sheet = thin(body)
        if sheet is not None:
            return _thin_power_law(self, sheet, body)
        solid = body_for(self, Body, body)
        if self.of is not None and self.scale is not None:
            return _BoundPowerOf(self, self.of, self.scale, solid)
        return BoundStretchPower(self, 0.0 if self.strength is None else self.strength, solid)


def _thin_power_law(damping: PowerLaw, sheet: ThinBody, body: ElasticBody) -> BoundDamping:
    p, width = float(damping.exponent), damping.width if damping.exponent < 1 else 0.0
    soft = _BEND if p < 1 else 1.0
    kind = {"linear": p == 1, "thinning": p < 1}
    if damping.of is not None and damping.scale is not None:
        viscosity, A = viscosity_of(damping.of, body, "a power law"), damping.scale
        factor = np.full(body.n_cells, A ** (0.5 * (1 - p)))

        def power_of(at: Frame, shape: Shape) -> Law:
            return Power(in_frame(at, viscosity(shape)), factor, p, width**2 * A, soft)

        return BoundThinLaw(sheet, power_of, **kind)
    strength = 0.0 if damping.strength is None else damping.strength
    beta = spread_over_cells("strength", strength, body)

    def power(at: Frame, shape: Shape) -> Law:
        return Power(stretch_form(at), beta, p, width**2, soft)

    return BoundThinLaw(sheet, power, **kind)


class BoundPowerLaw(BoundCellDamping):
    """w ((ρ + e)^q − e^q) of a quadratic density ρ."""

    def __init__(self, damping: PowerLaw, body: Body) -> None:
        super().__init__(body)
        self.exponent = float(damping.exponent)
        self.strength: Floats = np.zeros(body.mesh.n_cells)
        """The factor w of the density, (cells,)."""
        self._width = damping.width if self.exponent < 1 else 0.0
        self._bend = 1.0
        self.is_linear, self.is_thinning = self.exponent == 1, self.exponent < 1

    def add_tangent(self, shape: Shape, v: Floats, of: DampingTangent, values: Floats) -> None:
        super(BoundPowerLaw, self._for_tangent()).add_tangent(shape, v, of, values)

    def _for_tangent(self) -> Self:
        """This law as Newton's method is told of it."""
        model = copy(self)
        model._bend = _BEND if self.exponent < 1 else 1.0
        return model

    def _bend_for(self, to: PointSums) -> float:
        """The share of the change of ∂r/∂ρ with ρ that a second derivative has."""
        return 0.0 if to.definite and self.exponent < 1 else self._bend

    def _factor(self, points: Points) -> Floats:
        """w, (c,)."""
        return self.strength[points.part.cells[points.cut]]


class BoundStretchPower(BoundPowerLaw):
    """The law of stretch: ρ = ‖Ṡ‖², w = β."""

    def __init__(self, damping: PowerLaw, strength: Coefficient, body: Body) -> None:
        super().__init__(damping, body)
        self.strength = spread_over_cells("strength", strength, body)
        self.flow: list[Floats] = []
        """Directions of flow that the tangent remembers, by part, (c, q, 3, 3)."""
        self._directions: list[Floats] = []  # as they are to be used

    @property
    def is_rate_independent(self) -> bool:
        """Whether the force has a corner at rest, which a proximal step can meet exactly."""
        return self.exponent < 1

    def add_points(self, points: Points, to: PointSums) -> None:
        self._add_law(points, to, stress=False)

    def add_tangent_points(self, points: Points, to: PointSums) -> None:
        self._add_law(points, to, stress=True)

    def add_stress_points(self, points: Points, A: Floats) -> None:
        unused = PointSums.zeros("power law", points, order=1)
        self._add_law(points, replace(unused, A=A, order=2, factor=0.0), stress=True)

    def laws(self, cells: Ints) -> tuple[CellLaw, ...]:
        bend = _BEND if self.exponent < 1 else 1.0
        numbers = self.exponent, self._width**2, bend
        return (CellLaw.of(stretch_power_law, [self.strength[cells]], numbers),)

    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        add_power_law_by_shape(*self._law(points), G, factor)

    def _add_law(self, points: Points, to: PointSums, *, stress: bool) -> None:
        given = *self._law(points), self._bend_for(to), self._flow_at(points)
        add_power_law(*given, to.compiled, stress)

    def _for_tangent(self) -> Self:
        if not self.flow:
            return super()._for_tangent()
        model = copy(self)
        model._directions = self.flow
        return model

    def _flow_at(self, points: Points) -> Floats:
        for part, flow in zip(self.body.parts, self._directions, strict=False):
            if part is points.part:
                return flow[points.cut]
        return NO_STRESS

    def reset_duals(self) -> None:
        self.flow = []

    def update_duals(self, shape: Shape, v: Floats, step: Floats, length: float) -> None:
        """As where forces are unknowns too, which makes steps for small widths far better ones.

        (Chan, Golub and Mulet 1999, for total variation: the same √(x² + ε²) in other clothes.)
        """
        if self.exponent >= 1:
            return
        if not self.flow:
            self.flow = [np.zeros((*part.weights.shape, 3, 3)) for part in self.body.parts]
        led = self._for_tangent()

        def lead(part: Part, cut: slice, order: int) -> tuple[Floats, Floats, Floats]:
            points = self._points(part, cut, shape.u, v)
            change = gradients_at(part, cut, step, 0.0, "change of rate")
            flow = led._flow_at(points)
            lead_directions(points.F, points.rate, change, self._width**2, length, flow)
            return flow[..., 0, 0], NO_STRESS, NO_DERIVATIVE

        add_up(self.body.parts, self.body.pattern, lead, Asked(order=0))

    def _law(self, points: Points) -> tuple[Floats, Floats, Floats, float, float]:
        return points.F, points.rate, self._factor(points), self.exponent, self._width**2


class _BoundPowerOf(BoundPowerLaw):
    """A power of the density of another damping."""

    def __init__(self, damping: PowerLaw, of: Damping, scale: float, body: Body) -> None:
        super().__init__(damping, body)
        self._base = _quadratic_in_cells(of, body)
        self._q = (self.exponent + 1) / 2
        self.strength = np.broadcast_to(scale ** (1 - self._q), body.mesh.n_cells)
        self._e = self._width**2 * scale
        self.needs_elasticity = self._base.needs_elasticity

    def laws(self, cells: Ints) -> tuple[CellLaw, ...] | None:
        inner = self._base.laws(cells)
        if inner is None or len(inner) != 1:
            return None
        bend = _BEND if self.exponent < 1 else 1.0
        numbers = float(self.strength[0]), self._q, self._e, bend
        return (inner[0].within(power_of_law, numbers),)

    def add_points(self, points: Points, to: PointSums) -> None:
        q, e = self._q, self._e
        w = self._factor(points)[:, None]
        with nested_call() as depth:
            base = PointSums.zeros(f"power {depth}", points, order=to.order, definite=to.definite)
            self._base.add_points(points, base)
        rho, stress, derivative = base.arrays
        r, P, A = to.arrays
        r += w * ((np.maximum(rho, 0.0) + e) ** q - e**q)
        if to.order == 0:
            return
        slope = self._slope(points, rho)
        P += slope[:, :, None, None] * stress
        if to.order >= 2:
            derivative *= (to.factor * slope)[:, :, None, None, None]
            A += derivative
            # w q (q − 1) (ρ + e)^(q − 2) ∂ρ ⊗ ∂ρ; where nothing moves ∂ρ = 0 is stronger
            moving = rho + e > 0.0
            bend = np.divide((q - 1) * slope, rho + e, out=np.zeros_like(rho), where=moving)
            bend *= to.factor * self._bend_for(to)
            for s, (j, l) in enumerate(_COLUMNS):
                first = bend[:, :, None] * stress[..., j]
                A[:, :, s] += first[..., :, None] * stress[..., None, :, l]

    def add_stress_points(self, points: Points, A: Floats) -> None:
        with nested_call() as depth:
            base = PointSums.zeros(f"power {depth}", points, order=2)
            self._base.add_points(points, PointSums(base.r, order=0))
            self._base.add_stress_points(points, base.A)
        share = base.A
        share *= self._slope(points, base.r)[:, :, None, None, None]
        A += share

    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        with nested_call() as depth:
            base = PointSums.zeros(f"power {depth}", points, order=1)
            self._base.add_points(points, PointSums(base.r, order=0))
            self._base.add_shape_gradient_points(points, base.P, factor)
        G += self._slope(points, base.r)[:, :, None, None] * base.P

    def _slope(self, points: Points, rho: Floats) -> Floats:
        """∂r/∂ρ = w q (ρ + e)^(q − 1), nothing where ρ < 0."""
        steep = (np.maximum(rho, 0.0) + self._e) ** (self._q - 1)
        slope: Floats = self._factor(points)[:, None] * self._q * steep
        slope[rho < 0.0] = 0.0
        return slope


def _quadratic_in_cells(damping: Damping, body: Body) -> BoundCellDamping:
    """``damping`` at work on the cells of a body; stops where it is not quadratic in v, or more."""
    name = type(damping).__name__
    bound = damping.bind(body)
    cells = bound.in_cells()
    if cells is None or bound.outside_cells() is not None:
        raise InputError(
            f"of={name}: a power law needs a damping that acts in cells alone, such as StrainRate, "
            "or Rayleigh(stiffness=...) without mass and of the current stiffness"
        )
    rest = Shape(body, np.zeros((body.n_vertices, 3)))
    v = np.random.default_rng(0).normal(size=rest.u.shape)
    once, twice = (cells.evaluate(rest, factor * v)[0] for factor in (1.0, 2.0))
    if abs(twice - 4 * once) > 1e-9 * abs(once):
        raise InputError(f"of={name}: a power law needs a damping that is quadratic in velocity")
    return cells
