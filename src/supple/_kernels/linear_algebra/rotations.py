"""The rotations nearest to many 3 × 3 matrices, several at a time."""

import math

import numpy as np

from supple._kernels.compiling import kernel, reordering_kernel
from supple._kernels.linear_algebra.svd3 import svd3
from supple._kernels.linear_algebra.tensors import multiply_by_transpose

_TOGETHER = 16
_ROUNDS = 12
_SMALL = 2e-8  # the change after this one would be half its square
_UPRIGHT = 0.05  # least determinant of matrices of size 1 that Newton's iteration rounds


@reordering_kernel
def _load(M, first, A):
    """Matrices from ``first`` on over their size, one beside the other; the last fills the rest."""
    last = len(M) - 1
    for k in range(_TOGETHER):
        n = min(first + k, last)
        square = 0.0
        for i in range(3):
            for j in range(3):
                square += M[n, i, j] * M[n, i, j]
        share = 1.0 / math.sqrt(square / 3.0) if square > 0.0 else 0.0
        for i in range(3):
            for j in range(3):
                A[3 * i + j, k] = share * M[n, i, j]


@reordering_kernel
def _round(A, change, least):
    """One step R ← (R + R⁻ᵀ)/2 of every matrix that still changes; the least determinant so far."""
    for s in range(_TOGETHER):
        a, b, c = A[0, s], A[1, s], A[2, s]
        d, e, f = A[3, s], A[4, s], A[5, s]
        g, h, k = A[6, s], A[7, s], A[8, s]
        p, q, r = e * k - f * h, f * g - d * k, d * h - e * g
        det = a * p + b * q + c * r
        least[s] = min(least[s], det)
        going = 1.0 if change[s] > _SMALL else 0.0
        half, less = going * 0.5 / max(det, _UPRIGHT), going * 0.5
        da, db, dc = half * p - less * a, half * q - less * b, half * r - less * c
        dd, de = half * (c * h - b * k) - less * d, half * (a * k - c * g) - less * e
        df, dg = half * (b * g - a * h) - less * f, half * (b * f - c * e) - less * g
        dh, dk = half * (c * d - a * f) - less * h, half * (a * e - b * d) - less * k
        A[0, s], A[1, s], A[2, s] = a + da, b + db, c + dc
        A[3, s], A[4, s], A[5, s] = d + dd, e + de, f + df
        A[6, s], A[7, s], A[8, s] = g + dg, h + dh, k + dk
        change[s] = (
            (abs(da) + abs(db) + abs(dc)) + (abs(dd) + abs(de) + abs(df)) + (abs(dg) + abs(dh))
        ) + abs(dk)


@kernel
def round_to_rotations(M):
    """Replaces each of M (n, 3, 3) by the rotation nearest to it.

    Newton's iteration for the polar decomposition; where a matrix is near a flat one, or mirrors,
    by singular values.
    """
    A = np.empty((9, _TOGETHER))
    change, least = np.empty(_TOGETHER), np.empty(_TOGETHER)
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    for first in range(0, len(M), _TOGETHER):
        _load(M, first, A)
        least[:], change[:] = np.inf, np.inf
        for _ in range(_ROUNDS):
            _round(A, change, least)
            largest = 0.0
            for k in range(_TOGETHER):
                if least[k] > _UPRIGHT:
                    largest = max(largest, change[k])
            if largest <= _SMALL:
                break
        for k in range(min(_TOGETHER, len(M) - first)):
            n = first + k
            if least[k] > _UPRIGHT and change[k] <= _SMALL:
                for i in range(3):
                    for j in range(3):
                        M[n, i, j] = A[3 * i + j, k]
            else:
                svd3(M[n], U, sigma, V)
                multiply_by_transpose(U, V, M[n])
