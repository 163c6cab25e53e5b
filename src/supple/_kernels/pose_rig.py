"""A tet mesh that follows the surface of a rig, at the vertices that are needed (pose space, §4.1).

Arrays of frames are (k, 3, 3), or (0, 3, 3) where the rig has none.
"""

import numpy as np

from .compiling import kernel, pointwise
from .svd3 import svd3

_STEPS = 8
_ROUNDING = 1e-15


@pointwise
def rotation_near(M, R, W):
    """The rotation R nearest to M; W (3, 3, 3) is scratch.

    M is a mean of rotations that differ little: R ← ½ R (3 I − RᵀR) needs a few steps. Where they
    differ much, it is found by singular values.
    """
    det = (
        M[0, 0] * (M[1, 1] * M[2, 2] - M[1, 2] * M[2, 1])
        - M[0, 1] * (M[1, 0] * M[2, 2] - M[1, 2] * M[2, 0])
        + M[0, 2] * (M[1, 0] * M[2, 1] - M[1, 1] * M[2, 0])
    )
    if 0.5 < det < 1.5:
        for i in range(3):
            for j in range(3):
                R[i, j] = M[i, j]
        for _ in range(_STEPS):
            # RᵀR − I
            s00 = R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0] + R[2, 0] * R[2, 0] - 1.0
            s11 = R[0, 1] * R[0, 1] + R[1, 1] * R[1, 1] + R[2, 1] * R[2, 1] - 1.0
            s22 = R[0, 2] * R[0, 2] + R[1, 2] * R[1, 2] + R[2, 2] * R[2, 2] - 1.0
            s01 = R[0, 0] * R[0, 1] + R[1, 0] * R[1, 1] + R[2, 0] * R[2, 1]
            s02 = R[0, 0] * R[0, 2] + R[1, 0] * R[1, 2] + R[2, 0] * R[2, 2]
            s12 = R[0, 1] * R[0, 2] + R[1, 1] * R[1, 2] + R[2, 1] * R[2, 2]
            for i in range(3):
                x, y, z = R[i, 0], R[i, 1], R[i, 2]
                R[i, 0] = x - 0.5 * (x * s00 + y * s01 + z * s02)
                R[i, 1] = y - 0.5 * (x * s01 + y * s11 + z * s12)
                R[i, 2] = z - 0.5 * (x * s02 + y * s12 + z * s22)
            off = abs(s00) + abs(s11) + abs(s22) + abs(s01) + abs(s02) + abs(s12)
            if off * off < _ROUNDING:  # the step that follows squares what is left
                return
    svd3(M, W[0], W[1, 0], W[2])
    for i in range(3):
        for j in range(3):
            R[i, j] = W[0, i, 0] * W[2, j, 0] + W[0, i, 1] * W[2, j, 1] + W[0, i, 2] * W[2, j, 2]


@kernel
def follow_surface(surface, turns, places, shares, offsets, weights, corrections, x, frames):
    """x = Σ_k shares_k (surface_k + turn_k offset_k) + frame Σ_i w_i correction_i, and the frames.

    ``places`` (n, k) are rows of ``surface`` and of ``turns``. ``corrections`` are (m, n, 3), with
    m = 0 where there are none.
    """
    turned = len(turns) > 0
    M = np.empty((3, 3))
    W = np.empty((3, 3, 3))
    for n in range(len(x)):
        for i in range(3):
            x[n, i] = 0.0
            for j in range(3):
                M[i, j] = 0.0
        for k in range(places.shape[1]):
            p, share = places[n, k], shares[n, k]
            for i in range(3):
                at = surface[p, i]
                if turned:
                    for j in range(3):
                        at += turns[p, i, j] * offsets[n, k, j]
                        M[i, j] += share * turns[p, i, j]
                else:
                    at += offsets[n, k, i]
                x[n, i] += share * at
        if turned:
            rotation_near(M, frames[n], W)
        if len(corrections) > 0:
            d0, d1, d2 = 0.0, 0.0, 0.0
            for m in range(len(corrections)):
                d0 += weights[m] * corrections[m, n, 0]
                d1 += weights[m] * corrections[m, n, 1]
                d2 += weights[m] * corrections[m, n, 2]
            if turned:
                for i in range(3):
                    x[n, i] += frames[n, i, 0] * d0 + frames[n, i, 1] * d1 + frames[n, i, 2] * d2
            else:
                x[n, 0] += d0
                x[n, 1] += d1
                x[n, 2] += d2


@kernel
def blend_frames(samples, shares, frames):
    """The rotations nearest to Σ_s shares_s samples_s, for samples (s, n, 3, 3)."""
    M = np.empty((3, 3))
    W = np.empty((3, 3, 3))
    for n in range(len(frames)):
        for i in range(3):
            for j in range(3):
                e = 0.0
                for s in range(len(shares)):
                    e += shares[s] * samples[s, n, i, j]
                M[i, j] = e
        rotation_near(M, frames[n], W)
