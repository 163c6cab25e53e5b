"""Rayleigh damping: C = α M + β K, the classical two coefficients.

A small vibration of angular frequency ω decays with the damping ratio ζ = ½ (α/ω + β ω).
"""

from __future__ import annotations

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
from supple.core.parameters import checked, parameter
from supple.core.types import Floats
from supple.damping.base import DAMPINGS, BoundDamping, BoundViscousDamping, Damping
from supple.damping.cells import BoundCellDamping
from supple.damping.coefficients import Coefficient, coefficient, coefficient_of_cells
from supple.damping.rayleigh_cells import BoundRayleighCells

_SHIFT = 1e-3  # of an edge: how far K is looked at ahead


class StiffnessAt(Enum):
    """Which stiffness a damping is proportional to."""

    CURRENT = "the tangent stiffness K(u) of the current shape"
    REST = "the constant stiffness of the rest shape"


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class Rayleigh(Damping):
    """C = α M + β K. Coefficients are scalars, one a cell, or given by region name.

    Cells in none of the regions named get none. With the rest shape's stiffness C is constant and
    never feeds energy, but resists large rotations. The current one resists the rotation of a
    stressed body only (a fast spin slows down), and a strongly compressed body, whose stiffness is
    not definite, may gain energy from it.
    """

    mass: Coefficient = coefficient("α, times the mass", "1/s")
    stiffness: Coefficient = coefficient("β, times the stiffness", "s")
    at: StiffnessAt = parameter(
        StiffnessAt.CURRENT,
        "the shape whose stiffness it is",
        kind=StiffnessAt,
        formerly="stiffness_at",
    )

    def __post_init__(self) -> None:
        checked(self)

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

    def bind(self, body: ElasticBody) -> BoundDamping:
        return _BoundRayleigh(self, body)


class _BoundRayleigh(BoundViscousDamping):
    def __init__(self, damping: Rayleigh, body: ElasticBody) -> None:
        self._body, self._damping = body, damping
        self._mass = _scaled_mass(body, damping.mass)
        self._beta = coefficient_of_cells("stiffness", damping.stiffness, body)
        self._constant: Floats | None = None
        if not np.any(self._beta):
            self._constant = np.zeros((0, 3, 3))
        elif damping.at is StiffnessAt.REST:
            rest = Shape(body, np.zeros_like(body.mesh.vertices), order=2)
            self._constant = self._current_stiffness(rest, definite=False)

    @property
    def depends_on_shape(self) -> bool:
        return self._constant is None

    @property
    def advice(self) -> str:
        if self._constant is not None:
            return ""
        return (
            "Rayleigh damping of the current stiffness can keep a buckling body from settling: "
            "try at=StiffnessAt.REST, or Newton(iterations=3)."
        )

    @property
    def uses_stiffness(self) -> bool:
        return self._constant is None

    def in_cells(self) -> BoundCellDamping | None:
        body = self._body
        if self._constant is not None or not isinstance(body, Body):
            return None
        return BoundRayleighCells(body, np.broadcast_to(self._beta, body.mesh.n_cells))

    def outside_cells(self) -> BoundDamping | None:
        if self._constant is None and isinstance(self._body, Body):
            return self._mass_alone if self._mass.any() else None
        nothing = self._constant is not None and not len(self._constant)
        return None if nothing and not self._mass.any() else self

    @cached_property
    def _mass_alone(self) -> BoundDamping:
        return _BoundRayleigh(Rayleigh(mass=self._damping.mass), self._body)

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        force = self._body.pattern.multiply(self._mass, v)
        if self._constant is None:
            force += self._current_stiffness_times(shape, v)
        elif len(self._constant):
            force += self._body.pattern.multiply(self._constant, v)
        return 0.5 * float(np.vdot(v, force)), force

    def multiply(self, shape: Shape, shapes: Floats) -> Floats:
        factor, stiffness = 1.0, self._constant
        if stiffness is None:
            if np.ndim(self._beta) == 0:
                factor, stiffness = float(self._beta), shape.stiffness
            else:
                stiffness = self._current_stiffness(shape, definite=False)
        return self._body.pattern.multiply_many(
            stiffness, shapes, factor=factor, scalars=self._mass
        )

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        add_scaled_identity_blocks(values, self._mass, factor)
        stiffness = self._constant
        if stiffness is None:
            if np.ndim(self._beta) == 0:
                factor *= float(self._beta)
                stiffness = shape.definite_stiffness if definite else shape.stiffness
            else:
                stiffness = self._current_stiffness(shape, definite=definite)
        if len(stiffness):
            add_scaled(stiffness.reshape(-1), factor, values.reshape(-1))

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        size = float(np.abs(v).max(initial=0.0))
        if self._constant is not None or size == 0.0:
            return
        # ∂(β K(u) v)/∂u = β DK(u)[v], the change of K along v, as a difference
        step = _SHIFT * self._edge / size
        ahead = Shape(self._body, shape.u + step * v, order=2)
        if not np.isfinite(ahead.energy):
            return
        if np.ndim(self._beta) == 0:
            change = ahead.stiffness - shape.stiffness
            factor *= float(self._beta)
        else:
            change = self._current_stiffness(ahead, definite=False)
            change -= self._current_stiffness(shape, definite=False)
        add_scaled(change.reshape(-1), factor / step, values.reshape(-1))

    @cached_property
    def _edge(self) -> float:
        return float(self._body.mesh.edge_lengths().mean())

    def _current_stiffness(self, shape: Shape, *, definite: bool) -> Floats:
        """β K(u), (blocks, 3, 3)."""
        factors = np.broadcast_to(self._beta, self._body.n_cells)
        return self._body.evaluate(
            shape.u, order=2, definite=definite, cell_factors=factors
        ).stiffness

    def _current_stiffness_times(self, shape: Shape, v: Floats) -> Floats:
        """β K(u) v, (n, 3)."""
        if np.ndim(self._beta) == 0:
            return self._beta * shape.stiffness_times(v)
        factors = np.asarray(self._beta)
        return self._body.evaluate(shape.u, order=0, direction=v, cell_factors=factors).product


def _scaled_mass(body: ElasticBody, given: Coefficient) -> Floats:
    """Σ α M over the cells, (blocks,)."""
    alpha = coefficient_of_cells("mass", given, body)
    return alpha * body.mass_values if np.ndim(alpha) == 0 else body.scaled_mass(np.asarray(alpha))
