"""Positive semidefinite projection of the stress derivative of a material.

In the frame of the singular vectors, F = U diag(σ) Vᵀ, the 9 × 9 matrix ∂P/∂F of an isotropic
material falls apart: one 3 × 3 block for the stretches, and for each pair of axes a 2 × 2 block
[[a, b], [b, a]] with eigenvalues a + b (flip) and a − b (twist). Clamping those nine eigenvalues at
zero gives the nearest positive semidefinite matrix, for any material, without its formula.

Where there are preferred directions it does not fall apart, and all nine eigenvalues are found at
once; that takes some microseconds a point.
"""

import numpy as np

from supple._kernels.compiling import kernel
from supple._kernels.linear_algebra.dense import find_eigenvectors
from supple._kernels.linear_algebra.svd3 import eigh3, svd3
from supple._kernels.linear_algebra.tensors import add_outer, contract, expand


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
                    stretch[a, b] = stretch[b, a] = contract(block, axes[a, a], axes[b, b])
            diagonal = (stretch[0, 0], stretch[1, 1], stretch[2, 2])
            eigh3(stretch, vectors)
            smallest = min(stretch[0, 0], stretch[1, 1], stretch[2, 2])
            pairs = np.empty((3, 2))
            p = 0
            for a in range(2):
                for b in range(a + 1, 3):
                    same = contract(block, axes[a, b], axes[a, b])
                    cross = contract(block, axes[a, b], axes[b, a])
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
                    add_outer(block, stretch[m, m], Q, Q)
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
                            add_outer(block, pairs[p, sign], Q, Q)
                    p += 1


@kernel
def project_symmetric(A):
    """The same for a material with preferred directions."""
    full, values, vectors = np.empty((9, 9)), np.empty(9), np.empty((9, 9))
    for e in range(len(A)):
        for q in range(A.shape[1]):
            block = A[e, q]
            expand(1.0, block, full)
            find_eigenvectors(full, values, vectors)
            if values[0] >= 0.0:
                continue
            block[:] = 0.0
            for m in range(9):
                if values[m] > 0.0:
                    Q = np.ascontiguousarray(vectors[:, m]).reshape(3, 3)
                    add_outer(block, values[m], Q, Q)
