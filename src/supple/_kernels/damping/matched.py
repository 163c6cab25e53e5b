"""The material part of the tangent stiffness at quadrature points, β D : what strains resist.

Of ∂P_ij/∂F_kl = δ_ik S_jl + F_im C_mjnl F_kn, with Green's strain E, the stress S = ∂ψ/∂E = F⁻¹P
and C = ∂²ψ/∂E², the first term is the geometric part and the second, D, the material part. D is
positive semidefinite where C is, and D : Ḟ = F (C : Ė). Strains and stresses of six numbers are
(E₀₀, E₁₁, E₂₂, 2 E₀₁, 2 E₀₂, 2 E₁₂) and (S₀₀, S₁₁, S₂₂, S₀₁, S₀₂, S₁₂).
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.damping.nonrigid import invert
from supple._kernels.damping.principal import (
    FLAT,
    add_second_derivative,
    matched_moduli,
    turn_derivative,
)
from supple._kernels.linear_algebra.svd3 import keep_positive, svd3
from supple._kernels.linear_algebra.tensors import (
    add_isotropic,
    component,
    multiply,
    turn_symmetric,
)

_NO_PIVOT = 1e-9  # share of a diagonal entry of C below which elimination has left none of it


# -- energies that are quadratic in Green's strain: C is constant ------------------------------


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
            _add_pairs(gradients, e, q, weights[e, q], S, slots, scalars)


@kernel
def add_quadratic_force(cells, gradients, weights, F, D, C, force):
    """The force Σ_q w F (C:Ė) ∇N_a, added to ``force``; returns Σ_q w ½ Ė:C:Ė."""
    S, X = np.empty((3, 3)), np.empty((3, 3))
    power = 0.0
    for e in range(len(C)):
        for q in range(F.shape[1]):
            power += 0.5 * _fill_stress(C[e], _six_strains(F[e, q], D[e, q], 0.0), weights[e, q], S)
            multiply(F[e, q], S, X)
            _add_force(cells, gradients, e, q, X, force)
    return power


@pointwise
def _add_pairs(gradients, e, q, w, S, slots, scalars):
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
def _add_force(cells, gradients, e, q, P, force):
    """force_a += P ∇N_a of a point."""
    for a in range(cells.shape[1]):
        g0, g1, g2 = gradients[e, q, a, 0], gradients[e, q, a, 1], gradients[e, q, a, 2]
        c = cells[e, a]
        for i in range(3):
            force[c, i] += P[i, 0] * g0 + P[i, 1] * g1 + P[i, 2] * g2


# -- any material ------------------------------------------------------------------------------


@pointwise
def _row(A, s, H, m):
    """Row m of F⁻¹ times block s of A, H = F⁻ᵀ."""
    a, b, c = H[0, m], H[1, m], H[2, m]
    return (
        a * A[s, 0, 0] + b * A[s, 1, 0] + c * A[s, 2, 0],
        a * A[s, 0, 1] + b * A[s, 1, 1] + c * A[s, 2, 1],
        a * A[s, 0, 2] + b * A[s, 1, 2] + c * A[s, 2, 2],
    )


@pointwise
def _entry(x, H, n, s, g):
    """(F⁻¹B F⁻ᵀ)_mn − s g_mn of the row x."""
    return x[0] * H[0, n] + x[1] * H[1, n] + x[2] * H[2, n] - s * g


@pointwise
def _is_definite(a, b, c, d, e, f):
    """Whether [[a, d, e], [d, b, f], [e, f, c]] is positive definite beyond rounding."""
    minor = a * b - d * d
    det = c * minor - a * f * f - b * e * e + 2.0 * d * e * f
    return (
        a > 0.0
        and b > 0.0
        and c > 0.0
        and minor > _NO_PIVOT * a * b
        and det > _NO_PIVOT * a * b * c
    )


@pointwise
def stress_of(F, P, A, H, S):
    """Fill H = F⁻ᵀ and S = F⁻¹P; whether F has an inverse and C = ∂S/∂E is positive definite."""
    if not invert(F, H):
        return False
    for m in range(3):
        for j in range(m, 3):
            S[m, j] = S[j, m] = H[0, m] * P[0, j] + H[1, m] * P[1, j] + H[2, m] * P[2, j]
    g00 = H[0, 0] * H[0, 0] + H[1, 0] * H[1, 0] + H[2, 0] * H[2, 0]
    g01 = H[0, 0] * H[0, 1] + H[1, 0] * H[1, 1] + H[2, 0] * H[2, 1]
    g02 = H[0, 0] * H[0, 2] + H[1, 0] * H[1, 2] + H[2, 0] * H[2, 2]
    g11 = H[0, 1] * H[0, 1] + H[1, 1] * H[1, 1] + H[2, 1] * H[2, 1]
    g12 = H[0, 1] * H[0, 2] + H[1, 1] * H[1, 2] + H[2, 1] * H[2, 2]
    g22 = H[0, 2] * H[0, 2] + H[1, 2] * H[1, 2] + H[2, 2] * H[2, 2]
    # C_mjnl = F⁻¹_mi (A_ijkl − δ_ik S_jl) F⁻¹_nk, each where j ≤ l: the blocks that are stored
    x = _row(A, 0, H, 0)  # j, l = 0, 0
    c00 = _entry(x, H, 0, S[0, 0], g00)
    x = _row(A, 1, H, 0)  # 0, 1
    c01, c03 = _entry(x, H, 1, S[0, 1], g01), _entry(x, H, 0, S[0, 1], g00)
    x = _row(A, 2, H, 0)  # 0, 2
    c02, c04 = _entry(x, H, 2, S[0, 2], g02), _entry(x, H, 0, S[0, 2], g00)
    c05 = _entry(x, H, 1, S[0, 2], g01)
    x = _row(A, 3, H, 1)  # 1, 1
    c11, c13 = _entry(x, H, 1, S[1, 1], g11), _entry(x, H, 0, S[1, 1], g01)
    x = _row(A, 3, H, 0)
    c33 = _entry(x, H, 0, S[1, 1], g00)
    x = _row(A, 4, H, 1)  # 1, 2
    c12, c14 = _entry(x, H, 2, S[1, 2], g12), _entry(x, H, 0, S[1, 2], g01)
    c15 = _entry(x, H, 1, S[1, 2], g11)
    x = _row(A, 4, H, 0)
    c23, c34 = _entry(x, H, 2, S[1, 2], g02), _entry(x, H, 0, S[1, 2], g00)
    c35 = _entry(x, H, 1, S[1, 2], g01)
    x = _row(A, 5, H, 2)  # 2, 2
    c22, c24 = _entry(x, H, 2, S[2, 2], g22), _entry(x, H, 0, S[2, 2], g02)
    c25 = _entry(x, H, 1, S[2, 2], g12)
    x = _row(A, 5, H, 0)
    c44, c45 = _entry(x, H, 0, S[2, 2], g00), _entry(x, H, 1, S[2, 2], g01)
    x = _row(A, 5, H, 1)
    c55 = _entry(x, H, 1, S[2, 2], g11)
    # The block of the diagonal, and what elimination with it leaves of the shears: T − RᵀQ⁻¹R
    if not _is_definite(c00, c11, c22, c01, c02, c12):
        return False
    q00, q01, q02 = c11 * c22 - c12 * c12, c02 * c12 - c01 * c22, c01 * c12 - c02 * c11
    q11, q12, q22 = c00 * c22 - c02 * c02, c01 * c02 - c00 * c12, c00 * c11 - c01 * c01
    share = 1.0 / (c00 * q00 + c01 * q01 + c02 * q02)
    y = (
        q00 * c03 + q01 * c13 + q02 * c23,
        q01 * c03 + q11 * c13 + q12 * c23,
        q02 * c03 + q12 * c13 + q22 * c23,
    )
    z = (
        q00 * c04 + q01 * c14 + q02 * c24,
        q01 * c04 + q11 * c14 + q12 * c24,
        q02 * c04 + q12 * c14 + q22 * c24,
    )
    w = (
        q00 * c05 + q01 * c15 + q02 * c25,
        q01 * c05 + q11 * c15 + q12 * c25,
        q02 * c05 + q12 * c15 + q22 * c25,
    )
    return _is_definite(
        c33 - share * (c03 * y[0] + c13 * y[1] + c23 * y[2]),
        c44 - share * (c04 * z[0] + c14 * z[1] + c24 * z[2]),
        c55 - share * (c05 * w[0] + c15 * w[1] + c25 * w[2]),
        c34 - share * (c04 * y[0] + c14 * y[1] + c24 * y[2]),
        c35 - share * (c05 * y[0] + c15 * y[1] + c25 * y[2]),
        c45 - share * (c05 * z[0] + c15 * z[1] + c25 * z[2]),
    )


@pointwise
def _contract(B, D, P):
    """P_ij = Σ_kl B_ijkl D_kl of six blocks."""
    for i in range(3):
        p0, p1, p2 = 0.0, 0.0, 0.0
        for k in range(3):
            d0, d1, d2 = D[k, 0], D[k, 1], D[k, 2]
            p0 += B[0, i, k] * d0 + B[1, i, k] * d1 + B[2, i, k] * d2
            p1 += B[1, k, i] * d0 + B[3, i, k] * d1 + B[4, i, k] * d2
            p2 += B[2, k, i] * d0 + B[4, k, i] * d1 + B[5, i, k] * d2
        P[i, 0], P[i, 1], P[i, 2] = p0, p1, p2


@pointwise
def _without_stress(A, S, B):
    """B_ijkl = A_ijkl − δ_ik S_jl."""
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    B[s, i, k] = A[s, i, k]
                B[s, i, i] -= S[j, l]
            s += 1


@kernel
def add_matched(F, D, P_elastic, A_elastic, stiffness, sums, stress):
    """r = β/2 Ė:C:Ė of any isotropic material, added to ``Sums``; C without what is negative of it.

    With ``stress``, A gets δ_ik S⁺_jl too, S⁺ the positive semidefinite part of F⁻¹ ∂r/∂Ḟ.
    """
    r, P, A, order, factor = sums
    U, V, L, R = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    values, vectors, M = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    sigma, k, p = np.empty(3), np.empty(3), np.empty(3)
    T, B = np.empty((6, 3, 3)), np.empty((6, 3, 3))
    H, S = np.empty((3, 3)), np.empty((3, 3))
    for n in range(len(F)):
        beta = stiffness[n]
        if beta == 0.0:
            continue
        for q in range(F.shape[1]):
            f, d = F[n, q], D[n, q]
            sound = stress_of(f, P_elastic[n, q], A_elastic[n, q], H, S)
            if sound:
                _without_stress(A_elastic[n, q], S, B)
            else:
                svd3(f, U, sigma, V)
                turn_derivative(A_elastic[n, q], U, L, T)
                matched_moduli(P_elastic[n, q], T, U, sigma, V, p, values, vectors, M, k)
                B[:] = 0.0
                add_second_derivative(U, sigma, V, M, k, 1.0, L, R, B)
            _contract(B, d, R)
            total = 0.0
            for i in range(3):
                for j in range(3):
                    total += R[i, j] * d[i, j]
            r[n, q] += 0.5 * beta * total
            if order == 0:
                continue
            for i in range(3):
                for j in range(3):
                    P[n, q, i, j] += beta * R[i, j]
            if order == 1:
                continue
            for s in range(6):
                for i in range(3):
                    for j in range(3):
                        A[n, q, s, i, j] += factor * beta * B[s, i, j]
            if stress:
                if sound:
                    for m in range(3):
                        for j in range(m, 3):
                            t = H[0, m] * R[0, j] + H[1, m] * R[1, j] + H[2, m] * R[2, j]
                            S[m, j] = S[j, m] = beta * t
                else:
                    for a in range(3):
                        for b in range(a, 3):
                            square = sigma[a] * sigma[a] + sigma[b] * sigma[b] + 2.0 * FLAT * FLAT
                            t = sigma[a] * component(U, V, R, a, b)
                            t += sigma[b] * component(U, V, R, b, a)
                            L[a, b] = L[b, a] = beta * t / square
                    turn_symmetric(L, V, S)
                keep_positive(S, L)
                add_isotropic(S, A[n, q])


@kernel
def add_matched_geometric(gradients, weights, F, P, A, slots, scalars, S, unsound):
    """The geometric part of any material, and the stress S (cells, points, 3, 3) it is made of.

    Cells whose material part is not what K has beside its geometric part are left out, and marked
    as ``unsound``.
    """
    H = np.empty((3, 3))
    for e in range(len(F)):
        sound = True
        for q in range(F.shape[1]):
            if sound:
                sound = stress_of(F[e, q], P[e, q], A[e, q], H, S[e, q])
        unsound[e] = not sound
        if sound:
            for q in range(F.shape[1]):
                _add_pairs(gradients, e, q, weights[e, q], S[e, q], slots, scalars)


@kernel
def add_matched_force(cells, gradients, weights, D, A, S, unsound, force):
    """The force Σ_q w (A:Ḟ − Ḟ S) ∇N_a of all but unsound cells; returns their Σ_q w r/β."""
    X = np.empty((3, 3))
    power = 0.0
    for e in range(len(D)):
        if unsound[e]:
            continue
        for q in range(D.shape[1]):
            d, w = D[e, q], weights[e, q]
            _contract(A[e, q], d, X)
            for i in range(3):
                for j in range(3):
                    turned = d[i, 0] * S[e, q, 0, j] + d[i, 1] * S[e, q, 1, j]
                    X[i, j] = w * (X[i, j] - turned - d[i, 2] * S[e, q, 2, j])
                    power += 0.5 * X[i, j] * d[i, j]
            _add_force(cells, gradients, e, q, X, force)
    return power


@kernel
def add_matched_change(F, D, P, A, ahead, behind, reach, stiffness, change):
    """The symmetric part of ∂(β F (C:Ė))/∂F, added to ``change``; nothing where C is projected.

    With L = Ḟ F⁻¹ and D the material part, it is β DA[Ḟ] − β/2 (D_ijpl L_kp + D_pjkl L_ip). DA[Ḟ],
    the change of A along Ḟ, is a difference of A ``ahead`` and ``behind`` by ``reach`` times Ḟ.
    """
    H, S = np.empty((3, 3)), np.empty((3, 3))
    B, L = np.empty((6, 3, 3)), np.empty((3, 3))
    for n in range(len(F)):
        for q in range(F.shape[1]):
            if not reach[n, q] > 0.0 or stiffness[n] == 0.0:
                continue
            if not stress_of(F[n, q], P[n, q], A[n, q], H, S):
                continue
            _without_stress(A[n, q], S, B)
            for i in range(3):
                for k in range(3):
                    L[i, k] = (
                        D[n, q, i, 0] * H[k, 0] + D[n, q, i, 1] * H[k, 1] + D[n, q, i, 2] * H[k, 2]
                    )
            beta = stiffness[n]
            for s in range(6):
                for i in range(3):
                    for k in range(3):
                        slope = (ahead[n, q, s, i, k] - behind[n, q, s, i, k]) / (2 * reach[n, q])
                        turned = 0.0
                        for p in range(3):
                            turned += B[s, i, p] * L[k, p] + L[i, p] * B[s, p, k]
                        change[n, q, s, i, k] += beta * (slope - 0.5 * turned)
