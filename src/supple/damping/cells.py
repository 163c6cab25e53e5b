"""Dissipation that is a sum over the cells of a solid: R(x, v) = Σ w r(F, Ḟ).

A model says what happens at quadrature points, in terms of the deformation gradient F and its rate
Ḟ = ∂v/∂X: the density r [W/m³], the dissipative stress ∂r/∂Ḟ [Pa] and what solvers need beside.
Everything else is here: nodal forces, matrices, threads.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from supple._kernels.damping.principal import Sums, add_clamped_stress
from supple._kernels.linear_algebra.blocks import add_scaled
from supple.bodies.assembly import (
    Asked,
    Evaluation,
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
from supple.damping.base import BoundDamping, DampingTangent
from supple.damping.laws import CellLaw

NO_STRESS, NO_DERIVATIVE = np.empty((0, 0, 3, 3)), np.empty((0, 0, 6, 3, 3))
"""What stands in place of arrays that are not asked for."""
_calls = threading.local()
_STEP = 1e-5  # of stretches, in differences of fourth order
_SPREAD = 1e-6  # how far apart stretches are put that coincide
_CLOSE = 1e-7  # stretches nearer than this coincide
_FINE = 1e-3  # what the above are fine enough for

Density = Callable[[Floats, int], tuple[Floats, Floats]]
"""A function of F that gives r (c, q) and, if order ≥ 1, ∂r/∂Ḟ (c, q, 3, 3)."""


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

    matrix_is_hessian = True  # the matrix is that of R, which is a function
    needs_elasticity: bool = False
    """Whether ``Points`` must hold the elastic stress and its derivative."""

    def __init__(self, body: Body) -> None:
        self.body = body

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

    def laws(self, cells: Ints) -> tuple[CellLaw, ...] | None:
        """The same at cells (c,) of the mesh for compiled loops; None if only Python knows it."""
        return None

    # -- what solvers ask ----------------------------------------------------------------

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        found = self._added_up(self._model(shape, v, self.add_points, definite=False), 1)
        return found.energy, found.gradient

    def shape_gradient(self, shape: Shape, v: Floats) -> Floats:
        """∇₁R [W/m], (n, 3): how R changes with the positions."""

        def add(points: Points, to: PointSums) -> None:
            self.add_shape_gradient_points(points, to.P, 1.0)

        return self._added_up(self._model(shape, v, add), 1).gradient

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        model = self._model(shape, v, self.add_points, factor=factor, definite=definite)
        self._add(model, values)

    def add_tangent(self, shape: Shape, v: Floats, of: DampingTangent, values: Floats) -> None:
        options = {"factor": of.c_v, "definite": of.definite}
        self._add(self._model(shape, v, self.add_tangent_points, **options), values)

    def in_cells(self) -> BoundCellDamping | None:
        return self

    def outside_cells(self) -> BoundDamping | None:
        return None

    def _add(self, model: PointModel, values: Floats) -> None:
        add_scaled(self._added_up(model, 2).stiffness.reshape(-1), 1.0, values.reshape(-1))

    def _added_up(self, model: PointModel, order: int) -> Evaluation:
        return add_up(self.body.parts, self.body.pattern, model, Asked(order=order))

    def _points(self, part: Part, cut: slice, u: Floats, v: Floats) -> Points:
        F = gradients_at(part, cut, u, 1.0, "F")
        rate = gradients_at(part, cut, v, 0.0, "rate")
        return Points.of(part, cut, F, rate, elasticity=self.needs_elasticity)

    def _model(
        self, shape: Shape, v: Floats, add: Callable[[Points, PointSums], None], **options: Any
    ) -> PointModel:
        """What ``add`` says of points; the options are those of ``PointSums``."""

        def model(part: Part, cut: slice, order: int) -> tuple[Floats, Floats, Floats]:
            points = self._points(part, cut, shape.u, v)
            sums = PointSums.zeros("dissipation", points, order=order, **options)
            add(points, sums)
            return sums.arrays

        return model


@contextmanager
def nested_call() -> Iterator[int]:
    """How many dampings that call others a thread is in, to tell their scratch arrays apart."""
    depth: int = getattr(_calls, "depth", 0) + 1
    _calls.depth = depth
    try:
        yield depth
    finally:
        _calls.depth = depth - 1


class BoundIsotropicDamping(BoundCellDamping):
    """A cell damping without preferred directions, as simple to write as ``add_points``.

    r(QF, QḞ) = r(FQ, ḞQ) = r(F, Ḟ) for every rotation Q.
    """

    finest = 1.0
    """The smallest difference of stretches that r knows of."""

    def add_stress_points(self, points: Points, A: Floats) -> None:
        _, T = self._density(points, 1)
        add_clamped_stress(points.F, T, A)

    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        def density(F: Floats, order: int) -> tuple[Floats, Floats]:
            elasticity = self.needs_elasticity
            there = Points.of(points.part, points.cut, F, points.rate, elasticity=elasticity)
            return self._density(there, order)

        add_shape_derivative(density, points.F, points.rate, G, factor, self.finest)
        if self.needs_elasticity:  # others may use the points after us
            elastic_points(points.part, points.cut, points.F, 2)

    def _density(self, points: Points, order: int) -> tuple[Floats, Floats]:
        r, P = np.zeros(points.F.shape[:2]), np.zeros_like(points.F)
        self.add_points(points, PointSums(r, P, order=order))
        return r, P


def add_shape_derivative(
    density: Density, F: Floats, rate: Floats, G: Floats, factor: float, finest: float
) -> None:
    """Add factor · ∂r/∂F of an isotropic density to G (c, q, 3, 3), all else given as well.

    In the frame F = U diag(σ) Vᵀ the diagonal is ∂r/∂σ_a, by differences along σ. The rest
    follows from T = ∂r/∂Ḟ: isotropy makes G Fᵀ + T Ḟᵀ and Fᵀ G + Ḟᵀ T symmetric. Where two
    stretches coincide that is 0/0, and is taken from both sides.
    """
    U, sigma, Vt = np.linalg.svd(F)
    scale = min(1.0, finest / _FINE)
    D = np.swapaxes(U, -1, -2) @ rate @ np.swapaxes(Vt, -1, -2)

    def at(shift: tuple[float, float, float], order: int) -> tuple[Floats, Floats]:
        r, T = density(np.ascontiguousarray((U * (sigma + shift)[..., None, :]) @ Vt), order)
        return r, np.swapaxes(U, -1, -2) @ T @ np.swapaxes(Vt, -1, -2)

    local = np.empty_like(F)
    h = _STEP * scale
    for a, axis in enumerate(np.eye(3)):
        r = [at(tuple(k * h * axis), 0)[0] for k in (-2, -1, 1, 2)]
        local[..., a, a] = (r[0] - 8 * r[1] + 8 * r[2] - r[3]) / (12 * h)
    _, T = at((0.0, 0.0, 0.0), 1)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        halves = []
        for sign in (1.0, -1.0):  # (G_ab ± G_ba) (σ_a ∓ σ_b) = ±(T Dᵀ)_[ab] − (DᵀT)_[ab]
            gap = sigma[..., a] - sign * sigma[..., b]
            part = _ratio(sign, T, D, a, b, gap)
            near = gap < _CLOSE * scale
            if near.any():
                spread = _SPREAD * scale
                away = 0.5 * spread * (np.eye(3)[a] - sign * np.eye(3)[b])
                sides = [
                    _ratio(sign, at(tuple(side * away), 1)[1], D, a, b, gap + side * spread)
                    for side in (1, -1)
                ]
                part = np.where(near, 0.5 * (sides[0] + sides[1]), part)
            halves.append(0.5 * part)
        local[..., a, b], local[..., b, a] = halves[0] + halves[1], halves[0] - halves[1]
    G += factor * (U @ local @ Vt)


def _ratio(sign: float, T: Floats, D: Floats, a: int, b: int, gap: Floats) -> Floats:
    """(± (T Dᵀ)_[ab] − (DᵀT)_[ab]) / gap, of the skew components (a, b)."""
    left = (T[..., a, :] * D[..., b, :] - T[..., b, :] * D[..., a, :]).sum(axis=-1)
    right = (D[..., :, a] * T[..., :, b] - D[..., :, b] * T[..., :, a]).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = (sign * left - right) / gap
    return ratio
