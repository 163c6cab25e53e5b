"""Material and geometric part of the stiffness where C = ∂²ψ/∂E² is constant; see ``matched``.

Strains and stresses of six numbers are (E₀₀, E₁₁, E₂₂, 2 E₀₁, 2 E₀₂, 2 E₁₂) and (S₀₀, S₁₁, S₂₂,
S₀₁, S₀₂, S₁₂), and C is (cells, 6, 6).
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.svd3 import keep_positive
from supple._kernels.linear_algebra.tensors import add_isotropic, multiply


@pointwise
def _six_strains(F, D, identity):
    """sym(FᵀD) − identity · I, as six numbers."""
    return (
        F[0, 0] * D[0, 0] + F[1, 0] * D[1, 0] + F[2, 0] * D[2, 0] - identity,
        F[0, 1] * D[0, 1] + F[1, 1] * D[1, 1] + F[2, 1] * D[2, 1] - identity,
        F[0, 2] * D[0, 2] + F[1, 2] * D[1, 2] + F[2, 2] * D[2, 2] - identity,
        F[0, 0] * D[0, 1] + F[1, 0] * D[1, 1] + F[2, 0] * D[2, 1]
        + F[0, 1] * D[0, 0] + F[1, 1] * D[1, 0] + F[2, 1] * D[2, 0],
        F[0, 0] * D[0, 2] + F[1, 0] * D[1, 2] + F[2, 0] * D[2, 2]
        + F[0, 2] * D[0, 0] + F[1, 2] * D[1, 0] + F[2, 2] * D[2, 0],
        F[0, 1] * D[0, 2] + F[1, 1] * D[1, 2] + F[2, 1] * D[2, 2]
        + F[0, 2] * D[0, 1] + F[1, 2] * D[1, 1] + F[2, 2] * D[2, 1],
    )  # fmt: skip


@pointwise
def _row_of_six(C, a, e):
    return (
        C[a, 0] * e[0] + C[a, 1] * e[1] + C[a, 2] * e[2]
        + C[a, 3] * e[3] + C[a, 4] * e[4] + C[a, 5] * e[5]
    )  # fmt: skip


@pointwise
def _fill_stress(C, e, factor, S):
    """S = factor · C e as a symmetric matrix; returns its product with the strain e."""
    s0, s1, s2 = _row_of_six(C, 0, e), _row_of_six(C, 1, e), _row_of_six(C, 2, e)
    s3, s4, s5 = _row_of_six(C, 3, e), _row_of_six(C, 4, e), _row_of_six(C, 5, e)
    S[0, 0], S[1, 1], S[2, 2] = factor * s0, factor * s1, factor * s2
    S[0, 1] = S[1, 0] = factor * s3
    S[0, 2] = S[2, 0] = factor * s4
    S[1, 2] = S[2, 1] = factor * s5
    return factor * (s0 * e[0] + s1 * e[1] + s2 * e[2] + s3 * e[3] + s4 * e[4] + s5 * e[5])


@pointwise
def _of_six(m, j):
    """Which of the six a component of a symmetric matrix is."""
    return m if m == j else m + j + 2


@pointwise
def _add_sandwich(C, F, G, factor, half, A):
    """A += factor · F_im C_mjnl G_kn; all such terms together must be symmetric."""
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for n in range(3):
                    t = 0.0
                    for m in range(3):
                        t += F[i, m] * C[_of_six(m, j), _of_six(n, l)]
                    half[i, n] = t
            for i in range(3):
                for k in range(3):
                    t = half[i, 0] * G[k, 0] + half[i, 1] * G[k, 1] + half[i, 2] * G[k, 2]
                    A[s, i, k] += factor * t
            s += 1


@kernel
def add_quadratic(F, D, C, stiffness, sums, stress):
    """r = β/2 Ė:C:Ė with constant C (cells, 6, 6), added to ``Sums``.

    With ``stress``, A gets δ_ik S⁺_jl too, S⁺ the positive semidefinite part of β C:Ė.
    """
    r, P, A, order, factor = sums
    S, X = np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(stiffness)):
        beta = stiffness[e]
        if beta == 0.0:
            continue
        for q in range(F.shape[1]):
            f = F[e, q]
            r[e, q] += 0.5 * _fill_stress(C[e], _six_strains(f, D[e, q], 0.0), beta, S)
            if order >= 1:
                for i in range(3):
                    for j in range(3):
                        P[e, q, i, j] += f[i, 0] * S[0, j] + f[i, 1] * S[1, j] + f[i, 2] * S[2, j]
            if order >= 2:
                _add_sandwich(C[e], f, f, factor * beta, X, A[e, q])
                if stress:
                    keep_positive(S, X)
                    add_isotropic(S, A[e, q])


@kernel
def add_quadratic_by_shape(F, D, C, stiffness, G, factor):
    """factor · ∂r/∂F = factor · β Ḟ (C:Ė), added to G."""
    S = np.empty((3, 3))
    for e in range(len(stiffness)):
        for q in range(F.shape[1]):
            d = D[e, q]
            _fill_stress(C[e], _six_strains(F[e, q], d, 0.0), factor * stiffness[e], S)
            for i in range(3):
                for j in range(3):
                    G[e, q, i, j] += d[i, 0] * S[0, j] + d[i, 1] * S[1, j] + d[i, 2] * S[2, j]


@kernel
def add_quadratic_change(F, D, C, stiffness, A):
    """The symmetric part of ∂(β F (C:Ė))/∂F: I ⊗ β C:Ė + β/2 (F C Ḟ + Ḟ C F), added to A."""
    S, X = np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(stiffness)):
        for q in range(F.shape[1]):
            _fill_stress(C[e], _six_strains(F[e, q], D[e, q], 0.0), stiffness[e], S)
            add_isotropic(S, A[e, q])
            _add_sandwich(C[e], F[e, q], D[e, q], 0.5 * stiffness[e], X, A[e, q])
            _add_sandwich(C[e], D[e, q], F[e, q], 0.5 * stiffness[e], X, A[e, q])


@kernel
def add_quadratic_geometric(gradients, weights, F, C, slots, scalars):
    """The geometric part Σ_q w ∇N_a · S ∇N_b, added to multiples of the identity (blocks,)."""
    S = np.empty((3, 3))
    for e in range(len(C)):
        for q in range(F.shape[1]):
            _fill_stress(C[e], _six_strains(F[e, q], F[e, q], 1.0), 0.5, S)  # E is ½ (FᵀF − I)
            add_pairs(gradients, e, q, weights[e, q], S, slots, scalars)


@kernel
def add_quadratic_force(cells, gradients, weights, F, D, C, force):
    """The force Σ_q w F (C:Ė) ∇N_a, added to ``force``; returns Σ_q w ½ Ė:C:Ė."""
    S, X = np.empty((3, 3)), np.empty((3, 3))
    power = 0.0
    for e in range(len(C)):
        for q in range(F.shape[1]):
            power += 0.5 * _fill_stress(C[e], _six_strains(F[e, q], D[e, q], 0.0), weights[e, q], S)
            multiply(F[e, q], S, X)
            add_force(cells, gradients, e, q, X, force)
    return power


@pointwise
def add_pairs(gradients, e, q, w, S, slots, scalars):
    """Add w ∇N_a · S ∇N_b of a point for every pair of nodes."""
    p = 0
    s00, s01, s02, s11, s12, s22 = S[0, 0], S[0, 1], S[0, 2], S[1, 1], S[1, 2], S[2, 2]
    nodes = gradients.shape[2]
    for a in range(nodes):
        g0, g1, g2 = w * gradients[e, q, a, 0], w * gradients[e, q, a, 1], w * gradients[e, q, a, 2]
        t0 = g0 * s00 + g1 * s01 + g2 * s02
        t1 = g0 * s01 + g1 * s11 + g2 * s12
        t2 = g0 * s02 + g1 * s12 + g2 * s22
        for b in range(a, nodes):
            slot = slots[e, p]
            p += 1
            scalars[slot if slot >= 0 else ~slot] += (
                t0 * gradients[e, q, b, 0] + t1 * gradients[e, q, b, 1] + t2 * gradients[e, q, b, 2]
            )


@pointwise
def add_force(cells, gradients, e, q, P, force):
    """force_a += P ∇N_a of a point."""
    for a in range(cells.shape[1]):
        g0, g1, g2 = gradients[e, q, a, 0], gradients[e, q, a, 1], gradients[e, q, a, 2]
        c = cells[e, a]
        for i in range(3):
            force[c, i] += P[i, 0] * g0 + P[i, 1] * g1 + P[i, 2] * g2
