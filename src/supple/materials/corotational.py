"""Corotational: ψ = μ ‖F − R‖² + λ/2 tr(RᵀF − I)², R the rotation nearest to F.

Linear elasticity in the frame of the local rotation. R always has det R = 1, so an inverted cell is
pushed back the shortest way while λ (tr(RᵀF) − 3) < 2μ; beyond that, in cells both inverted and
stretched, the energy has a corner in which a solver may get stuck.
"""

from dataclasses import dataclass

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.svd3 import svd3
from supple.materials.base import MATERIALS, Material


@pointwise
def energy(F, lam, mu, U, sigma, V):
    """Fills the singular value decomposition of F for the derivatives."""
    svd3(F, U, sigma, V)
    square = (sigma[0] - 1.0) ** 2 + (sigma[1] - 1.0) ** 2 + (sigma[2] - 1.0) ** 2
    trace = sigma[0] + sigma[1] + sigma[2] - 3.0
    return mu * square + 0.5 * lam * trace * trace


@pointwise
def _rotation(U, V, i, j):
    return U[i, 0] * V[j, 0] + U[i, 1] * V[j, 1] + U[i, 2] * V[j, 2]


@pointwise
def stress(F, lam, mu, P, U, sigma, V):
    """P = 2μ (F − R) + λ tr(S − I) R with F = R S."""
    trace = sigma[0] + sigma[1] + sigma[2] - 3.0
    for i in range(3):
        for j in range(3):
            P[i, j] = 2.0 * mu * F[i, j] + (lam * trace - 2.0 * mu) * _rotation(U, V, i, j)


@pointwise
def stress_derivative(F, lam, mu, A, U, sigma, V):
    """∂P/∂F = 2μ I + λ R ⊗ R + (λ tr(S − I) − 2μ) ∂R/∂F.

    ∂R/∂F = Σ 2/(σ_a + σ_b) T ⊗ T over the pairs of axes, T = (u_a v_bᵀ − u_b v_aᵀ)/√2.
    """
    trace = sigma[0] + sigma[1] + sigma[2] - 3.0
    b = lam * trace - 2.0 * mu
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    a = lam * _rotation(U, V, i, j) * _rotation(U, V, k, l)
                    if i == k and j == l:
                        a += 2.0 * mu
                    A[s, i, k] = a
            s += 1
    for p in range(2):
        for q in range(p + 1, 3):
            span = sigma[p] + sigma[q]
            if abs(span) < 1e-6:  # R jumps where two singular values cancel
                span = 1e-6
            s = 0
            for j in range(3):
                for l in range(j, 3):
                    for i in range(3):
                        t = U[i, p] * V[j, q] - U[i, q] * V[j, p]
                        for k in range(3):
                            A[s, i, k] += b / span * t * (U[k, p] * V[l, q] - U[k, q] * V[l, p])
                    s += 1


@kernel
def evaluate(F, lam, mu, psi, P, A, order):
    """ψ, P and ∂P/∂F at the quadrature points of some cells, up to ``order``."""
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    for e in range(len(lam)):
        for q in range(F.shape[1]):
            psi[e, q] = energy(F[e, q], lam[e], mu[e], U, sigma, V)
            if order >= 1:
                stress(F[e, q], lam[e], mu[e], P[e, q], U, sigma, V)
            if order >= 2:
                stress_derivative(F[e, q], lam[e], mu[e], A[e, q], U, sigma, V)


@kernel
def evaluate_stretches(sigma, lam, mu, psi, p, H):
    """p_i = 2μ (σ_i − r_i) + λ tr(S − I) r_i and H_ij = 2μ δ_ij + λ r_i r_j, R = diag(r)."""
    r = np.empty(3)
    for e in range(len(lam)):
        for q in range(sigma.shape[1]):
            x = sigma[e, q]
            least, det = 0, 1.0
            for i in range(3):
                r[i] = -1.0 if x[i] < 0.0 else 1.0
                det *= r[i]
                if abs(x[i]) < abs(x[least]):
                    least = i
            r[least] *= det  # the nearest rotation leaves the least stretch negative, if any
            trace = r[0] * x[0] + r[1] * x[1] + r[2] * x[2] - 3.0
            square = (x[0] - r[0]) ** 2 + (x[1] - r[1]) ** 2 + (x[2] - r[2]) ** 2
            psi[e, q] = mu[e] * square + 0.5 * lam[e] * trace * trace
            for i in range(3):
                p[e, q, i] = 2.0 * mu[e] * (x[i] - r[i]) + lam[e] * trace * r[i]
            H[e, q, 0] = H[e, q, 3] = H[e, q, 5] = 2.0 * mu[e] + lam[e]
            H[e, q, 1] = lam[e] * r[0] * r[1]
            H[e, q, 2] = lam[e] * r[0] * r[2]
            H[e, q, 4] = lam[e] * r[1] * r[2]


@MATERIALS.register
@dataclass(frozen=True, eq=False, kw_only=True)
class Corotational(Material):
    """Corotational linear elasticity: stiffness that does not change with strain."""

    evaluate = staticmethod(evaluate)
    evaluate_stretches = staticmethod(evaluate_stretches)
