"""Stiffness in reduced coordinates, added up over the points of a cubature."""

import numpy as np

from supple._kernels.character.basis import NINE
from supple._kernels.compiling import kernel
from supple._kernels.linear_algebra.dense import add_symmetric_product, multiply_nine, padded
from supple._kernels.linear_algebra.tensors import expand

_BLOCK = 8  # points whose product with the stress derivative stays in the innermost cache


@kernel
def add_reduced_stiffness(A, volumes, G, K):
    """K += Σ_p w_p G_pᵀ (∂P/∂F)_p G_p for each of several copies.

    A is (copies, m, 6, 3, 3) as the kernels of the elements say, volumes w (m,), G (m, 9, r) with
    rows in the order of F, K (copies, r, r).
    """
    points, r = G.shape[0], G.shape[2]
    wide = padded(r)
    flat = G.reshape(-1)
    D = np.empty((9, 9))
    T = np.zeros(9 * _BLOCK * wide)
    S = np.empty((r, wide))
    for n in range(A.shape[0]):
        S[:] = 0.0
        for start in range(0, points, _BLOCK):
            stop = min(start + _BLOCK, points)
            for p in range(start, stop):
                expand(volumes[p], A[n, p], D)
                at, to = np.uint64(9 * r * p), NINE * wide * np.uint64(p - start)
                multiply_nine(D, flat, at, np.uint64(r), T, to, wide)  # T = w (∂P/∂F) G
            rows = 9 * (stop - start)
            g = G[start:stop].reshape(rows, r)
            add_symmetric_product(g, T.reshape(-1, wide)[:rows], S)
        for a in range(r):
            K[n, a, a] += S[a, a]
            for b in range(a):
                K[n, a, b] += S[a, b]
                K[n, b, a] += S[a, b]
