"""Dissipation of principal strains, β/2 σ̇ᵀK_σ σ̇, at quadrature points."""

from __future__ import annotations

import math

import numpy as np

from .compiling import kernel, pointwise
from .example_newton import curve_at, slope_at
from .principal import (
    add_from_frame,
    add_second_derivative,
    cosines,
    make_definite,
    rates_in_frame,
    stretch_hessian,
    turn_derivative,
)
from .svd3 import eigh3

FIXED, BY_STRETCH, BY_RATE = 0, 1, 2
"""What the factors of principal strains follow."""

SHARPNESS = 16
"""Exponent of the mean that stands for the largest of three factors."""


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


@pointwise
def nearly_largest(s, share):
    """The mean (⅓ Σ s_j^p)^(1/p), and in ``share`` how it grows with each, ∂ log mean/∂ log s_j.

    The maximum itself has a corner where factors change places, and forces would jump there.
    """
    largest = max(s[0], max(s[1], s[2]))
    if not largest > 0.0:
        for j in range(3):
            share[j] = 0.0
        return largest
    total = 0.0
    for j in range(3):
        share[j] = (s[j] / largest) ** SHARPNESS
        total += share[j]
    for j in range(3):
        share[j] /= total
    return largest * (total / 3.0) ** (1.0 / SHARPNESS)


@kernel
def add_principal_strain(
    F, D, A_elastic, stiffness, width, by, breaks, pieces, counts, r, P, A, order, factor
):  # fmt: skip
    """r, then ∂r/∂Ḟ, then factor · ∂²r/∂Ḟ², of principal strain dissipation, added.

    By stretch, H is S^½ K S^½ with S the factors of the curve. By rate, K = κ I + N and r is
    ½ κ Σ s(|σ̇_j|) σ̇_j² + ½ ŝ σ̇ᵀN σ̇, ŝ nearly the largest factor; for ∂²r/∂Ḟ² a definite
    stand-in.
    """
    U, V, L, R = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    values, vectors, H = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    sigma, d, e, k, s = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    y, z, root, share = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    T = np.empty((6, 3, 3))
    for n in range(len(F)):
        beta = stiffness[n]
        if beta == 0.0:
            continue
        for q in range(F.shape[1]):
            rates_in_frame(F[n, q], D[n, q], U, sigma, V, d, e)
            turn_derivative(A_elastic[n, q], U, L, T)
            stretch_hessian(T, V, H)
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
                for j in range(3):
                    s[j] = curve_at(0, values[j, j], breaks, pieces, counts)
                largest = nearly_largest(s, share)
                for a in range(3):
                    y[a] *= largest
                    z[a] *= largest
                total, growth = largest * rest, 0.0
                for j in range(3):
                    rate = values[j, j]
                    steepness = slope_at(0, rate, breaks, pieces, counts)
                    slope = abs(rate) * steepness
                    growth = max(growth, grown(s[j], slope))
                    total += least * s[j] * rate * rate
                    along = 0.5 * rest * largest * share[j] * steepness
                    if rate < 0.0:
                        along = -along
                    along += least * s[j] * rate * (1.0 + 0.5 * slope)
                    add_axis(sigma, root, vectors, j, along, y, z)
            r[n, q] += 0.5 * beta * total
            if order >= 1:
                add_from_frame(U, sigma, V, y, z, beta, P[n, q])
            if order >= 2:
                add_second_derivative(U, sigma, V, H, k, factor * growth * beta, L, R, A[n, q])
