"""Saint Venant–Kirchhoff: ψ = λ/2 tr(E)² + μ E:E with the Green strain E = ½(FᵀF − I).

The energy is a quartic polynomial of the displacements. It is finite for every F, but softens
under compression and has no barrier against inversion.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple.materials.base import MATERIALS, Material


@pointwise
def energy(F, lam, mu, S):
    """Fills S = λ tr(E) I + 2μ E for the derivatives; ψ = ½ S:E."""
    e00 = 0.5 * (F[0, 0] * F[0, 0] + F[1, 0] * F[1, 0] + F[2, 0] * F[2, 0] - 1.0)
    e11 = 0.5 * (F[0, 1] * F[0, 1] + F[1, 1] * F[1, 1] + F[2, 1] * F[2, 1] - 1.0)
    e22 = 0.5 * (F[0, 2] * F[0, 2] + F[1, 2] * F[1, 2] + F[2, 2] * F[2, 2] - 1.0)
    e01 = 0.5 * (F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1])
    e02 = 0.5 * (F[0, 0] * F[0, 2] + F[1, 0] * F[1, 2] + F[2, 0] * F[2, 2])
    e12 = 0.5 * (F[0, 1] * F[0, 2] + F[1, 1] * F[1, 2] + F[2, 1] * F[2, 2])
    trace = e00 + e11 + e22
    S[0, 0] = lam * trace + 2.0 * mu * e00
    S[1, 1] = lam * trace + 2.0 * mu * e11
    S[2, 2] = lam * trace + 2.0 * mu * e22
    S[0, 1] = S[1, 0] = 2.0 * mu * e01
    S[0, 2] = S[2, 0] = 2.0 * mu * e02
    S[1, 2] = S[2, 1] = 2.0 * mu * e12
    square = e00 * e00 + e11 * e11 + e22 * e22 + 2.0 * (e01 * e01 + e02 * e02 + e12 * e12)
    return 0.5 * lam * trace * trace + mu * square


@pointwise
def stress(F, lam, mu, P, S):
    """P = F S, written out: a call in the loop over points is nearly twice as slow."""
    for i in range(3):
        for j in range(3):
            P[i, j] = F[i, 0] * S[0, j] + F[i, 1] * S[1, j] + F[i, 2] * S[2, j]


@pointwise
def stress_derivative(F, lam, mu, A, S):
    """∂P_ij/∂F_kl = δ_ik S_jl + λ F_ij F_kl + μ F_il F_kj + μ δ_jl (F Fᵀ)_ik."""
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    a = lam * F[i, j] * F[k, l] + mu * F[i, l] * F[k, j]
                    if i == k:
                        a += S[j, l]
                    if j == l:
                        a += mu * (F[i, 0] * F[k, 0] + F[i, 1] * F[k, 1] + F[i, 2] * F[k, 2])
                    A[s, i, k] = a
            s += 1


@kernel
def evaluate(F, lam, mu, psi, P, A, order):
    """ψ, P and ∂P/∂F at the quadrature points of some cells, up to ``order``."""
    S = np.empty((3, 3))
    for e in range(len(lam)):
        for q in range(F.shape[1]):
            psi[e, q] = energy(F[e, q], lam[e], mu[e], S)
            if order >= 1:
                stress(F[e, q], lam[e], mu[e], P[e, q], S)
            if order >= 2:
                stress_derivative(F[e, q], lam[e], mu[e], A[e, q], S)


@kernel
def evaluate_stretches(sigma, lam, mu, psi, p, H):
    """p_i = σ_i S_i and H_ij = (S_i + 2μ σ_i²) δ_ij + λ σ_i σ_j."""
    for e in range(len(lam)):
        for q in range(sigma.shape[1]):
            x, y, z = sigma[e, q, 0], sigma[e, q, 1], sigma[e, q, 2]
            e0, e1, e2 = 0.5 * (x * x - 1.0), 0.5 * (y * y - 1.0), 0.5 * (z * z - 1.0)
            trace = e0 + e1 + e2
            square = e0 * e0 + e1 * e1 + e2 * e2
            psi[e, q] = 0.5 * lam[e] * trace * trace + mu[e] * square
            S0 = lam[e] * trace + 2.0 * mu[e] * e0
            S1 = lam[e] * trace + 2.0 * mu[e] * e1
            S2 = lam[e] * trace + 2.0 * mu[e] * e2
            p[e, q, 0], p[e, q, 1], p[e, q, 2] = x * S0, y * S1, z * S2
            H[e, q, 0] = S0 + (lam[e] + 2.0 * mu[e]) * x * x
            H[e, q, 3] = S1 + (lam[e] + 2.0 * mu[e]) * y * y
            H[e, q, 5] = S2 + (lam[e] + 2.0 * mu[e]) * z * z
            H[e, q, 1], H[e, q, 2], H[e, q, 4] = lam[e] * x * y, lam[e] * x * z, lam[e] * y * z


@MATERIALS.register
@dataclass(frozen=True, eq=False, kw_only=True)
class StVK(Material):
    """Saint Venant–Kirchhoff material: the simplest with large rotations."""

    quadratic_in_strain: ClassVar[bool] = True
    evaluate = staticmethod(evaluate)
    evaluate_stretches = staticmethod(evaluate_stretches)
