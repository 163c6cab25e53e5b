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
        x[n] = 0.0
        if turned:
            frames[n] = 0.0
        for k in range(places.shape[1]):
            p, share = places[n, k], shares[n, k]
            for i in range(3):
                at = surface[p, i]
                if turned:
                    for j in range(3):
                        at += turns[p, i, j] * offsets[n, k, j]
                        frames[n, i, j] += share * turns[p, i, j]
                else:
                    at += offsets[n, k, i]
                x[n, i] += share * at
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
