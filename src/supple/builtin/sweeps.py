"""Closed surfaces drawn along a path: rods, bars, blocks and whatever has rings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.core.types import Floats, Ints
from supple.mesh import Surface

_CHAMFER = 0.14  # of half the width of a bar: how much its corners are cut


def loft(rings: ArrayLike) -> Surface:
    """A closed surface through rings of points (k, m, 3) [m], each end closed around its middle."""
    points = np.asarray(rings, dtype=np.float64)
    k, m, _ = points.shape
    vertices = np.concatenate([points.reshape(-1, 3), points[[0, -1]].mean(axis=1)])
    here = np.arange(m)
    there = (here + 1) % m
    start = m * np.arange(k - 1)[:, None]
    sides = np.stack([start + here, start + there, start + m + there, start + m + here], axis=-1)
    first, last = k * m, (k - 1) * m
    ends = np.concatenate(
        [
            np.stack([np.full(m, first), there, here], axis=1),
            np.stack([np.full(m, first + 1), last + here, last + there], axis=1),
        ]
    )
    triangles: Ints = np.concatenate([sides[..., [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3), ends])
    made = Surface(vertices, triangles)
    return made if made.volume > 0 else Surface(vertices, triangles[:, ::-1])


def rod(path: ArrayLike, radius: ArrayLike, *, sides: int = 6) -> Surface:
    """A round rod along a path (k, 3) [m], of one ``radius`` [m] or of one a point, (k,)."""
    turn = 2 * np.pi * (np.arange(sides) + 0.5) / sides
    outline = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return _swept(path, np.asarray(radius, dtype=np.float64)[..., None], outline, None)


def bar(path: ArrayLike, half: ArrayLike, *, up: ArrayLike | None = None) -> Surface:
    """A bar along a path (k, 3) [m] with chamfered edges.

    ``half`` of its width and of its height [m], (2,) or, where they change, (k, 2); its height is
    measured along ``up``.
    """
    c = 1.0 - _CHAMFER
    outline = np.array([(1, -c), (1, c), (c, 1), (-c, 1), (-1, c), (-1, -c), (-c, -1), (c, -1)])
    return _swept(path, np.asarray(half, dtype=np.float64), outline, up)


def block(low: ArrayLike, high: ArrayLike, *, bevel: float) -> Surface:
    """A box between two corners [m] whose ends at the bottom and the top are bevelled."""
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    x, y, _ = 0.5 * (low + high)
    levels = [low[2], low[2] + bevel, high[2] - bevel, high[2]]
    half = np.tile(0.5 * (high - low)[:2], (4, 1))
    half[[0, 3]] -= bevel
    return bar([(x, y, z) for z in levels], half, up=(0, 1, 0))


def _swept(path: ArrayLike, half: Floats, outline: Floats, up: ArrayLike | None) -> Surface:
    """``outline`` (m, 2), stretched by ``half``, drawn along the path."""
    points = np.asarray(path, dtype=np.float64)
    along = np.gradient(points, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    if up is None:  # the axis that the path follows least
        up = np.eye(3)[np.argmin(np.abs(along).max(axis=0))]
    side = np.cross(along, np.asarray(up, dtype=np.float64))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    over = np.cross(side, along)
    half = np.broadcast_to(half, (len(points), 2))
    wide = outline[None, :, 0] * half[:, :1]
    tall = outline[None, :, 1] * half[:, 1:]
    return loft(points[:, None] + wide[..., None] * side[:, None] + tall[..., None] * over[:, None])
