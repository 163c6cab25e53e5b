"""Dissipation in the frame of the principal axes, F = U diag(σ) Vᵀ.

Ḟ has six components there that a rigid motion does not have: the rates of the stretches
σ̇_a = u_a·Ḟv_a, and for each pair of axes a < b the rate of shear

    e_ab = (σ_a u_a·Ḟv_b + σ_b u_b·Ḟv_a) / √(2 (σ_a² + σ_b²)),

in the order (0,1) (0,2) (1,2). An isotropic density is r = ½ σ̇ᵀH σ̇ + ½ Σ k_ab e_ab².
"""

from __future__ import annotations

import math

import numpy as np

from .compiling import kernel, pointwise
from .example_newton import curve_at, slope_at
from .svd3 import eigh3, svd3
from .tensors import add_outer, contract

FIXED, BY_STRETCH, BY_RATE = 0, 1, 2
"""What the factors of principal strains follow."""

_ROOT_HALF = math.sqrt(0.5)
_FLAT = 5e-6  # stretch below which P_a/σ_a is rounding rather than stress


# -- the frame ---------------------------------------------------------------------------


@pointwise
def cosines(sigma, a, b):
    """σ_a and σ_b over √(σ_a² + σ_b²)."""
    length = math.sqrt(sigma[a] * sigma[a] + sigma[b] * sigma[b])
    if not length > 0.0:
        return _ROOT_HALF, _ROOT_HALF
    return sigma[a] / length, sigma[b] / length


@pointwise
def component(U, V, D, a, b):
    """u_a·D v_b."""
    total = 0.0
    for i in range(3):
        total += U[i, a] * (D[i, 0] * V[0, b] + D[i, 1] * V[1, b] + D[i, 2] * V[2, b])
    return total


@pointwise
def rates_in_frame(F, D, U, sigma, V, d, e):
    """Fills the frame of F, the rates d of the stretches and e of the shears."""
    svd3(F, U, sigma, V)
    p = 0
    for a in range(3):
        d[a] = component(U, V, D, a, a)
        for b in range(a + 1, 3):
            c, s = cosines(sigma, a, b)
            e[p] = _ROOT_HALF * (c * component(U, V, D, a, b) + s * component(U, V, D, b, a))
            p += 1


@pointwise
def add_from_frame(U, sigma, V, y, z, factor, T):
    """T += factor (Σ y_a ∂σ̇_a/∂Ḟ + Σ z_ab ∂e_ab/∂Ḟ)."""
    p = 0
    for a in range(3):
        for i in range(3):
            for j in range(3):
                T[i, j] += factor * y[a] * U[i, a] * V[j, a]
        for b in range(a + 1, 3):
            c, s = cosines(sigma, a, b)
            c *= factor * _ROOT_HALF * z[p]
            s *= factor * _ROOT_HALF * z[p]
            for i in range(3):
                for j in range(3):
                    T[i, j] += c * U[i, a] * V[j, b] + s * U[i, b] * V[j, a]
            p += 1


@pointwise
def add_second_derivative(U, sigma, V, H, k, factor, L, R, A):
    """A += factor ∂²r/∂Ḟ²; L and R are scratch."""
    p = 0
    for a in range(3):
        for i in range(3):
            for j in range(3):
                L[i, j] = U[i, a] * V[j, a]
                R[i, j] = (
                    H[a, 0] * U[i, 0] * V[j, 0]
                    + H[a, 1] * U[i, 1] * V[j, 1]
                    + H[a, 2] * U[i, 2] * V[j, 2]
                )
        add_outer(A, factor, L, R)
        for b in range(a + 1, 3):
            if k[p] != 0.0:
                c, s = cosines(sigma, a, b)
                for i in range(3):
                    for j in range(3):
                        L[i, j] = c * U[i, a] * V[j, b] + s * U[i, b] * V[j, a]
                add_outer(A, 0.5 * factor * k[p], L, L)
            p += 1


@pointwise
def stretch_hessian(A, U, V, L, R, H):
    """H_ab = ∂²ψ/∂σ_a∂σ_b, from A = ∂P/∂F."""
    for a in range(3):
        for b in range(a, 3):
            for i in range(3):
                for j in range(3):
                    L[i, j] = U[i, a] * V[j, a]
                    R[i, j] = U[i, b] * V[j, b]
            H[a, b] = H[b, a] = contract(A, L, R)


@pointwise
def make_definite(H, values, vectors):
    """Replaces H by its nearest positive semidefinite matrix; returns its smallest eigenvalue."""
    for i in range(3):
        for j in range(3):
            values[i, j] = H[i, j]
    eigh3(values, vectors)
    smallest = min(values[0, 0], values[1, 1], values[2, 2])
    if smallest >= 0.0:
        return smallest
    for i in range(3):
        for j in range(3):
            h = 0.0
            for m in range(3):
                h += max(values[m, m], 0.0) * vectors[i, m] * vectors[j, m]
            H[i, j] = h
    return 0.0


@kernel
def add_clamped_stress(F, T, A):
    """Adds δ_ik S⁺_jl, S⁺ the positive semidefinite part of S = F⁻¹T, T Fᵀ symmetric."""
    U, sigma, V, S, W = (np.empty((3, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3)),
                         np.empty((3, 3)))  # fmt: skip
    X = np.empty((3, 3))
    for n in range(len(F)):
        for q in range(F.shape[1]):
            svd3(F[n, q], U, sigma, V)
            for a in range(3):
                for b in range(a, 3):
                    square = sigma[a] * sigma[a] + sigma[b] * sigma[b] + 2.0 * _FLAT * _FLAT
                    S[a, b] = S[b, a] = (
                        sigma[a] * component(U, V, T[n, q], a, b)
                        + sigma[b] * component(U, V, T[n, q], b, a)
                    ) / square
            eigh3(S, W)
            for j in range(3):
                for m in range(3):
                    X[j, m] = V[j, 0] * W[0, m] + V[j, 1] * W[1, m] + V[j, 2] * W[2, m]
            s = 0
            for j in range(3):
                for l in range(j, 3):
                    c = 0.0
                    for m in range(3):
                        c += max(S[m, m], 0.0) * X[j, m] * X[l, m]
                    for i in range(3):
                        A[n, q, s, i, i] += c
                    s += 1


# -- matched to the stiffness ------------------------------------------------------------


@pointwise
def matched_moduli(P, A, U, sigma, V, S, L, R, values, vectors, H, k):
    """H and k with ½ σ̇ᵀH σ̇ + ½ Σ k e² = ½ Ė:C:Ė, C = ∂S/∂E made positive semidefinite.

    With S_a = P_a/σ_a it is H_ab = ∂²ψ/∂σ_a∂σ_b − δ_ab S_a and k_ab = g (σ_a² + σ_b²), where
    g σ_a σ_b = 2 A(u_a v_b, u_b v_a) and g (σ_a² − σ_b²) = 2 (S_a − S_b). Each of the two alone
    fails for some σ, not so their least squares.
    """
    stretch_hessian(A, U, V, L, R, H)
    for a in range(3):  # S_a → ∂²ψ/∂σ_a² as σ_a vanishes
        flat, cube = _FLAT**4, sigma[a] ** 3
        S[a] = (cube * component(U, V, P, a, a) + flat * H[a, a]) / (cube * sigma[a] + flat)
    p = 0
    for a in range(3):
        for b in range(a + 1, 3):
            for i in range(3):
                for j in range(3):
                    L[i, j] = U[i, a] * V[j, b]
                    R[i, j] = U[i, b] * V[j, a]
            c, s = cosines(sigma, a, b)
            both = 8.0 * c * s * contract(A, L, R) + 2.0 * (c * c - s * s) * (S[a] - S[b])
            k[p] = both if not both < 0.0 else 0.0
            p += 1
    for a in range(3):
        H[a, a] -= S[a]
    make_definite(H, values, vectors)


@kernel
def add_matched(F, D, P_elastic, A_elastic, stiffness, r, P, A, order, factor):
    """r, then ∂r/∂Ḟ, then factor · ∂²r/∂Ḟ², of dissipation matched to the stiffness, added."""
    U, V, L, R = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    values, vectors, H = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    sigma, d, e, k, S, y = (np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3),
                            np.empty(3))  # fmt: skip
    for n in range(len(F)):
        beta = stiffness[n]
        if beta == 0.0:
            continue
        for q in range(F.shape[1]):
            rates_in_frame(F[n, q], D[n, q], U, sigma, V, d, e)
            matched_moduli(
                P_elastic[n, q], A_elastic[n, q], U, sigma, V, S, L, R, values, vectors, H, k
            )
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


# -- principal strains -------------------------------------------------------------------


@pointwise
def closeness(sigma, a, b, width):
    """√w: 1 where two stretches coincide and their axes are undefined, 0 beyond ``width``."""
    t = (abs(sigma[a]) - abs(sigma[b])) / width
    return (1.0 - t * t) ** 2 if abs(t) < 1.0 else 0.0


@pointwise
def diagonalise_rates(sigma, d, e, root, rates, axes):
    """How fast stretches |σ| change: ``rates`` becomes diagonal, ``axes`` its vectors.

    Where stretches coincide, these are the eigenvalues of the rate among the axes they share.
    """
    p = 0
    for a in range(3):
        rates[a, a] = d[a] if sigma[a] >= 0.0 else -d[a]
        for b in range(a + 1, 3):
            rates[a, b] = rates[b, a] = root[p] * e[p]
            p += 1
    eigh3(rates, axes)


@pointwise
def add_axis(sigma, root, axes, j, factor, y, z):
    """Adds factor · ∂(rate j)/∂σ̇ to y and factor · ∂(rate j)/∂e to z."""
    p = 0
    for a in range(3):
        sign = 1.0 if sigma[a] >= 0.0 else -1.0
        y[a] += factor * sign * axes[a, j] * axes[a, j]
        for b in range(a + 1, 3):
            z[p] += 2.0 * factor * root[p] * axes[a, j] * axes[b, j]
            p += 1


@pointwise
def grown(s, slope):
    """A factor for ∂²r/∂Ḟ² where r grows with an exponent 2 + slope, slope = d log s/d log rate."""
    return s * max(1.0, (1.0 + 0.5 * slope) * (1.0 + slope))


@kernel
def add_principal_strain(
    F, D, A_elastic, stiffness, width, by, breaks, pieces, counts, r, P, A, order, factor
):  # fmt: skip
    """r, then ∂r/∂Ḟ, then factor · ∂²r/∂Ḟ², of principal strain dissipation, added.

    By stretch, H is S^½ K S^½ with S the factors of the curve. By rate, K = κ I + N and r is
    ½ κ Σ s(|σ̇_j|) σ̇_j² + ½ max_j s(|σ̇_j|) σ̇ᵀN σ̇; for ∂²r/∂Ḟ² a definite stand-in.
    """
    U, V, L, R = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    values, vectors, H = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    sigma, d, e, k, s = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    y, z, root = np.empty(3), np.empty(3), np.empty(3)
    for n in range(len(F)):
        beta = stiffness[n]
        if beta == 0.0:
            continue
        for q in range(F.shape[1]):
            rates_in_frame(F[n, q], D[n, q], U, sigma, V, d, e)
            stretch_hessian(A_elastic[n, q], U, V, L, R, H)
            least = make_definite(H, values, vectors)
            if by == BY_STRETCH:
                for a in range(3):
                    s[a] = math.sqrt(curve_at(0, sigma[a], breaks, pieces, counts))
                for a in range(3):
                    for b in range(3):
                        H[a, b] *= s[a] * s[b]
            p = 0
            for a in range(3):
                for b in range(a + 1, 3):  # the modulus that lets axes turn where σ_a = ±σ_b
                    cos, sin = cosines(sigma, a, b)
                    root[p] = closeness(sigma, a, b, width)
                    k[p] = 2.0 * root[p] ** 2 * (
                        0.5 * (H[a, a] + H[b, b]) - 2.0 * cos * sin * H[a, b]
                    )  # fmt: skip
                    p += 1
            total, growth = 0.0, 1.0
            for a in range(3):
                y[a] = H[a, 0] * d[0] + H[a, 1] * d[1] + H[a, 2] * d[2]
                z[a] = k[a] * e[a]
                total += y[a] * d[a] + z[a] * e[a]
            if by == BY_RATE:
                rest = total
                for a in range(3):
                    y[a] -= least * d[a]
                    z[a] -= least * 2.0 * root[a] ** 2 * e[a]
                    rest -= least * (d[a] * d[a] + 2.0 * root[a] ** 2 * e[a] * e[a])
                diagonalise_rates(sigma, d, e, root, values, vectors)
                highest, growth, total = 0, 0.0, 0.0
                for j in range(3):
                    s[j] = curve_at(0, values[j, j], breaks, pieces, counts)
                    if s[j] > s[highest]:
                        highest = j
                for a in range(3):
                    y[a] *= s[highest]
                    z[a] *= s[highest]
                for j in range(3):
                    rate = values[j, j]
                    steepness = slope_at(0, rate, breaks, pieces, counts)
                    slope = abs(rate) * steepness
                    growth = max(growth, grown(s[j], slope))
                    total += least * s[j] * rate * rate
                    along = least * s[j] * rate * (1.0 + 0.5 * slope)
                    if j == highest:
                        total += s[j] * rest
                        along += 0.5 * rest * s[j] * (steepness if rate >= 0.0 else -steepness)
                    add_axis(sigma, root, vectors, j, along, y, z)
            r[n, q] += 0.5 * beta * total
            if order >= 1:
                add_from_frame(U, sigma, V, y, z, beta, P[n, q])
            if order >= 2:
                add_second_derivative(U, sigma, V, H, k, factor * growth * beta, L, R, A[n, q])
