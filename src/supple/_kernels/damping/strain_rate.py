"""Dissipation of strain rate at quadrature points, isotropic and along a fibre.

Ė = ½ (FᵀḞ + ḞᵀF) is the strain rate, S = 2ψ Ė + φ tr(Ė) I + η (a·Ėa) a aᵀ the dissipative stress.
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.svd3 import keep_positive
from supple._kernels.linear_algebra.tensors import add_isotropic


@pointwise
def dissipative_stress(F, D, shear, bulk, fibre, axis, S):
    """Fills S and returns r = ½ S:Ė."""
    a0, a1, a2 = axis[0], axis[1], axis[2]
    e00 = F[0, 0] * D[0, 0] + F[1, 0] * D[1, 0] + F[2, 0] * D[2, 0]
    e11 = F[0, 1] * D[0, 1] + F[1, 1] * D[1, 1] + F[2, 1] * D[2, 1]
    e22 = F[0, 2] * D[0, 2] + F[1, 2] * D[1, 2] + F[2, 2] * D[2, 2]
    e01 = 0.5 * (
        F[0, 0] * D[0, 1] + F[1, 0] * D[1, 1] + F[2, 0] * D[2, 1]
        + F[0, 1] * D[0, 0] + F[1, 1] * D[1, 0] + F[2, 1] * D[2, 0]
    )  # fmt: skip
    e02 = 0.5 * (
        F[0, 0] * D[0, 2] + F[1, 0] * D[1, 2] + F[2, 0] * D[2, 2]
        + F[0, 2] * D[0, 0] + F[1, 2] * D[1, 0] + F[2, 2] * D[2, 0]
    )  # fmt: skip
    e12 = 0.5 * (
        F[0, 1] * D[0, 2] + F[1, 1] * D[1, 2] + F[2, 1] * D[2, 2]
        + F[0, 2] * D[0, 1] + F[1, 2] * D[1, 1] + F[2, 2] * D[2, 1]
    )  # fmt: skip
    trace = e00 + e11 + e22
    along = (
        a0 * a0 * e00 + a1 * a1 * e11 + a2 * a2 * e22
        + 2.0 * (a0 * a1 * e01 + a0 * a2 * e02 + a1 * a2 * e12)
    )  # fmt: skip
    S[0, 0] = bulk * trace + 2.0 * shear * e00 + fibre * along * a0 * a0
    S[1, 1] = bulk * trace + 2.0 * shear * e11 + fibre * along * a1 * a1
    S[2, 2] = bulk * trace + 2.0 * shear * e22 + fibre * along * a2 * a2
    S[0, 1] = S[1, 0] = 2.0 * shear * e01 + fibre * along * a0 * a1
    S[0, 2] = S[2, 0] = 2.0 * shear * e02 + fibre * along * a0 * a2
    S[1, 2] = S[2, 1] = 2.0 * shear * e12 + fibre * along * a1 * a2
    square = e00 * e00 + e11 * e11 + e22 * e22 + 2.0 * (e01 * e01 + e02 * e02 + e12 * e12)
    return shear * square + 0.5 * bulk * trace * trace + 0.5 * fibre * along * along


@kernel
def add_strain_rate(F, D, shear, bulk, fibre, axis, sums, stress):
    """r, ∂r/∂Ḟ = F S and its derivative, added to ``Sums``.

    With ``stress``, A gets δ_ik S⁺_jl too, S⁺ the positive semidefinite part of S.

    ∂²r/∂Ḟ_ij∂Ḟ_kl = ψ ((F Fᵀ)_ik δ_jl + F_il F_kj) + φ F_ij F_kl + η (Fa)_i a_j (Fa)_k a_l
    """
    r, P, A, order, factor = sums
    S, X = np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(shear)):
        a0, a1, a2 = axis[e, 0], axis[e, 1], axis[e, 2]
        for q in range(F.shape[1]):
            f = F[e, q]
            r[e, q] += dissipative_stress(f, D[e, q], shear[e], bulk[e], fibre[e], axis[e], S)
            if order >= 1:
                for i in range(3):
                    for j in range(3):
                        P[e, q, i, j] += f[i, 0] * S[0, j] + f[i, 1] * S[1, j] + f[i, 2] * S[2, j]
            if order >= 2:
                psi, phi, eta = factor * shear[e], factor * bulk[e], factor * fibre[e]
                s = 0
                for j in range(3):
                    for l in range(j, 3):
                        for i in range(3):
                            for k in range(3):
                                c = phi * f[i, j] * f[k, l] + psi * f[i, l] * f[k, j]
                                if j == l:
                                    c += psi * (
                                        f[i, 0] * f[k, 0] + f[i, 1] * f[k, 1] + f[i, 2] * f[k, 2]
                                    )
                                if eta != 0.0:
                                    x = f[i, 0] * a0 + f[i, 1] * a1 + f[i, 2] * a2
                                    y = f[k, 0] * a0 + f[k, 1] * a1 + f[k, 2] * a2
                                    c += eta * x * y * axis[e, j] * axis[e, l]
                                A[e, q, s, i, k] += c
                        s += 1
                if stress:
                    keep_positive(S, X)
                    add_isotropic(S, A[e, q])


@kernel
def add_strain_rate_by_shape(F, D, shear, bulk, fibre, axis, G, factor):
    """factor · ∂r/∂F = factor · Ḟ S, added to G."""
    S = np.empty((3, 3))
    for e in range(len(shear)):
        for q in range(F.shape[1]):
            d = D[e, q]
            dissipative_stress(F[e, q], d, shear[e], bulk[e], fibre[e], axis[e], S)
            for i in range(3):
                for j in range(3):
                    along = d[i, 0] * S[0, j] + d[i, 1] * S[1, j] + d[i, 2] * S[2, j]
                    G[e, q, i, j] += factor * along
