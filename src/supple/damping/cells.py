"""Dissipation that is a sum over the cells of a solid: R(x, v) = Σ w r(F, Ḟ).

A model says what happens at quadrature points, in terms of the deformation gradient F and its rate
Ḟ = ∂v/∂X: the density r [W/m³], the dissipative stress ∂r/∂Ḟ [Pa] and what solvers need beside.
Everything else is here: nodal forces, matrices, threads.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from .._kernels.blocks import add_scaled
from ..assembly import Part, PointModel, add_up, elastic_points, gradients_at, point_array
from ..body import Body
from ..shape import Shape
from ..types import Floats, Ints
from .base import BoundDamping

_NOTHING = np.empty((0, 0, 3, 3))


@dataclass(frozen=True, eq=False)
class Points:
    """The quadrature points of some cells of one part: how they are deformed, and how fast."""

    part: Part
    cut: slice | Ints
    """Which of the part's cells, c of them with q points each."""
    F: Floats
    """(c, q, 3, 3)"""
    rate: Floats
    """Ḟ [1/s], (c, q, 3, 3)."""
    P: Floats
    """Elastic stress at F [Pa], (c, q, 3, 3), for models that need elasticity."""
    A: Floats
    """∂P/∂F [Pa], (c, q, 6, 3, 3) as ``_kernels.elements`` says, for models that need it."""

    @classmethod
    def of(
        cls, part: Part, cut: slice | Ints, F: Floats, rate: Floats, *, elasticity: bool
    ) -> Points:
        """Points at F and Ḟ, with the elastic stress and its derivative worked out if asked."""
        if not elasticity:
            return cls(part, cut, F, rate, _NOTHING, _NOTHING)
        _, P, A = elastic_points(part, cut, F, 2)
        return cls(part, cut, F, rate, P, A)


class BoundCellDamping(BoundDamping):
    """A dissipation density r(F, Ḟ) at work on one solid.

    Densities that read the same at every point of the body take their coefficients from arrays
    with one number a cell of the mesh: ``coefficients[points.part.cells[points.cut]]``.
    """

    def __init__(self, body: Body) -> None:
        self.body = body

    @property
    def curved_as_matrix(self) -> bool:
        return True  # the matrix is that of R, which is a function

    @property
    def needs_elasticity(self) -> bool:
        """Whether ``Points`` must hold the elastic stress and its derivative."""
        return False

    # -- what a model says of points -----------------------------------------------------

    @abstractmethod
    def add_points(
        self,
        points: Points,
        r: Floats,
        P: Floats,
        A: Floats,
        *,
        order: int,
        factor: float = 1.0,
        definite: bool = True,
    ) -> None:
        """Add r; ∂r/∂Ḟ to P if order ≥ 1; factor · ∂²r/∂Ḟ² to A if order ≥ 2.

        r is (c, q), P (c, q, 3, 3), A (c, q, 6, 3, 3). ``definite`` asks for a positive
        semidefinite stand-in where the second derivative is not.
        """

    def add_stress_points(self, points: Points, A: Floats) -> None:
        """Add the definite, symmetric part of ∂²r/∂Ḟ∂F to A that implicit rules profit from.

        Strain rate, §3.4: the unsymmetric term is dropped and negative eigenvalues of the
        dissipative stress are clamped.
        """
        return  # a model without a better idea goes without

    @abstractmethod
    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        """Add factor · ∂r/∂F to G (c, q, 3, 3): what ∇₁R is made of."""

    # -- what solvers ask ----------------------------------------------------------------

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        found = add_up(self.body.parts, self.body.pattern, self._model(shape.u, v), 1)
        return found.energy, found.gradient

    def shape_gradient(self, shape: Shape, v: Floats) -> Floats:
        """∇₁R [W/m], (n, 3): how R changes with the positions."""

        def model(part: Part, cut: slice, order: int) -> tuple[Floats, Floats, Floats]:
            points = self._points(part, cut, shape.u, v)
            r, G, A = _outputs(part, cut, 1)
            self.add_shape_gradient_points(points, G, 1.0)
            return r, G, A

        return add_up(self.body.parts, self.body.pattern, model, 1).gradient

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        self._add(self._model(shape.u, v, factor=factor, definite=definite), values)

    def add_tangent(
        self, shape: Shape, v: Floats, c_v: float, values: Floats, *, definite: bool, closer: bool
    ) -> None:
        model = self._model(shape.u, v, factor=c_v, definite=definite, with_stress=True)
        self._add(model, values)

    def in_cells(self) -> BoundCellDamping | None:
        return self

    def outside_cells(self) -> BoundDamping | None:
        return None

    def _add(self, model: PointModel, values: Floats) -> None:
        matrix = add_up(self.body.parts, self.body.pattern, model, 2).stiffness
        add_scaled(matrix.reshape(-1), 1.0, values.reshape(-1))

    def _points(self, part: Part, cut: slice, u: Floats, v: Floats) -> Points:
        F = gradients_at(part, cut, u, 1.0, "F")
        rate = gradients_at(part, cut, v, 0.0, "rate")
        return Points.of(part, cut, F, rate, elasticity=self.needs_elasticity)

    def _model(
        self,
        u: Floats,
        v: Floats,
        *,
        factor: float = 1.0,
        definite: bool = False,
        with_stress: bool = False,
    ) -> PointModel:
        def model(part: Part, cut: slice, order: int) -> tuple[Floats, Floats, Floats]:
            points = self._points(part, cut, u, v)
            r, P, A = _outputs(part, cut, order)
            self.add_points(points, r, P, A, order=order, factor=factor, definite=definite)
            if with_stress:
                self.add_stress_points(points, A)
            return r, P, A

        return model


def _outputs(part: Part, cut: slice, order: int) -> tuple[Floats, Floats, Floats]:
    r = point_array("dissipation", part, cut)
    P = point_array("dissipative stress", part, cut, 3, 3, wanted=order >= 1)
    A = point_array("stress by rate", part, cut, 6, 3, 3, wanted=order >= 2)
    for array in (r, P, A):
        array[:] = 0.0
    return r, P, A
