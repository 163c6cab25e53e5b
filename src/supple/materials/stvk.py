"""Saint Venant–Kirchhoff: ψ = λ/2 tr(E)² + μ E:E with the Green strain E = ½(FᵀF − I).

The energy is a quartic polynomial of the displacements. It is finite for every F, but softens
under compression and has no barrier against inversion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._kernels.compiling import kernel, pointwise
from .base import Material


@pointwise
def green_strain(F, E):
    for i in range(3):
        for j in range(3):
            C = F[0, i] * F[0, j] + F[1, i] * F[1, j] + F[2, i] * F[2, j]
            E[i, j] = 0.5 * (C - 1.0) if i == j else 0.5 * C


@pointwise
def second_piola(lam, mu, E, S):
    """S = λ tr(E) I + 2μ E."""
    trace = E[0, 0] + E[1, 1] + E[2, 2]
    for i in range(3):
        for j in range(3):
            S[i, j] = 2.0 * mu * E[i, j]
        S[i, i] += lam * trace


@pointwise
def energy(F, lam, mu, E, S):
    green_strain(F, E)
    trace = E[0, 0] + E[1, 1] + E[2, 2]
    square = 0.0
    for i in range(3):
        for j in range(3):
            square += E[i, j] * E[i, j]
    return 0.5 * lam * trace * trace + mu * square


@pointwise
def stress(F, lam, mu, P, E, S):
    """P = F S."""
    second_piola(lam, mu, E, S)
    for i in range(3):
        for j in range(3):
            P[i, j] = F[i, 0] * S[0, j] + F[i, 1] * S[1, j] + F[i, 2] * S[2, j]


@pointwise
def stress_derivative(F, lam, mu, A, E, S):
    """∂P_ij/∂F_kl = δ_ik S_jl + λ F_ij F_kl + μ F_il F_kj + μ δ_jl (F Fᵀ)_ik."""
    for i in range(3):
        for k in range(3):
            B = F[i, 0] * F[k, 0] + F[i, 1] * F[k, 1] + F[i, 2] * F[k, 2]
            s = 0
            for j in range(3):
                for l in range(j, 3):
                    a = lam * F[i, j] * F[k, l] + mu * F[i, l] * F[k, j]
                    if i == k:
                        a += S[j, l]
                    if j == l:
                        a += mu * B
                    A[s, i, k] = a
                    s += 1


@kernel
def evaluate(F, lam, mu, psi, P, A, order):
    """ψ, P and ∂P/∂F at the quadrature points of some cells, up to ``order``."""
    E, S = np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(lam)):
        for q in range(F.shape[1]):
            psi[e, q] = energy(F[e, q], lam[e], mu[e], E, S)
            if order >= 1:
                stress(F[e, q], lam[e], mu[e], P[e, q], E, S)
            if order >= 2:
                stress_derivative(F[e, q], lam[e], mu[e], A[e, q], E, S)


@dataclass(frozen=True, eq=False, kw_only=True)
class StVK(Material):
    """Saint Venant–Kirchhoff material: the simplest with large rotations."""

    evaluate = staticmethod(evaluate)
