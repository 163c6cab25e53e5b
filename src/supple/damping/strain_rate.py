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

from supple._kernels.damping.strain_rate import add_strain_rate, add_strain_rate_by_shape
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.solid import Body
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.parameters import Kind, Parameter, checked, parameter
from supple.core.types import Floats
from supple.damping.base import DAMPINGS, BoundDamping, Damping, body_for
from supple.damping.cells import BoundCellDamping, Points, PointSums
from supple.damping.coefficients import Coefficient, coefficient, coefficient_of_cells


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
        checked(self)
        if self.direction is None and any(np.any(value) for value in _values(self.fibre)):
            raise InputError(
                "fibre= needs the direction= of the fibres, e.g. (1, 0, 0)", parameter="fibre"
            )

    def bind(self, body: ElasticBody) -> BoundDamping:
        return _BoundStrainRate(self, body_for(self, Body, body))


class _BoundStrainRate(BoundCellDamping):
    def __init__(self, damping: StrainRate, body: Body) -> None:
        super().__init__(body)
        cells = body.mesh.n_cells
        self._shear, self._bulk, self._fibre = (
            np.broadcast_to(coefficient_of_cells(name, getattr(damping, name), body), cells)
            for name in ("shear", "bulk", "fibre")
        )
        axis = np.asarray((0.0, 0.0, 0.0) if damping.direction is None else damping.direction)
        if axis.ndim == 2 and len(axis) != cells:
            raise InputError(f"direction has {len(axis)} rows for {cells} cells")
        self._axis = np.broadcast_to(axis, (cells, 3))

    def _coefficients(self, points: Points) -> tuple[Floats, Floats, Floats, Floats]:
        cells = points.part.cells[points.cut]
        return self._shear[cells], self._bulk[cells], self._fibre[cells], self._axis[cells]

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


def _values(given: Coefficient) -> list[ArrayLike]:
    return list(given.values()) if isinstance(given, Mapping) else [given]
