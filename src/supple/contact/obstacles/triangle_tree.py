"""Triangles in a tree of boxes, with the normals that tell inside from outside."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from supple._kernels.contact.obstacles import mesh_distances
from supple.contact.obstacles.base import in_parts
from supple.core.errors import MeshError
from supple.core.types import Bools, Floats, Ints
from supple.mesh.surface import Surface, area_vectors
from supple.mesh.triangle_boxes import boxes_around, halved

_PARTS = 4096  # of a box, about
_FLAT = 1e-12  # area of a triangle, against its longest side squared, that leaves it no direction
_EDGES = ((0, 1), (1, 2), (2, 0))


@dataclass(frozen=True, eq=False)
class TriangleTree:
    """What the compiled search walks.

    ``boxes`` (2 L, 6) [m], lowest and highest corner, are a binary heap with its root at 1 and L
    leaves; leaf i holds triangles starts[i] to starts[i + 1]. ``corners`` (t, 3, 3) [m];
    ``pseudonormals`` (t, 7, 3) of the face, the edges ab, bc, ca and the corners a, b, c, unit
    vectors; ``rims`` (t, 7), which of these are on the rim of an open sheet. ``solid`` tells
    that all that is out of the root's box is outside. ``clearance`` (a, b, c) [m] divides that
    box into parts and bounds the signed distance in each from below; empty for open sheets. The
    kernel takes them in this order.
    """

    boxes: Floats
    starts: Ints
    corners: Floats
    pseudonormals: Floats
    rims: Bools
    clearance: Floats
    solid: bool

    @classmethod
    def of(cls, surface: Surface) -> TriangleTree:
        """The tree of a surface, whose vertices at the same place count as one."""
        whole = surface.welded()[0]
        joined = without_flat(whole)
        tree = cls.arranged(joined, *halved(joined), closed=whole.is_closed)
        return tree._with_clearance() if whole.is_closed and whole.volume != 0 else tree

    @classmethod
    def arranged(cls, surface: Surface, order: Ints, starts: Ints, *, closed: bool) -> TriangleTree:
        """The tree of a surface without flat triangles, in an order and with leaves as given."""
        pseudonormals, rims = _features(surface)
        if closed:  # flat triangles that were left out leave no hole
            rims[:] = False
        corners = np.ascontiguousarray(surface.vertices[surface.triangles[order]])
        return cls(
            boxes_around(corners, starts),
            starts,
            corners,
            pseudonormals[order].copy(),
            rims[order].copy(),
            np.empty((0, 0, 0)),
            solid=closed and surface.volume > 0,
        )

    def distances(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        """Signed distance (k,) [m] of points (k, 3) [m] and its gradient (k, 3)."""
        return self.nearest(points, within)[:2]

    def nearest(self, points: Floats, within: float) -> tuple[Floats, Floats, Ints]:
        """The same, and which of the tree's triangles is the nearest (k,), −1 beyond ``within``."""
        points = np.array(points, order="C")  # the kernel is compiled anew for every other layout
        distance, normal = np.empty(len(points)), np.empty((len(points), 3))
        triangle = np.empty(len(points), dtype=np.int64)
        tree = [getattr(self, each.name) for each in dataclasses.fields(self)]

        def search(part: slice) -> None:
            found = distance[part], normal[part], triangle[part]
            mesh_distances(points[part], within, *tree, *found)

        in_parts(len(points), search)
        return distance, normal, triangle

    def _with_clearance(self) -> TriangleTree:
        low, high = self.boxes[1, :3], self.boxes[1, 3:]
        edge = np.cbrt(np.prod(high - low) / _PARTS)
        counts = np.clip(np.ceil((high - low) / edge), 1, _PARTS**0.5).astype(int)
        size = (high - low) / counts
        middles = np.indices(counts).reshape(3, -1).T + 0.5
        distance, _ = self.distances(low + size * middles, np.inf)
        # No place in a part is farther from its middle than a corner.
        clearance = distance.reshape(counts) - 0.5 * np.linalg.norm(size)
        return dataclasses.replace(self, clearance=clearance)


def without_flat(surface: Surface) -> Surface:
    """The surface without triangles that are too thin to face anywhere."""
    corners = surface.vertices[surface.triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1, initial=0.0)
    wide = surface.areas > _FLAT * longest**2
    if not wide.any():
        raise MeshError("no triangle of the mesh has an area; an obstacle needs some that have")
    return surface if wide.all() else Surface(surface.vertices, surface.triangles[wide])


def _features(surface: Surface) -> tuple[Floats, Bools]:
    """Pseudonormals (t, 7, 3) and what is on a rim (t, 7).

    Edges have the sum of the normals around them, corners the sum weighted by the angles there:
    Bærentzen and Aanæs, Signed Distance Computation Using the Angle Weighted Pseudonormal (2005).
    """
    triangles, n = surface.triangles, surface.n_vertices
    face = area_vectors(surface.vertices, triangles)
    face /= np.linalg.norm(face, axis=1, keepdims=True)

    heads, tails = (triangles[:, [pair[k] for pair in _EDGES]] for k in (0, 1))
    low, high = np.minimum(heads, tails), np.maximum(heads, tails)
    _, edge = np.unique(low * n + high, return_inverse=True)
    edge = edge.reshape(-1, 3)
    around = np.bincount(edge.ravel())
    there = np.bincount(edge.ravel(), weights=(heads < tails).ravel())
    twisted = np.count_nonzero((around == 2) & (there != 1))
    if twisted:
        raise MeshError(
            f"{twisted} edges of the mesh lie between triangles that face opposite ways; turn the "
            "triangles so that all are counter-clockwise seen from outside, e.g. with "
            "trimesh.repair.fix_normals"
        )

    corners = surface.vertices[triangles]
    ahead = np.roll(corners, -1, axis=1) - corners
    behind = np.roll(corners, 1, axis=1) - corners
    angle = np.arctan2(
        np.linalg.norm(np.cross(ahead, behind), axis=2), np.einsum("tki,tki->tk", ahead, behind)
    )
    whole = np.ones_like(angle)
    pseudonormals = np.concatenate(
        [face[:, None], _summed(face, edge, whole), _summed(face, triangles, angle)], axis=1
    )
    open_edge = around[edge] == 1
    open_corner = np.zeros(n, dtype=bool)
    open_corner[heads[open_edge]] = open_corner[tails[open_edge]] = True
    inner = np.zeros((len(triangles), 1), dtype=bool)
    return pseudonormals, np.concatenate([inner, open_edge, open_corner[triangles]], axis=1)


def _summed(face: Floats, index: Ints, weight: Floats) -> Floats:
    """Normals of faces (t, 3) summed where ``index`` (t, 3) is the same, of unit length."""
    total = np.stack(
        [
            np.bincount(index.ravel(), weights=(weight * face[:, axis, None]).ravel())
            for axis in range(3)
        ],
        axis=-1,
    )[index]
    length = np.linalg.norm(total, axis=2, keepdims=True)
    # Where faces are folded onto each other, one side is as good as the other.
    spread = np.broadcast_to(face[:, None], total.shape)
    return np.where(length > 1e-9, total / np.maximum(length, 1e-9), spread)
