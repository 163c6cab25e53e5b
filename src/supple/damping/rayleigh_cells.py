"""Fully implicit Rayleigh damping at quadrature points: r = β/2 Ḟ : A(F) : Ḟ with A = ∂²ψ/∂F².

(Dissipative optimization, §5.1.2.)
"""

from __future__ import annotations

import numpy as np

from supple._kernels.elasticity.elements import apply_derivative
from supple.bodies.assembly import point_array
from supple.bodies.solid import Body
from supple.core.types import Floats
from supple.damping.cells import BoundCellDamping, Points, PointSums

_SHIFT = float(np.finfo(float).eps) ** (1 / 3)  # of F, to either side: central differences


class BoundRayleighCells(BoundCellDamping):
    """R = β/2 vᵀ K(x) v, β [s] given as (cells,)."""

    def __init__(self, body: Body, beta: Floats) -> None:
        super().__init__(body)
        self._beta = beta

    @property
    def needs_elasticity(self) -> bool:
        return True

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
        reach = np.full(speed.shape, _SHIFT)
        if not part.material.survives_inversion:  # stay within F of one sign
            size = np.linalg.norm(F, axis=(2, 3))
            reach *= np.minimum(1.0, np.abs(np.linalg.det(F)) / size**2)
        step = np.divide(reach, speed, out=np.zeros_like(speed), where=speed > 0)
        change = point_array("rayleigh stress", part, cut, 3, 3)
        change[:] = 0.0
        for sign in (1.0, -1.0):
            there = F + (sign * step)[:, :, None, None] * rate
            stress = point_array("rayleigh beside", part, cut, 3, 3)
            apply_derivative(_derivative_at(points, there), rate, stress)
            change += sign * stress
        beta = self._beta[part.cells[cut]][:, None]
        weight = np.divide(0.25 * factor * beta, step, out=np.zeros_like(step), where=step > 0)
        G += weight[:, :, None, None] * change


def _derivative_at(points: Points, F: Floats) -> Floats:
    """∂²ψ/∂F² of the part's material at other F, (c, q, 6, 3, 3)."""
    part, cut = points.part, points.cut
    psi = point_array("psi beside", part, cut)
    P = point_array("P beside", part, cut, 3, 3)
    A = point_array("A beside", part, cut, 6, 3, 3)
    lam, mu = part.lame
    part.material.evaluate(F, lam[cut], mu[cut], psi, P, A, 2)
    return A
