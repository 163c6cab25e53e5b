"""Dissipation matched to the stiffness, β/2 Ė:C:Ė, at quadrature points."""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.damping.principal import (
    FLAT,
    add_from_frame,
    add_second_derivative,
    component,
    cosines,
    derivative_in_frame,
    make_definite,
    rates_in_frame,
    stretch_hessian,
    turn_derivative,
)


@pointwise
def matched_moduli(P, T, U, sigma, V, S, values, vectors, H, k):
    """H and k with ½ σ̇ᵀH σ̇ + ½ Σ k e² = ½ Ė:C:Ė, C = ∂S/∂E made positive semidefinite.

    T is ∂P/∂F as ``turn_derivative`` gives it. With S_a = P_a/σ_a, H_ab = ∂²ψ/∂σ_a∂σ_b − δ_ab S_a
    and k_ab = g (σ_a² + σ_b²), where g σ_a σ_b = 2 A(u_a v_b, u_b v_a) and g (σ_a² − σ_b²) =
    2 (S_a − S_b). Each of these two alone fails for some σ, not so their least squares.
    """
    stretch_hessian(T, V, H)
    for a in range(3):  # S_a → ∂²ψ/∂σ_a² as σ_a vanishes
        flat, cube = FLAT**4, sigma[a] ** 3
        S[a] = (cube * component(U, V, P, a, a) + flat * H[a, a]) / (cube * sigma[a] + flat)
    p = 0
    for a in range(3):
        for b in range(a + 1, 3):
            c, s = cosines(sigma, a, b)
            across = derivative_in_frame(T, V, a, b, b, a)
            both = 8.0 * c * s * across + 2.0 * (c * c - s * s) * (S[a] - S[b])
            k[p] = both if not both < 0.0 else 0.0
            p += 1
    for a in range(3):
        H[a, a] -= S[a]
    make_definite(H, values, vectors)


@kernel
def add_matched(F, D, P_elastic, A_elastic, stiffness, sums):
    """Dissipation matched to the stiffness, added to ``Sums``."""
    r, P, A, order, factor = sums
    U, V, L, R = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    values, vectors, H = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    sigma, d, e, k, S, y = (np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3),
                            np.empty(3))  # fmt: skip
    T = np.empty((6, 3, 3))
    for n in range(len(F)):
        beta = stiffness[n]
        if beta == 0.0:
            continue
        for q in range(F.shape[1]):
            rates_in_frame(F[n, q], D[n, q], U, sigma, V, d, e)
            turn_derivative(A_elastic[n, q], U, L, T)
            matched_moduli(P_elastic[n, q], T, U, sigma, V, S, values, vectors, H, k)
            total = 0.0
            for a in range(3):
                y[a] = H[a, 0] * d[0] + H[a, 1] * d[1] + H[a, 2] * d[2]
                total += y[a] * d[a] + k[a] * e[a] * e[a]
            r[n, q] += 0.5 * beta * total
            if order >= 1:
                for p in range(3):
                    e[p] *= k[p]
                add_from_frame(U, sigma, V, y, e, beta, P[n, q])
            if order >= 2:
                add_second_derivative(U, sigma, V, H, k, factor * beta, L, R, A[n, q])
