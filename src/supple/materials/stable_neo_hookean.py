"""Stable neo-Hookean: ψ = μ/2 (F:F − 3) − μ (J − 1) + λ̂/2 (J − 1)², J = det F.

Rubber-like, with an energy that is smooth for every F, inverted ones too. λ̂ = λ + μ makes it agree
with linear elasticity for small strains.
"""

from dataclasses import dataclass

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.tensors import cofactor
from supple.materials.base import MATERIALS, Material


@pointwise
def energy(F, lam, mu, C):
    """Fills C = ∂J/∂F for the derivatives."""
    J = cofactor(F, C)
    square = 0.0
    for i in range(3):
        for j in range(3):
            square += F[i, j] * F[i, j]
    return 0.5 * mu * (square - 3.0) - mu * (J - 1.0) + 0.5 * (lam + mu) * (J - 1.0) ** 2


@pointwise
def stress(F, lam, mu, P, C):
    """P = μ F + (λ̂ (J − 1) − μ) ∂J/∂F."""
    p = (lam + mu) * (_volume(F, C) - 1.0) - mu
    for i in range(3):
        for j in range(3):
            P[i, j] = mu * F[i, j] + p * C[i, j]


@pointwise
def stress_derivative(F, lam, mu, A, C):
    """∂P/∂F = μ I + λ̂ ∂J/∂F ⊗ ∂J/∂F + (λ̂ (J − 1) − μ) ∂²J/∂F²."""
    p = (lam + mu) * (_volume(F, C) - 1.0) - mu
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    a = (lam + mu) * C[i, j] * C[k, l]
                    if i != k and j != l:  # ∂²J/∂F_ij∂F_kl = ε_ikm ε_jln F_mn
                        m, n = 3 - i - k, 3 - j - l
                        same_turn = (k - i) % 3 == (l - j) % 3
                        a += p * F[m, n] if same_turn else -p * F[m, n]
                    if i == k and j == l:
                        a += mu
                    A[s, i, k] = a
            s += 1


@pointwise
def _volume(F, C):
    return F[0, 0] * C[0, 0] + F[0, 1] * C[0, 1] + F[0, 2] * C[0, 2]


@kernel
def evaluate(F, lam, mu, psi, P, A, order):
    """ψ, P and ∂P/∂F at the quadrature points of some cells, up to ``order``."""
    C = np.empty((3, 3))
    for e in range(len(lam)):
        for q in range(F.shape[1]):
            psi[e, q] = energy(F[e, q], lam[e], mu[e], C)
            if order >= 1:
                stress(F[e, q], lam[e], mu[e], P[e, q], C)
            if order >= 2:
                stress_derivative(F[e, q], lam[e], mu[e], A[e, q], C)


@kernel
def evaluate_stretches(sigma, lam, mu, psi, p, H):
    """p_i = μ σ_i + b J_i and H_ij = μ δ_ij + λ̂ J_i J_j + b J_ij with J_i = ∂J/∂σ_i.

    J_ij is the third singular value for i ≠ j; b = λ̂ (J − 1) − μ.
    """
    for e in range(len(lam)):
        stiff = lam[e] + mu[e]
        for q in range(sigma.shape[1]):
            x, y, z = sigma[e, q, 0], sigma[e, q, 1], sigma[e, q, 2]
            J0, J1, J2 = y * z, z * x, x * y
            change = x * J0 - 1.0
            square = x * x + y * y + z * z
            psi[e, q] = (
                0.5 * mu[e] * (square - 3.0) - mu[e] * change + 0.5 * stiff * change * change
            )
            b = stiff * change - mu[e]
            p[e, q, 0] = mu[e] * x + b * J0
            p[e, q, 1] = mu[e] * y + b * J1
            p[e, q, 2] = mu[e] * z + b * J2
            H[e, q, 0] = mu[e] + stiff * J0 * J0
            H[e, q, 3] = mu[e] + stiff * J1 * J1
            H[e, q, 5] = mu[e] + stiff * J2 * J2
            H[e, q, 1] = stiff * J0 * J1 + b * z
            H[e, q, 2] = stiff * J0 * J2 + b * y
            H[e, q, 4] = stiff * J1 * J2 + b * x


@MATERIALS.register
@dataclass(frozen=True, eq=False, kw_only=True)
class StableNeoHookean(Material):
    """Neo-Hookean material that recovers from inversion."""

    evaluate = staticmethod(evaluate)
    evaluate_stretches = staticmethod(evaluate_stretches)
