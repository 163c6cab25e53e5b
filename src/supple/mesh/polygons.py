"""Polygons cut into triangles."""

from __future__ import annotations

import numpy as np

from supple.core.types import Bools, Floats, Ints


def fan(vertices: Floats, counts: Ints, corners: Ints) -> Ints:
    """Triangles (t, 3) of polygons given by their ``counts`` (f,) and joined ``corners``.

    Triangles and convex polygons become fans, all at once; a polygon with a dent is cut ear by
    ear, so that no triangle lies outside it.
    """
    starts = np.cumsum(counts) - counts
    pieces: list[Ints] = []
    for count in np.unique(counts):
        which = np.flatnonzero(counts == count)
        polygons = corners[starts[which][:, None] + np.arange(count)]
        steps = np.arange(1, count - 1)
        hub = np.repeat(polygons[:, :1], count - 2, axis=1)
        parts = np.stack([hub, polygons[:, steps], polygons[:, steps + 1]], axis=2)
        if count > 3:
            for dented in np.flatnonzero(_dented(vertices[polygons])):
                parts[dented] = _ears(vertices, polygons[dented].tolist())
        pieces.append(parts.reshape(-1, 3))
    return np.concatenate(pieces) if pieces else np.zeros((0, 3), dtype=np.int64)


def _dented(points: Floats) -> Bools:
    """Which polygons (p, c, 3) turn the wrong way at some corner."""
    ahead = np.roll(points, -1, axis=1) - points
    turns = np.cross(np.roll(ahead, 1, axis=1), ahead)
    normal = np.cross(points, np.roll(points, -1, axis=1)).sum(axis=1)
    return np.asarray((np.einsum("pci,pi->pc", turns, normal) < 0).any(axis=1))


def _ears(vertices: Floats, polygon: list[int]) -> list[tuple[int, int, int]]:
    points = vertices[polygon]
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    left = list(polygon)
    made: list[tuple[int, int, int]] = []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            others = vertices[[v for v in left if v not in (a, b, c)]]
            if _is_ear(vertices[a], vertices[b], vertices[c], others, normal):
                break
        else:
            k, (a, b, c) = 1, (left[0], left[1], left[2])  # it crosses itself: cut anywhere
        made.append((a, b, c))
        del left[k]
    return [*made, (left[0], left[1], left[2])]


def _is_ear(a: Floats, b: Floats, c: Floats, others: Floats, normal: Floats) -> bool:
    if np.dot(np.cross(b - a, c - b), normal) <= 0:
        return False
    inside = np.ones(len(others), dtype=bool)
    for start, end in ((a, b), (b, c), (c, a)):
        inside &= np.cross(end - start, others - start) @ normal > 0
    return not inside.any()
