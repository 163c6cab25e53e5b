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

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        body, damping = self._body, self._damping
        q, speed = body.coordinates(shape.u), body.coordinates(v)
        force = damping.force(q, speed) - damping.push()
        if self.is_linear:
            dissipation = 0.5 * float(speed @ (force - damping.push()))
        else:
            dissipation = work_from_rest(damping, q, speed)
        return dissipation, body.push(force)

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        body, damping = self._body, self._damping
        q, speed = body.coordinates(shape.u), body.coordinates(v)
        C = velocity_matrix(damping, q, speed)
        if definite and not self.is_linear:
            eigenvalues, vectors = np.linalg.eigh(C)
            C = (vectors * np.maximum(eigenvalues, 0.0)) @ vectors.T
        values += factor * body.blocks_of(C)


def work_from_rest(damping: ReducedDamping, q: Floats, v: Floats) -> float:
    """∫ v · f(s v) ds for s from 0 to 1 [W], with f the force on the coordinates."""
    shares = zip(0.5 * (1.0 + _POINTS), 0.5 * _WEIGHTS, strict=True)
    push = damping.push()
    return float(sum(w * float(v @ (damping.force(q, s * v) - push)) for s, w in shares))


def velocity_matrix(damping: ReducedDamping, q: Floats, v: Floats) -> Floats:
    """The symmetric part of ∂f/∂v of the force on the coordinates, (r, r)."""
    C = damping.matrix(q)
    if damping.examples is not None:
        C = damping.examples.matrix(q, v, C)
    C = C + damping.evaluate_beside(q, v)[1]
    return 0.5 * (C + C.T)
