"""Small dense matrices inside other kernels: products, systems, eigenvectors.

Compiled code reaches BLAS and LAPACK through SciPy alone, which what runs a finished model must not
need. LAPACK's solver for symmetric systems it cannot call at all; the general one takes several
times as long at the few dozen unknowns of a reduced model, and makes arrays.
"""

import numpy as np

from supple._kernels.compiling import inlined_kernel, pointwise, reordering_kernel
from supple._kernels.linear_algebra import tiles
from supple._kernels.reduction.polynomial import FOUR, ONE, THREE, TWO, ZERO

_TILE = np.uint64(tiles.WIDTH)
_SINGLE_TILE = np.uint64(tiles.SINGLE_WIDTH)
_SWEEPS = 40  # of Jacobi's method, which needs about six
_ROUNDING = 1e-17  # of the largest entry: what counts as 0


@pointwise
def padded(n):
    """How wide the rows of a product with n columns are made: whole tiles."""
    return (np.uint64(n) + _TILE - ONE) // _TILE * _TILE


@reordering_kernel
def add_symmetric_product(A, B, C):
    """C += AᵀB in the lower triangle, for A (k, n) and B (k, n) whose product is symmetric.

    The rows of B and C are ``padded``. Above the diagonal C (n, n) is left with parts of sums, and
    beyond column n with anything.
    """
    n = np.uint64(A.shape[1])
    first = n % FOUR
    if first == ONE:
        tiles.add_tile_of_1(A, B, C, ZERO, ZERO)
    elif first == TWO:
        tiles.add_tile_of_2(A, B, C, ZERO, ZERO)
    elif first == THREE:
        tiles.add_tile_of_3(A, B, C, ZERO, ZERO)
    for i in range(first, n, FOUR):
        for j in range(ZERO, i + FOUR, _TILE):
            tiles.add_tile_of_4(A, B, C, i, j)


@reordering_kernel
def add_single_product(A, B, C):
    """The same in single precision, with rows of B and C filled up to ``SINGLE_WIDTH``."""
    n = np.uint64(A.shape[1])
    first = n % FOUR
    for i in range(first):
        tiles.add_single_tile_of_1(A, B, C, i, ZERO)
    for i in range(first, n, FOUR):
        for j in range(ZERO, i + FOUR, _SINGLE_TILE):
            tiles.add_single_tile_of_4(A, B, C, i, j)


@reordering_kernel
def multiply_nine(D, G, at, s, T, to, wide):
    """T = D G for D (9, 9) and G (9, s), three rows at a time.

    G begins at ``at`` of its array; T at ``to`` of its own, with rows ``wide`` apart.
    """
    for i in range(ZERO, np.uint64(9), THREE):
        x, y, z = D[i], D[i + ONE], D[i + TWO]
        x0, x1, x2, x3, x4, x5, x6, x7, x8 = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]
        y0, y1, y2, y3, y4, y5, y6, y7, y8 = y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8]
        z0, z1, z2, z3, z4, z5, z6, z7, z8 = z[0], z[1], z[2], z[3], z[4], z[5], z[6], z[7], z[8]
        for b in range(s):
            t, o = at + b, to + i * wide + b
            g0, g1, g2 = G[t], G[t + s], G[t + TWO * s]
            g3, g4, g5 = G[t + THREE * s], G[t + FOUR * s], G[t + np.uint64(5) * s]
            t += np.uint64(6) * s
            g6, g7, g8 = G[t], G[t + s], G[t + TWO * s]
            T[o] = (
                (x0 * g0 + x1 * g1 + x2 * g2)
                + (x3 * g3 + x4 * g4 + x5 * g5)
                + (x6 * g6 + x7 * g7 + x8 * g8)
            )
            T[o + wide] = (
                (y0 * g0 + y1 * g1 + y2 * g2)
                + (y3 * g3 + y4 * g4 + y5 * g5)
                + (y6 * g6 + y7 * g7 + y8 * g8)
            )
            T[o + TWO * wide] = (
                (z0 * g0 + z1 * g1 + z2 * g2)
                + (z3 * g3 + z4 * g4 + z5 * g5)
                + (z6 * g6 + z7 * g7 + z8 * g8)
            )


@reordering_kernel
def find_eigenvectors(A, values, vectors):
    """Eigenvalues, ascending, and eigenvectors, as columns, of a symmetric A, which is overwritten.

    Jacobi's method: turns in the plane of two axes, each of which makes one entry vanish.
    """
    n = len(A)
    nothing = 0.0
    for p in range(n):
        for q in range(n):
            vectors[p, q] = 1.0 if p == q else 0.0
            nothing = max(nothing, _ROUNDING * abs(A[p, q]))
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
    for p in range(n):
        values[p] = A[p, p]
    for p in range(n):  # the smallest of the rest comes first
        least = p
        for q in range(p + 1, n):
            if values[q] < values[least]:
                least = q
        values[p], values[least] = values[least], values[p]
        for k in range(n):
            vectors[k, p], vectors[k, least] = vectors[k, least], vectors[k, p]


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
