"""The damping of a reduced model at work on a body of a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.bodies.shape import Shape
from supple.core.types import Floats
from supple.damping.base import BoundDamping
from supple.reduction.damping.reduced import ReducedDamping

if TYPE_CHECKING:
    from supple.reduction.body import ReducedBody

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(4)


class BoundReducedDamping(BoundDamping):
    """−(Ĉ(q) q̇ + what is beside it + what is steady), on the state of a reduced body."""

    def __init__(self, body: ReducedBody, damping: ReducedDamping) -> None:
        self._body, self._damping = body, damping
        self.is_linear = not (damping.beside or damping.examples)
        self.is_gradient = damping.examples is None
        self.depends_on_shape = not damping.is_constant or damping.examples is not None

    def _force(self, q: Floats, v: Floats) -> Floats:
        return self._damping.force(q, v) - self._damping.push()

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        body, damping = self._body, self._damping
        q, speed = body.coordinates(shape.u), body.coordinates(v)
        force = self._force(q, speed)
        if self.is_linear:
            dissipation = 0.5 * float(speed @ (force - damping.push()))
        else:  # the work along the way from rest
            shares = zip(0.5 * (1.0 + _POINTS), 0.5 * _WEIGHTS, strict=True)
            dissipation = sum(w * float(speed @ self._force(q, s * speed)) for s, w in shares)
        return dissipation, body.push(force)

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        body, damping = self._body, self._damping
        q, speed = body.coordinates(shape.u), body.coordinates(v)
        C = damping.matrix(q)
        if damping.examples is not None:
            C = damping.examples.matrix(q, speed, C)
        C = C + damping.evaluate_beside(q, speed)[1]
        C = 0.5 * (C + C.T)
        if definite and not self.is_linear:
            eigenvalues, vectors = np.linalg.eigh(C)
            C = (vectors * np.maximum(eigenvalues, 0.0)) @ vectors.T
        values += factor * body.blocks_of(C)
