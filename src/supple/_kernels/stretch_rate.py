"""The squared rate of stretch ‖Ṡ‖² at quadrature points, S = √(FᵀF) of the polar decomposition.

In the frame of F = U diag(σ) Vᵀ with B = UᵀḞV it is Ṡ_ab = (σ_a B_ab + σ_b B_ba)/(|σ_a| + |σ_b|):
never more than Ḟ, however flat or inside out a cell is.
"""

from __future__ import annotations

import numpy as np

from .compiling import kernel, pointwise
from .svd3 import eigh3, svd3

_FLAT = 1e-6  # |σ_a| + |σ_b| of a cell crushed along two axes counts as no less


@pointwise
def add_outer(A, factor, Q):
    """∂P_ij/∂F_kl += factor Q_ij Q_kl, in the storage of ``elements``."""
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    A[s, i, k] += factor * Q[i, j] * Q[k, l]
            s += 1


@pointwise
def _stretch_rate(F, D, U, sigma, V, d, T):
    """Fills U, σ, V, d_ab = |σ_a| + |σ_b| and Ṡ in the frame of V; returns ‖Ṡ‖²."""
    svd3(F, U, sigma, V)
    for a in range(3):
        for b in range(3):
            T[a, b] = 0.0  # B = UᵀḞV
            for i in range(3):
                T[a, b] += U[i, a] * (D[i, 0] * V[0, b] + D[i, 1] * V[1, b] + D[i, 2] * V[2, b])
            d[a, b] = max(abs(sigma[a]) + abs(sigma[b]), _FLAT)
    square = 0.0
    for a in range(3):
        if sigma[a] < 0.0:
            T[a, a] = -T[a, a]
        square += T[a, a] * T[a, a]
        for b in range(a + 1, 3):
            T[a, b] = (sigma[a] * T[a, b] + sigma[b] * T[b, a]) / d[a, b]
            T[b, a] = T[a, b]
            square += 2.0 * T[a, b] * T[a, b]
    return square


@kernel
def add_stretch_rate(F, D, r, P, A, order, factor):
    """r = ‖Ṡ‖², then ∂r/∂Ḟ, then factor · ∂²r/∂Ḟ², added at the points of cells."""
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    d, T, Q = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(F)):
        for q in range(F.shape[1]):
            r[e, q] += _stretch_rate(F[e, q], D[e, q], U, sigma, V, d, T)
            if order >= 1:
                for a in range(3):  # Q = ∂r/∂B
                    for b in range(3):
                        Q[a, b] = 4.0 * sigma[a] * T[a, b] / d[a, b]
                    Q[a, a] = -2.0 * T[a, a] if sigma[a] < 0.0 else 2.0 * T[a, a]
                for i in range(3):
                    for b in range(3):
                        c = U[i, 0] * Q[0, b] + U[i, 1] * Q[1, b] + U[i, 2] * Q[2, b]
                        for j in range(3):
                            P[e, q, i, j] += c * V[j, b]
            if order >= 2:
                for a in range(3):
                    for b in range(a, 3):
                        # Ṡ_ab = n : Ḟ, once on the diagonal and twice beside it
                        m, n = sigma[a] / d[a, b], sigma[b] / d[a, b]
                        if a == b:
                            m, n = 1.0, 0.0
                        for i in range(3):
                            for j in range(3):
                                Q[i, j] = m * U[i, a] * V[j, b] + n * U[i, b] * V[j, a]
                        add_outer(A[e, q], (2.0 if a == b else 4.0) * factor, Q)


@kernel
def add_stretch_rate_by_shape(F, D, G, factor, A):
    """factor · ∂r/∂F = 4 factor · (Ḟ Z − F Y) to G, or where G is empty δ_ik 4 Z⁺_jl to A.

    Z S + S Z = Ṡ, Y S + S Y = Z Ṡ + Ṡ Z; ∂r/∂Ḟ is 4 F Z.
    """
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    d, T, Z, Y = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    W = np.empty((3, 3))
    for e in range(len(F)):
        for q in range(F.shape[1]):
            _stretch_rate(F[e, q], D[e, q], U, sigma, V, d, T)
            for a in range(3):
                for b in range(3):
                    Z[a, b] = T[a, b] / d[a, b]
            if len(G):
                for a in range(3):
                    for b in range(3):
                        Y[a, b] = 0.0
                        for k in range(3):
                            Y[a, b] += (Z[a, k] * T[k, b] + T[a, k] * Z[k, b]) / d[a, b]
                for i in range(3):
                    for b in range(3):
                        c = 0.0
                        for a in range(3):
                            along = D[e, q, i, 0] * V[0, a] + D[e, q, i, 1] * V[1, a]
                            along += D[e, q, i, 2] * V[2, a]
                            c += along * Z[a, b] - U[i, a] * sigma[a] * Y[a, b]
                        for j in range(3):
                            G[e, q, i, j] += 4.0 * factor * c * V[j, b]
            else:
                eigh3(Z, W)
                for m in range(3):
                    z = 4.0 * max(Z[m, m], 0.0)
                    w0 = V[0, 0] * W[0, m] + V[0, 1] * W[1, m] + V[0, 2] * W[2, m]
                    w1 = V[1, 0] * W[0, m] + V[1, 1] * W[1, m] + V[1, 2] * W[2, m]
                    w2 = V[2, 0] * W[0, m] + V[2, 1] * W[1, m] + V[2, 2] * W[2, m]
                    for i in range(3):
                        A[e, q, 0, i, i] += z * w0 * w0
                        A[e, q, 1, i, i] += z * w0 * w1
                        A[e, q, 2, i, i] += z * w0 * w2
                        A[e, q, 3, i, i] += z * w1 * w1
                        A[e, q, 4, i, i] += z * w1 * w2
                        A[e, q, 5, i, i] += z * w2 * w2
