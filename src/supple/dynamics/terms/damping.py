"""Damping, ∇₂R: one term for each model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple.bodies.shape import Shape
from supple.core.sparse import LowRank, joined
from supple.core.types import Floats, Ints
from supple.damping.base import BoundDamping, DampingTangent
from supple.dynamics.splitting import Splitter
from supple.dynamics.terms.base import BlockSum, Point, Share, StageStart, Term
from supple.solvers.interface import Tangent


class DampingTerm(Term):
    """A dissipation function R(u, v), in a stage R(u, c_v (u − û_v))/c_v."""

    def __init__(self, model: BoundDamping) -> None:
        self._model = model
        self.pattern = model.pattern
        self.has_potential = not model.depends_on_shape
        self.matrix_is_hessian = model.matrix_is_hessian
        self.uses_stiffness_matrix = model.uses_stiffness_matrix
        self.advice = model.advice
        self._cache: tuple[Shape, Floats, float, Floats] | None = None

    def begin(self, start: StageStart) -> None:
        self._model.reset_duals()

    def _evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        """R [W], if it has the force as its gradient, and ∇₂R [N]; the last are cached."""
        cached = self._cache
        if cached is not None and cached[0] is shape and np.array_equal(cached[1], v):
            return cached[2], cached[3]
        dissipation, force = self._model.evaluate(shape, v)
        found = dissipation if self._model.is_gradient else 0.0
        self._cache = shape, v, found, force
        return found, force

    def evaluate(self, at: Point) -> Share:
        dissipation, force = self._evaluate(at.shape, at.v)
        return Share(force, dissipation / at.stage.c_v if at.stage.c_v else 0.0)

    def lagged_potential(self, at: Point, share: Share, lagged: Point) -> float:
        model, c_v = self._model, at.stage.c_v
        if not c_v or (model.is_gradient and not model.depends_on_shape):
            return share.potential
        if model.is_gradient:
            return model.evaluate(lagged.shape, at.v)[0] / c_v
        return model.potential(lagged.shape, at.v, lagged.v) / c_v

    def add_matrix(self, at: Point, share: Share, tangent: Tangent, to: BlockSum) -> None:
        of = DampingTangent(at.stage.c_v, tangent.definite, tangent.consistent)
        self._model.add_tangent(at.shape, at.v, of, to.values)

    def low_rank(self, at: Point) -> LowRank | None:
        return joined([self._model.low_rank(at.shape, at.v)], at.stage.c_v)

    def update_duals(self, at: Point, step: Floats, length: float) -> None:
        self._model.update_duals(at.shape, at.v, at.stage.c_v * step, length)

    def snapshot(self) -> Callable[[], None] | None:
        return self._model.reset_duals  # they are found anew

    def free_force(self, shape: Shape, v: Floats) -> Floats | None:
        return self._evaluate(shape, v)[1]

    def power(self, shape: Shape, v: Floats) -> float:
        return float(np.vdot(v, self._evaluate(shape, v)[1]))

    def split(self, splitter: Splitter, places: Ints) -> None:
        splitter.add_damping(self._model, places)
