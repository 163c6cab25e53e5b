"""Stitches of a seam: springs of a fixed length between two crossings, ε = |x₁ − x₀|/ℓ − 1."""

from __future__ import annotations

import numpy as np

from supple._kernels.compiling import kernel
from supple._kernels.yarns.local import add_block


@kernel
def strain(q, nodes, lengths, out):
    """out[e] = ε of each stitch."""
    for e in range(nodes.shape[0]):
        square = 0.0
        for r in range(3):
            square += (q[nodes[e, 1], r] - q[nodes[e, 0], r]) ** 2
        out[e] = np.sqrt(square) / lengths[e] - 1.0


@kernel
def potential(q, nodes, lengths, slots, k, before, rate, definite, gradient, values):
    """Σ ℓ ½ k ε² + ½ k ℓ (β/h)(ε − ε_n)², with derivatives where there is room for them."""
    total = 0.0
    G = np.empty((4, 4))
    unit = np.empty(3)
    for e in range(nodes.shape[0]):
        i, j, L = nodes[e, 0], nodes[e, 1], lengths[e]
        length = 0.0
        for r in range(3):
            unit[r] = q[j, r] - q[i, r]
            length += unit[r] * unit[r]
        length = np.sqrt(length)
        if not length > 0.0:
            return np.inf
        for r in range(3):
            unit[r] /= length
        strain = length / L - 1.0
        change = strain - before[e]
        total += 0.5 * k * L * (strain * strain + rate * change * change)
        if len(gradient) == 0:
            continue
        pull = k * (strain + rate * change)
        for r in range(3):
            gradient[j, r] += pull * unit[r]
            gradient[i, r] -= pull * unit[r]
        if len(values) == 0:
            continue
        along, across = k * (1.0 + rate) / L, pull / length
        if definite:
            across = max(across, 0.0)
        for r in range(3):
            for c in range(3):
                G[r, c] = (along - across) * unit[r] * unit[c]
            G[r, r] += across
        add_block(values, slots[e, 0], G, 3, 0)
        add_block(values, slots[e, 2], G, 3, 0)
        for r in range(3):
            for c in range(3):
                G[r, c] = -G[r, c]
        add_block(values, slots[e, 1], G, 3, 0)
    return total


@kernel
def dissipation(q, v, nodes, lengths, viscosity, force):
    """Σ ℓ ½ kβ ε̇² (Eq. 12), and its force added to ``force``."""
    total = 0.0
    for e in range(nodes.shape[0]):
        i, j, L = nodes[e, 0], nodes[e, 1], lengths[e]
        square, growth = 0.0, 0.0
        for r in range(3):
            d = q[j, r] - q[i, r]
            square += d * d
            growth += d * (v[j, r] - v[i, r])
        length = np.sqrt(square)
        rate = growth / (length * L)
        total += 0.5 * L * viscosity * rate * rate
        for r in range(3):
            pull = viscosity * rate * (q[j, r] - q[i, r]) / length
            force[j, r] -= pull
            force[i, r] += pull
    return total
