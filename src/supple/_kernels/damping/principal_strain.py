"""Dissipation of principal strains, β/2 σ̇ᵀK_σ σ̇, at quadrature points.

And one factor a point for other dissipation, from a curve over principal stretches or their rates.
"""

import math
from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.damping.principal import (
    add_from_frame,
    add_second_derivative,
    cosines,
    is_definite,
    make_definite,
    rates_in_frame,
    stretch_hessian,
    turn_derivative,
)
from supple._kernels.linear_algebra.svd3 import SCRATCH, TOGETHER, eigh3, frame_of
from supple._kernels.linear_algebra.tensors import add_outer
from supple._kernels.reduction.example_newton import Curves, curve_at, slope_at

FIXED, BY_STRETCH, BY_RATE = 0, 1, 2
"""What the factors of principal strains follow."""

_STEP = 1e-5

SHARPNESS = 16
"""Exponent of the mean that stands for the largest of three factors."""


class Law(NamedTuple):
    """What factor each principal strain has."""

    width: float  # difference of stretches from which on axes are told apart
    by: int  # one of the above
    curves: Curves  # one


class AtRates(NamedTuple):
    """What follows from the rates at a point."""

    root: np.ndarray  # (3,) how close the stretches of each pair of axes are
    s: np.ndarray  # (3,) factors
    share: np.ndarray  # (3,) of each in the largest
    rates: np.ndarray  # (3, 3)
    axes: np.ndarray  # (3, 3)
    y: np.ndarray  # (3,) a derivative by σ̇
    z: np.ndarray  # (3,) the same by e


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
def difference_of_rates(d, e):
    """A step [1/s] for differences by σ̇ and e."""
    size = 0.0
    for a in range(3):
        size = max(size, max(abs(d[a]), abs(e[a])))
    return _STEP * size if size > 0.0 else _STEP


@pointwise
def take_side(second, m, side, h, at):
    """Puts the gradients at both sides of a difference, one after the other, into row m."""
    for a in range(3):
        if side == 0:
            second[m, a], second[m, a + 3] = at.y[a], at.z[a]
        else:
            second[m, a] = (second[m, a] - at.y[a]) / (2.0 * h)
            second[m, a + 3] = (second[m, a + 3] - at.z[a]) / (2.0 * h)


@pointwise
def add_second_in_frame(U, sigma, V, second, factor, L, R, y, z, A):
    """A += factor times second derivatives (6, 6) by σ̇ and e; L, R, y and z are scratch."""
    for m in range(6):
        for i in range(3):
            y[i], z[i] = 0.0, 0.0
            for j in range(3):
                L[i, j], R[i, j] = 0.0, 0.0
        if m < 3:
            y[m] = 1.0
        else:
            z[m - 3] = 1.0
        add_from_frame(U, sigma, V, y, z, 1.0, L)
        for i in range(3):
            y[i] = 0.5 * (second[m, i] + second[i, m])
            z[i] = 0.5 * (second[m, i + 3] + second[i + 3, m])
        add_from_frame(U, sigma, V, y, z, 1.0, R)
        add_outer(A, factor, L, R)


@kernel
def make_positive(second):
    """Replaces second derivatives (6, 6) by their nearest positive semidefinite matrix."""
    symmetric = 0.5 * (second + second.T)
    if not np.isfinite(symmetric).all():
        return
    values, vectors = np.linalg.eigh(symmetric)
    if values[0] < 0.0:
        second[:] = np.dot(vectors * np.maximum(values, 0.0), np.ascontiguousarray(vectors.T))


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


@pointwise
def power_by_rate(sigma, d, e, H, k, least, curves, at):
    """2 r/β where factors follow the rates; y and z become r's derivatives by σ̇ and e, over β."""
    root, s, share, rates, axes, y, z = at
    rest = 0.0
    for a in range(3):
        y[a] = H[a, 0] * d[0] + H[a, 1] * d[1] + H[a, 2] * d[2] - least * d[a]
        z[a] = (k[a] - 2.0 * least * root[a] ** 2) * e[a]
        rest += y[a] * d[a] + z[a] * e[a]
    diagonalise_rates(sigma, d, e, root, rates, axes)
    for j in range(3):
        s[j] = curve_at(0, rates[j, j], curves)
    largest = nearly_largest(s, share)
    for a in range(3):
        y[a] *= largest
        z[a] *= largest
    total = largest * rest
    for j in range(3):
        rate = rates[j, j]
        steepness = slope_at(0, rate, curves)
        total += least * s[j] * rate * rate
        along = 0.5 * rest * largest * share[j] * steepness
        if rate < 0.0:
            along = -along
        along += least * s[j] * rate * (1.0 + 0.5 * abs(rate) * steepness)
        add_axis(sigma, root, axes, j, along, y, z)
    return total


@kernel
def add_principal_strain(F, D, A_elastic, stiffness, law, sums, definite):
    """Dissipation of principal strains, added to ``Sums``.

    By stretch, H is S^½ K S^½ with S the factors of the curve. By rate, K = κ I + N and r is
    ½ κ Σ s(|σ̇_j|) σ̇_j² + ½ ŝ σ̇ᵀN σ̇, ŝ nearly the largest factor; ∂²r/∂Ḟ² is by differences.
    """
    frames, stretches = np.empty((2, TOGETHER, 3, 3)), np.empty((TOGETHER, 3))
    M, Fs = np.empty(SCRATCH), F.reshape(F.shape[0] * F.shape[1], 3, 3)
    L, R, H = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    values, vectors = np.empty((3, 3)), np.empty((3, 3))
    d, e, k, s = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    y, z, root, share = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    T, second = np.empty((6, 3, 3)), np.empty((6, 6))
    width, by, curves = law
    r, P, A, order, factor = sums
    at = AtRates(root, s, share, values, vectors, y, z)
    for n in range(len(F)):
        beta = stiffness[n]
        for q in range(F.shape[1]):
            U, sigma, V = frame_of(F.shape[1] * n + q, Fs, frames, stretches, M)
            if beta == 0.0:
                continue
            rates_in_frame(D[n, q], U, sigma, V, d, e)
            turn_derivative(A_elastic[n, q], U, L, T)
            stretch_hessian(T, V, H)
            least = 0.0  # which factors that follow the rates ask for
            if by == BY_RATE or not is_definite(H):
                least = make_definite(H, values, vectors)
            if by == BY_STRETCH:
                for a in range(3):
                    s[a] = math.sqrt(curve_at(0, sigma[a], curves))
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
            if by == BY_RATE:
                total = power_by_rate(sigma, d, e, H, k, least, curves, at)
            else:
                total = 0.0
                for a in range(3):
                    y[a] = H[a, 0] * d[0] + H[a, 1] * d[1] + H[a, 2] * d[2]
                    z[a] = k[a] * e[a]
                    total += y[a] * d[a] + z[a] * e[a]
            r[n, q] += 0.5 * beta * total
            if order >= 1:
                add_from_frame(U, sigma, V, y, z, beta, P[n, q])
            if order >= 2 and by != BY_RATE:
                add_second_derivative(U, sigma, V, H, k, factor * beta, L, R, A[n, q])
            elif order >= 2:
                h = difference_of_rates(d, e)
                for m in range(6):
                    x, i = (d, m) if m < 3 else (e, m - 3)
                    centre = x[i]
                    for side in range(2):
                        x[i] = centre + h if side == 0 else centre - h
                        power_by_rate(sigma, d, e, H, k, least, curves, at)
                        take_side(second, m, side, h, at)
                    x[i] = centre
                if definite:
                    make_positive(second)
                add_second_in_frame(U, sigma, V, second, factor * beta, L, R, y, z, A[n, q])


@kernel
def factors_by_stretch(F, curves, s, slopes):
    """s = max_j s(σ_j), and its derivative by F."""
    frames, stretches = np.empty((2, TOGETHER, 3, 3)), np.empty((TOGETHER, 3))
    M, Fs = np.empty(SCRATCH), F.reshape(F.shape[0] * F.shape[1], 3, 3)
    y, none = np.empty(3), np.zeros(3)
    for n in range(len(F)):
        for q in range(F.shape[1]):
            U, sigma, V = frame_of(F.shape[1] * n + q, Fs, frames, stretches, M)
            best, s[n, q] = 0, curve_at(0, sigma[0], curves)
            for j in range(1, 3):
                here = curve_at(0, sigma[j], curves)
                if here > s[n, q]:
                    best, s[n, q] = j, here
            slope = s[n, q] * slope_at(0, sigma[best], curves)
            for a in range(3):
                y[a] = 0.0
                for i in range(3):
                    slopes[n, q, a, i] = 0.0
            y[best] = slope if sigma[best] >= 0.0 else -slope
            add_from_frame(U, sigma, V, y, none, 1.0, slopes[n, q])


@pointwise
def factor_by_rate(sigma, d, e, curves, at):
    """s, nearly the largest of s(|σ̇_j|); y and z become its derivatives by σ̇ and e.

    Returns d log s/d log rate too.
    """
    root, each, share, rates, axes, y, z = at
    diagonalise_rates(sigma, d, e, root, rates, axes)
    for j in range(3):
        each[j] = curve_at(0, rates[j, j], curves)
        y[j] = z[j] = 0.0
    s = nearly_largest(each, share)
    slope = 0.0
    for j in range(3):
        steepness = share[j] * slope_at(0, rates[j, j], curves)
        slope += abs(rates[j, j]) * steepness
        signed = steepness if rates[j, j] >= 0.0 else -steepness
        add_axis(sigma, root, axes, j, s * signed, y, z)
    return s, slope


@kernel
def factors_by_rate(F, D, width, curves, s, slopes, growth, second):
    """s, nearly the largest of s(|σ̇_j|), ∂s/∂Ḟ, and if there is room ∂²s/∂Ḟ² by differences.

    ``growth`` is a factor for ∂²r/∂Ḟ² that is right along the motion.
    """
    frames, stretches = np.empty((2, TOGETHER, 3, 3)), np.empty((TOGETHER, 3))
    M, Fs = np.empty(SCRATCH), F.reshape(F.shape[0] * F.shape[1], 3, 3)
    rates, axes = np.empty((3, 3)), np.empty((3, 3))
    d, e, root = np.empty(3), np.empty(3), np.empty(3)
    each, share, y, z = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    L, R, block = np.empty((3, 3)), np.empty((3, 3)), np.empty((6, 6))
    at = AtRates(root, each, share, rates, axes, y, z)
    for n in range(len(F)):
        for q in range(F.shape[1]):
            U, sigma, V = frame_of(F.shape[1] * n + q, Fs, frames, stretches, M)
            rates_in_frame(D[n, q], U, sigma, V, d, e)
            p = 0
            for a in range(3):
                for b in range(a + 1, 3):
                    root[p] = closeness(sigma, a, b, width)
                    p += 1
            s[n, q], slope = factor_by_rate(sigma, d, e, curves, at)
            growth[n, q] = s[n, q] * max(1.0, (1.0 + 0.5 * slope) * (1.0 + slope))
            for i in range(3):
                for j in range(3):
                    slopes[n, q, i, j] = 0.0
            add_from_frame(U, sigma, V, y, z, 1.0, slopes[n, q])
            if len(second):
                h = difference_of_rates(d, e)
                for m in range(6):
                    x, i = (d, m) if m < 3 else (e, m - 3)
                    centre = x[i]
                    for side in range(2):
                        x[i] = centre + h if side == 0 else centre - h
                        factor_by_rate(sigma, d, e, curves, at)
                        take_side(block, m, side, h, at)
                    x[i] = centre
                add_second_in_frame(U, sigma, V, block, 1.0, L, R, y, z, second[n, q])
