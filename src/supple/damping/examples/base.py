"""The damping that examples scale: any that is linear in the velocity, or a sum of such."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple._kernels.linear_algebra.blocks import add_scaled
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.errors import InputError
from supple.core.sparse import LowRank
from supple.core.types import Floats
from supple.damping.base import BoundDamping, BoundViscousDamping, Damping
from supple.damping.sums import bound_sum

_ROUNDING = 1e-9  # share of a force that tells nonlinear damping from rounding
_WORTH_A_MATRIX = 2  # examples from which on C is assembled, and not applied to each


class LinearBase:
    """C(u) of one or several dampings on a body, C symmetric.

    Where a damping has no way of its own to apply C to many fields, C is assembled once a shape,
    and serves for the force and the tangent matrix as well.
    """

    def __init__(self, dampings: Sequence[Damping], body: ElasticBody, examples: int) -> None:
        rest = Shape(body, np.zeros_like(body.mesh.vertices), order=1)
        self._parts = []
        for damping in dampings:
            bound = damping.bind(body)
            _check(damping, bound, rest)
            self._parts.append(bound)
        whole = bound_sum(body, self._parts)
        assert whole is not None  # there is at least one
        self.bound: BoundDamping = whole
        self._pattern = whole.pattern or body.pattern
        still = np.zeros_like(rest.u)
        self._dense = any(part.low_rank(rest, still) is not None for part in self._parts)
        self._assembled = (
            examples >= _WORTH_A_MATRIX
            and not self._dense
            and (whole.depends_on_shape or not all(map(_multiplies, self._parts)))
        )

    def evaluate(self, shape: Shape, v: Floats) -> Floats:
        """C v (n, 3)."""
        if self._assembled:
            return self._pattern.multiply(self._matrix(shape), v)
        return self.bound.evaluate(shape, v)[1]

    def multiply(self, shape: Shape, X: Floats) -> Floats:
        """C x for each of x (k, n, 3)."""
        if self._assembled:
            return self._pattern.multiply_many(self._matrix(shape), X)
        total = np.zeros_like(X)
        for part in self._parts:
            if _multiplies(part):
                total += part.multiply(shape, X)
            else:
                total += np.reshape([part.evaluate(shape, x.copy())[1] for x in X], X.shape)
        return total

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        if self._assembled and not definite:
            add_scaled(self._matrix(shape).reshape(-1), factor, values.reshape(-1))
        else:
            self.bound.add_matrix(shape, v, factor, values, definite=definite)

    def low_rank(self, shape: Shape, v: Floats) -> LowRank | None:
        """What C has beside its sparse part."""
        return self.bound.low_rank(shape, v) if self._dense else None

    def _matrix(self, shape: Shape) -> Floats:
        """C as blocks, worked out once a shape."""
        if self not in shape.known:
            values = np.zeros((self._pattern.n_blocks, 3, 3))
            self.bound.add_matrix(shape, np.zeros_like(shape.u), 1.0, values, definite=False)
            shape.known[self] = values
        found: Floats = shape.known[self]
        return found


def _multiplies(part: BoundDamping) -> bool:
    """Whether a damping has its own way to apply C to many fields."""
    plain = (BoundViscousDamping.multiply, getattr(BoundDamping, "multiply", None), None)
    return getattr(type(part), "multiply", None) not in plain


def _check(damping: Damping, bound: BoundDamping, rest: Shape) -> None:
    """Stop where a damping cannot be a base."""
    v = np.random.default_rng(0).normal(size=rest.u.shape)
    still, force, twice = (bound.evaluate(rest, s * v)[1] for s in (0.0, 1.0, 2.0))
    size = _ROUNDING * np.abs(force).max(initial=0.0)
    if np.abs(still).max(initial=0.0) > size:
        reason = "pushes a body that is at rest, as wind does"
    elif not bound.is_linear or np.abs(twice - 2 * force).max(initial=0.0) > size:
        reason = "is not linear in the velocity"
    elif not bound.is_gradient:
        reason = "has no dissipation function, so that its matrix need not be symmetric"
    else:
        return
    raise InputError(
        f"base={damping!r}: it {reason}. Examples scale a force C v with a symmetric matrix C; "
        "give Rayleigh(...), StrainRate(...) or another damping that is linear in the velocity, "
        "and list this one beside, damping=[ExampleDamping(...), ...]"
    )
