"""Dissipation that reads the same in all directions: r(QF, QḞ) = r(FQ, ḞQ) = r(F, Ḟ)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple._kernels.damping.principal import add_clamped_stress
from supple.bodies.assembly import elastic_points
from supple.core.types import Floats
from supple.damping.cells import BoundCellDamping, Points, PointSums

_STEP = 1e-5  # of stretches, in differences of fourth order
_SPREAD = 1e-6  # how far apart stretches are put that coincide
_CLOSE = 1e-7  # stretches nearer than this coincide
_FINE = 1e-3  # what the above are fine enough for

Density = Callable[[Floats, int], tuple[Floats, Floats]]
"""A function of F that gives r (c, q) and, if order ≥ 1, ∂r/∂Ḟ (c, q, 3, 3)."""


class BoundIsotropicDamping(BoundCellDamping):
    """A cell damping without preferred directions, as simple to write as ``add_points``."""

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
