"""Damping of cloth by the rate of its strain in the plane, and of its hinge angles."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple._kernels.elasticity import hinges, membrane
from supple.bodies.cloth import Cloth
from supple.bodies.cloth.bending import BoundQuadraticBending
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
    matched: Coefficient = coefficient("β, the membrane of Rayleigh(stiffness=β) (Eq. 12)", "s")
    bending: Coefficient = coefficient(
        "η_b, as D [N m] is against bending: c = η_b ‖e‖²/(A₁ + A₂)", "N m s"
    )
    matched_bending: Coefficient = coefficient(
        "β_b, c = β_b k with the stiffness k of each hinge (Eq. 12)", "s"
    )

    def bind(self, body: ElasticBody) -> BoundDamping:
        sheet = body_for(self, Cloth, body)

        def of_cells(name: str) -> Floats:
            return spread_over_cells(name, getattr(self, name), sheet)

        beta = of_cells("matched")[:, None, None]
        C = beta * sheet.tension_stiffness  # V_d = ½ β ε̇ᵀ ∂²V/∂ε² ε̇ (Eq. 12)
        mu, lam = of_cells("shear"), of_cells("bulk")
        C[:, :2, :2] += lam[:, None, None]
        C[:, 0, 0] += 2 * mu + of_cells("warp")
        C[:, 1, 1] += 2 * mu + of_cells("weft")
        C[:, 2, 2] += mu + of_cells("trellis")
        eta, beta_b = of_cells("bending"), of_cells("matched_bending")
        if not eta.any() and not beta_b.any():
            return BoundClothStrainRate(sheet, C)
        if sheet.bound_bending is None:
            raise InputError(
                "bending= and matched_bending= damp hinges, and this cloth has none at work; "
                "give its material a bending stiffness"
            )
        rest = sheet.bound_bending.hinges.rest
        of_shape, of_stiffness = sheet.of_hinges(eta), sheet.of_hinges(beta_b)
        c = of_shape * rest.shape + of_stiffness * rest.stiffness
        return BoundClothStrainRate(sheet, C, angles=c)


class BoundClothStrainRate(BoundViscousDamping):
    """Strain rate damping at work in one sheet of cloth."""

    def __init__(
        self,
        body: Cloth,
        viscosity: Floats,
        *,
        angles: Floats | None = None,
        folds: Floats | None = None,
    ) -> None:
        self._body = body
        self.viscosity: Floats = viscosity
        """From strain rates (Ė₀₀, Ė₁₁, 2 Ė₀₁) to dissipative tensions [N s/m], (m, 3, 3)."""
        self._angles = angles  # c against θ̇ [N m s], (h,)
        self._folds = folds  # c against the rate of K x but for its turning [N s/m], (h,)

    @classmethod
    def matched_to(cls, body: Cloth, beta: Floats) -> BoundClothStrainRate:
        """β [s], (m,), times the material part of the tangent stiffness, of hinges too.

        Where the angle θ of a hinge has the stiffness k, that is k ∇θ ∇θᵀ. Of QuadraticBending,
        whose measure is the vector K x, it is ½ w ‖K v − ω × K x‖², ω how fast the hinge turns:
        all of its matrix where the sheet is flat, and nothing in rigid motion.
        """
        viscosity = beta[:, None, None] * body.tension_stiffness
        bending = body.bound_bending
        if bending is None or not beta.any():
            return cls(body, viscosity)
        of_hinges = body.of_hinges(beta)
        if isinstance(bending, BoundQuadraticBending):
            return cls(body, viscosity, folds=of_hinges * bending.weights)
        return cls(body, viscosity, angles=of_hinges * bending.hinges.rest.stiffness)

    def viscosity_at(self, shape: Shape) -> Floats:
        """The same at a shape, (m, 3, 3)."""
        return self._at(shape).viscosity

    def of_hinges_alone(self) -> BoundClothStrainRate | None:
        """This without the membrane; None if there is nothing left."""
        if self._angles is None and self._folds is None:
            return None
        alone = copy(self)
        alone.viscosity = np.zeros_like(self.viscosity)
        return alone

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        body, at = self._body, self._at(shape)
        S, R = at.stress(body, v)
        force = np.zeros_like(v)
        gradients = body.rest.gradients
        # ∇₂R = Σ w ∇ε S_d (Eq. 7)
        membrane.add_forces(body.mesh.cells, gradients, body.mesh.areas, at.F, S, force)
        for c, G in at.bends:
            rate = np.empty(len(G))
            hinges.angle_rates(at.hinges, G, v, rate)
            moment = c * rate
            hinges.add_angle_forces(at.hinges, G, moment, force)
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
        S = at.stress(self._body, v)[0].copy()
        membrane.clamp(S)
        self._add_membrane(at, S, of.c_v, values)
        self._add_hinges(at, of.c_v, values)

    def _add_membrane(self, at: _At, S: Floats, factor: float, values: Floats) -> None:
        """Add Σ w (factor · ∇ε C_d ∇εᵀ + ∂²ε/∂x² S)."""
        body = self._body
        given = body.rest.gradients, body.mesh.areas, at.F, at.viscosity, S, factor
        membrane.add_blocks(*given, body.triangle_slots, values)

    def _add_hinges(self, at: _At, factor: float, values: Floats) -> None:
        bending = self._body.bound_bending
        if bending is not None:
            for c, G in at.bends:
                hinges.add_angle_blocks(G, factor * c, bending.hinges.slots, values)

    @cached_property
    def _no_stress(self) -> Floats:
        return np.zeros((self._body.n_cells, 3))

    def _at(self, shape: Shape) -> _At:
        if self not in shape.known:
            shape.known[self] = self._new_at(shape.u)
        found: _At = shape.known[self]
        return found

    def _new_at(self, u: Floats) -> _At:
        body = self._body
        corners, x = body.mesh.hinges.vertices, body.mesh.vertices + u
        F, C, bends = body.deformation(u), self.viscosity, []
        if self._angles is not None:
            G = np.empty((len(corners), 4, 3))
            hinges.angle_gradients(x, corners, G)
            bends.append((self._angles, G))
        if self._folds is not None and body.bound_bending is not None:
            K = body.bound_bending.hinges.rest.folds
            bends += [(self._folds, G) for G in _fold_gradients(x[corners], K)]
        return _At(corners, F, C, bends)


class _At:
    """What the damping knows of a shape."""

    def __init__(
        self, corners: Ints, F: Floats, viscosity: Floats, bends: list[tuple[Floats, Floats]]
    ) -> None:
        self.hinges, self.F, self.viscosity = corners, F, viscosity
        self.bends = bends
        """Coefficients (h,), and what the rates they multiply are by velocities, (h, 4, 3)."""
        self._latest: tuple[Floats, tuple[Floats, float]] | None = None

    def stress(self, body: Cloth, v: Floats) -> tuple[Floats, float]:
        """S_d [N/m], (m, 3), and the membrane's share of R [W]; the last answer is kept."""
        if self._latest is None or not np.array_equal(self._latest[0], v):
            S = np.empty((len(self.F), 3))
            R = membrane.rate_stress(self.F, body.rates(v), self.viscosity, body.mesh.areas, S)
            self._latest = v.copy(), (S, float(R))
        return self._latest[1]


def _fold_gradients(x: Floats, K: Floats) -> Floats:
    """How K v − ω × K x follows velocities, (3, h, 4, 3), of hinges with corners x (h, 4, 3).

    ω is that of the rigid motion nearest to the velocities of the four: I ω = Σ r_p × v_p.
    """
    r = x - x.mean(axis=1, keepdims=True)
    inertia = np.einsum("hpi,hpi->h", r, r)[:, None, None] * np.eye(3)
    inertia -= np.einsum("hpi,hpj->hij", r, r)
    f = np.einsum("hp,hpi->hi", K, x)
    # K v − ω × f = K v + [f]× I⁻¹ Σ [r_p]× v_p
    lever = _cross(f) @ np.linalg.pinv(inertia, hermitian=True)
    J = lever[:, None] @ _cross(r) + K[:, :, None, None] * np.eye(3)
    return np.ascontiguousarray(J.transpose(2, 0, 1, 3))


def _cross(a: Floats) -> Floats:
    """[a]×, (…, 3, 3), of vectors (…, 3)."""
    matrix: Floats = np.cross(np.eye(3), a[..., None, :], axisb=-1).swapaxes(-1, -2)
    return matrix
