"""The damping of a free reduced model at work on a body of a world."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.bodies.shape import Shape
from supple.core.types import Floats
from supple.damping.base import BoundDamping
from supple.reduction.damping.bound import velocity_matrix, work_from_rest
from supple.reduction.runtime.floating_parts import FreeDamping

if TYPE_CHECKING:
    from supple.reduction.floating_body import FloatingBody


class _Inside(NamedTuple):
    """What a damping sees of the deformation."""

    q: Floats
    of: Floats
    """∂q/∂x, (r, n, 3): nothing of it is in a rigid motion."""


class BoundFloatingDamping(BoundDamping):
    """A drag −α M v on all motion, and −(∂q/∂x)ᵀ (Ĉ(q) q̇ + what is beside it)."""

    def __init__(self, body: FloatingBody, parts: FreeDamping) -> None:
        self._body, self._drag = body, parts.drag * body.total_mass / body.n_vertices
        self._inner = parts.reduced(body.model)
        inner = self._inner
        self._acts = bool(inner.constant.any()) or not inner.is_constant
        self._acts |= inner.examples is not None
        self.is_linear = not (inner.beside or inner.examples)
        self.is_gradient = inner.examples is None
        self.depends_on_shape = self._acts

    def _inside(self, shape: Shape) -> _Inside:
        key = (self._body, "inside")
        if key not in shape.known:
            frame = self._body.frame(shape.u)
            shape.known[key] = _Inside(frame.q, self._body.rates_at(frame))
        found: _Inside = shape.known[key]
        return found

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        dissipation, force = 0.5 * self._drag * float(np.vdot(v, v)), self._drag * v
        if not self._acts:
            return dissipation, force
        q, of = self._inside(shape)
        rate = np.tensordot(of, v, 2)
        own = self._inner.force(q, rate)
        if self.is_linear:
            dissipation += 0.5 * float(rate @ own)
        else:
            dissipation += work_from_rest(self._inner, q, rate)
        return dissipation, force + np.tensordot(own, of, 1)

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        body = self._body
        values[body.pattern.indptr[:-1]] += factor * self._drag * np.eye(3)
        if not self._acts:
            return
        q, of = self._inside(shape)
        C = velocity_matrix(self._inner, q, np.tensordot(of, v, 2))
        if definite and not self.is_linear:
            eigenvalues, vectors = np.linalg.eigh(C)
            C = (vectors * np.maximum(eigenvalues, 0.0)) @ vectors.T
        n, flat = body.n_vertices, of.reshape(len(q), -1)
        blocks = (flat.T @ C @ flat).reshape(n, 3, n, 3).transpose(0, 2, 1, 3)
        values += factor * body.on_pattern(blocks)
