"""Reduced elastic forces and stiffness of a pose from cubature cells (pose space, Eqs. 21–22)."""

import numpy as np

from .compiling import reordering_kernel
from .polynomial import ONE, THREE, TWO
from .pose_basis import NINE, ZERO

BLOCK = 8  # cells whose product with the stress derivative stays in the innermost cache


@reordering_kernel
def strain_cells(q, scale, groups, G, scaled, F):
    """F = I + Σ_k Υ_k q_k ∂U_k/∂X in each cell; returns the smallest determinant."""
    at = ZERO
    smallest = np.inf
    for g in range(len(groups.starts) - 1):
        first = groups.column_starts[g]
        s = np.uint64(groups.column_starts[g + 1] - first)
        for b in range(s):
            k = groups.columns[first + b]
            scaled[b] = scale[k] * q[k]
        for e in range(groups.starts[g], groups.starts[g + 1]):
            H = F[e, 0]
            for i in range(THREE):
                h0, h1, h2 = 0.0, 0.0, 0.0
                for b in range(s):
                    z = scaled[b]
                    h0 += G[at + b] * z
                    h1 += G[at + s + b] * z
                    h2 += G[at + TWO * s + b] * z
                H[i, ZERO], H[i, ONE], H[i, TWO] = h0, h1, h2
                H[i, i] += 1.0
                at += THREE * s
            det = (
                H[0, 0] * (H[1, 1] * H[2, 2] - H[1, 2] * H[2, 1])
                - H[0, 1] * (H[1, 0] * H[2, 2] - H[1, 2] * H[2, 0])
                + H[0, 2] * (H[1, 0] * H[2, 1] - H[1, 1] * H[2, 0])
            )
            smallest = min(smallest, det)
    return smallest


@reordering_kernel
def assemble(P, A, volumes, scale, groups, G, T, S, gathered, gap, q, K, R):
    """R = Υ Σ_e v_e G_eᵀ P_e + D q and K = Υ Σ_e v_e G_eᵀ (∂P/∂F)_e G_e Υ + D.

    ``volumes`` v hold the cubature weights, ``gap`` is D. Of K both triangles are filled.
    """
    r = np.uint64(len(R))
    for i in range(r):
        total = 0.0
        for j in range(r):
            total += gap[i, j] * q[j]
            K[i, j] = gap[i, j]
        R[i] = total
    D = np.empty((9, 9))
    at = ZERO
    for g in range(len(groups.starts) - 1):
        first = groups.column_starts[g]
        s = np.uint64(groups.column_starts[g + 1] - first)
        square = S[: s * s].reshape((s, s))
        sums = S[s * s : TWO * s * s].reshape((s, s))
        for i in range(s):
            gathered[i] = 0.0
            for j in range(s):
                sums[i, j] = 0.0
        for start in range(groups.starts[g], groups.starts[g + 1], BLOCK):
            stop = min(start + BLOCK, groups.starts[g + 1])
            begin = at
            for e in range(start, stop):
                volume = volumes[e]
                pair = 0
                for j in range(3):
                    for l in range(j, 3):
                        for i in range(3):
                            for k in range(3):
                                d = volume * A[e, 0, pair, i, k]
                                D[3 * i + j, 3 * k + l] = d
                                D[3 * k + l, 3 * i + j] = d
                        pair += 1
                for i in range(NINE):  # T = v (∂P/∂F) G, one row at a time
                    d0, d1, d2 = D[i, 0], D[i, 1], D[i, 2]
                    d3, d4, d5 = D[i, 3], D[i, 4], D[i, 5]
                    d6, d7, d8 = D[i, 6], D[i, 7], D[i, 8]
                    p = volume * P[e, 0, i // THREE, i % THREE]
                    row, o = at + i * s, at - begin + i * s
                    for b in range(s):
                        t = at + b
                        T[o + b] = (
                            (d0 * G[t] + d1 * G[t + s] + d2 * G[t + TWO * s])
                            + (d3 * G[t + THREE * s] + d4 * G[t + np.uint64(4) * s])
                            + (d5 * G[t + np.uint64(5) * s] + d6 * G[t + np.uint64(6) * s])
                            + (d7 * G[t + np.uint64(7) * s] + d8 * G[t + np.uint64(8) * s])
                        )
                        gathered[b] += p * G[row + b]
                at += NINE * s
            rows = (at - begin) // s
            left = G[begin:at].reshape((rows, s))
            np.dot(left.T, T[: at - begin].reshape((rows, s)), square)
            for i in range(s):
                for j in range(i + ONE):
                    sums[i, j] += square[i, j]
        for i in range(s):
            k = groups.columns[first + i]
            R[k] += scale[k] * gathered[i]
            for j in range(i + ONE):
                l = groups.columns[first + j]
                K[k, l] += scale[k] * scale[l] * sums[i, j]
    for i in range(r):
        for j in range(i):
            K[j, i] = K[i, j]
