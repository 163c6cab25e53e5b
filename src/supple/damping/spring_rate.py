"""Damping of springs by the rate of their strain (strain rate, §3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple._kernels.linear_algebra.blocks import add_scaled
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.springs import SpringNetwork, Stretch
from supple.core.types import Floats
from supple.damping.base import DAMPINGS, BoundDamping, BoundViscousDamping, Damping, body_for
from supple.damping.coefficients import Coefficient, coefficient, coefficient_of_cells


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class SpringStrainRate(Damping):
    """R = Σ ½ L η ε̇² over springs, with ε̇ = n·(v₂ − v₁)/L the rate of their strain.

    It takes energy from what changes the length of a spring and from nothing else: a network that
    turns or flies as it is keeps all of it, and linear and angular momentum never change. The
    coefficients are numbers, one a spring, or given by region name; what they say adds up.
    """

    viscosity: Coefficient = coefficient("η, the pull at a strain rate of one a second", "N s")
    matched: Coefficient = coefficient(
        "β, adds η = β k: Rayleigh(stiffness=β) without what brakes rotation", "s"
    )

    def bind(self, body: ElasticBody) -> BoundDamping:
        return BoundSpringStrainRate(self, body_for(self, SpringNetwork, body))


class BoundSpringStrainRate(BoundViscousDamping):
    """Σ ½ L η ε̇² over the springs of a network."""

    def __init__(self, damping: SpringStrainRate, body: SpringNetwork) -> None:
        self._body = body
        beta = coefficient_of_cells("matched", damping.matched, body)
        # V_d = ½ β ε̇ᵀ ∂²V/∂ε² ε̇ with ∂²V/∂ε² = L k (strain rate, Eq. 12)
        viscosity = coefficient_of_cells("viscosity", damping.viscosity, body)
        self.viscosity: Floats = viscosity + beta * body.spring_stiffness
        """η of every spring [N s], (springs,)."""

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        at = self._stretch(shape)
        rate = self._strain_rate(at, v)
        stress = self.viscosity * rate  # S_d
        # ∇₂R = Σ L ∇ε S_d with ∇ε = n/L (strain rate, Eq. 7)
        force = self._body.gathered(stress[:, None] * at.directions)
        return 0.5 * float((self._body.mesh.rest_lengths * stress) @ rate), force

    def multiply(self, shape: Shape, shapes: Floats) -> Floats:
        return self._body.pattern.multiply_many(self._matrix(shape), shapes)

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
