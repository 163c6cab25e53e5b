"""A tet mesh that follows the surface of a rig, at the vertices that are needed (pose space, §4.1).

Arrays of frames are (k, 3, 3), or (0, 3, 3) where the rig has none.
"""

from .compiling import kernel
from .rotations import round_to_rotations


@kernel
def follow_surface(surface, turns, places, shares, offsets, weights, corrections, x, frames):
    """x = Σ_k shares_k (surface_k + turn_k offset_k) + frame Σ_i w_i correction_i, and the frames.

    ``places`` (n, k) are rows of ``surface`` and of ``turns``. ``corrections`` are (m, n, 3), with
    m = 0 where there are none.
    """
    turned = len(turns) > 0
    for n in range(len(x)):
        x0, x1, x2 = 0.0, 0.0, 0.0
        f00, f01, f02, f10, f11, f12, f20, f21, f22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(places.shape[1]):
            p, share = places[n, k], shares[n, k]
            d0, d1, d2 = offsets[n, k, 0], offsets[n, k, 1], offsets[n, k, 2]
            if turned:
                t00, t01, t02 = turns[p, 0, 0], turns[p, 0, 1], turns[p, 0, 2]
                t10, t11, t12 = turns[p, 1, 0], turns[p, 1, 1], turns[p, 1, 2]
                t20, t21, t22 = turns[p, 2, 0], turns[p, 2, 1], turns[p, 2, 2]
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
            frames[n, 0, 0], frames[n, 0, 1], frames[n, 0, 2] = f00, f01, f02
            frames[n, 1, 0], frames[n, 1, 1], frames[n, 1, 2] = f10, f11, f12
            frames[n, 2, 0], frames[n, 2, 1], frames[n, 2, 2] = f20, f21, f22
    if turned:
        round_to_rotations(frames)
    for n in range(len(x) if len(corrections) > 0 else 0):
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
    for n in range(len(frames)):
        for i in range(3):
            for j in range(3):
                e = 0.0
                for s in range(len(shares)):
                    e += shares[s] * samples[s, n, i, j]
                frames[n, i, j] = e
    round_to_rotations(frames)
