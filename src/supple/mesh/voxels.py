"""Bricks that cover a surface and what it encloses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from supple.core.errors import InputError, MeshError
from supple.core.types import Bools, Floats, Ints
from supple.mesh.surface import Surface
from supple.mesh.volume import BRICK_CORNERS

_MOST = 100_000_000  # cells of the grid
_CHUNK = 1_000_000  # pairs of triangle and brick tested at once
_TOUCH = 1e-6  # of a brick: a triangle that reaches less far into it only touches it


def voxel_bricks(surface: Surface, resolution: int, fill: bool) -> tuple[Floats, Ints]:
    """Vertices [m] and bricks (VTK order) of the grid cells that a surface takes up."""
    low, high = surface.bounds
    extent = high - low
    if isinstance(resolution, bool) or int(resolution) != resolution or resolution < 1:
        raise InputError(f"resolution={resolution!r} must be a whole number of bricks, e.g. 40")
    size = float(extent.max()) / int(resolution)
    if size <= 0:
        raise MeshError("the surface is a single point; there is nothing to cover with bricks")
    counts = np.maximum(np.ceil(extent / size - _TOUCH).astype(np.int64), 1)
    if counts.prod() > _MOST:
        raise InputError(f"resolution={resolution} makes a grid of {counts.prod():.3g}; use less")
    origin = 0.5 * (low + high) - 0.5 * size * counts
    corners = (surface.vertices[surface.triangles] - origin) / size  # in bricks, (t, 3, 3)
    taken = np.zeros(tuple(counts), dtype=bool)
    _mark(corners, taken, np.full(3, 0.5), 0.5 - _TOUCH)
    if fill:
        taken |= _enclosed(corners, taken)
    if not taken.any():
        raise MeshError("no brick is taken up by the surface; use a higher resolution")
    return _bricks(taken, origin, size)


def pieces(bricks: Ints, faces: Ints) -> int:
    """Number of parts that share no face; ``faces`` (6, 4) are those of a brick."""
    keys = np.sort(bricks[:, faces].reshape(-1, 4), axis=1)
    order = np.lexsort(keys.T)
    same = np.flatnonzero((keys[order[1:]] == keys[order[:-1]]).all(axis=1))
    a, b = order[same] // 6, order[same + 1] // 6
    graph = sparse.coo_matrix((np.ones(len(a)), (a, b)), shape=(len(bricks),) * 2)
    return int(csgraph.connected_components(graph, directed=False)[0])


def _mark(corners: Floats, marks: Bools, centre: Floats, half: float | Floats) -> None:
    """Mark the boxes of the unit grid, at index + ``centre``, that triangles reach into."""
    halves = np.broadcast_to(np.asarray(half, dtype=np.float64), (3,))
    for triangles, boxes in _candidates(corners, np.array(marks.shape), centre, halves):
        hit = _overlap(corners[triangles] - (boxes + centre)[:, None], halves)
        marks[tuple(boxes[hit].T)] = True


def _candidates(
    corners: Floats, shape: Ints, centre: Floats, half: Floats
) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of triangle and box whose bounds overlap, a chunk at a time: (p,), (p, 3)."""
    first = np.ceil(corners.min(axis=1) - centre - half).astype(np.int64)
    last = np.floor(corners.max(axis=1) - centre + half).astype(np.int64)
    first, last = np.maximum(first, 0), np.minimum(last, shape - 1)
    spans = np.maximum(last - first + 1, 0)
    pairs = spans.prod(axis=1)
    chunk = np.cumsum(pairs) // _CHUNK
    for which in np.unique(chunk):
        mine = np.flatnonzero((chunk == which) & (pairs > 0))
        if not len(mine):
            continue
        triangles = np.repeat(mine, pairs[mine])
        before = np.cumsum(pairs[mine]) - pairs[mine]
        within = np.arange(len(triangles)) - np.repeat(before, pairs[mine])
        ny, nz = spans[triangles, 1], spans[triangles, 2]
        steps = np.stack([within // (ny * nz), within // nz % ny, within % nz], axis=1)
        yield triangles, first[triangles] + steps


def _overlap(corners: Floats, half: Floats) -> Bools:
    """Which triangles (p, 3, 3) reach into the box around the origin, by separating axes."""
    edges = np.roll(corners, -1, axis=1) - corners
    meet = (corners.min(axis=1) < half).all(axis=1) & (corners.max(axis=1) > -half).all(axis=1)
    normal = np.cross(edges[:, 0], edges[:, 1])
    height = np.einsum("pi,pi->p", normal, corners[:, 0])
    meet &= np.abs(height) <= np.abs(normal) @ half
    for edge in range(3):
        for axis in range(3):
            b, c = (axis + 1) % 3, (axis + 2) % 3
            # The axis e_axis × edge has only these two components.
            along_b, along_c = -edges[:, edge, c], edges[:, edge, b]
            reach = along_b[:, None] * corners[..., b] + along_c[:, None] * corners[..., c]
            radius = half[b] * np.abs(along_b) + half[c] * np.abs(along_c)
            meet &= (reach.min(axis=1) <= radius) & (reach.max(axis=1) >= -radius)
    return np.asarray(meet)


def _enclosed(corners: Floats, taken: Bools) -> Bools:
    """Free cells from which no way leads out between faces that the surface does not cover."""
    shape = taken.shape
    outside = taken.size
    index = np.arange(outside).reshape(shape)
    normal = np.abs(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    starts, ends = [], []
    for axis in range(3):
        # A triangle that lies in the plane between two cells reaches into neither, yet it is a
        # wall: test it against a thin box around each face between cells.
        level = normal[:, axis] > 0.99 * np.linalg.norm(normal, axis=1)
        unit = np.eye(3)[axis]
        walls = np.zeros(tuple(np.array(shape) + unit.astype(np.int64)), dtype=bool)
        _mark(
            corners[level],
            walls,
            0.5 - 0.5 * unit,
            (0.5 - _TOUCH) * (1 - unit) + 10 * _TOUCH * unit,
        )
        cells = np.pad(index, [(int(k == axis),) * 2 for k in range(3)], constant_values=outside)
        free = np.pad(~taken, [(int(k == axis),) * 2 for k in range(3)], constant_values=True)
        n = shape[axis] + 1
        here, there = np.arange(n), np.arange(1, n + 1)
        open_face = ~walls & free.take(here, axis=axis) & free.take(there, axis=axis)
        starts.append(cells.take(here, axis=axis)[open_face])
        ends.append(cells.take(there, axis=axis)[open_face])
    a, b = np.concatenate(starts), np.concatenate(ends)
    graph = sparse.coo_matrix((np.ones(len(a), dtype=np.int8), (a, b)), shape=(outside + 1,) * 2)
    _, part = csgraph.connected_components(graph, directed=False)
    return np.asarray(~taken & (part[:-1] != part[-1]).reshape(shape))


def _bricks(taken: Bools, origin: Floats, size: float) -> tuple[Floats, Ints]:
    cells = np.argwhere(taken)
    places = cells[:, None] + BRICK_CORNERS
    nodes = np.array(taken.shape) + 1
    flat = (places[..., 0] * nodes[1] + places[..., 1]) * nodes[2] + places[..., 2]
    kept, bricks = np.unique(flat, return_inverse=True)
    ijk = np.stack([kept // (nodes[1] * nodes[2]), kept // nodes[2] % nodes[1], kept % nodes[2]], 1)
    return origin + size * ijk, bricks.reshape(-1, 8).astype(np.int64)
