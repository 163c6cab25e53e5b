"""Several dampings at work on one body, taken as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.sparse import BlockPattern, LowRank, joined
from supple.core.types import Floats, Ints
from supple.damping.base import BoundDamping
from supple.damping.cells import BoundCellDamping, Points, PointSums


class CellSum(BoundCellDamping):
    """The sum of several dissipation densities."""

    def __init__(self, body: Body, models: Sequence[BoundCellDamping]) -> None:
        super().__init__(body)
        self._models = tuple(models)

    @property
    def needs_elasticity(self) -> bool:
        return any(model.needs_elasticity for model in self._models)

    def add_points(self, points: Points, to: PointSums) -> None:
        for model in self._models:
            model.add_points(points, to)

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
        self._body, self._models = body, tuple(models)
        self._pattern: BlockPattern = body.pattern
        self._places: list[Ints] = [np.arange(body.pattern.n_blocks)]
        """Where the blocks of the body, then of each model of a wider pattern, are in ours."""
        for model in self._models:
            if model.pattern is not None:
                self._pattern, mine, theirs = self._pattern.union(model.pattern)
                self._places = [mine[places] for places in self._places] + [theirs]

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        total, force = 0.0, np.zeros_like(v)
        for model in self._models:
            dissipation, share = model.evaluate(shape, v)
            total += dissipation
            force += share
        return total, force

    @property
    def is_gradient(self) -> bool:
        return all(model.is_gradient for model in self._models)

    @property
    def is_linear(self) -> bool:
        return all(model.is_linear for model in self._models)

    def potential(self, shape: Shape, v: Floats, near: Floats) -> float:
        return sum(model.potential(shape, v, near) for model in self._models)

    @property
    def depends_on_shape(self) -> bool:
        return any(model.depends_on_shape for model in self._models)

    @property
    def uses_stiffness(self) -> bool:
        return any(model.uses_stiffness for model in self._models)

    @property
    def uses_stiffness_matrix(self) -> bool:
        return any(model.uses_stiffness_matrix for model in self._models)

    @property
    def pattern(self) -> BlockPattern | None:
        return None if self._pattern is self._body.pattern else self._pattern

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        for model, part, places in self._parts(values):
            model.add_matrix(shape, v, factor, part, definite=definite)
            self._put_back(part, places, values)

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        for model, part, places in self._parts(values):
            model.add_shape_derivative(shape, v, factor, part)
            self._put_back(part, places, values)

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
        for model, part, places in self._parts(values):
            model.add_tangent(shape, v, c_v, part, definite=definite, consistent=consistent)
            self._put_back(part, places, values)

    def _parts(self, values: Floats) -> list[tuple[BoundDamping, Floats, Ints | None]]:
        """Each model, an array for its blocks, and where they belong if that is not ``values``."""
        wider = iter(self._places[1:])
        parts: list[tuple[BoundDamping, Floats, Ints | None]] = []
        for model in self._models:
            places = self._places[0] if model.pattern is None else next(wider)
            if self._pattern is self._body.pattern:
                parts.append((model, values, None))
            else:
                parts.append((model, np.zeros((len(places), 3, 3)), places))
        return parts

    @staticmethod
    def _put_back(part: Floats, places: Ints | None, values: Floats) -> None:
        if places is not None:
            values[places] += part

    def in_cells(self) -> BoundCellDamping | None:
        return cell_sum([model.in_cells() for model in self._models])

    def outside_cells(self) -> BoundDamping | None:
        return bound_sum(self._body, [model.outside_cells() for model in self._models])

    def low_rank(self, shape: Shape, v: Floats) -> LowRank | None:
        return joined([model.low_rank(shape, v) for model in self._models])


def cell_sum(models: Sequence[BoundCellDamping | None]) -> BoundCellDamping | None:
    """All of the models that there are, as one; None if there are none."""
    there = [model for model in models if model is not None]
    return CellSum(there[0].body, there) if len(there) > 1 else there[0] if there else None


def bound_sum(body: ElasticBody, models: Sequence[BoundDamping | None]) -> BoundDamping | None:
    """The same for dampings of any kind."""
    there = [model for model in models if model is not None]
    return BoundSum(body, there) if len(there) > 1 else there[0] if there else None
