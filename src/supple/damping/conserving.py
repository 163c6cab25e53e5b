"""Damping made to leave rigid motion alone: R̄(x, v) = R(x, vⁿʳ), vⁿʳ the nonrigid part of v.

Adding a rigid velocity to v changes nothing of R̄, so its forces have neither a resultant nor a
moment (dissipative optimization, §6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from supple._kernels.damping.nonrigid import add_nonrigid, add_nonrigid_by_shape, nonrigid_rates
from supple.bodies.assembly import point_array
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.parameters import checked, described, parameter
from supple.core.types import Floats
from supple.damping.base import DAMPINGS, BoundDamping, Damping, another_damping
from supple.damping.cells import BoundCellDamping, Points, PointSums
from supple.damping.conserving_body import BoundBodyConserving
from supple.damping.nesting import nested_call
from supple.damping.sums import bound_sum, cell_sum


class Conserving(Enum):
    """What counts as the nonrigid part of a motion."""

    VELOCITY_GRADIENT = "in each cell Ḟⁿʳ = ½ (Ḟ + F⁻ᵀḞᵀF), from the rate of deformation"
    CELLS = "in each cell what is left of Ḟ by orthogonal projection off its rotations"
    BODY = "what is left of v by orthogonal projection off the rigid motions of the whole body"


@DAMPINGS.register
@dataclass(frozen=True)
class MomentumConserving(Damping):
    """``damping``, one or several, without its effect on rigid motion.

    In cells (VELOCITY_GRADIENT, CELLS) every cell travels and turns freely. That conserves the
    linear and angular momentum of the body, and of each of its loose pieces. It works for damping
    that is a sum over cells; what is not (the mass part of Rayleigh, example damping) goes by BODY.
    VELOCITY_GRADIENT grows without bound as a cell is crushed, up to a millionth of its thickness,
    where CELLS takes over.

    BODY conserves the linear and angular momentum of the whole body, for any damping. Its forces
    reach from everywhere to everywhere.

    Momentum is conserved where nothing holds the body. On a held body the same part of the motion
    is left out: by BODY the rigid motion that fits best to its swinging, in cells all turning.
    """

    damping: Damping | Sequence[Damping] = field(
        metadata=described(
            "what it is made of", kind=another_damping("Rayleigh(stiffness=0.01)", several=True)
        )
    )
    by: Conserving = parameter(
        Conserving.VELOCITY_GRADIENT, "what counts as nonrigid motion", kind=Conserving
    )

    def __post_init__(self) -> None:
        checked(self)

    @property
    def models(self) -> tuple[Damping, ...]:
        """The dampings inside."""
        return (self.damping,) if isinstance(self.damping, Damping) else tuple(self.damping)

    def bind(self, body: ElasticBody) -> BoundDamping:
        inner = [model.bind(body) for model in self.models]
        if self.by is Conserving.BODY:
            whole = bound_sum(body, inner)
            assert whole is not None  # there is at least one
            return BoundBodyConserving(body, whole)
        if not isinstance(body, Body):
            raise InputError(
                f"{self.by} looks into the cells of a Body, and the body is a "
                f"{type(body).__name__}; give by=Conserving.BODY"
            )
        cells = cell_sum([model.in_cells() for model in inner])
        outside = bound_sum(body, [model.outside_cells() for model in inner])
        by_gradient = self.by is Conserving.VELOCITY_GRADIENT
        parts = [
            None if cells is None else BoundCellConserving(cells, by_gradient=by_gradient),
            None if outside is None else BoundBodyConserving(body, outside),
        ]
        found = bound_sum(body, parts)
        return inner[0] if found is None else found  # dampings that do nothing


class BoundCellConserving(BoundCellDamping):
    """r̄(F, Ḟ) = r(F, Ḟⁿʳ)."""

    def __init__(self, inner: BoundCellDamping, *, by_gradient: bool) -> None:
        super().__init__(inner.body)
        self._inner, self._by_gradient = inner, by_gradient

    @property
    def needs_elasticity(self) -> bool:
        return self._inner.needs_elasticity

    def add_points(self, points: Points, to: PointSums) -> None:
        with nested_call() as depth:
            inside = self._nonrigid(points, depth)
            own = PointSums.zeros(f"nonrigid {depth}", points, order=to.order)
            self._inner.add_points(inside, replace(to, P=own.P, A=own.A))
            if to.order >= 1:
                add_nonrigid(points.F, own.P, own.A, self._by_gradient, to.P, to.A, to.order)

    def add_stress_points(self, points: Points, A: Floats) -> None:
        with nested_call() as depth:
            self._inner.add_stress_points(self._nonrigid(points, depth), A)

    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        with nested_call() as depth:
            inside = self._nonrigid(points, depth)
            # Eq. 69: ∇₁R : δF + ∇₂R : δḞⁿʳ
            self._inner.add_shape_gradient_points(inside, G, factor)
            own = PointSums.zeros(f"nonrigid {depth}", points, order=1)
            self._inner.add_points(inside, own)
            add_nonrigid_by_shape(
                points.F, points.rate, inside.rate, own.P, self._by_gradient, factor, G
            )

    def _nonrigid(self, points: Points, depth: int) -> Points:
        """The points with Ḟⁿʳ in place of Ḟ."""
        rate = point_array(f"nonrigid rate {depth}", points.part, points.cut, 3, 3)
        nonrigid_rates(points.F, points.rate, self._by_gradient, rate)
        return replace(points, rate=rate)
