"""The part of Ḟ that is no rotation of the cell, and what follows from it for stresses.

Two ways to part Ḟ (dissipative optimization, §6): along the velocity gradient,
Ḟⁿʳ = ½ (Ḟ + F⁻ᵀḞᵀF), and by orthogonal projection off the rotations [ω]× F.
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.svd3 import eigh3
from supple._kernels.linear_algebra.tensors import cofactor, expand

_SINGULAR = 1e-6  # |det F|/‖F‖³ below which F has no inverse worth the name
_DEPENDENT = 1e-13  # share of the largest eigenvalue that counts as none


@pointwise
def _invert(F, H):
    """H = F⁻ᵀ where F has an inverse; returns whether it has."""
    det = cofactor(F, H)
    size = 0.0
    for i in range(3):
        for j in range(3):
            size += F[i, j] * F[i, j]
    if not abs(det) > _SINGULAR * size * math.sqrt(size):
        return False
    for i in range(3):
        for j in range(3):
            H[i, j] /= det
    return True


@pointwise
def _inverse_inertia(F, N, G, W):
    """N = (tr(FFᵀ) I − FFᵀ)⁻¹, without the axes along which turning F changes nothing."""
    trace = 0.0
    for a in range(3):
        for b in range(3):
            G[a, b] = -(F[a, 0] * F[b, 0] + F[a, 1] * F[b, 1] + F[a, 2] * F[b, 2])
        trace -= G[a, a]
    for a in range(3):
        G[a, a] += trace
    eigh3(G, W)
    for a in range(3):
        for b in range(3):
            N[a, b] = 0.0
            for m in range(3):
                if G[m, m] > _DEPENDENT * trace:
                    N[a, b] += W[a, m] * W[b, m] / G[m, m]


@pointwise
def _moment(F, X, c):
    """c = Σ_j f_j × x_j over the columns."""
    c[0] = c[1] = c[2] = 0.0
    for j in range(3):
        c[0] += F[1, j] * X[2, j] - F[2, j] * X[1, j]
        c[1] += F[2, j] * X[0, j] - F[0, j] * X[2, j]
        c[2] += F[0, j] * X[1, j] - F[1, j] * X[0, j]


@pointwise
def _fill_map(F, by_gradient, M, C, N, G, W):
    """The matrix of Ḟ → Ḟⁿʳ, entries of 3 × 3 matrices row by row, (9, 9)."""
    if by_gradient and _invert(F, N):
        for i in range(3):
            for j in range(3):
                for l in range(3):
                    for k in range(3):
                        M[3 * i + j, 3 * l + k] = 0.5 * N[i, k] * F[l, j]
                M[3 * i + j, 3 * i + j] += 0.5
        return
    _inverse_inertia(F, N, G, W)
    for j in range(3):  # C: the rotations [e_a]× F
        for a in range(3):
            C[3 * a + j, a] = 0.0
        C[3 + j, 0], C[6 + j, 0] = -F[2, j], F[1, j]
        C[j, 1], C[6 + j, 1] = F[2, j], -F[0, j]
        C[j, 2], C[3 + j, 2] = -F[1, j], F[0, j]
    for t in range(9):
        n0 = C[t, 0] * N[0, 0] + C[t, 1] * N[1, 0] + C[t, 2] * N[2, 0]
        n1 = C[t, 0] * N[0, 1] + C[t, 1] * N[1, 1] + C[t, 2] * N[2, 1]
        n2 = C[t, 0] * N[0, 2] + C[t, 1] * N[1, 2] + C[t, 2] * N[2, 2]
        for s in range(9):
            M[t, s] = -(n0 * C[s, 0] + n1 * C[s, 1] + n2 * C[s, 2])
        M[t, t] += 1.0


@kernel
def nonrigid_rates(F, D, by_gradient, out):
    """Ḟⁿʳ at every point."""
    M, C, N = np.empty((9, 9)), np.empty((9, 3)), np.empty((3, 3))
    G, W = np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(F)):
        for q in range(F.shape[1]):
            _fill_map(F[e, q], by_gradient, M, C, N, G, W)
            for t in range(9):
                total = 0.0
                for s in range(9):
                    total += M[t, s] * D[e, q, s // 3, s % 3]
                out[e, q, t // 3, t % 3] = total


@kernel
def add_nonrigid(F, inner_P, inner_A, by_gradient, P, A, order):
    """P += Mᵀ P', then A += Mᵀ A' M, M the map of Ḟ to Ḟⁿʳ and the dashed those of Ḟⁿʳ."""
    M, C, N = np.empty((9, 9)), np.empty((9, 3)), np.empty((3, 3))
    G, W = np.empty((3, 3)), np.empty((3, 3))
    full, half = np.empty((9, 9)), np.empty((9, 9))
    for e in range(len(F)):
        for q in range(F.shape[1]):
            _fill_map(F[e, q], by_gradient, M, C, N, G, W)
            if order >= 1:
                for t in range(9):
                    total = 0.0
                    for s in range(9):
                        total += M[s, t] * inner_P[e, q, s // 3, s % 3]
                    P[e, q, t // 3, t % 3] += total
            if order >= 2:
                expand(1.0, inner_A[e, q], full)
                for t in range(9):
                    for s in range(9):
                        half[t, s] = 0.0
                    for m in range(9):
                        for s in range(9):
                            half[t, s] += full[t, m] * M[m, s]
                block = 0
                for j in range(3):
                    for l in range(j, 3):
                        for i in range(3):
                            for k in range(3):
                                total = 0.0
                                for m in range(9):
                                    total += M[m, 3 * i + j] * half[m, 3 * k + l]
                                A[e, q, block, i, k] += total
                        block += 1


@kernel
def add_nonrigid_by_shape(F, D, inner_D, inner_P, by_gradient, factor, G):
    """G += factor · (∂Ḟⁿʳ/∂F)ᵀ P', ``inner_D`` being Ḟⁿʳ."""
    N, I, W = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    L, X, Z = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    c, omega, eta = np.empty(3), np.empty(3), np.empty(3)
    for e in range(len(F)):
        for q in range(F.shape[1]):
            f, p = F[e, q], inner_P[e, q]
            if by_gradient and _invert(f, N):
                # dissipative optimization, Eq. 70: ½ (Ḟ F⁻¹ P' − (F⁻ᵀ Ḟᵀ F) P'ᵀ F⁻ᵀ)
                for i in range(3):
                    for j in range(3):
                        L[i, j] = X[i, j] = 0.0  # L = Ḟ F⁻¹, X = F P'ᵀ F⁻ᵀ
                        for k in range(3):
                            L[i, j] += D[e, q, i, k] * N[j, k]
                            X[i, j] += (
                                f[i, 0] * p[k, 0] + f[i, 1] * p[k, 1] + f[i, 2] * p[k, 2]
                            ) * N[k, j]
                for i in range(3):
                    for j in range(3):
                        total = 0.0
                        for k in range(3):
                            total += L[i, k] * p[k, j] - L[k, i] * X[k, j]
                        G[e, q, i, j] += 0.5 * factor * total
                continue
            _inverse_inertia(f, N, I, W)
            _moment(f, D[e, q], c)
            for a in range(3):  # Ḟⁿʳ = Ḟ − [ω]× F
                omega[a] = N[a, 0] * c[0] + N[a, 1] * c[1] + N[a, 2] * c[2]
            _moment(f, p, c)
            for a in range(3):
                eta[a] = N[a, 0] * c[0] + N[a, 1] * c[1] + N[a, 2] * c[2]
            for j in range(3):  # ω × (p'_j − η × f_j) + η × ḟⁿʳ_j
                for i in range(3):
                    a, b = (i + 1) % 3, (i + 2) % 3
                    Z[i, j] = p[i, j] - (eta[a] * f[b, j] - eta[b] * f[a, j])
                for i in range(3):
                    a, b = (i + 1) % 3, (i + 2) % 3
                    G[e, q, i, j] += factor * (
                        omega[a] * Z[b, j] - omega[b] * Z[a, j]
                        + eta[a] * inner_D[e, q, b, j] - eta[b] * inner_D[e, q, a, j]
                    )  # fmt: skip
