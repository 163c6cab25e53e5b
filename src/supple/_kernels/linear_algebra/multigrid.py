"""Levels of a multigrid method: symmetric block matrices with both triangles, row by row.

The blocks of a row are in the order of a Gauss–Seidel sweep: those of earlier rows, the diagonal at
``middle``, those of later rows.
"""

import numpy as np

from supple._kernels.compiling import inlined_kernel, kernel, reordering_kernel


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
def arrange(indptr, late, cols, sources, middle):
    """Sort the blocks of each row as above; late rows come after all others."""
    for i in range(indptr.shape[0] - 1):
        first, last = indptr[i], indptr[i + 1]
        old, old_sources = cols[first:last].copy(), sources[first:last].copy()
        front, back = first, last - 1
        for k in range(last - first):
            j = old[k]
            if j == i:
                continue
            if (late[i] and not late[j]) or (late[i] == late[j] and j < i):
                cols[front], sources[front] = j, old_sources[k]
                front += 1
            else:
                cols[back], sources[back] = j, old_sources[k]
                back -= 1
        middle[i] = front
        cols[front] = i
        for k in range(last - first):
            if old[k] == i:
                sources[front] = old_sources[k]


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
def add_products(cols, values, first, last, x, y):
    """y += Σ A_s x_j over blocks first to last of a row, y of shape (b,)."""
    if y.shape[0] == 5:  # the same as below, unrolled
        y0, y1, y2, y3, y4 = y[0], y[1], y[2], y[3], y[4]
        for s in range(first, last):
            j = cols[s]
            a, b, c, d, e = x[j, 0], x[j, 1], x[j, 2], x[j, 3], x[j, 4]
            A = values[s]
            y0 += A[0, 0] * a + A[0, 1] * b + A[0, 2] * c + A[0, 3] * d + A[0, 4] * e
            y1 += A[1, 0] * a + A[1, 1] * b + A[1, 2] * c + A[1, 3] * d + A[1, 4] * e
            y2 += A[2, 0] * a + A[2, 1] * b + A[2, 2] * c + A[2, 3] * d + A[2, 4] * e
            y3 += A[3, 0] * a + A[3, 1] * b + A[3, 2] * c + A[3, 3] * d + A[3, 4] * e
            y4 += A[4, 0] * a + A[4, 1] * b + A[4, 2] * c + A[4, 3] * d + A[4, 4] * e
        y[0], y[1], y[2], y[3], y[4] = y0, y1, y2, y3, y4
    else:
        for s in range(first, last):
            for r in range(y.shape[0]):
                for c in range(y.shape[0]):
                    y[r] += values[s, r, c] * x[cols[s], c]


@inlined_kernel
def solve_row(inverses, rhs, known, i, x):
    """x_i = D_i⁻¹ (b_i − known)."""
    b = x.shape[1]
    for r in range(b):
        known[r] = rhs[i, r] - known[r]
    for r in range(b):
        total = inverses[i, r, 0] * known[0]
        for c in range(1, b):
            total += inverses[i, r, c] * known[c]
        x[i, r] = total


@reordering_kernel
def forward(indptr, middle, cols, values, inverses, rows, rhs, x):
    """x_i = D_i⁻¹ (b_i − Σ A_ij x_j over earlier j), row after row: a sweep that starts at 0."""
    known = np.empty(x.shape[1], x.dtype)
    for i in rows:
        known[:] = 0.0
        add_products(cols, values, indptr[i], middle[i], x, known)
        solve_row(inverses, rhs, known, i, x)


@reordering_kernel
def left_by_forward(indptr, middle, cols, values, first, last, x, out):
    """out = b − A x for the x of ``forward``, which is −Σ A_ij x_j over later j."""
    known = np.empty(x.shape[1], x.dtype)
    for i in range(first, last):
        known[:] = 0.0
        add_products(cols, values, middle[i] + 1, indptr[i + 1], x, known)
        for r in range(x.shape[1]):
            out[i, r] = -known[r]


@reordering_kernel
def backward(indptr, middle, cols, values, inverses, rows, rhs, x):
    """x_i ← D_i⁻¹ (b_i − Σ A_ij x_j over all other j), from the last row to the first."""
    known = np.empty(x.shape[1], x.dtype)
    for k in range(len(rows) - 1, -1, -1):
        i = rows[k]
        known[:] = 0.0
        add_products(cols, values, indptr[i], middle[i], x, known)
        add_products(cols, values, middle[i] + 1, indptr[i + 1], x, known)
        solve_row(inverses, rhs, known, i, x)
