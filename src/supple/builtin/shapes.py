"""Shapes told by their distance, negative inside, and surfaces drawn where it is zero."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from supple.core.types import Floats, Ints
from supple.mesh import Surface


@dataclass(frozen=True)
class Ellipsoid:
    """``radii`` [m] along its axes, turned about y by ``lean`` and about x by ``nod`` [degrees]."""

    centre: tuple[float, float, float]
    radii: tuple[float, float, float]
    lean: float = 0.0
    nod: float = 0.0

    @property
    def turn(self) -> Rotation:
        return Rotation.from_euler("yx", [self.lean, self.nod], degrees=True)

    def distance(self, places: Floats) -> Floats:
        """Roughly the distance from its surface [m], negative inside."""
        local = self.turn.inv().apply(places - np.array(self.centre))
        radii = np.array(self.radii)
        near = np.linalg.norm(local / radii, axis=1)
        steep = np.linalg.norm(local / radii**2, axis=1)
        away: Floats = near * (near - 1.0) / np.maximum(steep, 1e-9)
        return away

    def mirrored(self) -> Ellipsoid:
        x, y, z = self.centre
        return Ellipsoid((-x, y, z), self.radii, -self.lean, self.nod)


def melted(distances: Iterable[Floats], blend: float) -> Floats:
    """The distance from all shapes together, softened over ``blend`` [m] where they meet."""
    first, *others = distances
    whole = first
    for other in others:
        mix = np.maximum(blend - np.abs(whole - other), 0.0) / blend
        whole = np.minimum(whole, other) - 0.25 * blend * mix**2
    return whole


def icosphere(shape: Ellipsoid) -> Surface:
    """The ellipsoid's surface as 320 triangles."""
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=2)
    points = shape.turn.apply(np.asarray(ball.vertices) * shape.radii) + np.array(shape.centre)
    return Surface(points, np.asarray(ball.faces, dtype=np.int64))


def joined(parts: list[Surface]) -> Surface:
    """All surfaces as one."""
    starts = np.cumsum([0] + [part.n_vertices for part in parts[:-1]])
    triangles = [part.triangles + start for part, start in zip(parts, starts, strict=True)]
    return Surface(np.concatenate([p.vertices for p in parts]), np.concatenate(triangles))


def net_surface(
    distance: Callable[[Floats], Floats], low: Floats, high: Floats, edge: float
) -> Surface:
    """The surface distance = 0 by surface nets: one vertex in each grid cell that it crosses."""
    counts = np.ceil((high - low) / edge).astype(np.int64)
    start = 0.5 * (low + high - edge * counts)  # centred, so that a mirror image stays one
    axes = [start[a] + edge * np.arange(counts[a] + 1) for a in range(3)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    value = distance(nodes.reshape(-1, 3)).reshape(nodes.shape[:3])
    inside = value < 0
    sums, hits = np.zeros((*counts, 3)), np.zeros(counts)
    crossed: list[tuple[int, Ints]] = []
    for axis in range(3):
        first, last = (_cut(axis, s) for s in (slice(None, -1), slice(1, None)))
        edges = np.argwhere(inside[first] != inside[last])
        a, b = value[first][tuple(edges.T)], value[last][tuple(edges.T)]
        points = nodes[first][tuple(edges.T)]
        points[:, axis] += edge * a / (a - b)
        b1, b2 = (axis + 1) % 3, (axis + 2) % 3
        around = np.repeat(edges[:, None], 4, axis=1)  # the four cells that share the edge
        around[:, [0, 3], b1] -= 1
        around[:, [0, 1], b2] -= 1
        for corner in range(4):
            np.add.at(sums, tuple(around[:, corner].T), points)
            np.add.at(hits, tuple(around[:, corner].T), 1.0)
        flat = np.ravel_multi_index(tuple(np.moveaxis(around, -1, 0)), tuple(counts))
        outward = inside[first][tuple(edges.T)]
        flat[~outward] = flat[~outward][:, ::-1]
        crossed.append((axis, flat.astype(np.int64)))
    quads = np.concatenate([flat for _, flat in crossed])
    kept, local = np.unique(quads, return_inverse=True)
    vertices = (sums.reshape(-1, 3)[kept]) / hits.reshape(-1)[kept, None]
    corners = local.reshape(-1, 4)
    for _ in range(3):  # ironing: each vertex halfway to the mean of its neighbours
        total, count = np.zeros_like(vertices), np.zeros((len(vertices), 1))
        for k in range(4):
            for other in (corners[:, (k + 1) % 4], corners[:, k - 1]):
                np.add.at(total, corners[:, k], vertices[other])
                np.add.at(count, corners[:, k], 1.0)
        vertices = 0.5 * (vertices + total / count)
    for _ in range(2):  # and back onto the surface
        ahead = [distance(vertices + step) for step in 1e-5 * np.eye(3)]
        behind = [distance(vertices - step) for step in 1e-5 * np.eye(3)]
        slope = (np.array(ahead) - np.array(behind)).T / 2e-5
        steepness = np.maximum((slope**2).sum(axis=1), 0.1)
        vertices = vertices - (distance(vertices) / steepness)[:, None] * slope
    triangles = corners[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    return Surface(vertices, triangles.astype(np.int64))


def _cut(axis: int, part: slice) -> tuple[slice, ...]:
    return tuple(part if a == axis else slice(None) for a in range(3))
