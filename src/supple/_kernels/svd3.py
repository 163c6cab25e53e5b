"""Singular values and eigenvalues of 3 × 3 matrices, compiled to run at every quadrature point.

LAPACK would do, at some microseconds of call overhead for each of the hundred thousand points of a
step; a few Jacobi sweeps take a tenth of that.
"""

from __future__ import annotations

import math

from .compiling import pointwise

_SWEEPS = 12


@pointwise
def svd3(F, U, sigma, V):
    """F = U diag(σ) Vᵀ with det U = det V = 1, |σ₀| ≥ |σ₁| ≥ |σ₂|; the sign of det F is in σ₂.

    One-sided Jacobi: rotate the columns of F V until they are orthogonal. Small singular values
    keep their relative accuracy, unlike with the eigenvalues of FᵀF.
    """
    for i in range(3):
        for j in range(3):
            V[i, j] = 1.0 if i == j else 0.0
    svd3_from(F, U, sigma, V)


@pointwise
def svd3_from(F, U, sigma, V):
    """The same, starting from the rotation in V: quick where that is near the outcome."""
    B = U
    largest = 0.0
    for i in range(3):
        for j in range(3):
            largest = max(largest, abs(F[i, j]))
    scale = largest if largest > 0.0 else 1.0  # squares must neither underflow nor overflow
    for i in range(3):
        for j in range(3):
            B[i, j] = (F[i, 0] * V[0, j] + F[i, 1] * V[1, j] + F[i, 2] * V[2, j]) / scale
    for _ in range(_SWEEPS):
        rotated = False
        for p in range(2):
            for q in range(p + 1, 3):
                app = B[0, p] * B[0, p] + B[1, p] * B[1, p] + B[2, p] * B[2, p]
                aqq = B[0, q] * B[0, q] + B[1, q] * B[1, q] + B[2, q] * B[2, q]
                apq = B[0, p] * B[0, q] + B[1, p] * B[1, q] + B[2, p] * B[2, q]
                if abs(apq) <= 1e-15 * math.sqrt(app * aqq):
                    continue
                rotated = True
                tau = (aqq - app) / (2.0 * apq)
                t = 1.0 / (abs(tau) + math.sqrt(1.0 + tau * tau))
                if tau < 0.0:
                    t = -t
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = t * c
                for i in range(3):
                    b, v = B[i, p], V[i, p]
                    B[i, p] = c * b - s * B[i, q]
                    B[i, q] = s * b + c * B[i, q]
                    V[i, p] = c * v - s * V[i, q]
                    V[i, q] = s * v + c * V[i, q]
        if not rotated:
            break
    for j in range(3):
        sigma[j] = math.sqrt(B[0, j] * B[0, j] + B[1, j] * B[1, j] + B[2, j] * B[2, j])
    for p in range(2):  # largest first
        for q in range(p + 1, 3):
            if sigma[q] > sigma[p]:
                sigma[p], sigma[q] = sigma[q], sigma[p]
                for i in range(3):
                    B[i, p], B[i, q] = B[i, q], B[i, p]
                    V[i, p], V[i, q] = V[i, q], V[i, p]
    if _det(V) < 0.0:
        for i in range(3):
            V[i, 2] = -V[i, 2]
            B[i, 2] = -B[i, 2]
    _orthonormalise(B, sigma)
    for j in range(3):
        sigma[j] *= scale


@pointwise
def _det(M):
    return (
        M[0, 0] * (M[1, 1] * M[2, 2] - M[1, 2] * M[2, 1])
        - M[0, 1] * (M[1, 0] * M[2, 2] - M[1, 2] * M[2, 0])
        + M[0, 2] * (M[1, 0] * M[2, 1] - M[1, 1] * M[2, 0])
    )


@pointwise
def _orthonormalise(B, sigma):
    """Turn the orthogonal columns of B into a rotation; the last singular value takes the sign."""
    tiny = 1e-14 * sigma[0]
    if sigma[0] <= 0.0:
        for i in range(3):
            for j in range(3):
                B[i, j] = 1.0 if i == j else 0.0
        return
    for i in range(3):
        B[i, 0] /= sigma[0]
    if sigma[1] > tiny:
        for i in range(3):
            B[i, 1] /= sigma[1]
    else:  # any unit vector across the first column
        k = 0
        for i in range(1, 3):
            if abs(B[i, 0]) < abs(B[k, 0]):
                k = i
        along = B[k, 0]
        length = math.sqrt(1.0 - along * along)
        for i in range(3):
            B[i, 1] = ((1.0 if i == k else 0.0) - along * B[i, 0]) / length
    c0 = B[1, 0] * B[2, 1] - B[2, 0] * B[1, 1]
    c1 = B[2, 0] * B[0, 1] - B[0, 0] * B[2, 1]
    c2 = B[0, 0] * B[1, 1] - B[1, 0] * B[0, 1]
    sigma[2] = c0 * B[0, 2] + c1 * B[1, 2] + c2 * B[2, 2]
    B[0, 2], B[1, 2], B[2, 2] = c0, c1, c2


@pointwise
def eigh3(H, W):
    """Diagonalise the symmetric H in place: its diagonal becomes the eigenvalues, W the vectors."""
    for i in range(3):
        for j in range(3):
            W[i, j] = 1.0 if i == j else 0.0
    for _ in range(_SWEEPS):
        off = abs(H[0, 1]) + abs(H[0, 2]) + abs(H[1, 2])
        if off <= 1e-15 * (abs(H[0, 0]) + abs(H[1, 1]) + abs(H[2, 2])):
            break
        for p in range(2):
            for q in range(p + 1, 3):
                if H[p, q] == 0.0:
                    continue
                tau = (H[q, q] - H[p, p]) / (2.0 * H[p, q])
                t = 1.0 / (abs(tau) + math.sqrt(1.0 + tau * tau))
                if tau < 0.0:
                    t = -t
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = t * c
                for i in range(3):
                    h = H[i, p]
                    H[i, p] = c * h - s * H[i, q]
                    H[i, q] = s * h + c * H[i, q]
                for i in range(3):
                    h, w = H[p, i], W[i, p]
                    H[p, i] = c * h - s * H[q, i]
                    H[q, i] = s * h + c * H[q, i]
                    W[i, p] = c * w - s * W[i, q]
                    W[i, q] = s * w + c * W[i, q]


@pointwise
def keep_positive(S, W, X):
    """Replaces the symmetric S by its nearest positive semidefinite matrix; W and X are scratch."""
    minor = S[0, 0] * S[1, 1] - S[0, 1] * S[0, 1]
    if minor > 0.0:
        det = _det(S)
        if S[0, 0] > 0.0 and det > 0.0:
            return
        if S[0, 0] < 0.0 and det < 0.0:
            for i in range(3):
                for j in range(3):
                    S[i, j] = 0.0
            return
    for i in range(3):
        for j in range(3):
            X[i, j] = S[i, j]
    eigh3(X, W)
    for i in range(3):
        for j in range(3):
            c = 0.0
            for m in range(3):
                c += max(X[m, m], 0.0) * W[i, m] * W[j, m]
            S[i, j] = c
