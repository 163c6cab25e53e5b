"""Damping of cloth by the rate of its strain in the plane, and of its hinge angles."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple._kernels.elasticity import hinges, membrane
from supple.bodies.cloth import Cloth
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.damping.base import (
    DAMPINGS,
    BoundDamping,
    BoundViscousDamping,
    Damping,
    DampingTangent,
    body_for,
)
from supple.damping.coefficients import Coefficient, coefficient, spread_over_cells


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class ClothStrainRate(Damping):
    """R = Σ A (μ_d Ė:Ė + λ_d/2 tr(Ė)² + …) over triangles + Σ ½ c θ̇² over hinges.

    Ė = ½ (FᵀḞ + ḞᵀF) is the rate of Green's strain in the plane of the sheet (strain rate, Eqs.
    15–17), θ̇ the rate of the angle between two triangles. Cloth that flies, turns or swings as it
    is keeps all its energy, and linear and angular momentum never change. The coefficients are
    numbers, one a triangle, or given by region name; what they say adds up.
    """

    shear: Coefficient = coefficient("μ_d, against changes of shape", "N s/m")
    bulk: Coefficient = coefficient("λ_d, against changes of area", "N s/m")
    warp: Coefficient = coefficient("η₀, against stretch along the warp: ½ η₀ Ė₀₀²", "N s/m")
    weft: Coefficient = coefficient("η₁, against stretch along the weft: ½ η₁ Ė₁₁²", "N s/m")
    trellis: Coefficient = coefficient(
        "η₂, against changes of the angle between warp and weft: ½ η₂ (2 Ė₀₁)²", "N s/m"
    )
    matched: Coefficient = coefficient(
        "β, the membrane of Rayleigh(stiffness=β) without what brakes rotation (Eq. 12)", "s"
    )
    bending: Coefficient = coefficient(
        "η_b, as D [N m] is against bending: c = η_b ‖e‖²/(A₁ + A₂)", "N m s"
    )
    matched_bending: Coefficient = coefficient(
        "β_b, c = β_b k with the stiffness k of each hinge (Eq. 12)", "s"
    )

    def bind(self, body: ElasticBody) -> BoundDamping:
        return BoundClothStrainRate(self, body_for(self, Cloth, body))


class BoundClothStrainRate(BoundViscousDamping):
    """Strain rate damping at work in one sheet of cloth."""

    def __init__(self, damping: ClothStrainRate, body: Cloth) -> None:
        self._body = body

        def of_cells(name: str) -> Floats:
            return spread_over_cells(name, getattr(damping, name), body)

        beta = of_cells("matched")[:, None, None]
        C = beta * body.tension_stiffness  # V_d = ½ β ε̇ᵀ ∂²V/∂ε² ε̇ (Eq. 12)
        mu, lam = of_cells("shear"), of_cells("bulk")
        C[:, :2, :2] += lam[:, None, None]
        C[:, 0, 0] += 2 * mu + of_cells("warp")
        C[:, 1, 1] += 2 * mu + of_cells("weft")
        C[:, 2, 2] += mu + of_cells("trellis")
        self.viscosity: Floats = C
        """From strain rates (Ė₀₀, Ė₁₁, 2 Ė₀₁) to dissipative tensions [N s/m], (m, 3, 3)."""
        eta, beta_b = of_cells("bending"), of_cells("matched_bending")
        self.hinge_viscosity: Floats | None = None
        """c [N m s] of every hinge, (h,); None where bending goes undamped."""
        if eta.any() or beta_b.any():
            if body.bound_bending is None:
                raise InputError(
                    "bending= and matched_bending= damp hinges, and this cloth has none at work; "
                    "give its material a bending stiffness"
                )
            rest = body.bound_bending.hinges.rest
            of_shape, of_stiffness = body.of_hinges(eta), body.of_hinges(beta_b)
            self.hinge_viscosity = of_shape * rest.shape + of_stiffness * rest.stiffness

    def of_hinges_alone(self) -> BoundClothStrainRate | None:
        """This without the membrane; None if there is nothing left."""
        if self.hinge_viscosity is None:
            return None
        alone = copy(self)
        alone.viscosity = np.zeros_like(self.viscosity)
        return alone

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        body, at = self._body, self._at(shape)
        S, R = at.stress(self, v)
        force = np.zeros_like(v)
        gradients = body.rest.gradients
        # ∇₂R = Σ w ∇ε S_d (Eq. 7)
        membrane.add_forces(body.mesh.cells, gradients, body.mesh.areas, at.F, S, force)
        if self.hinge_viscosity is not None:
            rate = np.empty(len(at.G))
            hinges.angle_rates(at.hinges, at.G, v, rate)
            moment = self.hinge_viscosity * rate
            hinges.add_angle_forces(at.hinges, at.G, moment, force)
            R += 0.5 * float(moment @ rate)
        return R, force

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        at = self._at(shape)
        self._add_membrane(at, self._no_stress, factor, values)
        self._add_hinges(at, factor, values)

    def add_tangent(self, shape: Shape, v: Floats, of: DampingTangent, values: Floats) -> None:
        # Of ∂f_d/∂x (Eq. 9), the term that is not symmetric is dropped, and the stress of the other
        # one has its negative eigenvalues clamped (§3.4); that of angles is never definite.
        at = self._at(shape)
        S = at.stress(self, v)[0].copy()
        membrane.clamp(S)
        self._add_membrane(at, S, of.c_v, values)
        self._add_hinges(at, of.c_v, values)

    def _add_membrane(self, at: _At, S: Floats, factor: float, values: Floats) -> None:
        """Add Σ w (factor · ∇ε C_d ∇εᵀ + ∂²ε/∂x² S)."""
        body = self._body
        given = body.rest.gradients, body.mesh.areas, at.F, self.viscosity, S, factor
        membrane.add_blocks(*given, body.triangle_slots, values)

    def _add_hinges(self, at: _At, factor: float, values: Floats) -> None:
        bending = self._body.bound_bending
        if self.hinge_viscosity is not None and bending is not None:
            c = factor * self.hinge_viscosity
            hinges.add_angle_blocks(at.G, c, bending.hinges.slots, values)

    def stress(self, F: Floats, v: Floats) -> tuple[Floats, float]:
        """S_d [N/m], (m, 3), and the membrane's share of R [W]."""
        S = np.empty((self._body.n_cells, 3))
        rate = self._body.rates(v)
        R = membrane.rate_stress(F, rate, self.viscosity, self._body.mesh.areas, S)
        return S, float(R)

    @cached_property
    def _no_stress(self) -> Floats:
        return np.zeros((self._body.n_cells, 3))

    def _at(self, shape: Shape) -> _At:
        if self not in shape.known:
            bending = self.hinge_viscosity is not None
            shape.known[self] = _At(self._body, shape.u, bending=bending)
        found: _At = shape.known[self]
        return found


class _At:
    """What the damping knows of a shape: F, and ∇θ [1/m], (h, 4, 3), if hinges are damped."""

    def __init__(self, body: Cloth, u: Floats, *, bending: bool) -> None:
        self.hinges: Ints = body.mesh.hinges.vertices
        self.F = body.deformation(u)
        self.G: Floats = np.empty((len(self.hinges) if bending else 0, 4, 3))
        if bending:
            hinges.angle_gradients(body.mesh.vertices + u, self.hinges, self.G)
        self._latest: tuple[Floats, tuple[Floats, float]] | None = None

    def stress(self, damping: BoundClothStrainRate, v: Floats) -> tuple[Floats, float]:
        """What ``damping.stress`` says; the last answer is kept."""
        if self._latest is None or not np.array_equal(self._latest[0], v):
            self._latest = v.copy(), damping.stress(self.F, v)
        return self._latest[1]
