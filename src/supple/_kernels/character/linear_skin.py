"""Linear blends of the moves of bones (b, 3, 4), without the blended matrix of each vertex."""

from supple._kernels.compiling import kernel


@kernel
def skin_linear(moves, bones, weights, which, X, x):
    """x (k, 3) = Σ_b w_b M_b X of the vertices X (k, 3), which are those of ``which`` (k,)."""
    for n in range(len(which)):
        v = which[n]
        p0, p1, p2 = X[n, 0], X[n, 1], X[n, 2]
        x0, x1, x2 = 0.0, 0.0, 0.0
        for s in range(bones.shape[1]):
            share = weights[v, s]
            if share == 0.0:
                continue
            M = moves[bones[v, s]]
            x0 += share * (M[0, 0] * p0 + M[0, 1] * p1 + M[0, 2] * p2 + M[0, 3])
            x1 += share * (M[1, 0] * p0 + M[1, 1] * p1 + M[1, 2] * p2 + M[1, 3])
            x2 += share * (M[2, 0] * p0 + M[2, 1] * p1 + M[2, 2] * p2 + M[2, 3])
        x[n, 0], x[n, 1], x[n, 2] = x0, x1, x2


@kernel
def carry_points(moves, starts, bones, spans, x, G):
    """Points between vertices of a linear blend: x (k, 3) and G (k, 3, 3).

    Those of ``spans`` (e, 13) from starts[n] on, each with its bone, make up point n: with a matrix
    B, a place p and a weight s (3 × 4 numbers, rows of B and p in turn, and s), x is the sum of
    M p + s t over the bones' moves (M, t), and G that of M B.
    """
    for n in range(len(x)):
        g00, g01, g02, x0 = 0.0, 0.0, 0.0, 0.0
        g10, g11, g12, x1 = 0.0, 0.0, 0.0, 0.0
        g20, g21, g22, x2 = 0.0, 0.0, 0.0, 0.0
        for e in range(starts[n], starts[n + 1]):
            M, D = moves[bones[e]], spans[e]
            s = D[12]
            x0, x1, x2 = x0 + s * M[0, 3], x1 + s * M[1, 3], x2 + s * M[2, 3]
            for j in range(3):
                a, b, c, p = D[4 * j], D[4 * j + 1], D[4 * j + 2], D[4 * j + 3]
                m0, m1, m2 = M[0, j], M[1, j], M[2, j]
                g00, g01, g02, x0 = g00 + m0 * a, g01 + m0 * b, g02 + m0 * c, x0 + m0 * p
                g10, g11, g12, x1 = g10 + m1 * a, g11 + m1 * b, g12 + m1 * c, x1 + m1 * p
                g20, g21, g22, x2 = g20 + m2 * a, g21 + m2 * b, g22 + m2 * c, x2 + m2 * p
        x[n, 0], x[n, 1], x[n, 2] = x0, x1, x2
        G[n, 0, 0], G[n, 0, 1], G[n, 0, 2] = g00, g01, g02
        G[n, 1, 0], G[n, 1, 1], G[n, 1, 2] = g10, g11, g12
        G[n, 2, 0], G[n, 2, 1], G[n, 2, 2] = g20, g21, g22
