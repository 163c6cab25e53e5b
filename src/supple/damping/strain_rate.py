"""Strain rate dissipation: r = ψ Ė:Ė + φ/2 tr(Ė)², Ė = ½ (FᵀḞ + ḞᵀF) the rate of Green's strain.

It damps changes of deformation alone. Rigid motion makes no strain rate, so the forces have neither
a resultant nor a moment: linear and angular momentum are kept, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.damping.laws import strain_rate_law
from supple._kernels.damping.strain_rate import add_strain_rate, add_strain_rate_by_shape
from supple._kernels.linear_algebra.blocks import add_scaled
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.bodies.springs import SpringNetwork, Stretch
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.parameters import Kind, Parameter, parameter
from supple.core.types import Floats, Ints
from supple.damping.base import DAMPINGS, BoundDamping, BoundViscousDamping, Damping, body_for
from supple.damping.cells import BoundCellDamping, Points, PointSums
from supple.damping.coefficients import (
    Coefficient,
    coefficient,
    coefficient_of_cells,
    spread_over_cells,
)
from supple.damping.laws import CellLaw


def _directions(of: Parameter, value: Any) -> Any:
    """Unit vectors, one or one a cell."""
    a = numbers(of.name, value)
    if a.ndim not in (1, 2) or a.shape[-1] != 3:
        raise InputError(f"{of.name} has shape {a.shape}; give (3,) or (cells, 3)")
    length = np.linalg.norm(a, axis=-1, keepdims=True)
    if not (length > 0).all():
        raise InputError(f"{of.name} has no length; give one such as (1, 0, 0)")
    length[np.abs(length - 1) <= 4 * np.finfo(float).eps] = 1.0  # so that units stay as given
    unit = (a / length).tolist()
    return tuple(unit) if a.ndim == 1 else tuple(map(tuple, unit))


DIRECTIONS = Kind("three numbers, or three a cell", _directions)


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class StrainRate(Damping):
    """r = ψ Ė:Ė + φ/2 tr(Ė)² + η/2 (a·Ėa)², the last along fibres of direction a.

    Coefficients are scalars, one a cell, or given by region name. (Strain rate, Eqs. 15–17, where
    they are μ_d and λ_d; dissipative optimization, Eqs. 41–44.) Several add up, each with fibres of
    its own. Conserves linear and angular momentum.
    """

    shear: Coefficient = coefficient("ψ, against changes of shape", "Pa s")
    bulk: Coefficient = coefficient("φ, against changes of volume", "Pa s")
    fibre: Coefficient = coefficient("η, against stretching along ``direction`` only", "Pa s")
    direction: ArrayLike | None = parameter(
        None, "a, of fibres in the rest shape, of any length: (3,), or (cells, 3)", kind=DIRECTIONS
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        fibre = list(self.fibre.values()) if isinstance(self.fibre, Mapping) else self.fibre
        if self.direction is None and np.any(fibre):
            raise InputError(
                "fibre= needs the direction= of the fibres, e.g. (1, 0, 0)", parameter="fibre"
            )

    @property
    def spares_rigid_motion(self) -> bool:
        return True

    def bind(self, body: ElasticBody) -> BoundDamping:
        return _BoundStrainRate(self, body_for(self, Body, body))


class _BoundStrainRate(BoundCellDamping):
    def __init__(self, damping: StrainRate, body: Body) -> None:
        super().__init__(body)
        cells = body.mesh.n_cells
        self._shear, self._bulk, self._fibre = (
            spread_over_cells(name, getattr(damping, name), body)
            for name in ("shear", "bulk", "fibre")
        )
        axis = np.asarray((0.0, 0.0, 0.0) if damping.direction is None else damping.direction)
        if axis.ndim == 2 and len(axis) != cells:
            raise InputError(f"direction has {len(axis)} rows for {cells} cells")
        self._axis = np.broadcast_to(axis, (cells, 3))

    def _coefficients(self, points: Points) -> tuple[Floats, Floats, Floats, Floats]:
        cells = points.part.cells[points.cut]
        return self._shear[cells], self._bulk[cells], self._fibre[cells], self._axis[cells]

    def laws(self, cells: Ints) -> tuple[CellLaw, ...]:
        rows = [each[cells] for each in (self._shear, self._bulk, self._fibre)]
        directions = self._axis[cells] if rows[2].any() else None
        return (CellLaw.of(strain_rate_law, rows, directions=directions),)

    def add_points(self, points: Points, to: PointSums) -> None:
        self._add_rate(points, to, stress=False)

    def add_tangent_points(self, points: Points, to: PointSums) -> None:
        self._add_rate(points, to, stress=True)

    def _add_rate(self, points: Points, to: PointSums, *, stress: bool) -> None:
        given = points.F, points.rate, *self._coefficients(points)
        add_strain_rate(*given, to.compiled, stress)

    def add_stress_points(self, points: Points, A: Floats) -> None:
        unused = PointSums.zeros("strain rate", points, order=1)
        self._add_rate(points, replace(unused, A=A, order=2, factor=0.0), stress=True)

    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        coefficients = self._coefficients(points)
        add_strain_rate_by_shape(points.F, points.rate, *coefficients, G, factor)


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class SpringStrainRate(Damping):
    """R = Σ ½ L η ε̇² over springs, with ε̇ = n·(v₂ − v₁)/L the rate of their strain.

    It takes energy from what changes the length of a spring and from nothing else: a network that
    turns or flies as it is keeps all of it, and linear and angular momentum never change. The
    coefficients are numbers, one a spring, or given by region name; what they say adds up.
    """

    viscosity: Coefficient = coefficient("η, the pull at a strain rate of one a second", "N s")
    matched: Coefficient = coefficient("β, adds η = β k, as Rayleigh(stiffness=β) does", "s")

    def bind(self, body: ElasticBody) -> BoundDamping:
        network = body_for(self, SpringNetwork, body)
        # V_d = ½ β ε̇ᵀ ∂²V/∂ε² ε̇ with ∂²V/∂ε² = L k (strain rate, Eq. 12)
        beta = coefficient_of_cells("matched", self.matched, network)
        viscosity = coefficient_of_cells("viscosity", self.viscosity, network)
        return BoundSpringStrainRate(network, viscosity + beta * network.spring_stiffness)


class BoundSpringStrainRate(BoundViscousDamping):
    """Σ ½ L η ε̇² over the springs of a network."""

    def __init__(self, body: SpringNetwork, viscosity: Floats) -> None:
        self._body = body
        self.viscosity: Floats = viscosity
        """η of every spring [N s], (springs,)."""

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        at = self._stretch(shape)
        rate = self._strain_rate(at, v)
        stress = self.viscosity * rate  # S_d
        # ∇₂R = Σ L ∇ε S_d with ∇ε = n/L (strain rate, Eq. 7)
        force = self._body.gathered(stress[:, None] * at.directions)
        return 0.5 * float((self._body.mesh.rest_lengths * stress) @ rate), force

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        add_scaled(self._matrix(shape).reshape(-1), factor, values.reshape(-1))

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        # Of L (∂²ε/∂x² S_d + ∇ε ∂S_d/∂ε̇ ∇ε̇ᵀ) (strain rate, Eq. 9) the second part is not
        # symmetric and dropped; in the first, ∂²ε/∂x² = (I − n nᵀ)/(L ‖x‖), negative S_d are
        at = self._stretch(shape)
        stress = np.maximum(self.viscosity * self._strain_rate(at, v), 0.0)
        blocks = self._body.blocks(at, np.zeros_like(stress), stress / at.lengths)
        add_scaled(blocks.reshape(-1), factor, values.reshape(-1))

    def _stretch(self, shape: Shape) -> Stretch:
        if self not in shape.known:
            shape.known[self] = self._body.stretched(shape.u)
        found: Stretch = shape.known[self]
        return found

    def _strain_rate(self, at: Stretch, v: Floats) -> Floats:
        """ε̇ [1/s], (springs,)."""
        ahead = np.einsum("ei,ei->e", at.directions, self._body.differences(v))
        rate: Floats = ahead / self._body.mesh.rest_lengths
        return rate

    def _matrix(self, shape: Shape) -> Floats:
        """Σ L ∇ε η ∇εᵀ (strain rate, Eq. 8), (blocks, 3, 3)."""
        along = self.viscosity / self._body.mesh.rest_lengths
        return self._body.blocks(self._stretch(shape), along, np.zeros_like(along))
