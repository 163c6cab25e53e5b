"""Closest points of a vertex and a triangle, and of two edges.

Both are a *stencil* of four points y (4, 3). Its sides are r = Σ c_a y_a apart, where the shares
c (4,) sum to nothing; r, and so the distance, depends on k ≤ 2 parameters of the closest points,
with ∂c/∂β_j = e_j and ∂r/∂β_j = T_j = Σ e_ja y_a, to which r is perpendicular.
"""

import math

from supple._kernels.compiling import pointwise

VERTEX_FACE, EDGE_EDGE = 0, 1
"""Kinds of stencils: a vertex, then a triangle; an edge, then another."""
PARALLEL = 1e-20
"""Squared sine below which edges are parallel."""


@pointwise
def place(x, quad, y):
    """The points of a stencil (4,) on a surface x (m, 3)."""
    for a in range(4):
        for i in range(3):
            y[a, i] = x[quad[a], i]


@pointwise
def closest(kind, y, c, e):
    """Fills c (4,) and the first k rows of e (2, 4); returns k."""
    if kind == VERTEX_FACE:
        return closest_on_triangle(y, c, e)
    return closest_on_edges(y, c, e)


@pointwise
def apart(y, c, r):
    """Fills r (3,); returns its square D."""
    D = 0.0
    for i in range(3):
        total = 0.0
        for a in range(4):
            total += c[a] * y[a, i]
        r[i] = total
        D += total * total
    return D


@pointwise
def dot_of(y, a, b, p, q):
    """(y_b − y_a) · (y_q − y_p)."""
    return (
        (y[b, 0] - y[a, 0]) * (y[q, 0] - y[p, 0])
        + (y[b, 1] - y[a, 1]) * (y[q, 1] - y[p, 1])
        + (y[b, 2] - y[a, 2]) * (y[q, 2] - y[p, 2])
    )


@pointwise
def _corner(c, a):
    c[0], c[1], c[2], c[3] = 1.0, 0.0, 0.0, 0.0
    c[a] = -1.0
    return 0


@pointwise
def _side(c, e, a, b, share):
    """On the side from a to b, ``share`` of the way."""
    c[0], c[1], c[2], c[3] = 1.0, 0.0, 0.0, 0.0
    c[a], c[b] = share - 1.0, -share
    e[0, 0], e[0, 1], e[0, 2], e[0, 3] = 0.0, 0.0, 0.0, 0.0
    e[0, a], e[0, b] = 1.0, -1.0
    return 1


@pointwise
def closest_on_triangle(y, c, e):
    """By the regions of the triangle 1, 2, 3 that the point 0 projects to."""
    d1, d2 = dot_of(y, 1, 2, 1, 0), dot_of(y, 1, 3, 1, 0)
    if d1 <= 0.0 and d2 <= 0.0:
        return _corner(c, 1)
    d3, d4 = dot_of(y, 1, 2, 2, 0), dot_of(y, 1, 3, 2, 0)
    if d3 >= 0.0 and d4 <= d3:
        return _corner(c, 2)
    d5, d6 = dot_of(y, 1, 2, 3, 0), dot_of(y, 1, 3, 3, 0)
    if d6 >= 0.0 and d5 <= d6:
        return _corner(c, 3)
    beyond_3 = d1 * d4 - d3 * d2
    if beyond_3 <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return _side(c, e, 1, 2, d1 / (d1 - d3))
    beyond_2 = d5 * d2 - d1 * d6
    if beyond_2 <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return _side(c, e, 1, 3, d2 / (d2 - d6))
    beyond_1 = d3 * d6 - d5 * d4
    if beyond_1 <= 0.0 and d4 >= d3 and d5 >= d6:
        return _side(c, e, 2, 3, (d4 - d3) / ((d4 - d3) + (d5 - d6)))
    whole = beyond_1 + beyond_2 + beyond_3
    c[0], c[2], c[3] = 1.0, -beyond_2 / whole, -beyond_3 / whole
    c[1] = -1.0 - c[2] - c[3]
    e[0, 0], e[0, 1], e[0, 2], e[0, 3] = 0.0, 1.0, -1.0, 0.0
    e[1, 0], e[1, 1], e[1, 2], e[1, 3] = 0.0, 1.0, 0.0, -1.0
    return 2


@pointwise
def closest_on_edges(y, c, e):
    """Of the edges 0, 1 and 2, 3. Where they are parallel it is one pair of points of many."""
    A, B, both = dot_of(y, 0, 1, 0, 1), dot_of(y, 2, 3, 2, 3), dot_of(y, 0, 1, 2, 3)
    first, second = dot_of(y, 0, 1, 2, 0), dot_of(y, 2, 3, 2, 0)
    span = ahead = 0.0
    for i in range(3):  # cross products: differences of products would lose what is left
        j, k = (i + 1) % 3, (i + 2) % 3
        v_j, v_k = y[3, j] - y[2, j], y[3, k] - y[2, k]
        cross = (y[1, j] - y[0, j]) * v_k - (y[1, k] - y[0, k]) * v_j
        span += cross * cross
        ahead += cross * ((y[2, j] - y[0, j]) * v_k - (y[2, k] - y[0, k]) * v_j)
    s = 0.0
    if span > PARALLEL * A * B:
        s = min(max(ahead / span, 0.0), 1.0)
    t = (both * s + second) / B
    if t <= 0.0:
        t = 0.0
        s = min(max(-first / A, 0.0), 1.0)
    elif t >= 1.0:
        t = 1.0
        s = min(max((both - first) / A, 0.0), 1.0)
    c[0], c[1], c[2], c[3] = 1.0 - s, s, t - 1.0, -t
    k = 0
    if 0.0 < s < 1.0:
        e[k, 0], e[k, 1], e[k, 2], e[k, 3] = -1.0, 1.0, 0.0, 0.0
        k += 1
    if 0.0 < t < 1.0:
        e[k, 0], e[k, 1], e[k, 2], e[k, 3] = 0.0, 0.0, 1.0, -1.0
        k += 1
    return k


@pointwise
def distance(kind, y, c, e, r):
    """d, by way of work arrays (4,), (2, 4) and (3,)."""
    closest(kind, y, c, e)
    return math.sqrt(apart(y, c, r))


@pointwise
def nearing(kind, quad, ways):
    """By how much the sides of a stencil are nearer at the most, once vertices went ``ways``."""
    split, total, side = 1 if kind == VERTEX_FACE else 2, 0.0, 0.0
    for a in range(4):
        if a == split:
            total, side = side, 0.0
        side = max(side, ways[quad[a]])
    return total + side
