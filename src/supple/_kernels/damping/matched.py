"""The material part of the tangent stiffness at quadrature points, β D : what strains resist.

Of ∂P_ij/∂F_kl = δ_ik S_jl + F_im C_mjnl F_kn, with Green's strain E, the stress S = ∂ψ/∂E = F⁻¹P
and C = ∂²ψ/∂E², the first term is the geometric part and the second, D, the material part. D is
positive semidefinite where C is, and D : Ḟ = F (C : Ė). Here C is that of any isotropic material;
``quadratic`` has the same for constant C.
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.damping.principal import (
    FLAT,
    PRESSED,
    add_second_derivative,
    matched_moduli,
    turn_derivative,
)
from supple._kernels.damping.quadratic import add_force, add_pairs
from supple._kernels.linear_algebra.svd3 import keep_positive, svd3
from supple._kernels.linear_algebra.tensors import (
    add_isotropic,
    cofactor,
    component,
    turn_symmetric,
)

_NO_PIVOT = 1e-9  # share of a diagonal entry of C below which elimination has left none of it


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
    """Fill H = F⁻ᵀ and S = F⁻¹P; whether C = ∂S/∂E is positive definite and no cell is pressed."""
    det, size = cofactor(F, H), 0.0
    for i in range(3):
        for j in range(3):
            size += F[i, j] * F[i, j]
    if not det > 0.5 * PRESSED * size:  # J/(σ₀ σ₁) is at least 2 J/‖F‖²
        return False
    share = 1.0 / det
    for i in range(3):
        for j in range(3):
            H[i, j] *= share
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
                add_pairs(gradients, e, q, weights[e, q], S[e, q], slots, scalars)


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
            add_force(cells, gradients, e, q, X, force)
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
