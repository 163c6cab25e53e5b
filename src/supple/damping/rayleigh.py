"""Rayleigh damping: C = α M + β K, the classical two coefficients.

A small vibration of angular frequency ω decays with the damping ratio ζ = ½ (α/ω + β ω).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from supple._kernels.elasticity.elements import apply_derivative
from supple._kernels.linear_algebra.blocks import add_scaled, add_scaled_identity_blocks
from supple.bodies.assembly import elastic_points, point_array
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.parameters import parameter
from supple.core.types import Floats
from supple.damping.base import DAMPINGS, BoundDamping, BoundViscousDamping, Damping
from supple.damping.cells import BoundCellDamping, Points, PointSums
from supple.damping.coefficients import Coefficient, coefficient, coefficient_of_cells

_SHIFT = 1e-3  # of an edge: how far K is looked at ahead
_SHIFT_OF_F = float(np.finfo(float).eps) ** (1 / 3)  # to either side: central differences


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
        alpha = coefficient_of_cells("mass", damping.mass, body)
        whole = np.ndim(alpha) == 0  # Σ α M over the cells, (blocks,)
        self._mass = alpha * body.mass_values if whole else body.scaled_mass(np.asarray(alpha))
        self._beta = coefficient_of_cells("stiffness", damping.stiffness, body)
        self._constant: Floats | None = None
        if not np.any(self._beta):
            self._constant = np.zeros((0, 3, 3))
        elif damping.at is StiffnessAt.REST:
            rest = Shape(body, np.zeros_like(body.mesh.vertices), order=2)
            self._constant = self._current_stiffness(rest, definite=False)
        self.depends_on_shape = self.uses_stiffness = self._constant is None

    @property
    def advice(self) -> str:
        if self._constant is not None:
            return ""
        return (
            "Rayleigh damping of the current stiffness can keep a buckling body from settling: "
            "try at=StiffnessAt.REST, or Newton(iterations=3)."
        )

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


class BoundRayleighCells(BoundCellDamping):
    """Fully implicit: r = β/2 Ḟ : A(F) : Ḟ with A = ∂²ψ/∂F², β [s] given as (cells,).

    (Dissipative optimization, §5.1.2.)
    """

    needs_elasticity = True

    def __init__(self, body: Body, beta: Floats) -> None:
        super().__init__(body)
        self._beta = beta

    def add_points(self, points: Points, to: PointSums) -> None:
        beta = self._beta[points.part.cells[points.cut]]
        stress = point_array("rayleigh stress", points.part, points.cut, 3, 3)
        apply_derivative(points.A, points.rate, stress)
        stress *= beta[:, None, None, None]
        r, P, A = to.arrays
        r += 0.5 * np.einsum("eqij,eqij->eq", points.rate, stress)  # Eq. 46
        if to.order >= 1:
            P += stress  # Eq. 47
        if to.order >= 2:
            share = point_array("rayleigh derivative", points.part, points.cut, 6, 3, 3)
            share[:] = points.A
            if to.definite:
                points.part.material.make_definite(points.F, share)
            share *= (to.factor * beta)[:, None, None, None, None]
            A += share

    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        # Eqs. 48–50: β/2 D³ψ[Ḟ, Ḟ, ·], the change of A along Ḟ times Ḟ
        part, cut, F, rate = points.part, points.cut, points.F, points.rate
        speed = np.linalg.norm(rate, axis=(2, 3))
        reach = np.full(speed.shape, _SHIFT_OF_F)
        if not part.material.survives_inversion:  # stay within F of one sign
            size = np.linalg.norm(F, axis=(2, 3))
            reach *= np.minimum(1.0, np.abs(np.linalg.det(F)) / size**2)
        step = np.divide(reach, speed, out=np.zeros_like(speed), where=speed > 0)
        change = point_array("rayleigh stress", part, cut, 3, 3)
        change[:] = 0.0
        for sign in (1.0, -1.0):
            there = F + (sign * step)[:, :, None, None] * rate
            stress = point_array("rayleigh beside", part, cut, 3, 3)
            apply_derivative(elastic_points(part, cut, there, 2, " beside")[2], rate, stress)
            change += sign * stress
        beta = self._beta[part.cells[cut]][:, None]
        weight = np.divide(0.25 * factor * beta, step, out=np.zeros_like(step), where=step > 0)
        G += weight[:, :, None, None] * change
