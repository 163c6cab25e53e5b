"""Dissipation that is a sum over the cells of a solid: R(x, v) = Σ w r(F, Ḟ).

A model says what happens at quadrature points, in terms of the deformation gradient F and its rate
Ḟ = ∂v/∂X: the density r [W/m³], the dissipative stress ∂r/∂Ḟ [Pa] and what solvers need beside.
Everything else is here: nodal forces, matrices, threads.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field

import numpy as np

from supple._kernels.damping.principal import Sums
from supple._kernels.linear_algebra.blocks import add_scaled
from supple.bodies.assembly import (
    Part,
    PointModel,
    add_up,
    elastic_points,
    gradients_at,
    point_array,
)
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.types import Floats, Ints
from supple.damping.base import BoundDamping

NO_STRESS, NO_DERIVATIVE = np.empty((0, 0, 3, 3)), np.empty((0, 0, 6, 3, 3))
"""What stands in place of arrays that are not asked for."""


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
            return cls(part, cut, F, rate, NO_STRESS, NO_DERIVATIVE)
        _, P, A = elastic_points(part, cut, F, 2)
        return cls(part, cut, F, rate, P, A)


@dataclass(frozen=True, eq=False)
class PointSums:
    """What the densities at some points add up to: arrays that models add to in place."""

    r: Floats
    """Density [W/m³], (c, q)."""
    P: Floats = field(default_factory=lambda: NO_STRESS)
    """∂r/∂Ḟ [Pa], (c, q, 3, 3), added to if order ≥ 1."""
    A: Floats = field(default_factory=lambda: NO_DERIVATIVE)
    """factor · ∂²r/∂Ḟ², (c, q, 6, 3, 3) as ``_kernels.elements`` says, added to if order ≥ 2."""
    _: KW_ONLY
    order: int
    """The highest derivative asked for."""
    factor: float = 1.0
    """Of the second derivative."""
    definite: bool = True
    """Whether to take a positive semidefinite stand-in where the second derivative is not."""

    @classmethod
    def zeros(
        cls, name: str, points: Points, *, order: int, factor: float = 1.0, definite: bool = True
    ) -> PointSums:
        """Sums of nothing yet, in the scratch ``name``, as far as the order needs arrays."""
        part, cut = points.part, points.cut
        r = point_array(f"{name} r", part, cut)
        P = point_array(f"{name} P", part, cut, 3, 3, wanted=order >= 1)
        A = point_array(f"{name} A", part, cut, 6, 3, 3, wanted=order >= 2)
        for array in (r, P, A):
            array[:] = 0.0
        return cls(r, P, A, order=order, factor=factor, definite=definite)

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """r, P and A."""
        return self.r, self.P, self.A

    @property
    def compiled(self) -> Sums:
        """The same for compiled loops."""
        return Sums(*self.arrays, self.order, self.factor)


class BoundCellDamping(BoundDamping):
    """A dissipation density r(F, Ḟ) at work on one solid.

    Densities that read the same at every point of the body take their coefficients from arrays
    with one number a cell of the mesh: ``coefficients[points.part.cells[points.cut]]``.
    """

    def __init__(self, body: Body) -> None:
        self.body = body

    @property
    def matrix_is_hessian(self) -> bool:
        return True  # the matrix is that of R, which is a function

    @property
    def needs_elasticity(self) -> bool:
        """Whether ``Points`` must hold the elastic stress and its derivative."""
        return False

    # -- what a model says of points -----------------------------------------------------

    @abstractmethod
    def add_points(self, points: Points, to: PointSums) -> None:
        """Add r and its derivatives by Ḟ, as far as asked for."""

    def add_stress_points(self, points: Points, A: Floats) -> None:
        """Add the definite, symmetric part of ∂²r/∂Ḟ∂F to A that implicit rules profit from.

        Strain rate, §3.4: the unsymmetric term is dropped and negative eigenvalues of the
        dissipative stress are clamped.
        """
        return  # a model without a better idea goes without

    def add_tangent_points(self, points: Points, to: PointSums) -> None:
        """Both of the above at once, which may be cheaper."""
        self.add_points(points, to)
        self.add_stress_points(points, to.A)

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
            sums = PointSums.zeros("dissipation", points, order=1)
            self.add_shape_gradient_points(points, sums.P, 1.0)
            return sums.arrays

        return add_up(self.body.parts, self.body.pattern, model, 1).gradient

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        self._add(self._model(shape.u, v, factor=factor, definite=definite), values)

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
            sums = PointSums.zeros(
                "dissipation", points, order=order, factor=factor, definite=definite
            )
            add = self.add_tangent_points if with_stress else self.add_points
            add(points, sums)
            return sums.arrays

        return model
