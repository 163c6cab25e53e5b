"""Triangle surfaces: the boundary of a body, a skin to draw, an obstacle; polygons cut up."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.core.errors import MeshError
from supple.core.types import Bools, Floats, Ints
from supple.mesh import checks


@dataclass(frozen=True, eq=False, repr=False)
class Surface:
    """Triangles in space.

    ``vertices`` (n, 3) positions [m]; ``triangles`` (t, 3) vertex indices, counter-clockwise seen
    from outside; ``vertex_ids`` (n,), for a surface taken from a larger mesh, the index that each
    vertex has there.
    """

    vertices: Floats
    triangles: Ints
    vertex_ids: Ints | None = None

    def __post_init__(self) -> None:
        vertices = checks.points(self.vertices)
        object.__setattr__(self, "vertices", vertices)
        triangles = checks.connectivity(self.triangles, 3, len(vertices), "triangle")
        object.__setattr__(self, "triangles", triangles)
        if self.vertex_ids is not None:
            ids = np.asarray(self.vertex_ids)
            if ids.shape != (len(vertices),) or ids.dtype.kind not in "iu":
                raise MeshError(
                    f"vertex_ids have shape {ids.shape} and dtype {ids.dtype}; "
                    f"they must be ({len(vertices)},) whole numbers"
                )
            object.__setattr__(self, "vertex_ids", checks.frozen(ids, np.int64))

    def __reduce__(self) -> tuple[type[Surface], tuple[Floats, Ints, Ints | None]]:
        return type(self), (self.vertices, self.triangles, self.vertex_ids)

    def __repr__(self) -> str:
        return f"Surface({self.n_vertices} vertices, {self.n_triangles} triangles)"

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.vertices)

    @property
    def n_triangles(self) -> int:
        """Number of triangles."""
        return len(self.triangles)

    @property
    def bounds(self) -> Floats:
        """Lowest and highest corner of the bounding box [m], (2, 3)."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @cached_property
    def areas(self) -> Floats:
        """Area of each triangle [m²], (t,)."""
        return np.asarray(0.5 * np.linalg.norm(area_vectors(self.vertices, self.triangles), axis=1))

    @property
    def area(self) -> float:
        """Total area [m²]."""
        return float(self.areas.sum())

    @property
    def volume(self) -> float:
        """Volume inside [m³], by the divergence theorem; means something only if closed."""
        # The origin is free when the surface is closed; a near one keeps round-off small.
        corners = self.vertices[self.triangles] - self.vertices.mean(axis=0)
        cross = np.cross(corners[:, 1], corners[:, 2])
        return float(np.einsum("ti,ti->", corners[:, 0], cross) / 6.0)

    @cached_property
    def is_closed(self) -> bool:
        """Whether every edge is walked as often one way as the other, so that no hole is left."""
        heads = self.triangles[:, [0, 1, 2]].ravel()
        tails = self.triangles[:, [1, 2, 0]].ravel()
        there = np.sort(heads * self.n_vertices + tails)
        back = np.sort(tails * self.n_vertices + heads)
        return bool(np.array_equal(there, back))

    def normals(self) -> Floats:
        """Unit vertex normals, the mean of the triangles around weighted by area, (n, 3).

        A vertex without area around it has the normal 0.
        """
        return vertex_normals(self.vertices, self.triangles)

    def edge_lengths(self) -> Floats:
        """Length of every edge [m], (e,)."""
        sides = self.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        ends = self.vertices[np.unique(np.sort(sides), axis=0)]
        return np.asarray(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))

    def scaled(self, factor: float) -> Surface:
        """This surface with every length multiplied by ``factor``, e.g. 0.01 from cm to m."""
        scale = checks.scale_factor(factor)
        return self if scale == 1.0 else dataclasses.replace(self, vertices=scale * self.vertices)

    def nearest(self, place: Floats) -> tuple[Ints, Floats]:
        """The corners of the triangle nearest to a place (3,), and the weights of what is there."""
        from trimesh import triangles as on_triangles  # slow to import

        closest_point: Any = on_triangles.closest_point
        points_to_barycentric: Any = on_triangles.points_to_barycentric
        corners = self.vertices[self.triangles]
        near = closest_point(corners, np.tile(place, (len(corners), 1)))
        best = int(np.argmin(np.linalg.norm(near - place, axis=1)))
        weights = points_to_barycentric(corners[[best]], near[[best]])[0]
        return self.triangles[best], np.asarray(weights)

    def compact(self) -> tuple[Surface, Ints]:
        """Drop vertices that no triangle uses.

        Returns the surface and, for each of its vertices, the index in this one.
        """
        kept, triangles = np.unique(self.triangles, return_inverse=True)
        ids = None if self.vertex_ids is None else self.vertex_ids[kept]
        made = Surface(self.vertices[kept], triangles.reshape(-1, 3).astype(np.int64), ids)
        return made, kept

    def welded(self) -> tuple[Surface, Ints]:
        """Merge vertices at the same place, and drop triangles that this leaves without area.

        Returns the surface and, for each vertex of this one, the index in that.
        """
        # Adding zero turns -0.0 into 0.0, so that both count as one place.
        places, merged = np.unique(self.vertices + 0.0, axis=0, return_inverse=True)
        merged = merged.reshape(-1)
        triangles = merged[self.triangles]
        a, b, c = triangles.T
        return Surface(places, triangles[(a != b) & (b != c) & (c != a)]), merged


def joined(parts: Sequence[tuple[Floats, Ints]]) -> tuple[Floats, Ints]:
    """Vertices and cells, such as triangles, of several meshes as those of one."""
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in parts[:-1]])
    cells = [cells + start for (_, cells), start in zip(parts, starts, strict=True)]
    return np.concatenate([vertices for vertices, _ in parts]), np.concatenate(cells)


def area_vectors(positions: Floats, triangles: Ints) -> Floats:
    """Normals of triangles, (t, 3), each as long as twice the area [m²]."""
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def vertex_normals(positions: Floats, triangles: Ints) -> Floats:
    """Unit normals of vertices at ``positions`` (n, 3) [m], as Surface.normals gives them."""
    face = area_vectors(positions, triangles)
    summed = np.zeros_like(positions)
    for corner in range(3):
        for axis in range(3):
            summed[:, axis] += np.bincount(triangles[:, corner], face[:, axis], len(positions))
    length = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.asarray(np.divide(summed, length, out=np.zeros_like(summed), where=length > 0))


# -- polygons --------------------------------------------------------------------------------


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
