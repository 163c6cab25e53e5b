"""Panels of a garment: where its flat pattern hangs together, where it ends, where it is sewn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from supple.core.types import Bools, Floats, Ints
from supple.mesh.sheet import SheetMesh

_SAME = 1e-6  # of the pattern's size: places that are one
_SHORT = 0.25  # of the shortest side, up to which its ends are told apart
_NEXT = np.array([1, 2, 0])


@dataclass(frozen=True, eq=False)
class Panels:
    """The flat pattern of a garment, panel by panel.

    A panel is a set of triangles that hang together in the pattern. Panels may lie on top of each
    other there.
    """

    corners: Floats
    """Of the triangles in the pattern [m], (m, 3, 2)."""
    panel: Ints
    """Of each triangle, (m,)."""
    border: Ints
    """Sides on which no triangle follows in the pattern, (b,): 3 · triangle + corner."""
    partner: Ints
    """The side to which each side of the border is sewn, (b,); −1 where the garment ends."""
    turned: Floats
    """The two ends of each border side in the pattern (b, 2, 2); partners share the order."""
    swapped: Bools
    """Whether that is not the order of the triangle's corners, (b,)."""

    @classmethod
    def of(cls, mesh: SheetMesh, tolerance: float = 0.0) -> Panels:
        """Vertices of the mesh at the same place in space are sewn together.

        Those on borders are at the same place up to ``tolerance`` [m], and a quarter of the
        shortest side of a triangle.
        """
        corners = mesh.rest_corners
        places = _places(mesh, tolerance)[mesh.cells]
        ends = np.stack([places, places[:, _NEXT]], axis=2).reshape(-1, 2)
        flat = np.stack([corners, corners[:, _NEXT]], axis=2).reshape(-1, 2, 2)
        swapped = ends[:, 0] > ends[:, 1]
        ends[swapped], flat[swapped] = ends[swapped, ::-1], flat[swapped, ::-1]
        other = _pairs(ends)
        paired = np.flatnonzero(other >= 0)
        size = float(np.ptp(corners.reshape(-1, 2), axis=0).max())
        apart = np.abs(flat[paired] - flat[other[paired]]).max(axis=(1, 2))
        inner = paired[apart <= _SAME * size]
        m = len(corners)
        links = coo_array((np.ones(len(inner)), (inner // 3, other[inner] // 3)), shape=(m, m))
        _, panel = connected_components(links, directed=False)
        border = np.setdiff1d(np.arange(3 * m), inner)
        return cls(
            corners, panel.astype(np.int64), border, other[border], flat[border], swapped[border]
        )

    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest corner of each panel in the pattern [m], (panels, 2) each."""
        count = int(self.panel.max()) + 1
        low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
        for corner in range(3):
            np.minimum.at(low, self.panel, self.corners[:, corner])
            np.maximum.at(high, self.panel, self.corners[:, corner])
        return low, high


def _places(mesh: SheetMesh, tolerance: float) -> Ints:
    """A number for each vertex, (n,), the same for those that are at one place in space."""
    at, place = np.unique(mesh.vertices + 0.0, axis=0, return_inverse=True)
    places = np.asarray(place.reshape(-1), dtype=np.int64)
    cells = places[mesh.cells]
    ends = np.stack([cells, cells[:, _NEXT]], axis=2).reshape(-1, 2)
    length = np.linalg.norm(at[ends[:, 1]] - at[ends[:, 0]], axis=1)
    reach = min(tolerance, _SHORT * float(length.min()))
    open_ends = np.unique(ends[_pairs(np.sort(ends, axis=1)) < 0])
    near = cKDTree(at[open_ends]).query_pairs(reach, output_type="ndarray")
    if not len(near):
        return places
    links = coo_array(
        (np.ones(len(near)), (open_ends[near[:, 0]], open_ends[near[:, 1]])),
        shape=(len(at), len(at)),
    )
    return np.asarray(connected_components(links, directed=False)[1][places], dtype=np.int64)


def _pairs(ends: Ints) -> Ints:
    """For each side (s, 2) the one other with the same ends, −1 where there is none or several."""
    _, edge, count = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    edge = edge.reshape(-1)
    order = np.argsort(edge, kind="stable")
    start = np.cumsum(count) - count
    other = np.full(len(ends), -1, dtype=np.int64)
    both = start[count == 2]
    other[order[both]], other[order[both + 1]] = order[both + 1], order[both]
    return other
