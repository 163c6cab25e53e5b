"""Several dampings at work on one body, taken as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.sparse import LowRank, joined
from supple.core.types import Floats, Ints
from supple.damping.base import BoundDamping, DampingTangent
from supple.damping.cells import BoundCellDamping, Points, PointSums
from supple.damping.laws import CellLaw


class CellSum(BoundCellDamping):
    """The sum of several dissipation densities."""

    def __init__(self, body: Body, models: Sequence[BoundCellDamping]) -> None:
        super().__init__(body)
        self._models = tuple(models)
        self.needs_elasticity = any(model.needs_elasticity for model in models)
        self.is_linear = all(model.is_linear for model in models)
        self.is_thinning = all(model.is_thinning for model in models)

    def add_points(self, points: Points, to: PointSums) -> None:
        for model in self._models:
            model.add_points(points, to)

    def laws(self, cells: Ints) -> tuple[CellLaw, ...] | None:
        found = [model.laws(cells) for model in self._models]
        if any(each is None for each in found):
            return None
        return tuple(law for each in found if each is not None for law in each)

    def add_stress_points(self, points: Points, A: Floats) -> None:
        for model in self._models:
            model.add_stress_points(points, A)

    def add_tangent_points(self, points: Points, to: PointSums) -> None:
        for model in self._models:
            model.add_tangent_points(points, to)

    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        for model in self._models:
            model.add_shape_gradient_points(points, G, factor)


class BoundSum(BoundDamping):
    """The sum of several dampings of any kind."""

    def __init__(self, body: ElasticBody, models: Sequence[BoundDamping]) -> None:
        self._body = body
        self.models = tuple(models)
        """What is added up."""
        self.is_gradient = all(model.is_gradient for model in models)
        self.is_linear = all(model.is_linear for model in models)
        self.depends_on_shape = any(model.depends_on_shape for model in models)
        self.uses_stiffness = any(model.uses_stiffness for model in models)
        self.uses_stiffness_matrix = any(model.uses_stiffness_matrix for model in models)
        wider = [model.pattern.keys for model in models if model.pattern is not None]
        if wider:
            self.pattern = body.pattern.with_keys(np.concatenate(wider))

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        total, force = 0.0, np.zeros_like(v)
        for model in self.models:
            dissipation, share = model.evaluate(shape, v)
            total += dissipation
            force += share
        return total, force

    def multiply(self, shape: Shape, shapes: Floats) -> Floats:
        total = np.zeros(shapes.shape)
        for model in self.models:
            total += model.multiply(shape, shapes)
        return total

    def potential(self, shape: Shape, v: Floats, near: Floats) -> float:
        return sum(model.potential(shape, v, near) for model in self.models)

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        def add(model: BoundDamping, part: Floats) -> None:
            model.add_matrix(shape, v, factor, part, definite=definite)

        self._add_each(values, add)

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        self._add_each(values, lambda m, part: m.add_shape_derivative(shape, v, factor, part))

    def add_tangent(self, shape: Shape, v: Floats, of: DampingTangent, values: Floats) -> None:
        self._add_each(values, lambda model, part: model.add_tangent(shape, v, of, part))

    def _add_each(self, values: Floats, add: Callable[[BoundDamping, Floats], None]) -> None:
        """Let ``add`` add the blocks of each model, where its pattern has them."""
        for model in self.models:
            if self.pattern is None:
                add(model, values)
                continue
            keys = (model.pattern or self._body.pattern).keys
            part = np.zeros((len(keys), 3, 3))
            add(model, part)
            values[np.searchsorted(self.pattern.keys, keys)] += part

    def in_cells(self) -> BoundCellDamping | None:
        return cell_sum([model.in_cells() for model in self.models])

    def outside_cells(self) -> BoundDamping | None:
        return bound_sum(self._body, [model.outside_cells() for model in self.models])

    def low_rank(self, shape: Shape, v: Floats) -> LowRank | None:
        return joined([model.low_rank(shape, v) for model in self.models])


def cell_sum(models: Sequence[BoundCellDamping | None]) -> BoundCellDamping | None:
    """All of the models that there are, as one; None if there are none."""
    there = [model for model in models if model is not None]
    return CellSum(there[0].body, there) if len(there) > 1 else there[0] if there else None


def bound_sum(body: ElasticBody, models: Sequence[BoundDamping | None]) -> BoundDamping | None:
    """The same for dampings of any kind."""
    there = [model for model in models if model is not None]
    return BoundSum(body, there) if len(there) > 1 else there[0] if there else None


def summands(model: BoundDamping | None) -> tuple[BoundDamping, ...]:
    """The dampings that one is the sum of."""
    if isinstance(model, BoundSum):
        return tuple(each for part in model.models for each in summands(part))
    return () if model is None else (model,)
