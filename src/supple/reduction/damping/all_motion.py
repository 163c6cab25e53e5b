"""Damping of all motion, rigid motion too, of a free reduced body in a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.bodies.shape import Shape
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping.base import BoundDamping, Damping

if TYPE_CHECKING:
    from supple.reduction.floating_body import FloatingBody


class BoundToAllMotion(BoundDamping):
    """Ψᵀ ∇₂R of a damping of the whole body, whose vertices are at x = Ψ z.

    Exact, and as slow as the body is large.
    """

    def __init__(self, carrier: FloatingBody, damping: Damping) -> None:
        body = carrier.model.body
        if body is None:
            raise InputError(
                f"damping={damping!r} is projected from the body, which a model from a file does "
                "not have; make the model anew with reduce(body, basis)"
            )
        self._carrier, self._body, self._inner = carrier, body, damping.bind(body)
        self._weights = carrier.weights_of_vertices
        self.is_gradient, self.is_linear = self._inner.is_gradient, self._inner.is_linear
        self.depends_on_shape = self._inner.depends_on_shape
        self.is_thinning = self._inner.is_thinning
        self._constant: Floats | None = None

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        dissipation, force = self._inner.evaluate(self._whole(shape), self._weights @ v)
        return dissipation, self._weights.T @ force

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        lasting = self.is_linear and not self.depends_on_shape
        projected = self._constant if lasting else None
        if projected is None:
            projected = self._projected(shape, v, definite=definite)
            self._constant = projected if lasting else None
        values += factor * projected

    def _projected(self, shape: Shape, v: Floats, *, definite: bool) -> Floats:
        """Ψᵀ C Ψ as blocks on the pattern of the carrier."""
        inner, weights = self._inner, self._weights
        pattern = inner.pattern or self._body.pattern
        own = np.zeros((pattern.n_blocks, 3, 3))
        inner.add_matrix(self._whole(shape), weights @ v, 1.0, own, definite=definite)
        n = weights.shape[1]
        spread = np.kron(weights, np.eye(3))
        C = spread.T @ (pattern.full(own) @ spread)
        return self._carrier.on_pattern(C.reshape(n, 3, n, 3).transpose(0, 2, 1, 3))

    def _whole(self, shape: Shape) -> Shape:
        key = (self._carrier, "whole")
        if key not in shape.known:
            x = self._weights @ (self._carrier.mesh.vertices + shape.u)
            shape.known[key] = Shape(self._body, x - self._body.mesh.vertices)
        found: Shape = shape.known[key]
        return found
