"""Layers that rub: the matrix of their friction, and blocks added where they belong."""

from __future__ import annotations

import numpy as np

from supple._kernels.compiling import kernel


@kernel
def friction_blocks(vertices, shares, along, limits, v, sticking, blocks):
    """Blocks (k, 10, 3, 3) of L f₁(|τ|)/|τ| c_a c_b P, over a ≤ b, for τ = P Σ c_a v_a."""
    for k in range(len(limits)):
        P = along[k]
        rate = np.zeros(3)
        for a in range(4):
            for i in range(3):
                rate[i] += shares[k, a] * v[vertices[k, a], i]
        square = 0.0
        for i in range(3):
            slip = P[i, 0] * rate[0] + P[i, 1] * rate[1] + P[i, 2] * rate[2]
            square += slip * slip
        y = np.sqrt(square)
        slope = limits[k] * ((2 - y / sticking) / sticking if y < sticking else 1 / y)
        s = 0
        for a in range(4):
            for b in range(a, 4):
                weight = slope * shares[k, a] * shares[k, b]
                for i in range(3):
                    for j in range(3):
                        blocks[k, s, i, j] = weight * P[i, j]
                s += 1


@kernel
def add_at(values, places, blocks):
    """values[places] += blocks, for places that may be there more than once."""
    for k in range(len(places)):
        for i in range(3):
            for j in range(3):
                values[places[k], i, j] += blocks[k, i, j]
