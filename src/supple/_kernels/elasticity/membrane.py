"""Loops over the triangles of a sheet: strains in its plane, nodal forces, block-sparse matrices.

F is 3 × 2, its columns f₀ and f₁ where warp and weft lie. Strains are (E₀₀, E₁₁, 2 E₀₁), stresses
(S₀₀, S₁₁, S₀₁), and C (triangles, 3, 3) leads from the former to the latter. ``weights`` are areas.
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.blocks import add_entry


@kernel
def gradients_of(field, cells, gradients, start, F):
    """F = start + Σ_a (x_a − x_0) ⊗ ∇N_a, relative to the first corner: exact under translation."""
    for e in range(cells.shape[0]):
        o = cells[e, 0]
        for i in range(3):
            F[e, i, 0], F[e, i, 1] = start[e, i, 0], start[e, i, 1]
            for a in range(1, 3):
                x = field[cells[e, a], i] - field[o, i]
                F[e, i, 0] += x * gradients[e, a, 0]
                F[e, i, 1] += x * gradients[e, a, 1]


@pointwise
def _dot(A, B, e, j, l):
    """a_j · b_l for columns of A and B."""
    return A[e, 0, j] * B[e, 0, l] + A[e, 1, j] * B[e, 1, l] + A[e, 2, j] * B[e, 2, l]


@pointwise
def _stress(C, e, strain, S):
    """S = C ε; returns ε·S."""
    total = 0.0
    for s in range(3):
        S[e, s] = C[e, s, 0] * strain[0] + C[e, s, 1] * strain[1] + C[e, s, 2] * strain[2]
        total += S[e, s] * strain[s]
    return total


@kernel
def stress(F, C, weights, S):
    """S of Green's strain ½ (FᵀF − I); returns the energy Σ w ½ ε·S."""
    energy = 0.0
    for e in range(F.shape[0]):
        strain = (
            0.5 * (_dot(F, F, e, 0, 0) - 1.0),
            0.5 * (_dot(F, F, e, 1, 1) - 1.0),
            _dot(F, F, e, 0, 1),
        )
        energy += 0.5 * weights[e] * _stress(C, e, strain, S)
    return energy


@kernel
def rate_stress(F, rate, C, weights, S):
    """S of the strain rate ½ (FᵀḞ + ḞᵀF); returns Σ w ½ ε̇·S."""
    power = 0.0
    for e in range(F.shape[0]):
        strain = (
            _dot(F, rate, e, 0, 0),
            _dot(F, rate, e, 1, 1),
            _dot(F, rate, e, 0, 1) + _dot(rate, F, e, 0, 1),
        )
        power += 0.5 * weights[e] * _stress(C, e, strain, S)
    return power


@kernel
def clamp(S):
    """Raise the negative eigenvalues of each stress to zero, in place."""
    for e in range(S.shape[0]):
        a, b, c = S[e, 0], S[e, 1], S[e, 2]
        mean, half = 0.5 * (a + b), 0.5 * (a - b)
        radius = np.sqrt(half * half + c * c)
        if mean + radius <= 0.0:
            S[e, 0] = S[e, 1] = S[e, 2] = 0.0
        elif mean - radius < 0.0:
            # (λ/2r) (r I + S − mean I): what is left along the one positive eigenvector
            share = 0.5 * (mean + radius) / radius
            S[e, 0], S[e, 1], S[e, 2] = share * (radius + half), share * (radius - half), share * c


@kernel
def add_forces(cells, gradients, weights, F, S, force):
    """force_a += w F S ∇N_a."""
    for e in range(cells.shape[0]):
        w = weights[e]
        for a in range(3):
            g0, g1 = w * gradients[e, a, 0], w * gradients[e, a, 1]
            p0, p1 = S[e, 0] * g0 + S[e, 2] * g1, S[e, 2] * g0 + S[e, 1] * g1
            for i in range(3):
                force[cells[e, a], i] += F[e, i, 0] * p0 + F[e, i, 1] * p1


@kernel
def add_blocks(gradients, weights, F, C, S, factor, slots, values):
    """values[block(a, b)] += w (factor · B_aᵀ C B_b + (∇N_a · S ∇N_b) I), with B_a = ∂ε/∂x_a.

    ``slots[e, p]`` is the block of pair p, or its bitwise complement where the block is stored
    transposed (upper triangle only).
    """
    B = np.empty((3, 3, 3))
    CB = np.empty((3, 3))
    for e in range(F.shape[0]):
        w = weights[e]
        for a in range(3):
            g0, g1 = gradients[e, a, 0], gradients[e, a, 1]
            for i in range(3):
                B[a, 0, i] = g0 * F[e, i, 0]
                B[a, 1, i] = g1 * F[e, i, 1]
                B[a, 2, i] = g0 * F[e, i, 1] + g1 * F[e, i, 0]
        p = 0
        for a in range(3):
            g0, g1 = w * gradients[e, a, 0], w * gradients[e, a, 1]
            p0, p1 = S[e, 0] * g0 + S[e, 2] * g1, S[e, 2] * g0 + S[e, 1] * g1
            for s in range(3):
                for i in range(3):
                    CB[s, i] = (factor * w) * (
                        C[e, s, 0] * B[a, 0, i] + C[e, s, 1] * B[a, 1, i] + C[e, s, 2] * B[a, 2, i]
                    )
            for b in range(a, 3):
                tension = p0 * gradients[e, b, 0] + p1 * gradients[e, b, 1]
                slot = slots[e, p]
                p += 1
                for i in range(3):
                    for k in range(3):
                        x = CB[0, i] * B[b, 0, k] + CB[1, i] * B[b, 1, k] + CB[2, i] * B[b, 2, k]
                        if i == k:
                            x += tension
                        add_entry(values, slot, i, k, x)
