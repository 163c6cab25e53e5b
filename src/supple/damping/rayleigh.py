"""Rayleigh damping: C = α M + β K, the classical two coefficients.

A small vibration of angular frequency ω decays with the damping ratio ζ = ½ (α/ω + β ω).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from supple._kernels.linear_algebra.blocks import add_scaled, add_scaled_identity_blocks
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.parameters import parameter
from supple.core.types import Floats
from supple.damping.base import (
    DAMPINGS,
    BoundDamping,
    BoundViscousDamping,
    Damping,
    DampingTangent,
)
from supple.damping.cells import BoundCellDamping
from supple.damping.coefficients import Coefficient, coefficient, coefficient_of_cells
from supple.damping.matched import BoundMatched, matched_to
from supple.damping.sums import bound_sum


class StiffnessAt(Enum):
    """Which stiffness a damping is proportional to."""

    CURRENT = "the material part of the tangent stiffness at the current shape"
    REST = "the constant stiffness of the rest shape"


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class Rayleigh(Damping):
    """C = α M + β K. Coefficients are scalars, one a cell, or given by region name.

    Cells in none of the regions named get none. With the rest shape's stiffness C is constant, but
    resists large rotations.

    With the current one C(u) = α M + β B(u), where B is the material part of the tangent stiffness
    K(u), how stresses change with the strain: that of r = β/2 Ė : ∂²ψ/∂E² : Ė, in which what
    ∂²ψ/∂E² may have of negative eigenvalues is left out. It is K at the rest shape, never feeds
    energy, and spares rigid motion, so that the stiffness part conserves momenta. The geometric
    part of K(u), the stress that turns with the body, is not in it: it makes K(u) indefinite under
    compression, which feeds energy, and brakes the spin of a stressed body. To project K(u) cell by
    cell would mend the first and not the second, and is no polynomial in reduced models of StVK.
    """

    mass: Coefficient = coefficient("α, times the mass", "1/s")
    stiffness: Coefficient = coefficient("β, times the stiffness", "s")
    at: StiffnessAt = parameter(
        StiffnessAt.CURRENT,
        "the shape whose stiffness it is",
        kind=StiffnessAt,
        formerly="stiffness_at",
    )

    @classmethod
    def from_ratios(
        cls,
        frequencies: tuple[float, float],
        ratios: tuple[float, float],
        *,
        at: StiffnessAt = StiffnessAt.CURRENT,
    ) -> Rayleigh:
        """The coefficients that give two frequencies [Hz] the damping ratios ζ wanted.

        ``Rayleigh.from_ratios((1.0, 6.0), (0.02, 0.02))`` damps vibrations of 1 and 6 Hz by 2 %
        of critical each.
        """
        if len(frequencies) != 2:
            raise InputError(
                f"frequencies={frequencies!r}: Rayleigh damping meets the ratios of two; give "
                'Caughey, model = "caughey" in a scene, any number of them',
                parameter="frequencies",
            )
        w = 2 * np.pi * numbers("frequencies", frequencies, ((2,),))
        zeta = numbers("ratios", ratios, ((2,),))
        if not (w > 0).all() or w[0] == w[1]:
            raise InputError(
                f"frequencies={frequencies!r}: give two different positive frequencies in Hz, "
                "and a ratio for each"
            )
        alpha, beta = np.linalg.solve(np.stack([1 / w, w], axis=1) / 2, zeta)
        if alpha < 0 or beta < 0:
            name, low = ("mass", alpha) if alpha < 0 else ("stiffness", beta)
            raise InputError(
                f"ratios={ratios!r} at {frequencies!r} Hz would need a negative {name} coefficient "
                f"({low:.3g}); bring the two ratios closer together"
            )
        return cls(mass=float(alpha), stiffness=float(beta), at=at)

    @property
    def spares_rigid_motion(self) -> bool:
        mass = list(self.mass.values()) if isinstance(self.mass, Mapping) else self.mass
        return not np.any(mass) and self.at is StiffnessAt.CURRENT

    def bind(self, body: ElasticBody) -> BoundDamping:
        return _BoundRayleigh(self, body)


class _BoundRayleigh(BoundViscousDamping):
    """α M, and β times a constant stiffness or the material part of the current one."""

    def __init__(self, damping: Rayleigh, body: ElasticBody) -> None:
        self._body, self._damping = body, damping
        alpha = coefficient_of_cells("mass", damping.mass, body)
        whole = np.ndim(alpha) == 0  # Σ α M over the cells, (blocks,)
        self._mass = alpha * body.mass_values if whole else body.scaled_mass(np.asarray(alpha))
        beta = coefficient_of_cells("stiffness", damping.stiffness, body)
        self._constant: Floats | None = None
        self._current: BoundDamping | None = None
        if np.any(beta) and damping.at is StiffnessAt.CURRENT:
            self._current = matched_to(body, beta)
            self.uses_stiffness = self._current.uses_stiffness
        elif np.any(beta):
            self._constant = _rest_stiffness(body, beta)
        self.depends_on_shape = self._current is not None

    @property
    def advice(self) -> str:
        if self._current is None:
            return ""
        return (
            "Rayleigh damping of the current stiffness can keep a buckling body from settling: "
            "try at=StiffnessAt.REST, or Newton(iterations=3)."
        )

    def in_cells(self) -> BoundCellDamping | None:
        return None if self._current is None else self._current.in_cells()

    def outside_cells(self) -> BoundDamping | None:
        if self._current is None:
            nothing = self._constant is None and not self._mass.any()
            return None if nothing else self
        mass = self._mass_alone if self._mass.any() else None
        return bound_sum(self._body, [mass, self._current.outside_cells()])

    @cached_property
    def _mass_alone(self) -> BoundDamping:
        return _BoundRayleigh(Rayleigh(mass=self._damping.mass), self._body)

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        force = self._body.pattern.multiply(self._mass, v)
        if self._constant is not None:
            force += self._body.pattern.multiply(self._constant, v)
        if self._current is None:
            return 0.5 * float(np.vdot(v, force)), force
        R, share = self._current.evaluate(shape, v)
        return R + 0.5 * float(np.vdot(v, force)), force + share

    def multiply(self, shape: Shape, shapes: Floats) -> Floats:
        if isinstance(self._current, BoundMatched):
            return self._current.multiply_beside(shape, shapes, self._mass)
        constant = np.zeros((0, 3, 3)) if self._constant is None else self._constant
        product = self._body.pattern.multiply_many(constant, shapes, scalars=self._mass)
        return product if self._current is None else product + self._current.multiply(shape, shapes)

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        self._add_constant(factor, values)
        if self._current is not None:
            self._current.add_matrix(shape, v, factor, values, definite=definite)

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        if self._current is not None:
            self._current.add_shape_derivative(shape, v, factor, values)

    def add_tangent(self, shape: Shape, v: Floats, of: DampingTangent, values: Floats) -> None:
        self._add_constant(of.c_v, values)
        if self._current is not None:
            self._current.add_tangent(shape, v, of, values)

    def _add_constant(self, factor: float, values: Floats) -> None:
        add_scaled_identity_blocks(values, self._mass, factor)
        if self._constant is not None:
            add_scaled(self._constant.reshape(-1), factor, values.reshape(-1))


def _rest_stiffness(body: ElasticBody, beta: float | Floats) -> Floats:
    """β K at the rest shape; its material part where that shape is under stress, (blocks, 3, 3)."""
    still = np.zeros_like(body.mesh.vertices)
    if isinstance(body, Body):
        factors = np.broadcast_to(beta, body.n_cells)
        return body.evaluate(still, order=2, cell_factors=factors).stiffness
    values = np.zeros((body.pattern.n_blocks, 3, 3))
    matched_to(body, beta).add_matrix(Shape(body, still), still, 1.0, values, definite=True)
    return values
