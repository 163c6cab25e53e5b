"""One factor a quadrature point, from a curve over its principal stretches or their rates."""

from __future__ import annotations

import numpy as np

from .compiling import kernel
from .example_newton import curve_at, slope_at
from .principal import add_from_frame, rates_in_frame
from .principal_strain import BY_RATE, add_axis, closeness, diagonalise_rates, grown


@kernel
def largest_factors(F, D, width, by, breaks, pieces, counts, s, slopes, growth):
    """s = max_j s(σ_j), and its derivative, by F or where the curve is one of rates by Ḟ.

    ``growth`` is the factor of a second derivative by Ḟ.
    """
    U, V, rates, axes = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    sigma, d, e, root = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    x, y, z = np.empty(3), np.empty(3), np.empty(3)
    for n in range(len(F)):
        for q in range(F.shape[1]):
            rates_in_frame(F[n, q], D[n, q], U, sigma, V, d, e)
            if by == BY_RATE:
                p = 0
                for a in range(3):
                    for b in range(a + 1, 3):
                        root[p] = closeness(sigma, a, b, width)
                        p += 1
                diagonalise_rates(sigma, d, e, root, rates, axes)
                for j in range(3):
                    x[j] = rates[j, j]
            else:
                for j in range(3):
                    x[j] = sigma[j]
            best, highest = 0, curve_at(0, x[0], breaks, pieces, counts)
            for j in range(1, 3):
                here = curve_at(0, x[j], breaks, pieces, counts)
                if here > highest:
                    best, highest = j, here
            steepness = slope_at(0, x[best], breaks, pieces, counts)
            s[n, q] = highest
            growth[n, q] = highest
            for a in range(3):
                y[a] = z[a] = 0.0
            signed = highest * (steepness if x[best] >= 0.0 else -steepness)
            if by == BY_RATE:
                growth[n, q] = grown(highest, abs(x[best]) * steepness)
                add_axis(sigma, root, axes, best, signed, y, z)
            else:
                y[best] = signed
            for i in range(3):
                for j in range(3):
                    slopes[n, q, i, j] = 0.0
            add_from_frame(U, sigma, V, y, z, 1.0, slopes[n, q])
