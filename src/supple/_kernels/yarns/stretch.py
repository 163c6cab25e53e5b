"""Stretch of yarn segments: ε = |x₁ − x₀|/Δs − 1, weight Δs.

Stitches of a seam stretch too. They are springs of a fixed length Δs between two crossings.
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.yarns.local import add_block, positive_part, reduced

STITCH = 2
"""The family of stitches, beside warp and weft."""


@pointwise
def _span(q, i, j, family, length):
    """Δs, a difference of arc lengths unless it is the length of a stitch."""
    return length if family == STITCH else q[j, 3 + family] - q[i, 3 + family]


@kernel
def strain(q, nodes, family, lengths, out):
    """out[e] = (ε, Δs) of each segment."""
    for e in range(nodes.shape[0]):
        i, j = nodes[e, 0], nodes[e, 1]
        square = 0.0
        for r in range(3):
            square += (q[j, r] - q[i, r]) ** 2
        D = _span(q, i, j, family[e], lengths[e])
        out[e, 0] = np.sqrt(square) / D - 1.0
        out[e, 1] = D


@kernel
def potential(q, nodes, family, lengths, slots, k, before, rate, definite, gradient, values):
    """Σ Δs ½ k ε² + ½ k w_n (β/h)(ε − ε_n)², with derivatives where there is room for them.

    ``before`` has (ε_n, w_n) of each segment, ``rate`` is β/h.
    """
    total = 0.0
    G = np.empty((4, 4))
    unit = np.empty(3)
    for e in range(nodes.shape[0]):
        i, j, f = nodes[e, 0], nodes[e, 1], family[e]
        s, size = 3 + f, 3 if f == STITCH else 4
        D = _span(q, i, j, f, lengths[e])
        length = 0.0
        for r in range(3):
            unit[r] = q[j, r] - q[i, r]
            length += unit[r] * unit[r]
        length = np.sqrt(length)
        if not (D > 0.0 and length > 0.0):
            return np.inf
        for r in range(3):
            unit[r] /= length
        strain = length / D - 1.0
        w_rate = before[e, 1] * rate
        change = strain - before[e, 0]
        total += 0.5 * k[f] * (D * strain * strain + w_rate * change * change)
        if len(gradient) == 0:
            continue
        y1, d1, yy, yd, dd = reduced(length, D, strain, k[f], before[e, 0], w_rate)
        for r in range(3):
            gradient[j, r] += y1 * unit[r]
            gradient[i, r] -= y1 * unit[r]
        if size == 4:
            gradient[j, s] += d1
            gradient[i, s] -= d1
        if len(values) == 0:
            continue
        across = y1 / length
        if definite:
            across = max(across, 0.0)
            if size == 4:
                yy, yd, dd = positive_part(yy, yd, dd)
        for r in range(3):
            for c in range(3):
                G[r, c] = (yy - across) * unit[r] * unit[c]
            G[r, r] += across
            G[r, 3] = yd * unit[r]
            G[3, r] = yd * unit[r]
        G[3, 3] = dd
        add_block(values, slots[e, 0], G, size, f)
        add_block(values, slots[e, 2], G, size, f)
        for r in range(4):
            for c in range(4):
                G[r, c] = -G[r, c]
        add_block(values, slots[e, 1], G, size, f)
    return total


@kernel
def dissipation(q, v, nodes, family, lengths, viscosity, force):
    """Σ Δs ½ k β ε̇² (Eq. 12), and f_d = −Σ Δs kβ ε̇ ∇ε (Eq. 7) added to ``force``."""
    total = 0.0
    for e in range(nodes.shape[0]):
        i, j, f = nodes[e, 0], nodes[e, 1], family[e]
        D, D_rate = _span(q, i, j, f, lengths[e]), _span(v, i, j, f, 0.0)
        square, growth = 0.0, 0.0
        for r in range(3):
            d = q[j, r] - q[i, r]
            square += d * d
            growth += d * (v[j, r] - v[i, r])
        length = np.sqrt(square)
        rate = growth / (length * D) - length * D_rate / (D * D)
        stress = D * viscosity[f] * rate
        total += 0.5 * stress * rate
        for r in range(3):
            pull = stress * (q[j, r] - q[i, r]) / (length * D)
            force[j, r] -= pull
            force[i, r] += pull
        if f != STITCH:
            force[j, 3 + f] += stress * length / (D * D)
            force[i, 3 + f] -= stress * length / (D * D)
    return total
