"""Kinetic energy and weight of yarn segments.

Material at a node moves with w = ẋ − x′ṡ, where x′ = (x₁ − x₀)/Δs. With w linear along a segment,

    T = ρ Δs/6 (w₀·w₀ + w₀·w₁ + w₁·w₁)
"""

import numpy as np

from supple._kernels.compiling import kernel
from supple._kernels.yarns.local import add_block


@kernel
def kinetic(q, v, nodes, family, density, momentum, by_position):
    """T, with ∂T/∂v = M v added to ``momentum`` and ∂T/∂q to ``by_position`` (Eq. 2)."""
    total = 0.0
    for e in range(nodes.shape[0]):
        i, j, f = nodes[e, 0], nodes[e, 1], family[e]
        s = 3 + f
        D = q[j, s] - q[i, s]
        share = density[f] * D / 6.0
        square, by_D, slide_i, slide_j = 0.0, 0.0, 0.0, 0.0
        for r in range(3):
            tangent = (q[j, r] - q[i, r]) / D
            w_i = v[i, r] - tangent * v[i, s]
            w_j = v[j, r] - tangent * v[j, s]
            square += w_i * w_i + w_i * w_j + w_j * w_j
            p_i = share * (2.0 * w_i + w_j)
            p_j = share * (2.0 * w_j + w_i)
            momentum[i, r] += p_i
            momentum[j, r] += p_j
            slide_i -= p_i * tangent
            slide_j -= p_j * tangent
            by_d = -(p_i * v[i, s] + p_j * v[j, s]) / D
            by_position[j, r] += by_d
            by_position[i, r] -= by_d
            by_D -= by_d * tangent
        momentum[i, s] += slide_i
        momentum[j, s] += slide_j
        by_D += density[f] / 6.0 * square
        by_position[j, s] += by_D
        by_position[i, s] -= by_D
        total += share * square
    return total


@kernel
def mass(q, nodes, family, slots, density, values):
    """M(q), added to ``values``."""
    B = np.empty((4, 4))
    for e in range(nodes.shape[0]):
        i, j, f = nodes[e, 0], nodes[e, 1], family[e]
        D = q[j, 3 + f] - q[i, 3 + f]
        B[3, 3] = 0.0
        for r in range(3):
            tangent = (q[j, r] - q[i, r]) / D
            for c in range(3):
                B[r, c] = 0.0
            B[r, r] = 1.0
            B[r, 3] = -tangent
            B[3, r] = -tangent
            B[3, 3] += tangent * tangent
        for r in range(4):
            for c in range(4):
                B[r, c] *= density[f] * D / 3.0
        add_block(values, slots[e, 0], B, 4, f)
        add_block(values, slots[e, 2], B, 4, f)
        for r in range(4):
            for c in range(4):
                B[r, c] *= 0.5
        add_block(values, slots[e, 1], B, 4, f)


@kernel
def weight(q, nodes, family, density, gravity, gradient):
    """−Σ ρ Δs g·(x₀ + x₁)/2, with its gradient where there is room."""
    total = 0.0
    for e in range(nodes.shape[0]):
        i, j, f = nodes[e, 0], nodes[e, 1], family[e]
        s = 3 + f
        D = q[j, s] - q[i, s]
        height = 0.0
        for r in range(3):
            height += 0.5 * density[f] * gravity[r] * (q[i, r] + q[j, r])
        total -= D * height
        if len(gradient) > 0:
            for r in range(3):
                pull = 0.5 * density[f] * D * gravity[r]
                gradient[i, r] -= pull
                gradient[j, r] -= pull
            gradient[j, s] -= height
            gradient[i, s] += height
    return total
