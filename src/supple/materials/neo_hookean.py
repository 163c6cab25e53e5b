"""Neo-Hookean: ψ = μ/2 (F:F − 3) − μ ln J + λ/2 (ln J)², J = det F.

The logarithm is a barrier: a cell that collapses or turns inside out has infinite energy, and a
solver that cannot avoid it fails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.svd3 import det3
from supple._kernels.linear_algebra.tensors import cofactor
from supple.materials.base import MATERIALS, Material


@pointwise
def energy(F, lam, mu, H):
    """Fills H = F⁻ᵀ for the derivatives; ψ is infinite where J ≤ 0."""
    J = cofactor(F, H)
    if not J > 0.0:
        return np.inf
    square = 0.0
    for i in range(3):
        for j in range(3):
            square += F[i, j] * F[i, j]
            H[i, j] /= J
    log = math.log(J)
    return 0.5 * mu * (square - 3.0) - mu * log + 0.5 * lam * log * log


@pointwise
def stress(F, lam, mu, P, H):
    """P = μ (F − F⁻ᵀ) + λ ln J F⁻ᵀ."""
    log = _log_volume(F)
    for i in range(3):
        for j in range(3):
            P[i, j] = mu * (F[i, j] - H[i, j]) + lam * log * H[i, j]


@pointwise
def stress_derivative(F, lam, mu, A, H):
    """∂P_ij/∂F_kl = μ δ_ik δ_jl + (μ − λ ln J) F⁻ᵀ_il F⁻ᵀ_kj + λ F⁻ᵀ_ij F⁻ᵀ_kl."""
    b = mu - lam * _log_volume(F)
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    a = b * H[i, l] * H[k, j] + lam * H[i, j] * H[k, l]
                    if i == k and j == l:
                        a += mu
                    A[s, i, k] = a
            s += 1


@pointwise
def _log_volume(F):
    J = det3(F)
    return math.log(J) if J > 0.0 else np.nan


@kernel
def evaluate(F, lam, mu, psi, P, A, order):
    """ψ, P and ∂P/∂F at the quadrature points of some cells, up to ``order``."""
    H = np.empty((3, 3))
    for e in range(len(lam)):
        for q in range(F.shape[1]):
            psi[e, q] = energy(F[e, q], lam[e], mu[e], H)
            if order >= 1:
                stress(F[e, q], lam[e], mu[e], P[e, q], H)
            if order >= 2:
                stress_derivative(F[e, q], lam[e], mu[e], A[e, q], H)


@kernel
def evaluate_stretches(sigma, lam, mu, psi, p, H):
    """p_i = μ σ_i − b/σ_i and H_ij = (μ + b/σ_i²) δ_ij + λ/(σ_i σ_j), b = μ − λ ln J."""
    for e in range(len(lam)):
        for q in range(sigma.shape[1]):
            x, y, z = sigma[e, q, 0], sigma[e, q, 1], sigma[e, q, 2]
            J = x * y * z
            log = math.log(J) if J > 0.0 else np.nan
            psi[e, q] = np.inf
            if J > 0.0:
                square = x * x + y * y + z * z
                psi[e, q] = 0.5 * mu[e] * (square - 3.0) - mu[e] * log + 0.5 * lam[e] * log * log
            b = mu[e] - lam[e] * log
            h0, h1, h2 = 1.0 / x, 1.0 / y, 1.0 / z
            p[e, q, 0] = mu[e] * x - b * h0
            p[e, q, 1] = mu[e] * y - b * h1
            p[e, q, 2] = mu[e] * z - b * h2
            H[e, q, 0] = mu[e] + (b + lam[e]) * h0 * h0
            H[e, q, 3] = mu[e] + (b + lam[e]) * h1 * h1
            H[e, q, 5] = mu[e] + (b + lam[e]) * h2 * h2
            H[e, q, 1] = lam[e] * h0 * h1
            H[e, q, 2] = lam[e] * h0 * h2
            H[e, q, 4] = lam[e] * h1 * h2


@MATERIALS.register
@dataclass(frozen=True, eq=False, kw_only=True)
class NeoHookean(Material):
    """Compressible neo-Hookean material, with a barrier against inversion."""

    survives_inversion: ClassVar[bool] = False
    evaluate = staticmethod(evaluate)
    evaluate_stretches = staticmethod(evaluate_stretches)
