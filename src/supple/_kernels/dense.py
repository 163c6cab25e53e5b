"""Small dense matrices inside other kernels: products, systems, eigenvectors.

Compiled code reaches BLAS and LAPACK through SciPy alone, which what runs a finished model must not
need. LAPACK's solver for symmetric systems it cannot call at all; the general one takes several
times as long at the few dozen unknowns of a reduced model, and makes arrays.
"""

import numpy as np

from .compiling import inlined_kernel, reordering_kernel
from .polynomial import FOUR, ONE, THREE, TWO, ZERO

_SWEEPS = 40  # of Jacobi's method, which needs about six
_ROUNDING = 1e-17  # of the largest entry: what counts as 0


@reordering_kernel
def add_symmetric_product(A, B, C):
    """C += AᵀB in the lower triangle, for A and B (k, n) whose product is symmetric.

    Above the diagonal C (n, n) is left with parts of sums. Four by four factors are kept at hand
    while a loop runs along the rows: as fast as BLAS, which computes both triangles.
    """
    rows, n = np.uint64(A.shape[0]), np.uint64(A.shape[1])
    last = n - n % FOUR
    for i in range(ZERO, last, FOUR):
        width = i + FOUR
        C0, C1, C2, C3 = C[i], C[i + ONE], C[i + TWO], C[i + THREE]
        for k in range(ZERO, rows - rows % FOUR, FOUR):
            B0, B1, B2, B3 = B[k], B[k + ONE], B[k + TWO], B[k + THREE]
            a00, a01, a02, a03 = A[k, i], A[k, i + ONE], A[k, i + TWO], A[k, i + THREE]
            m = k + ONE
            a10, a11, a12, a13 = A[m, i], A[m, i + ONE], A[m, i + TWO], A[m, i + THREE]
            m = k + TWO
            a20, a21, a22, a23 = A[m, i], A[m, i + ONE], A[m, i + TWO], A[m, i + THREE]
            m = k + THREE
            a30, a31, a32, a33 = A[m, i], A[m, i + ONE], A[m, i + TWO], A[m, i + THREE]
            for j in range(width):
                b0, b1, b2, b3 = B0[j], B1[j], B2[j], B3[j]
                C0[j] += a00 * b0 + a10 * b1 + a20 * b2 + a30 * b3
                C1[j] += a01 * b0 + a11 * b1 + a21 * b2 + a31 * b3
                C2[j] += a02 * b0 + a12 * b1 + a22 * b2 + a32 * b3
                C3[j] += a03 * b0 + a13 * b1 + a23 * b2 + a33 * b3
        for k in range(rows - rows % FOUR, rows):
            a0, a1, a2, a3 = A[k, i], A[k, i + ONE], A[k, i + TWO], A[k, i + THREE]
            for j in range(width):
                b = B[k, j]
                C0[j] += a0 * b
                C1[j] += a1 * b
                C2[j] += a2 * b
                C3[j] += a3 * b
    for i in range(last, n):
        for k in range(rows):
            a = A[k, i]
            for j in range(i + ONE):
                C[i, j] += a * B[k, j]


@reordering_kernel
def find_eigenvectors(A, values, vectors):
    """Eigenvalues, ascending, and eigenvectors, as columns, of a symmetric A, which is overwritten.

    Jacobi's method: turns in the plane of two axes, each of which makes one entry vanish.
    """
    n = len(A)
    vectors[:] = np.eye(n)
    nothing = _ROUNDING * np.abs(A).max()
    for _ in range(_SWEEPS):
        done = True
        for p in range(n):
            for q in range(p + 1, n):
                if abs(A[p, q]) <= nothing:
                    continue
                done = False
                slope = 0.5 * (A[q, q] - A[p, p]) / A[p, q]
                t = 1.0 / (abs(slope) + np.sqrt(1.0 + slope * slope))
                if slope < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(1.0 + t * t)
                s = t * c
                for k in range(n):
                    a, b = A[k, p], A[k, q]
                    A[k, p], A[k, q] = c * a - s * b, s * a + c * b
                for k in range(n):
                    a, b = A[p, k], A[q, k]
                    A[p, k], A[q, k] = c * a - s * b, s * a + c * b
                    a, b = vectors[k, p], vectors[k, q]
                    vectors[k, p], vectors[k, q] = c * a - s * b, s * a + c * b
                A[p, q] = A[q, p] = 0.0
        if done:
            break
    order = np.argsort(np.diag(A))
    for k in range(n):
        values[k] = A[order[k], order[k]]
    vectors[:] = vectors[:, order]


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
