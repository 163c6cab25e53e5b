"""One factor a quadrature point, from a curve over its principal stretches or their rates."""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.damping.principal import add_from_frame, rates_in_frame
from supple._kernels.damping.principal_strain import (
    AtRates,
    add_axis,
    add_second_in_frame,
    closeness,
    diagonalise_rates,
    difference_of_rates,
    nearly_largest,
    take_side,
)
from supple._kernels.reduction.example_newton import curve_at, slope_at


@kernel
def factors_by_stretch(F, D, curves, s, slopes):
    """s = max_j s(σ_j), and its derivative by F."""
    U, V, d, e = np.empty((3, 3)), np.empty((3, 3)), np.empty(3), np.empty(3)
    sigma, y, none = np.empty(3), np.empty(3), np.zeros(3)
    for n in range(len(F)):
        for q in range(F.shape[1]):
            rates_in_frame(F[n, q], D[n, q], U, sigma, V, d, e)
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
    U, V, rates, axes = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    sigma, d, e, root = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    each, share, y, z = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    L, R, block = np.empty((3, 3)), np.empty((3, 3)), np.empty((6, 6))
    at = AtRates(root, each, share, rates, axes, y, z)
    for n in range(len(F)):
        for q in range(F.shape[1]):
            rates_in_frame(F[n, q], D[n, q], U, sigma, V, d, e)
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
