"""Symmetric block-sparse matrices, upper triangle stored by rows."""

import numpy as np

from supple._kernels.compiling import kernel, pointwise


@kernel
def multiply(indptr, cols, values, first, last, x, y):
    """y = A x for x and y of shape (n, b); only blocks with row ≤ column are stored.

    Rows first to last contribute, also what their blocks are worth below the diagonal; y of
    earlier rows is left alone.
    """
    b = x.shape[1]
    y[first:] = 0.0
    if b == 3:
        for i in range(first, last):
            x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
            y0, y1, y2 = y[i, 0], y[i, 1], y[i, 2]
            for s in range(indptr[i], indptr[i + 1]):
                j = cols[s]
                z0, z1, z2 = x[j, 0], x[j, 1], x[j, 2]
                y0 += values[s, 0, 0] * z0 + values[s, 0, 1] * z1 + values[s, 0, 2] * z2
                y1 += values[s, 1, 0] * z0 + values[s, 1, 1] * z1 + values[s, 1, 2] * z2
                y2 += values[s, 2, 0] * z0 + values[s, 2, 1] * z1 + values[s, 2, 2] * z2
                if j != i:
                    y[j, 0] += values[s, 0, 0] * x0 + values[s, 1, 0] * x1 + values[s, 2, 0] * x2
                    y[j, 1] += values[s, 0, 1] * x0 + values[s, 1, 1] * x1 + values[s, 2, 1] * x2
                    y[j, 2] += values[s, 0, 2] * x0 + values[s, 1, 2] * x1 + values[s, 2, 2] * x2
            y[i, 0], y[i, 1], y[i, 2] = y0, y1, y2
    elif b == 5:  # the same as below, with loops of a length known to the compiler
        for i in range(first, last):
            for s in range(indptr[i], indptr[i + 1]):
                j = cols[s]
                for r in range(5):
                    total = 0.0
                    for c in range(5):
                        total += values[s, r, c] * x[j, c]
                    y[i, r] += total
                if j != i:
                    for c in range(5):
                        total = 0.0
                        for r in range(5):
                            total += values[s, r, c] * x[i, r]
                        y[j, c] += total
    else:
        for i in range(first, last):
            for s in range(indptr[i], indptr[i + 1]):
                j = cols[s]
                for r in range(b):
                    for c in range(b):
                        y[i, r] += values[s, r, c] * x[j, c]
                        if j != i:
                            y[j, c] += values[s, r, c] * x[i, r]


@kernel
def multiply_scalar(indptr, cols, values, x, y):
    """y = (A ⊗ I) x where each block is one number times the 3 × 3 identity (a mass matrix)."""
    n = indptr.shape[0] - 1
    y[:] = 0.0
    for i in range(n):
        x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
        y0, y1, y2 = y[i, 0], y[i, 1], y[i, 2]
        for s in range(indptr[i], indptr[i + 1]):
            j = cols[s]
            v = values[s]
            y0 += v * x[j, 0]
            y1 += v * x[j, 1]
            y2 += v * x[j, 2]
            if j != i:
                y[j, 0] += v * x0
                y[j, 1] += v * x1
                y[j, 2] += v * x2
        y[i, 0], y[i, 1], y[i, 2] = y0, y1, y2


@kernel
def multiply_many(indptr, cols, values, factor, scalars, x, y):
    """y += (factor · A + S) x for k vectors at once, x and y (n, 3, k).

    A has blocks 3 × 3, or none at all; S multiples of the identity, or none.
    """
    n = indptr.shape[0] - 1
    k = np.uint64(x.shape[2])
    for i in range(n):
        for s in range(indptr[i], indptr[i + 1]):
            j = cols[s]
            a = b = c = d = e = f = g = h = m = 0.0
            if len(values) > 0:
                a, b, c = values[s, 0, 0], values[s, 0, 1], values[s, 0, 2]
                d, e, f = values[s, 1, 0], values[s, 1, 1], values[s, 1, 2]
                g, h, m = values[s, 2, 0], values[s, 2, 1], values[s, 2, 2]
            a, b, c = factor * a, factor * b, factor * c
            d, e, f = factor * d, factor * e, factor * f
            g, h, m = factor * g, factor * h, factor * m
            if len(scalars) > 0:
                a += scalars[s]
                e += scalars[s]
                m += scalars[s]
            for t in range(k):
                z0, z1, z2 = x[j, 0, t], x[j, 1, t], x[j, 2, t]
                y[i, 0, t] += a * z0 + b * z1 + c * z2
                y[i, 1, t] += d * z0 + e * z1 + f * z2
                y[i, 2, t] += g * z0 + h * z1 + m * z2
            if j != i:
                for t in range(k):
                    z0, z1, z2 = x[i, 0, t], x[i, 1, t], x[i, 2, t]
                    y[j, 0, t] += a * z0 + d * z1 + g * z2
                    y[j, 1, t] += b * z0 + e * z1 + h * z2
                    y[j, 2, t] += c * z0 + f * z1 + m * z2


@kernel
def add_scaled_identity_blocks(values, scalars, factor):
    """values[s] += factor · scalars[s] · I."""
    for s in range(values.shape[0]):
        x = factor * scalars[s]
        for i in range(values.shape[1]):
            values[s, i, i] += x


@kernel
def apply_diagonal_blocks(inverses, x, y):
    """y_i = D_i⁻¹ x_i."""
    b = x.shape[1]
    for i in range(x.shape[0]):
        for r in range(b):
            total = 0.0
            for c in range(b):
                total += inverses[i, r, c] * x[i, c]
            y[i, r] = total


@kernel
def gather(values, sources, out):
    """out[k] = values[sources[k]] on flat arrays."""
    for k in range(sources.shape[0]):
        out[k] = values[sources[k]]


@kernel
def add_scaled(part, factor, out):
    """out += factor · part on flat arrays."""
    for k in range(out.shape[0]):
        out[k] += factor * part[k]


@kernel
def diagonal_blocks(indptr, values, free, out):
    """The diagonal blocks, with fixed components replaced by the identity."""
    for i in range(free.shape[0]):
        s = indptr[i]
        for r in range(free.shape[1]):
            for c in range(free.shape[1]):
                if free[i, r] and free[i, c]:
                    out[i, r, c] = values[s, r, c]
                else:
                    out[i, r, c] = 1.0 if r == c else 0.0


@kernel
def scalar_upper_pattern(indptr, cols, free, number):
    """Row pointers, columns and sources of the free scalars of a block matrix's upper triangle.

    ``number`` (n, b) numbers the free components in order; ``sources`` index the flat values.
    """
    n, b = free.shape
    most = len(cols) * b * b
    rows = np.zeros(free.sum() + 1, np.int64)
    columns, sources = np.empty(most, np.int64), np.empty(most, np.int64)
    k = 0
    for i in range(n):
        for r in range(b):
            if free[i, r]:
                for s in range(indptr[i], indptr[i + 1]):
                    for c in range(b):
                        if free[cols[s], c] and (cols[s] > i or c >= r):
                            columns[k] = number[cols[s], c]
                            sources[k] = (s * b + r) * b + c
                            k += 1
                rows[number[i, r] + 1] = k
    return rows, columns[:k].copy(), sources[:k].copy()


@kernel
def add_at(values, places, blocks):
    """values[places] += blocks, for places that may be there more than once."""
    for k in range(len(places)):
        for i in range(3):
            for j in range(3):
                values[places[k], i, j] += blocks[k, i, j]


@pointwise
def add_entry(values, slot, i, k, x):
    """Add x to entry (i, k) of a block, stored transposed where its slot is a complement."""
    if slot >= 0:
        values[slot, i, k] += x
    else:
        values[~slot, k, i] += x
