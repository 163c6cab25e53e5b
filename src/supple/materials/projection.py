"""Positive semidefinite projection of the stress derivative of an isotropic material.

In the frame of the singular vectors, F = U diag(σ) Vᵀ, the 9 × 9 matrix ∂P/∂F of an isotropic
material falls apart: one 3 × 3 block for the stretches, and for each pair of axes a 2 × 2 block
[[a, b], [b, a]] with eigenvalues a + b (flip) and a − b (twist). Clamping those nine eigenvalues at
zero gives the nearest positive semidefinite matrix, for any material, without its formula.
"""

from __future__ import annotations

import numpy as np

from .._kernels.compiling import kernel, pointwise
from .._kernels.svd3 import eigh3, svd3


@pointwise
def _contract(A, L, R):
    """L_ij (∂P_ij/∂F_kl) R_kl."""
    total = 0.0
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    total += A[s, i, k] * L[i, j] * R[k, l]
                    if l > j:
                        total += A[s, k, i] * L[i, l] * R[k, j]
            s += 1
    return total


@pointwise
def _add_outer(A, eigenvalue, Q):
    """∂P_ij/∂F_kl += eigenvalue Q_ij Q_kl."""
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    A[s, i, k] += eigenvalue * Q[i, j] * Q[k, l]
            s += 1


@kernel
def project_isotropic(F, A):
    """Replace A at every point by its nearest positive semidefinite matrix."""
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    stretch, vectors = np.empty((3, 3)), np.empty((3, 3))
    axes = np.empty((3, 3, 3, 3))  # u_a v_bᵀ
    Q = np.empty((3, 3))
    for e in range(len(F)):
        for q in range(F.shape[1]):
            svd3(F[e, q], U, sigma, V)
            for a in range(3):
                for b in range(3):
                    for i in range(3):
                        for j in range(3):
                            axes[a, b, i, j] = U[i, a] * V[j, b]
            block = A[e, q]
            for a in range(3):
                for b in range(a, 3):
                    stretch[a, b] = stretch[b, a] = _contract(block, axes[a, a], axes[b, b])
            diagonal = (stretch[0, 0], stretch[1, 1], stretch[2, 2])
            eigh3(stretch, vectors)
            smallest = min(stretch[0, 0], stretch[1, 1], stretch[2, 2])
            pairs = np.empty((3, 2))
            p = 0
            for a in range(2):
                for b in range(a + 1, 3):
                    same = _contract(block, axes[a, b], axes[a, b])
                    cross = _contract(block, axes[a, b], axes[b, a])
                    pairs[p, 0], pairs[p, 1] = same + cross, same - cross
                    smallest = min(smallest, min(pairs[p, 0], pairs[p, 1]))
                    p += 1
            if smallest >= 0.0 and np.isfinite(diagonal[0]):
                continue
            block[:] = 0.0
            for m in range(3):
                if stretch[m, m] > 0.0:
                    for i in range(3):
                        for j in range(3):
                            Q[i, j] = (
                                vectors[0, m] * axes[0, 0, i, j]
                                + vectors[1, m] * axes[1, 1, i, j]
                                + vectors[2, m] * axes[2, 2, i, j]
                            )
                    _add_outer(block, stretch[m, m], Q)
            p = 0
            for a in range(2):
                for b in range(a + 1, 3):
                    for sign in range(2):
                        if pairs[p, sign] > 0.0:
                            s = 1.0 if sign == 0 else -1.0
                            for i in range(3):
                                for j in range(3):
                                    Q[i, j] = np.sqrt(0.5) * (
                                        axes[a, b, i, j] + s * axes[b, a, i, j]
                                    )
                            _add_outer(block, pairs[p, sign], Q)
                    p += 1
