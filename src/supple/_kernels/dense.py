"""Small dense symmetric systems, solved inside other kernels.

Compiled code can call LAPACK's general solver only, which at the few dozen unknowns of a reduced
model takes several times as long, and makes arrays.
"""

import numpy as np

from .compiling import inlined_kernel
from .polynomial import ONE


@inlined_kernel
def solve_symmetric(A, b):
    """Overwrites b with A⁻¹ b; returns False where A is not positive definite.

    Uses the lower triangle of A and overwrites it with the factors of A = UDUᵀ, made from the last
    unknown to the first: the inner loops then run along rows.
    """
    r = np.uint64(len(b))
    definite = True
    for back in range(r):
        k = r - ONE - back
        pivot = A[k, k]
        if not pivot > 0.0:
            definite = False
            break
        inverse = 1.0 / pivot
        A[k, k] = inverse
        bk = b[k]
        for i in range(k):
            factor = A[k, i] * inverse
            b[i] -= factor * bk
            for j in range(i + ONE):
                A[i, j] -= factor * A[k, j]
    if definite:
        for i in range(r):
            x = b[i]
            for j in range(i):
                x -= A[i, j] * b[j]
            b[i] = x * A[i, i]
    return definite


@inlined_kernel
def factorize_symmetric(A):
    """Overwrites the lower triangle of A with its factors; returns whether A is definite.

    They are those of ``solve_symmetric``.
    """
    r = np.uint64(len(A))
    definite = True
    for back in range(r):
        k = r - ONE - back
        pivot = A[k, k]
        if not pivot > 0.0:
            definite = False
            break
        inverse = 1.0 / pivot
        A[k, k] = inverse
        for i in range(k):
            factor = A[k, i] * inverse
            for j in range(i + ONE):
                A[i, j] -= factor * A[k, j]
    return definite


@inlined_kernel
def solve_factorized(A, B):
    """Overwrites each row b of B with A⁻¹ b, for A from ``factorize_symmetric``."""
    r = np.uint64(len(A))
    for row in range(np.uint64(len(B))):
        for back in range(r):
            k = r - ONE - back
            share = B[row, k] * A[k, k]
            for i in range(k):
                B[row, i] -= share * A[k, i]
        for i in range(r):
            x = B[row, i]
            for j in range(i):
                x -= A[i, j] * B[row, j]
            B[row, i] = x * A[i, i]


@inlined_kernel
def solve_general(A, b):
    """Overwrites b with A⁻¹ b, and A too; for a handful of unknowns."""
    n = np.uint64(len(b))
    for k in range(n):
        for i in range(k + ONE, n):  # the largest entry below comes up
            if abs(A[i, k]) > abs(A[k, k]):
                for j in range(k, n):
                    A[k, j], A[i, j] = A[i, j], A[k, j]
                b[k], b[i] = b[i], b[k]
        for i in range(k + ONE, n):
            factor = A[i, k] / A[k, k]
            for j in range(k + ONE, n):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    for back in range(n):
        last = n - ONE - back
        x = b[last]
        for j in range(last + ONE, n):
            x -= A[last, j] * b[j]
        b[last] = x / A[last, last]
