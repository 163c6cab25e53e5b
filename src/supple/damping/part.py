"""Damping of one body among several."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.bodies.group import BodyGroup
from supple.bodies.shape import Shape
from supple.core.sparse import LowRank
from supple.core.types import Floats
from supple.damping.base import BoundDamping, Damping, DampingTangent


class PartDamping(BoundDamping):
    """A damping bound to one part of a group, as damping of the group."""

    def __init__(self, group: BodyGroup, number: int, damping: Damping) -> None:
        self._group, self._number = group, number
        self._rows, self._blocks = group.rows[number], group.blocks[number]
        model: BoundDamping = group.parts[number].damped_by(damping)
        self._model = model
        self.is_gradient, self.is_linear = model.is_gradient, model.is_linear
        self.depends_on_shape = model.depends_on_shape
        self.uses_stiffness = model.uses_stiffness
        self.uses_stiffness_matrix = model.uses_stiffness_matrix
        self.is_thinning = model.is_thinning
        self._places = None
        if model.pattern is not None:
            own, first = model.pattern, self._rows.start
            keys = (own.rows + first) * np.int64(group.n_vertices) + own.cols + first
            self.pattern = group.pattern.with_keys(keys)
            self._places = np.searchsorted(self.pattern.keys, keys)

    @property
    def matrix_is_hessian(self) -> bool:
        return self._model.matrix_is_hessian

    @property
    def advice(self) -> str:
        return self._model.advice

    def _shape(self, shape: Shape) -> Shape:
        return self._group.shape_of(shape, self._number)

    def _whole(self, field: Floats) -> Floats:
        """A field (…, n, 3) that is nothing on the other parts."""
        whole = np.zeros((*field.shape[:-2], self._group.n_vertices, 3))
        whole[..., self._rows, :] = field
        return whole

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        dissipation, force = self._model.evaluate(self._shape(shape), v[self._rows])
        return dissipation, self._whole(force)

    def potential(self, shape: Shape, v: Floats, near: Floats) -> float:
        rows = self._rows
        return self._model.potential(self._shape(shape), v[rows], near[rows])

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        own = self._own_values(values)
        self._model.add_matrix(self._shape(shape), v[self._rows], factor, own, definite=definite)
        self._add_back(own, values)

    def add_tangent(self, shape: Shape, v: Floats, of: DampingTangent, values: Floats) -> None:
        own = self._own_values(values)
        self._model.add_tangent(self._shape(shape), v[self._rows], of, own)
        self._add_back(own, values)

    def _own_values(self, values: Floats) -> Floats:
        """Where the part's blocks are added up: in place, where its pattern is the body's."""
        if self._places is None:
            return values[self._blocks]
        return np.zeros((len(self._places), 3, 3))

    def _add_back(self, own: Floats, values: Floats) -> None:
        if self._places is not None:
            values[self._places] += own

    def multiply(self, shape: Shape, shapes: Floats) -> Floats:
        return self._whole(self._model.multiply(self._shape(shape), shapes[:, self._rows]))

    def update_duals(self, shape: Shape, v: Floats, step: Floats, length: float) -> None:
        rows = self._rows
        self._model.update_duals(self._shape(shape), v[rows], step[rows], length)

    def reset_duals(self) -> None:
        self._model.reset_duals()

    def low_rank(self, shape: Shape, v: Floats) -> LowRank | None:
        found = self._model.low_rank(self._shape(shape), v[self._rows])
        return None if found is None else replace(found, factors=self._whole(found.factors))
