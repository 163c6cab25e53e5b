"""How the scales of several examples combine into one damping (example damping, §4.1)."""

import numpy as np

from supple._kernels.compiling import kernel
from supple._kernels.linear_algebra.dense import find_eigenvectors

_SMALLEST_PIVOT = 1e-13  # share of a diagonal entry below which a matrix counts as singular


@kernel
def factorize(A, L):
    """The Cholesky factor L of A, lower triangle; whether A is positive definite."""
    k = len(A)
    for i in range(k):
        for j in range(i + 1):
            s = A[i, j]
            for m in range(j):
                s -= L[i, m] * L[j, m]
            if i > j:
                L[i, j] = s / L[j, j]
            elif s > _SMALLEST_PIVOT * abs(A[i, i]):
                L[i, i] = np.sqrt(s)
            else:
                return False
    return True


@kernel
def couple(G, gamma, symmetric, definite, W, inverse, L):
    """W (k, k) with Ĉ = C + C X W (C X)ᵀ for Gram matrix G = XᵀCX and scales γ (k,).

    With the C-weighted QR decomposition X = Q R it is W = R⁻¹ (Π − I) R⁻ᵀ (Eq. 9), where Π is the
    non-negative part of Π̄ = R Γ R⁻¹ (Eq. 8, App. B) or, if not ``definite``, Π̄ itself; with
    ``symmetric`` its symmetric part.
    ``inverse`` and ``L`` (k, k) are scratch.
    """
    k = len(G)
    if not factorize(G, L):
        _couple_by_eigenvectors(G, gamma, symmetric, definite, W)
        return
    for j in range(k):  # G⁻¹, column by column
        for i in range(k):
            s = 1.0 if i == j else 0.0
            for m in range(i):
                s -= L[i, m] * inverse[m, j]
            inverse[i, j] = s / L[i, i]
        for i in range(k - 1, -1, -1):
            s = inverse[i, j]
            for m in range(i + 1, k):
                s -= L[m, i] * inverse[m, j]
            inverse[i, j] = s / L[i, i]
    # R⁻¹ Π̄ R⁻ᵀ = Γ G⁻¹; its symmetric part is definite exactly where that of Π̄ is
    alike = True
    for i in range(k):
        alike = alike and gamma[i] == gamma[0]
        for j in range(k):
            W[i, j] = 0.5 * (gamma[i] + gamma[j]) * inverse[i, j]
    if alike or not definite or factorize(W, L):
        for i in range(k):
            for j in range(k):
                scale = 0.5 * (gamma[i] + gamma[j]) if symmetric else gamma[i]
                W[i, j] = (scale - 1.0) * inverse[i, j]
    else:
        _couple_by_eigenvectors(G, gamma, symmetric, definite, W)


@kernel
def _couple_by_eigenvectors(G, gamma, symmetric, definite, W):
    """The same for scales that contradict each other, and where G is not definite.

    R = Λ½ Vᵀ from the eigenvectors of G serves as well as a triangular one: Π only turns with it.
    Combinations of examples that C does not damp are left alone.
    """
    k = len(G)
    size = np.empty(k)
    for i in range(k):
        size[i] = np.sqrt(abs(G[i, i])) if G[i, i] != 0.0 else 1.0
    scaled = np.empty((k, k))
    for i in range(k):
        for j in range(k):
            scaled[i, j] = G[i, j] / (size[i] * size[j])
            W[i, j] = 0.0
    values, vectors = np.empty(k), np.empty((k, k))
    find_eigenvectors(scaled, values, vectors)
    p = 0
    while p < k and values[p] <= _SMALLEST_PIVOT * k:
        p += 1
    n = k - p
    if n == 0:
        return
    inverse = np.empty((k, n))  # R⁻¹
    for a in range(n):
        for i in range(k):
            inverse[i, a] = vectors[i, a + p] / (np.sqrt(values[a + p]) * size[i])
    Pi = np.empty((n, n))
    for a in range(n):
        for b in range(n):
            s = 0.0
            for i in range(k):
                s += vectors[i, a + p] * size[i] * gamma[i] * inverse[i, b]
            Pi[a, b] = np.sqrt(values[a + p]) * s
    symmetric_part = np.empty((n, n))
    for a in range(n):
        for b in range(n):
            symmetric_part[a, b] = 0.5 * (Pi[a, b] + Pi[b, a])
    if symmetric:
        Pi[:] = symmetric_part
    for a in range(n):
        Pi[a, a] -= 1.0
    if definite:
        lam, v = np.empty(n), np.empty((n, n))
        find_eigenvectors(symmetric_part, lam, v)
        for m in range(n):
            if lam[m] < 0.0:
                for a in range(n):
                    for b in range(n):
                        Pi[a, b] -= lam[m] * v[a, m] * v[b, m]
    for i in range(k):
        for b in range(n):
            s = 0.0
            for a in range(n):
                s += inverse[i, a] * Pi[a, b]
            for j in range(k):
                W[i, j] += s * inverse[j, b]
