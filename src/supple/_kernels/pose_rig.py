"""A tet mesh that follows the surface of a rig, at the vertices that are needed (pose space, §4.1).

Arrays of frames are (k, 3, 3), or (0, 3, 3) where the rig has none.
"""

import numpy as np

from .compiling import kernel
from .rotations import round_to_rotations


@kernel
def average(surface, gradients, places, shares, x, means):
    """x = Σ_k shares_k surface_k (n, 3), and the means (n, 3, 3) of the gradients likewise.

    ``places`` (n, k) are rows of ``surface`` and of ``gradients``.
    """
    turned = len(gradients) > 0
    for n in range(len(x)):
        x0, x1, x2 = 0.0, 0.0, 0.0
        for k in range(places.shape[1]):
            p, share = places[n, k], shares[n, k]
            x0 += share * surface[p, 0]
            x1 += share * surface[p, 1]
            x2 += share * surface[p, 2]
        x[n, 0], x[n, 1], x[n, 2] = x0, x1, x2
    for n in range(len(x) if turned else 0):
        g00, g01, g02, g10, g11, g12, g20, g21, g22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(places.shape[1]):
            p, share = places[n, k], shares[n, k]
            G = gradients[p]
            g00, g01, g02 = g00 + share * G[0, 0], g01 + share * G[0, 1], g02 + share * G[0, 2]
            g10, g11, g12 = g10 + share * G[1, 0], g11 + share * G[1, 1], g12 + share * G[1, 2]
            g20, g21, g22 = g20 + share * G[2, 0], g21 + share * G[2, 1], g22 + share * G[2, 2]
        means[n, 0, 0], means[n, 0, 1], means[n, 0, 2] = g00, g01, g02
        means[n, 1, 0], means[n, 1, 1], means[n, 1, 2] = g10, g11, g12
        means[n, 2, 0], means[n, 2, 1], means[n, 2, 2] = g20, g21, g22


@kernel
def reach_inside(levers, features, weights, corrections, x, frames):
    """x += frame (lever + Σ_i w_i correction_i), where frames are the rotations nearest to them.

    ``corrections`` are (m, n, 3), with m = 0 where there are none. Returns whether x and the
    features are finite.
    """
    turned = len(frames) > 0
    if turned:
        round_to_rotations(frames)
    total = 0.0
    for k in range(len(features)):
        total += features[k]
    for n in range(len(x)):
        d0, d1, d2 = levers[n, 0], levers[n, 1], levers[n, 2]
        for m in range(len(corrections)):
            d0 += weights[m] * corrections[m, n, 0]
            d1 += weights[m] * corrections[m, n, 1]
            d2 += weights[m] * corrections[m, n, 2]
        if turned:
            F = frames[n]
            d0, d1, d2 = (
                F[0, 0] * d0 + F[0, 1] * d1 + F[0, 2] * d2,
                F[1, 0] * d0 + F[1, 1] * d1 + F[1, 2] * d2,
                F[2, 0] * d0 + F[2, 1] * d1 + F[2, 2] * d2,
            )
        x[n, 0] += d0
        x[n, 1] += d1
        x[n, 2] += d2
        total += x[n, 0] + x[n, 1] + x[n, 2]
    return abs(total) < np.inf


@kernel
def blend_frames(samples, shares, frames):
    """The rotations nearest to Σ_s shares_s samples_s, for samples (s, n, 3, 3)."""
    for n in range(len(frames)):
        for i in range(3):
            for j in range(3):
                e = 0.0
                for s in range(len(shares)):
                    e += shares[s] * samples[s, n, i, j]
                frames[n, i, j] = e
    round_to_rotations(frames)
