"""Turns as quaternions x, y, z, w of length 1, many at a time: the last axis has the four."""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats

_ALIKE = 1e-12  # 1 − cos of half the angle: turns so near that a straight line is as good


def quaternion_matrices(turns: Floats) -> Floats:
    """Matrices (…, 3, 3) of turns (…, 4) of any length."""
    unit = turns / np.linalg.norm(turns, axis=-1, keepdims=True)
    x, y, z, w = np.moveaxis(unit, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def slerp(start: Floats, end: Floats, share: Floats) -> Floats:
    """On the way from a turn to another, (…, 4): about one axis, the short way round.

    ``start`` and ``end`` are (…, 4), of any length; ``share`` (…,) is 0 at the first and 1 at the
    second.
    """
    a, b = (each / np.linalg.norm(each, axis=-1, keepdims=True) for each in (start, end))
    cosine = np.sum(a * b, axis=-1, keepdims=True)
    b = np.where(cosine < 0, -b, b)  # the same turn, nearer
    cosine = np.minimum(np.abs(cosine), 1.0)
    t = np.asarray(share, dtype=float)[..., None]
    angle = np.arctan2(np.linalg.norm(b - cosine * a, axis=-1, keepdims=True), cosine)
    near = 1 - cosine < _ALIKE
    sine = np.sin(np.where(near, 1.0, angle))
    first = np.where(near, 1 - t, np.sin((1 - t) * angle) / sine)
    second = np.where(near, t, np.sin(t * angle) / sine)
    mixed = first * a + second * b
    unit: Floats = mixed / np.linalg.norm(mixed, axis=-1, keepdims=True)
    return unit
