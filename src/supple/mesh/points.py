"""Points that a mesh carries along: its vertices, the skin of a rigid body or of a reduced one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.core.types import Bools, Floats, Ints

if TYPE_CHECKING:
    import scipy.sparse as sparse


class CarriedPoint(NamedTuple):
    """One point x = X + Σ_k B_k u_k of a body."""

    vertices: Ints
    """Those that carry it, (k,)."""
    maps: Floats
    """B, (k, 3, 3)."""
    rest: Floats
    """X [m], (3,)."""

    @classmethod
    def mean(cls, vertices: Ints, weights: Floats, X: Floats) -> CarriedPoint:
        """Σ w_k x_k of vertices that are at X (n, 3) at rest."""
        return cls(vertices, weights[:, None, None] * np.eye(3), weights @ X[vertices])


@dataclass(frozen=True, eq=False)
class CarriedPoints:
    """p points x = X + Σ_k B_k u_k, each carried by a few vertices of a mesh in a row.

    Vertices carry themselves, B = I. A point of a rigid body is a mean of four, B_k = w_k I. Of a
    reduced body, u_k are three coordinates each and B_k the rows that its basis has at the point.
    """

    rest: Floats
    """X [m], (p, 3)."""
    first: Ints
    """The first of the vertices that carry each point, (p,)."""
    widths: Ints
    """How many do, (p,)."""
    maps: Floats
    """B, point after point, (Σ widths, 3, 3)."""
    are_means: Bools
    """Of which points every B_k is w_k I, with weights that add up to one, (p,)."""
    n_vertices: int
    """Of the mesh."""
    are_vertices: bool = False
    """Whether the points are the vertices of the mesh, one by one."""

    @classmethod
    def of_vertices(cls, rest: Floats) -> CarriedPoints:
        """The vertices themselves, at rest at (n, 3)."""
        n = len(rest)
        same = np.broadcast_to(np.eye(3), (n, 3, 3))
        every = np.arange(n), np.ones(n, dtype=np.int64), same, np.ones(n, dtype=bool)
        return cls(rest, *every, n, are_vertices=True)

    @classmethod
    def of_weights(cls, rest: Floats, weights: Floats) -> CarriedPoints:
        """Means of all k vertices of a mesh, with weights (p, k)."""
        maps = weights[:, :, None, None] * np.eye(3)
        return cls._of_all(rest, maps, means=True)

    @classmethod
    def of_shapes(cls, rest: Floats, shapes: Floats) -> CarriedPoints:
        """Points (p, 3) that move by Σ q_i φ_i, with shapes φ (r, p, 3); three q to a vertex."""
        r, p, _ = shapes.shape
        filled = np.zeros((3 * -(-r // 3), p, 3))
        filled[:r] = shapes
        maps = filled.reshape(-1, 3, p, 3).transpose(2, 0, 3, 1)
        return cls._of_all(rest, maps, means=False)

    @classmethod
    def _of_all(cls, rest: Floats, maps: Floats, *, means: bool) -> CarriedPoints:
        """Points that all k vertices carry, by maps (p, k, 3, 3)."""
        p, k = maps.shape[:2]
        which = np.zeros(p, dtype=np.int64), np.full(p, k, dtype=np.int64)
        flat = np.ascontiguousarray(maps.reshape(-1, 3, 3))
        return cls(rest, *which, flat, np.full(p, means), k)

    @classmethod
    def joined(cls, parts: Sequence[CarriedPoints]) -> CarriedPoints:
        """Those of several meshes, one after the other."""
        starts = [0, *accumulate(part.n_vertices for part in parts)]
        shifted = [part.first + start for part, start in zip(parts, starts, strict=False)]
        return cls(
            np.concatenate([part.rest for part in parts]),
            np.concatenate(shifted),
            np.concatenate([part.widths for part in parts]),
            np.concatenate([part.maps for part in parts]),
            np.concatenate([part.are_means for part in parts]),
            starts[-1],
            are_vertices=all(part.are_vertices for part in parts),
        )

    def only(self, chosen: Ints | None) -> CarriedPoints:
        """Some of the points, by their numbers (k,); None for all."""
        if chosen is None:
            return self
        widths = self.widths[chosen]
        begins = np.cumsum(widths) - widths
        places = np.repeat(self.begins[chosen] - begins, widths) + np.arange(widths.sum())
        of = self.rest[chosen], self.first[chosen], widths, self.maps[places]
        return CarriedPoints(*of, self.are_means[chosen], self.n_vertices)

    @property
    def count(self) -> int:
        """Number of points p."""
        return len(self.rest)

    @cached_property
    def begins(self) -> Ints:
        """Where the maps of each point begin, (p,)."""
        return np.asarray(np.cumsum(self.widths) - self.widths)

    @cached_property
    def is_vertex(self) -> Bools:
        """Which points are vertices of the mesh, (p,)."""
        return np.asarray((self.widths == 1) & self.are_means)

    def of_point(self, point: int) -> slice:
        """The vertices that carry a point."""
        return slice(int(self.first[point]), int(self.first[point] + self.widths[point]))

    def maps_of(self, point: int) -> Floats:
        """B of one point, (widths, 3, 3)."""
        begin = int(self.begins[point])
        found: Floats = self.maps[begin : begin + int(self.widths[point])]
        return found

    def one(self, point: int) -> CarriedPoint:
        """One of the points, by its number."""
        vertices = np.arange(self.n_vertices)[self.of_point(point)]
        return CarriedPoint(vertices, self.maps_of(point), self.rest[point])

    def blend(self, chosen: Ints, weights: Floats) -> CarriedPoint:
        """Σ w_k x_k of some points (k,), such as the corners of a triangle."""
        each = [self.one(int(point)) for point in chosen]
        every = np.concatenate([point.vertices for point in each])
        vertices, places = np.unique(every, return_inverse=True)
        maps = np.zeros((len(vertices), 3, 3))
        parts = [w * point.maps for w, point in zip(weights, each, strict=True)]
        np.add.at(maps, places, np.concatenate(parts))
        return CarriedPoint(vertices, maps, weights @ self.rest[chosen])

    def with_any(self, mask: Bools) -> Bools:
        """Which points are carried by any vertex of a mask (n,), (p,)."""
        before = np.concatenate([[0], np.cumsum(mask)])
        return np.asarray(before[self.first + self.widths] > before[self.first])

    def free(self, components: Bools) -> Bools:
        """Which components of points can move where some of vertices (n, 3) can, (p, 3)."""
        each = np.stack([self.with_any(components[:, i]) for i in range(3)], axis=1)
        return np.where(self.are_means[:, None], each, each.any(axis=1, keepdims=True))

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """B as a whole, (3p, 3n)."""
        import scipy.sparse as sparse  # slow to import

        point = np.repeat(np.arange(self.count), self.widths)
        vertex = np.arange(len(point)) - self.begins[point] + self.first[point]
        axes = np.arange(3)
        rows = np.broadcast_to(3 * point[:, None, None] + axes[:, None], self.maps.shape)
        cols = np.broadcast_to(3 * vertex[:, None, None] + axes, self.maps.shape)
        there = self.maps != 0
        entries = self.maps[there], (rows[there], cols[there])
        return sparse.csr_array(entries, shape=(3 * self.count, 3 * self.n_vertices))

    @cached_property
    def _transposed(self) -> sparse.csr_array:
        import scipy.sparse as sparse  # slow to import

        return sparse.csr_array(self.matrix.T)

    def of(self, field: Floats) -> Floats:
        """A field (n, 3) at the points, (p, 3)."""
        return field if self.are_vertices else (self.matrix @ field.ravel()).reshape(-1, 3)

    def moved(self, u: Floats) -> Floats:
        """Where the points are [m], (…, p, 3), for displacements (…, n, 3) of the vertices."""
        if self.are_vertices:
            return np.asarray(self.rest + u)
        flat = np.asarray(u).reshape(-1, 3 * self.n_vertices)
        ways = (self.matrix @ flat.T).T
        return np.asarray(self.rest + ways.reshape(*u.shape[:-2], -1, 3))

    def spread(self, forces: Floats) -> Floats:
        """Forces on the points (p, 3) as forces on the vertices, (n, 3): Bᵀ f."""
        if self.are_vertices:
            return forces
        return np.asarray(self._transposed @ forces.ravel()).reshape(-1, 3)
