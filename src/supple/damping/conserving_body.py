"""Damping of the nonrigid motion of a whole body: R̄(x, v) = R(x, P v), P = I − Q Qᵀ.

Q is an orthonormal basis of the rigid velocities of the body where it is now.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.sparse import BlockPattern, LowRank, joined
from supple.core.types import Floats
from supple.damping.base import BoundDamping, BoundViscousDamping

_DEPENDENT = 1e-12  # share of the largest singular value that counts as none
_RIGID = "rigid motions"


class BoundBodyConserving(BoundDamping):
    """Any damping at work on the nonrigid motion of its body alone."""

    def __init__(self, body: ElasticBody, inner: BoundDamping) -> None:
        self._body, self._inner = body, inner
        self._definite = False  # as the sparse part was last asked for; the rest must match it

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        Q = rigid_motions(shape)
        dissipation, force = self._inner.evaluate(shape, _without(Q, v))
        return dissipation, _without(Q, force)

    @property
    def is_gradient(self) -> bool:
        return self._inner.is_gradient

    @property
    def is_linear(self) -> bool:
        return self._inner.is_linear

    def potential(self, shape: Shape, v: Floats, near: Floats) -> float:
        Q = rigid_motions(shape)
        return self._inner.potential(shape, _without(Q, v), _without(Q, near))

    @property
    def uses_stiffness_matrix(self) -> bool:
        return self._inner.uses_stiffness_matrix

    @property
    def pattern(self) -> BlockPattern | None:
        return self._inner.pattern

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        self._definite = definite
        inside = _without(rigid_motions(shape), v)
        self._inner.add_matrix(shape, inside, factor, values, definite=definite)

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        inside = _without(rigid_motions(shape), v)
        self._inner.add_shape_derivative(shape, inside, factor, values)

    def add_tangent(
        self,
        shape: Shape,
        v: Floats,
        c_v: float,
        values: Floats,
        *,
        definite: bool,
        consistent: bool,
    ) -> None:
        self._definite = definite
        inside = _without(rigid_motions(shape), v)
        self._inner.add_tangent(
            shape, inside, c_v, values, definite=definite, consistent=consistent
        )

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
        if isinstance(self._inner, BoundViscousDamping) and not self._definite:
            return self._inner.multiply(shape, fields)
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
