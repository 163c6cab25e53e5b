"""Weights of morph targets in clips: those that a file came with, and soft motion beside them."""

from __future__ import annotations

import numpy as np

from supple.character.skeleton.clip import Channel, Interpolation, Track
from supple.core.types import Floats

_JUMP = 1e-5  # [s]: a jump takes as long; closer keys are one and the same to some programs


def weight_track(between: Interpolation, keys: Floats, output: Floats, count: int) -> Track:
    """The track of ``count`` weights that a sampler of a file has."""
    inner = (3,) if between is Interpolation.CUBICSPLINE else ()
    values = np.asarray(output, dtype=float).reshape(len(keys), *inner, count)
    return Track(0, Channel.WEIGHTS, keys, values, between)


def joined(track: Track, times: Floats, weights: Floats) -> Track:
    """A track of weights with those of soft motion, (T, K) at ``times`` (T,) [s], behind its own.

    Its keys are those of both. Its own weights go as they went: cubics stay cubics, in which soft
    motion goes straight from frame to frame, and a step has a key just before each jump.
    """
    keys = np.union1d(times, track.times)
    if track.between is Interpolation.STEP:
        keys = np.union1d(keys, _just_before(track.times[1:][np.diff(track.values, axis=0).any(1)]))
    soft = np.stack([np.interp(keys, times, each) for each in weights.T], axis=1)
    values = np.hstack([track.at(keys), soft])
    if track.between is not Interpolation.CUBICSPLINE or len(track.times) == 1:
        return Track(0, Channel.WEIGHTS, keys, values)
    straight = np.diff(soft, axis=0) / np.diff(keys)[:, None]
    begins, ends = (np.hstack([slopes, straight]) for slopes in _slopes(track, keys))
    cubics = np.stack([np.zeros_like(values), values, np.zeros_like(values)], axis=1)
    cubics[:-1, 2], cubics[1:, 0] = begins, ends
    return Track(0, Channel.WEIGHTS, keys, cubics, Interpolation.CUBICSPLINE)


def _just_before(times: Floats) -> Floats:
    """Earlier times [s], as glTF has them: in single precision."""
    single = times.astype(np.float32)
    earlier = np.minimum(single - np.float32(_JUMP), np.nextafter(single, np.float32(-np.inf)))
    return np.asarray(earlier, dtype=float)


def _slopes(track: Track, keys: Floats) -> tuple[Floats, Floats]:
    """Slopes [1/s] of cubics, (T − 1, d), at both ends of each stretch between ``keys`` (T,) [s].

    The derivative of glTF 2.0, appendix C.5; before and after the track there is none.
    """
    t, values = track.times, track.values
    start, end = keys[:-1], keys[1:]
    k = np.clip(np.searchsorted(t, start, side="right") - 1, 0, len(t) - 2)
    span = (t[k + 1] - t[k])[:, None]
    v0, b0 = values[k, 1], values[k, 2]
    a1, v1 = values[k + 1, 0], values[k + 1, 1]
    within = ((start >= t[0]) & (end <= t[-1]))[:, None]

    def at(times: Floats) -> Floats:
        s = (times - t[k])[:, None] / span
        slopes = 6 * (s**2 - s) * (v0 - v1) / span
        slopes += (3 * s**2 - 4 * s + 1) * b0 + (3 * s**2 - 2 * s) * a1
        return np.where(within, slopes, 0.0)

    return at(start), at(end)
