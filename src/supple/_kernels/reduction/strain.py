"""Coefficients of the reduced StVK energy: strains as polynomials, and their products gathered."""

import numpy as np

from supple._kernels.compiling import kernel, reordering_kernel
from supple._kernels.reduction.polynomial import ONE

ROOT = np.sqrt(0.5)


@reordering_kernel
def fill_strains(H, weights, slots, first, shared, strains, traces):
    """The Green strain at some points as a polynomial of q, E = Σ e_i q_i + Σ f_ij q_i q_j.

    H (points, 3, 3, r) are the displacement gradients of the basis vectors. Columns i < r hold e_i
    and columns r + (i, j), i ≥ j, hold f_ij; the rows are the six components of each point, the
    shears times √2 so that E:E is a sum of squares. ``traces`` has one row a point. All of it is
    multiplied by the root of the point's weight.

    Points of a cell at which E_kk is the same share its row: ``slots`` (points a cell, 6) are the
    rows of a cell's points and components, ``first`` (points a cell, 3) says which point fills that
    of E_kk, and ``shared`` (points, 3) is the weight of all that share it.
    """
    r = np.uint64(H.shape[3])
    m = np.uint64(len(slots))
    rows = np.uint64(len(strains)) // (np.uint64(len(H)) // m)
    for p in range(np.uint64(len(H))):
        w = np.sqrt(weights[p])
        start, c, h = rows * (p // m), p % m, H[p]
        for k in range(3):
            if first[c, k]:
                wk, out = np.sqrt(shared[p, k]), start + slots[c, k]
                for i in range(r):
                    strains[out, i] = wk * h[k, k, i]
                column = r
                for i in range(r):
                    x, y, z = wk * h[0, k, i], wk * h[1, k, i], wk * h[2, k, i]
                    for j in range(i):
                        strains[out, column + j] = x * h[0, k, j] + y * h[1, k, j] + z * h[2, k, j]
                    square = x * h[0, k, i] + y * h[1, k, i] + z * h[2, k, i]
                    strains[out, column + i] = 0.5 * square
                    column += i + ONE
        s = np.uint64(3)
        v = w * ROOT
        for k in range(3):
            for l in range(k + 1, 3):
                out = start + slots[c, s]
                for i in range(r):
                    strains[out, i] = v * (h[k, l, i] + h[l, k, i])
                column = r
                for i in range(r):
                    x0, y0, z0 = v * h[0, k, i], v * h[1, k, i], v * h[2, k, i]
                    x1, y1, z1 = v * h[0, l, i], v * h[1, l, i], v * h[2, l, i]
                    for j in range(i):
                        strains[out, column + j] = (
                            x0 * h[0, l, j] + y0 * h[1, l, j] + z0 * h[2, l, j]
                            + x1 * h[0, k, j] + y1 * h[1, k, j] + z1 * h[2, k, j]
                        )  # fmt: skip
                    strains[out, column + i] = x0 * h[0, l, i] + y0 * h[1, l, i] + z0 * h[2, l, i]
                    column += i + ONE
                s += ONE
        x, y, z = start + slots[c, 0], start + slots[c, 1], start + slots[c, 2]
        wx, wy, wz = w / np.sqrt(shared[p, 0]), w / np.sqrt(shared[p, 1]), w / np.sqrt(shared[p, 2])
        for i in range(strains.shape[1]):
            traces[p, i] = wx * strains[x, i] + wy * strains[y, i] + wz * strains[z, i]


@kernel
def gather_monomials(gram, r, P, Q, S):
    """Adds the polynomial pᵀ G p, with p = (q, all q_c q_d), to coefficients that have one each.

    P, Q and S are numbered as P_ab, Q_abc and S_abcd with a ≥ b ≥ c ≥ d, without padding. Only the
    upper triangle of ``gram`` is read.
    """
    for i in range(r):
        for j in range(i + 1):
            P[i * (i + 1) // 2 + j] += gram[j, i] if i == j else 2.0 * gram[j, i]
    column = r
    for c in range(r):
        for d in range(c + 1):
            for i in range(r):
                high, low = max(i, c), min(i, c)
                middle, low = max(low, d), min(low, d)
                Q[high * (high + 1) * (high + 2) // 6 + middle * (middle + 1) // 2 + low] += (
                    2.0 * gram[i, column]
                )
            row = r
            for a in range(c + 1):
                for b in range(a + 1):
                    if row > column:
                        break
                    # two ordered pairs with a ≤ c, merged
                    high, low = max(a, d), min(a, d)
                    third, fourth = max(low, b), min(low, b)
                    g = gram[row, column]
                    S[
                        c * (c + 1) * (c + 2) * (c + 3) // 24
                        + high * (high + 1) * (high + 2) // 6
                        + third * (third + 1) // 2
                        + fourth
                    ] += g if row == column else 2.0 * g
                    row += 1
            column += 1
