"""Damping made to leave rigid motion alone: R̄(x, v) = R(x, vⁿʳ), vⁿʳ the nonrigid part of v.

Adding a rigid velocity to v changes nothing of R̄, so its forces have neither a resultant nor a
moment (dissipative optimization, §6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from supple._kernels.damping.laws import nonrigid_law
from supple._kernels.damping.nonrigid import add_nonrigid, add_nonrigid_by_shape, nonrigid_rates
from supple.bodies.assembly import point_array
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.parameters import described, parameter
from supple.core.sparse import LowRank, joined
from supple.core.types import Floats, Ints
from supple.damping.base import (
    DAMPINGS,
    BoundDamping,
    Damping,
    DampingTangent,
    another_damping,
)
from supple.damping.cells import BoundCellDamping, Points, PointSums, nested_call
from supple.damping.laws import CellLaw
from supple.damping.sums import bound_sum, cell_sum

_DEPENDENT = 1e-12  # share of the largest singular value that counts as none
_RIGID = "rigid motions"


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

    @property
    def models(self) -> tuple[Damping, ...]:
        """The dampings inside."""
        return (self.damping,) if isinstance(self.damping, Damping) else tuple(self.damping)

    @property
    def spares_rigid_motion(self) -> bool:
        return True

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
        self.is_linear, self.is_thinning = inner.is_linear, inner.is_thinning
        self.needs_elasticity = inner.needs_elasticity

    def laws(self, cells: Ints) -> tuple[CellLaw, ...] | None:
        inner = self._inner.laws(cells)
        if inner is None:
            return None
        return tuple(law.within(nonrigid_law, [float(self._by_gradient)]) for law in inner)

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


class BoundBodyConserving(BoundDamping):
    """Any damping at work on the nonrigid motion of its body alone: R(x, P v), P = I − Q Qᵀ.

    Q is an orthonormal basis of the rigid velocities of the body where it is now.
    """

    def __init__(self, body: ElasticBody, inner: BoundDamping) -> None:
        self._body, self._inner = body, inner
        self._definite = False  # as the sparse part was last asked for; the rest must match it
        self.is_gradient, self.is_linear = inner.is_gradient, inner.is_linear
        self.is_thinning = inner.is_thinning
        self.uses_stiffness_matrix, self.pattern = inner.uses_stiffness_matrix, inner.pattern

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        Q = rigid_motions(shape)
        dissipation, force = self._inner.evaluate(shape, _without(Q, v))
        return dissipation, _without(Q, force)

    def potential(self, shape: Shape, v: Floats, near: Floats) -> float:
        Q = rigid_motions(shape)
        return self._inner.potential(shape, _without(Q, v), _without(Q, near))

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        self._definite = definite
        inside = _without(rigid_motions(shape), v)
        self._inner.add_matrix(shape, inside, factor, values, definite=definite)

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        inside = _without(rigid_motions(shape), v)
        self._inner.add_shape_derivative(shape, inside, factor, values)

    def add_tangent(self, shape: Shape, v: Floats, of: DampingTangent, values: Floats) -> None:
        self._definite = of.definite
        self._inner.add_tangent(shape, _without(rigid_motions(shape), v), of, values)

    def multiply(self, shape: Shape, shapes: Floats) -> Floats:
        Q = rigid_motions(shape)
        inside = np.stack([_without(Q, x) for x in shapes])
        return np.stack([_without(Q, y) for y in self._inner.multiply(shape, inside)])

    def low_rank(self, shape: Shape, v: Floats) -> LowRank | None:
        """P (S + L) P − S: S is what ``add_matrix`` gave last, L what the damping has beside.

        It is Q (QᵀSQ) Qᵀ − Q (SQ)ᵀ − (SQ) Qᵀ, and L with its factors projected.
        """
        Q = rigid_motions(shape)
        inside = _without(Q, v)
        SQ = self._sparse_times(shape, inside, Q)
        k = len(Q)
        coupling = np.zeros((2 * k, 2 * k))
        coupling[:k, :k] = Q.reshape(k, -1) @ SQ.reshape(k, -1).T
        coupling[:k, k:] = coupling[k:, :k] = -np.eye(k)
        mine = LowRank(np.concatenate([Q, SQ]), coupling)
        own = self._inner.low_rank(shape, inside)
        if own is None:
            return mine
        factors = np.reshape([_without(Q, factor) for factor in own.factors], own.factors.shape)
        return joined([mine, replace(own, factors=factors)])

    def _sparse_times(self, shape: Shape, v: Floats, fields: Floats) -> Floats:
        """S times each of fields (k, n, 3)."""
        if self._inner.is_linear and not self._definite:
            beside = self._inner.low_rank(shape, v)
            product = self._inner.multiply(shape, fields)
            if beside is None:
                return product
            return product - np.stack([beside.multiply(field) for field in fields])
        pattern = self._inner.pattern or self._body.pattern
        values = np.zeros((pattern.n_blocks, 3, 3))
        self._inner.add_matrix(shape, v, 1.0, values, definite=self._definite)
        return pattern.multiply_many(values, fields)


def rigid_motions(shape: Shape) -> Floats:
    """Orthonormal rigid velocities of a body where it is, (k, n, 3), k ≤ 6.

    (Dissipative optimization, Eqs. 64–66; dependent ones are dropped.)
    """
    if _RIGID not in shape.known:
        x = shape.body.mesh.vertices + shape.u
        n = len(x)
        shifts = np.broadcast_to(np.eye(3)[:, None, :], (3, n, 3)) / np.sqrt(n)
        turns = np.cross(np.eye(3)[:, None, :], x - x.mean(axis=0))
        _, sizes, rows = np.linalg.svd(turns.reshape(3, -1), full_matrices=False)
        kept = rows[sizes > _DEPENDENT * np.sqrt(n) * np.abs(x).max(initial=0.0)]
        shape.known[_RIGID] = np.concatenate([shifts, kept.reshape(-1, n, 3)])
    found: Floats = shape.known[_RIGID]
    return found


def _without(Q: Floats, field: Floats) -> Floats:
    """(I − Q Qᵀ) times a field (n, 3)."""
    rows = Q.reshape(len(Q), -1)
    flat = field.ravel()
    rest = flat - (rows @ flat) @ rows
    rest -= (rows @ rest) @ rows  # once more, so that rounding is that of what is left
    return rest.reshape(field.shape)
