"""Finite element loops: deformation gradients, nodal forces, block-sparse stiffness.

Quadrature point arrays are (cells, points, ...). A stress derivative is stored as six 3 × 3 blocks,
one for each pair j ≤ l of columns of F: ``A[..., s, i, k] = ∂P_ij/∂F_kl``, in the order
(0,0) (0,1) (0,2) (1,1) (1,2) (2,2); the rest follows from symmetry.
"""

import numpy as np

from supple._kernels.compiling import kernel


@kernel
def gradients_of(u, cells, gradients, identity, F):
    """F = identity · I + Σ_a (u_a − u_0) ⊗ ∇N_a at every quadrature point of the cells.

    With identity 1 these are deformation gradients, with 0 plain gradients of a field.
    """
    nodes = cells.shape[1]
    for e in range(gradients.shape[0]):
        for q in range(gradients.shape[1]):
            for i in range(3):
                for j in range(3):
                    F[e, q, i, j] = identity if i == j else 0.0
            for a in range(1, nodes):  # relative to the first node: exact under translation
                c = cells[e, a]
                for i in range(3):
                    x = u[c, i] - u[cells[e, 0], i]
                    for j in range(3):
                        F[e, q, i, j] += x * gradients[e, q, a, j]


@kernel
def add_nodal_forces(cells, gradients, weights, P, force):
    """force_a += Σ_q w P ∇N_a."""
    for e in range(gradients.shape[0]):
        for q in range(gradients.shape[1]):
            w = weights[e, q]
            for a in range(cells.shape[1]):
                g0 = w * gradients[e, q, a, 0]
                g1 = w * gradients[e, q, a, 1]
                g2 = w * gradients[e, q, a, 2]
                c = cells[e, a]
                for i in range(3):
                    force[c, i] += P[e, q, i, 0] * g0 + P[e, q, i, 1] * g1 + P[e, q, i, 2] * g2


@kernel
def add_stiffness(gradients, weights, A, slots, values):
    """values[block(a, b)] += Σ_q w ∇N_a · (∂P/∂F) · ∇N_b for every node pair a ≤ b of a cell.

    ``slots[e, p]`` is the block of pair p, or its bitwise complement where the block is stored
    transposed (upper triangle only).
    """
    nodes = gradients.shape[2]
    T = np.empty((3, 9))
    local = np.empty((nodes * (nodes + 1) // 2, 9))
    for e in range(gradients.shape[0]):
        local[:] = 0.0
        for q in range(gradients.shape[1]):
            p, B = 0, A[e, q]
            for a in range(nodes):
                g0 = weights[e, q] * gradients[e, q, a, 0]
                g1 = weights[e, q] * gradients[e, q, a, 1]
                g2 = weights[e, q] * gradients[e, q, a, 2]
                # T_l[i, k] = Σ_j (∇N_a)_j ∂P_ij/∂F_kl
                for i in range(3):
                    for k in range(3):
                        t = 3 * i + k
                        T[0, t] = g0 * B[0, i, k] + g1 * B[1, k, i] + g2 * B[2, k, i]
                        T[1, t] = g0 * B[1, i, k] + g1 * B[3, i, k] + g2 * B[4, k, i]
                        T[2, t] = g0 * B[2, i, k] + g1 * B[4, i, k] + g2 * B[5, i, k]
                for b in range(a, nodes):
                    h0 = gradients[e, q, b, 0]
                    h1 = gradients[e, q, b, 1]
                    h2 = gradients[e, q, b, 2]
                    for t in range(9):
                        local[p, t] += T[0, t] * h0 + T[1, t] * h1 + T[2, t] * h2
                    p += 1
        for p in range(local.shape[0]):
            slot = slots[e, p]
            if slot >= 0:
                for i in range(3):
                    for k in range(3):
                        values[slot, i, k] += local[p, 3 * i + k]
            else:
                for i in range(3):
                    for k in range(3):
                        values[~slot, k, i] += local[p, 3 * i + k]


@kernel
def apply_derivative(A, D, P):
    """P_ij = Σ_kl ∂P_ij/∂F_kl D_kl at every quadrature point."""
    for e in range(A.shape[0]):
        for q in range(A.shape[1]):
            for i in range(3):
                p0, p1, p2 = 0.0, 0.0, 0.0
                for k in range(3):
                    d0, d1, d2 = D[e, q, k, 0], D[e, q, k, 1], D[e, q, k, 2]
                    p0 += A[e, q, 0, i, k] * d0 + A[e, q, 1, i, k] * d1 + A[e, q, 2, i, k] * d2
                    p1 += A[e, q, 1, k, i] * d0 + A[e, q, 3, i, k] * d1 + A[e, q, 4, i, k] * d2
                    p2 += A[e, q, 2, k, i] * d0 + A[e, q, 4, k, i] * d1 + A[e, q, 5, i, k] * d2
                P[e, q, i, 0], P[e, q, i, 1], P[e, q, i, 2] = p0, p1, p2
