"""Stiffness in reduced coordinates, added up over the points of a cubature."""

from __future__ import annotations

import numpy as np

from .compiling import kernel
from .dense import add_symmetric_product

_BLOCK = 8  # points whose product with the stress derivative stays in the innermost cache


@kernel
def add_reduced_stiffness(A, volumes, G, K):
    """K += Σ_p w_p G_pᵀ (∂P/∂F)_p G_p for each of several copies.

    A is (copies, m, 6, 3, 3) as the kernels of the elements say, volumes w (m,), G (m, 9, r) with
    rows in the order of F, K (copies, r, r).
    """
    points, r = G.shape[0], G.shape[2]
    D = np.empty((9, 9))
    T = np.empty((_BLOCK, 9, r))
    S = np.empty((r, r))
    for n in range(A.shape[0]):
        S[:] = 0.0
        for start in range(0, points, _BLOCK):
            stop = min(start + _BLOCK, points)
            for p in range(start, stop):
                s = 0
                for j in range(3):
                    for l in range(j, 3):
                        for i in range(3):
                            for k in range(3):
                                d = volumes[p] * A[n, p, s, i, k]
                                D[3 * i + j, 3 * k + l] = d
                                D[3 * k + l, 3 * i + j] = d
                        s += 1
                for i in range(9):  # T = w (∂P/∂F) G, one row at a time
                    d0, d1, d2 = D[i, 0], D[i, 1], D[i, 2]
                    d3, d4, d5 = D[i, 3], D[i, 4], D[i, 5]
                    d6, d7, d8 = D[i, 6], D[i, 7], D[i, 8]
                    for a in range(r):
                        T[p - start, i, a] = (
                            (d0 * G[p, 0, a] + d1 * G[p, 1, a] + d2 * G[p, 2, a])
                            + (d3 * G[p, 3, a] + d4 * G[p, 4, a] + d5 * G[p, 5, a])
                            + (d6 * G[p, 6, a] + d7 * G[p, 7, a] + d8 * G[p, 8, a])
                        )
            rows = 9 * (stop - start)
            g = G[start:stop].reshape(rows, r)
            add_symmetric_product(g, T[: stop - start].reshape(rows, r), S)
        for a in range(r):
            K[n, a, a] += S[a, a]
            for b in range(a):
                K[n, a, b] += S[a, b]
                K[n, b, a] += S[a, b]
