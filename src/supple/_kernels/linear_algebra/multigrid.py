"""Levels of a multigrid method: symmetric block matrices with both triangles, row by row.

Memory bounds the loops over rows. Each therefore reads blocks in one direction, first to last or
last to first, all of a row: four times as fast as going to and fro.
"""

import numpy as np

from supple._kernels.compiling import inlined_kernel, kernel


@kernel
def independent(indptr, cols):
    """Nodes of which no two are linked, as many as one by one finds room for."""
    free = np.ones(indptr.shape[0] - 1, np.bool_)
    found = np.zeros(free.shape[0], np.bool_)
    for i in range(free.shape[0]):
        if free[i]:
            found[i] = True
            free[cols[indptr[i] : indptr[i + 1]]] = False
    return np.flatnonzero(found)


@kernel
def gather_rows(indptr, cols, sources, values, free, first, last, out):
    """out = the blocks of rows first to last, without held components.

    Block s of the upper triangle is the source s + 1, transposed −(s + 1).
    """
    b = free.shape[1]
    for i in range(first, last):
        for k in range(indptr[i], indptr[i + 1]):
            j, s = cols[k], sources[k]
            for r in range(b):
                for c in range(b):
                    value = values[s - 1, r, c] if s > 0 else values[-s - 1, c, r]
                    out[k, r, c] = value if free[i, r] and free[j, c] else 0.0


@kernel
def galerkin(A, P, PT, coarse_indptr, coarse_cols, first, last, place, out):
    """out = Pᵀ A P for rows first to last; ``place`` is room for an index a coarse node."""
    indptr, cols, values = A
    P_indptr, P_cols, P_weights = P
    T_indptr, T_cols, T_weights = PT
    b = values.shape[1]
    for I in range(first, last):
        for s in range(coarse_indptr[I], coarse_indptr[I + 1]):
            place[coarse_cols[s]] = s
            for r in range(b):
                for c in range(b):
                    out[s, r, c] = 0.0
        for t in range(T_indptr[I], T_indptr[I + 1]):
            i = T_cols[t]
            for s in range(indptr[i], indptr[i + 1]):
                j = cols[s]
                for p in range(P_indptr[j], P_indptr[j + 1]):
                    to = place[P_cols[p]]
                    weight = T_weights[t] * P_weights[p]
                    for r in range(b):
                        for c in range(b):
                            out[to, r, c] += weight * values[s, r, c]


@inlined_kernel
def left_of_five(cols, values, start, step, count, rhs, x, i):
    """b_i − Σ A_s x_j over so many blocks s of row i, the first at ``start``, for b = 5."""
    y0, y1, y2, y3, y4 = rhs[i, 0], rhs[i, 1], rhs[i, 2], rhs[i, 3], rhs[i, 4]
    for k in range(count):
        s = start + step * k
        j = cols[s]
        a, b, c, d, e = x[j, 0], x[j, 1], x[j, 2], x[j, 3], x[j, 4]
        A = values[s]
        y0 -= A[0, 0] * a + A[0, 1] * b + A[0, 2] * c + A[0, 3] * d + A[0, 4] * e
        y1 -= A[1, 0] * a + A[1, 1] * b + A[1, 2] * c + A[1, 3] * d + A[1, 4] * e
        y2 -= A[2, 0] * a + A[2, 1] * b + A[2, 2] * c + A[2, 3] * d + A[2, 4] * e
        y3 -= A[3, 0] * a + A[3, 1] * b + A[3, 2] * c + A[3, 3] * d + A[3, 4] * e
        y4 -= A[4, 0] * a + A[4, 1] * b + A[4, 2] * c + A[4, 3] * d + A[4, 4] * e
    return y0, y1, y2, y3, y4


@inlined_kernel
def left_of_row(cols, values, start, step, count, rhs, x, i, left):
    """``left_of_five`` for any b, written to ``left`` (b,)."""
    for r in range(left.shape[0]):
        left[r] = rhs[i, r]
    for k in range(count):
        s = start + step * k
        for r in range(left.shape[0]):
            for c in range(left.shape[0]):
                left[r] -= values[s, r, c] * x[cols[s], c]


@inlined_kernel
def correct_row(cols, values, inverses, start, step, count, rhs, x, i, left):
    """x_i ← x_i + D_i⁻¹ (b_i − Σ A_s x_j); ``left`` is room for what is in brackets."""
    if x.shape[1] == 5:  # the same as below, unrolled
        a, b, c, d, e = left_of_five(cols, values, start, step, count, rhs, x, i)
        D = inverses[i]
        x[i, 0] += D[0, 0] * a + D[0, 1] * b + D[0, 2] * c + D[0, 3] * d + D[0, 4] * e
        x[i, 1] += D[1, 0] * a + D[1, 1] * b + D[1, 2] * c + D[1, 3] * d + D[1, 4] * e
        x[i, 2] += D[2, 0] * a + D[2, 1] * b + D[2, 2] * c + D[2, 3] * d + D[2, 4] * e
        x[i, 3] += D[3, 0] * a + D[3, 1] * b + D[3, 2] * c + D[3, 3] * d + D[3, 4] * e
        x[i, 4] += D[4, 0] * a + D[4, 1] * b + D[4, 2] * c + D[4, 3] * d + D[4, 4] * e
    else:
        left_of_row(cols, values, start, step, count, rhs, x, i, left)
        for r in range(left.shape[0]):
            for c in range(left.shape[0]):
                x[i, r] += inverses[i, r, c] * left[c]


@kernel
def forward(indptr, cols, values, inverses, rows, rhs, x):
    """x_i ← x_i + D_i⁻¹ (b_i − Σ A_ij x_j), row after row (Gauss–Seidel)."""
    left = np.empty(x.shape[1], x.dtype)
    for i in rows:
        count = indptr[i + 1] - indptr[i]
        correct_row(cols, values, inverses, indptr[i], 1, count, rhs, x, i, left)


@kernel
def backward(indptr, cols, values, inverses, rows, rhs, x):
    """The same from the last row to the first."""
    left = np.empty(x.shape[1], x.dtype)
    for k in range(len(rows) - 1, -1, -1):
        i = rows[k]
        count = indptr[i + 1] - indptr[i]
        correct_row(cols, values, inverses, indptr[i + 1] - 1, -1, count, rhs, x, i, left)


@kernel
def what_is_left(indptr, cols, values, first, last, rhs, x, out):
    """out = b − A x for rows first to last."""
    for i in range(first, last):
        count = indptr[i + 1] - indptr[i]
        if x.shape[1] == 5:
            a, b, c, d, e = left_of_five(cols, values, indptr[i], 1, count, rhs, x, i)
            out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = a, b, c, d, e
        else:
            left_of_row(cols, values, indptr[i], 1, count, rhs, x, i, out[i])
