"""Dissipation r = β/2 Ė:C:Ė of materials with preferred directions, Ė = ½ (FᵀḞ + ḞᵀF).

C (cells, 6, 6) leads from (E₀₀, E₁₁, E₂₂, 2 E₁₂, 2 E₀₂, 2 E₀₁) to (S₀₀, S₁₁, S₂₂, S₁₂, S₀₂, S₀₁).
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise

_VOIGT = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])  # which of the six E_ij is


@pointwise
def _dot(A, B, j, l):
    """a_j · b_l for columns of A and B."""
    return A[0, j] * B[0, l] + A[1, j] * B[1, l] + A[2, j] * B[2, l]


@pointwise
def _rate_stress(F, D, C, beta, S):
    """Fills S = β C Ė; returns Ė:S."""
    rate = (
        _dot(F, D, 0, 0),
        _dot(F, D, 1, 1),
        _dot(F, D, 2, 2),
        _dot(F, D, 1, 2) + _dot(D, F, 1, 2),
        _dot(F, D, 0, 2) + _dot(D, F, 0, 2),
        _dot(F, D, 0, 1) + _dot(D, F, 0, 1),
    )
    total = 0.0
    for a in range(6):
        s = 0.0
        for b in range(6):
            s += C[a, b] * rate[b]
        S[a] = beta * s
        total += S[a] * rate[a]
    return total


@pointwise
def _add_times(F, S, factor, P):
    """P += factor F S."""
    for i in range(3):
        for j in range(3):
            P[i, j] += factor * (
                F[i, 0] * S[_VOIGT[0, j]] + F[i, 1] * S[_VOIGT[1, j]] + F[i, 2] * S[_VOIGT[2, j]]
            )


@kernel
def add_rate_by_moduli(F, D, C, stiffness, sums):
    """r, ∂r/∂Ḟ = F S and ∂²r/∂Ḟ² added to ``Sums``, with β = ``stiffness`` (cells,)."""
    r, P, A, order, factor = sums
    S, half = np.empty(6), np.empty((3, 3))
    for e in range(len(F)):
        beta = stiffness[e]
        if beta == 0.0:
            continue
        for q in range(F.shape[1]):
            f = F[e, q]
            r[e, q] += 0.5 * _rate_stress(f, D[e, q], C[e], beta, S)
            if order >= 1:
                _add_times(f, S, 1.0, P[e, q])
            if order >= 2:
                s = 0
                for j in range(3):
                    for l in range(j, 3):
                        for i in range(3):
                            for n in range(3):
                                h = 0.0
                                for m in range(3):
                                    h += f[i, m] * C[e, _VOIGT[m, j], _VOIGT[n, l]]
                                half[i, n] = factor * beta * h
                        for i in range(3):
                            for k in range(3):
                                A[e, q, s, i, k] += (
                                    half[i, 0] * f[k, 0]
                                    + half[i, 1] * f[k, 1]
                                    + half[i, 2] * f[k, 2]
                                )
                        s += 1


@kernel
def add_rate_by_moduli_and_shape(F, D, C, stiffness, G, factor):
    """G += factor · ∂r/∂F = factor · Ḟ S."""
    S = np.empty(6)
    for e in range(len(F)):
        for q in range(F.shape[1]):
            _rate_stress(F[e, q], D[e, q], C[e], stiffness[e], S)
            _add_times(D[e, q], S, factor, G[e, q])
