"""Triangles in a tree of boxes, as compiled searches walk it."""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats, Ints
from supple.mesh.surface import Surface

_LEAF = 4  # triangles in a box that is not divided further, at most


def halved(surface: Surface) -> tuple[Ints, Ints]:
    """An order of the triangles in which each box's are neighbours, and where leaves start.

    All boxes of a level are halved at once, at the median along their longest side.
    """
    centres = surface.vertices[surface.triangles].mean(axis=1)
    n = len(centres)
    levels = max(0, int(np.ceil(np.log2(n / _LEAF))))
    order = np.arange(n)
    for level in range(levels):
        starts = np.arange(2**level + 1) * n // 2**level
        box = np.repeat(np.arange(2**level), np.diff(starts))
        ordered = centres[order]
        low = np.minimum.reduceat(ordered, starts[:-1])
        high = np.maximum.reduceat(ordered, starts[:-1])
        axis = np.argmax(high - low, axis=1)[box]
        order = order[np.lexsort((ordered[np.arange(n), axis], box))]
    return order, (np.arange(2**levels + 1) * n // 2**levels).astype(np.int64)


def boxes_around(corners: Floats, starts: Ints) -> Floats:
    """Boxes (2 L, 6) [m] of L leaves of triangles (t, 3, 3) and of all above them, a heap."""
    leaves = len(starts) - 1
    low, high = np.empty((2 * leaves, 3)), np.empty((2 * leaves, 3))
    low[0], high[0] = np.nan, np.nan  # the heap counts from 1
    low[leaves:] = np.minimum.reduceat(corners.min(axis=1), starts[:-1])
    high[leaves:] = np.maximum.reduceat(corners.max(axis=1), starts[:-1])
    while leaves > 1:
        child = slice(leaves, 2 * leaves)
        low[leaves // 2 : leaves] = low[child].reshape(-1, 2, 3).min(axis=1)
        high[leaves // 2 : leaves] = high[child].reshape(-1, 2, 3).max(axis=1)
        leaves //= 2
    return np.concatenate([low, high], axis=1)
