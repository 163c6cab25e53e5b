"""Dissipation in the frame of the principal axes, F = U diag(σ) Vᵀ.

Ḟ has six components there that a rigid motion does not have: the rates of the stretches
σ̇_a = u_a·Ḟv_a, and for each pair of axes a < b the rate of shear

    e_ab = (σ_a u_a·Ḟv_b + σ_b u_b·Ḟv_a) / √(2 (σ_a² + σ_b²)),

in the order (0,1) (0,2) (1,2). An isotropic density is r = ½ σ̇ᵀH σ̇ + ½ Σ k_ab e_ab².
"""

import math
from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.svd3 import eigh3, keep_positive, svd3
from supple._kernels.linear_algebra.tensors import (
    add_isotropic,
    add_outer,
    component,
    multiply,
    turn_symmetric,
)

FLAT = 5e-6
"""Stretch below which P_a/σ_a is rounding rather than stress."""

PRESSED = 0.2
"""Stretch below which the stress P_a/σ_a that turns with a cell is held back."""

_ROOT_HALF = math.sqrt(0.5)


class Sums(NamedTuple):
    """What densities of dissipation at the points of cells are added to, in place."""

    r: np.ndarray  # (c, q)
    P: np.ndarray  # (c, q, 3, 3) ∂r/∂Ḟ, if order ≥ 1
    A: np.ndarray  # (c, q, 6, 3, 3) factor · ∂²r/∂Ḟ², if order ≥ 2
    order: int
    factor: float


@pointwise
def cosines(sigma, a, b):
    """σ_a and σ_b over √(σ_a² + σ_b²)."""
    length = math.sqrt(sigma[a] * sigma[a] + sigma[b] * sigma[b])
    if not length > 0.0:
        return _ROOT_HALF, _ROOT_HALF
    return sigma[a] / length, sigma[b] / length


@pointwise
def rates_in_frame(D, U, sigma, V, d, e):
    """Fills the rates d of the stretches and e of the shears."""
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
def turn_derivative(A, U, half, T):
    """T[s, a, c] = u_a·A[s] u_c; ``half`` (3, 3) is scratch."""
    for s in range(6):
        multiply(A[s], U, half)
        for a in range(3):
            for c in range(3):
                T[s, a, c] = U[0, a] * half[0, c] + U[1, a] * half[1, c] + U[2, a] * half[2, c]


@pointwise
def derivative_in_frame(T, V, a, b, c, d):
    """A(u_a v_bᵀ, u_c v_dᵀ), how P changes along one of the two with F along the other."""
    return (
        V[0, b] * (V[0, d] * T[0, a, c] + V[1, d] * T[1, a, c] + V[2, d] * T[2, a, c])
        + V[1, b] * (V[0, d] * T[1, c, a] + V[1, d] * T[3, a, c] + V[2, d] * T[4, a, c])
        + V[2, b] * (V[0, d] * T[2, c, a] + V[1, d] * T[4, c, a] + V[2, d] * T[5, a, c])
    )


@pointwise
def stretch_hessian(T, V, H):
    """H_ab = ∂²ψ/∂σ_a∂σ_b, from ∂P/∂F as ``turn_derivative`` gives it."""
    for a in range(3):
        for b in range(a, 3):
            H[a, b] = H[b, a] = derivative_in_frame(T, V, a, a, b, b)


@pointwise
def is_definite(H):
    """Whether the leading minors of H are positive, which is seen sooner than its eigenvalues."""
    minor = H[0, 0] * H[1, 1] - H[0, 1] * H[0, 1]
    determinant = (
        H[2, 2] * minor
        - H[1, 2] * (H[0, 0] * H[1, 2] - H[0, 1] * H[0, 2])
        + H[0, 2] * (H[0, 1] * H[1, 2] - H[0, 2] * H[1, 1])
    )
    return H[0, 0] > 0.0 and minor > 0.0 and determinant > 0.0


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
                    square = sigma[a] * sigma[a] + sigma[b] * sigma[b] + 2.0 * FLAT * FLAT
                    S[a, b] = S[b, a] = (
                        sigma[a] * component(U, V, T[n, q], a, b)
                        + sigma[b] * component(U, V, T[n, q], b, a)
                    ) / square
            turn_symmetric(S, V, W)
            keep_positive(W, X)
            add_isotropic(W, A[n, q])


@pointwise
def matched_moduli(P, T, U, sigma, V, S, values, vectors, H, k):
    """H and k with ½ σ̇ᵀH σ̇ + ½ Σ k e² = ½ Ė:C:Ė, C = ∂S/∂E made positive semidefinite.

    T is ∂P/∂F as ``turn_derivative`` gives it. With S_a = P_a/σ_a, H_ab = ∂²ψ/∂σ_a∂σ_b − δ_ab S_a
    and k_ab = g (σ_a² + σ_b²), where g σ_a σ_b = 2 A(u_a v_b, u_b v_a) and g (σ_a² − σ_b²) =
    2 (S_a − S_b). Each of these two alone fails for some σ, not so their least squares.

    Materials that survive inversion push back when flat, so that P_a/σ_a has a pole there, and the
    other sign beyond. Below a stretch of ``PRESSED`` an odd cubic takes the place of 1/σ_a, with
    the value and the slope that it has there.
    """
    stretch_hessian(T, V, H)
    for a in range(3):
        t = sigma[a] / PRESSED
        share = t * (2.0 - t * t) / PRESSED if abs(t) < 1.0 else 1.0 / sigma[a]
        S[a] = share * component(U, V, P, a, a)
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
