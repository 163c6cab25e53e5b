"""A tet mesh that follows the surface of a rig, at the vertices that are needed (pose space, §4.1).

Arrays of frames are (k, 3, 3), or (0, 3, 3) where the rig has none.
"""

import math

import numpy as np

from supple._kernels.compiling import kernel
from supple._kernels.linear_algebra.rotations import round_to_rotations


@kernel
def average(surface, gradients, places, shares, offsets, x, means):
    """x = Σ_k shares_k (surface_k + gradient_k offset_k) (n, 3), and means (n, 3, 3) of gradients.

    ``places`` (n, k) are rows of ``surface`` and of ``gradients``.
    """
    turned = len(gradients) > 0
    for n in range(len(x)):
        x0, x1, x2 = 0.0, 0.0, 0.0
        f00, f01, f02, f10, f11, f12, f20, f21, f22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(places.shape[1]):
            p, share = places[n, k], shares[n, k]
            d0, d1, d2 = offsets[n, k, 0], offsets[n, k, 1], offsets[n, k, 2]
            if turned:
                G = gradients[p]
                t00, t01, t02 = G[0, 0], G[0, 1], G[0, 2]
                t10, t11, t12 = G[1, 0], G[1, 1], G[1, 2]
                t20, t21, t22 = G[2, 0], G[2, 1], G[2, 2]
                f00, f01, f02 = f00 + share * t00, f01 + share * t01, f02 + share * t02
                f10, f11, f12 = f10 + share * t10, f11 + share * t11, f12 + share * t12
                f20, f21, f22 = f20 + share * t20, f21 + share * t21, f22 + share * t22
                d0, d1, d2 = (
                    t00 * d0 + t01 * d1 + t02 * d2,
                    t10 * d0 + t11 * d1 + t12 * d2,
                    t20 * d0 + t21 * d1 + t22 * d2,
                )
            x0 += share * (surface[p, 0] + d0)
            x1 += share * (surface[p, 1] + d1)
            x2 += share * (surface[p, 2] + d2)
        x[n, 0], x[n, 1], x[n, 2] = x0, x1, x2
        if turned:
            means[n, 0, 0], means[n, 0, 1], means[n, 0, 2] = f00, f01, f02
            means[n, 1, 0], means[n, 1, 1], means[n, 1, 2] = f10, f11, f12
            means[n, 2, 0], means[n, 2, 1], means[n, 2, 2] = f20, f21, f22


@kernel
def finish_points(features, weights, corrections, x, frames):
    """Rounds the frames to rotations; then x += frame Σ_i w_i correction_i.

    ``corrections`` are (m, n, 3), with m = 0 where there are none. Returns whether x and the
    features are finite.
    """
    turned = len(frames) > 0
    if turned:
        round_to_rotations(frames)
    for n in range(len(x) if len(corrections) > 0 else 0):
        d0, d1, d2 = 0.0, 0.0, 0.0
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
    total = 0.0
    for k in range(len(features)):
        total += abs(features[k])
    for n in range(len(x)):
        total += abs(x[n, 0]) + abs(x[n, 1]) + abs(x[n, 2])
    return total < np.inf


@kernel
def bend(angle, start, coordinates, origin, axes, x, turns):
    """A body bent about an axis: places x (n, 3) and turns (n, 3, 3), or (0, 3, 3)
    if unwanted, of a bend by ``angle`` [1/m].

    ``coordinates`` (n, 4) are along the arc, beyond it, above it and to the side; the ``axes`` are
    along, about and the third direction, as rows, and the arc begins at ``start``.
    """
    a0, a1, a2 = axes[1, 0], axes[1, 1], axes[1, 2]
    for n in range(len(x)):
        bent, straight = coordinates[n, 0], coordinates[n, 1]
        high, level = coordinates[n, 2], coordinates[n, 3]
        half = 0.5 * angle * bent
        s, c = math.sin(half), math.cos(half)
        sine, less = 2.0 * s * c, 2.0 * s * s
        cosine = 1.0 - less
        chord = bent * (s / half if half != 0.0 else 1.0)  # of the arc ∫ (cos κs, sin κs) ds
        u = start + chord * c + straight * cosine - high * sine
        w = chord * s + straight * sine + high * cosine
        for i in range(3):
            x[n, i] = origin[i] + u * axes[0, i] + level * axes[1, i] + w * axes[2, i]
        if len(turns) > 0:  # I + sin K + (1 − cos) K², with K v = about × v
            R = turns[n]
            R[0, 0], R[1, 1], R[2, 2] = (
                cosine + less * a0 * a0,
                cosine + less * a1 * a1,
                cosine + less * a2 * a2,
            )
            R[0, 1], R[1, 0] = less * a0 * a1 - sine * a2, less * a0 * a1 + sine * a2
            R[0, 2], R[2, 0] = less * a0 * a2 + sine * a1, less * a0 * a2 - sine * a1
            R[1, 2], R[2, 1] = less * a1 * a2 - sine * a0, less * a1 * a2 + sine * a0
