"""Points that a mesh carries along: its vertices or, of a rigid body, those of its skin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from supple.core.types import Bools, Floats, Ints

if TYPE_CHECKING:
    import scipy.sparse as sparse


@dataclass(frozen=True, eq=False)
class CarriedPoints:
    """p points, each a mean of up to four vertices of a mesh: x = Σ_k w_k x_k."""

    rest: Floats
    """Where they are at rest [m], (p, 3)."""
    vertices: Ints
    """(p, 4); the first again in place of those that a point does not have."""
    weights: Floats
    """w, (p, 4); 0 for those."""
    n_vertices: int
    """Of the mesh."""
    are_vertices: bool = False
    """Whether the points are the vertices of the mesh, one by one."""

    @classmethod
    def of_vertices(cls, rest: Floats) -> CarriedPoints:
        """The vertices themselves, at rest at (n, 3)."""
        index = np.repeat(np.arange(len(rest))[:, None], 4, axis=1)
        weights = np.tile([1.0, 0.0, 0.0, 0.0], (len(rest), 1))
        return cls(rest, index, weights, len(rest), are_vertices=True)

    @classmethod
    def joined(cls, parts: Sequence[CarriedPoints]) -> CarriedPoints:
        """Those of several meshes, one after the other."""
        starts = [0, *accumulate(part.n_vertices for part in parts)]
        shifted = [part.vertices + start for part, start in zip(parts, starts, strict=False)]
        return cls(
            np.concatenate([part.rest for part in parts]),
            np.concatenate(shifted),
            np.concatenate([part.weights for part in parts]),
            starts[-1],
            are_vertices=all(part.are_vertices for part in parts),
        )

    def only(self, chosen: Ints | None) -> CarriedPoints:
        """Some of the points, by their numbers (k,); None for all."""
        if chosen is None:
            return self
        of = self.rest[chosen], self.vertices[chosen], self.weights[chosen]
        return CarriedPoints(*of, self.n_vertices)

    @property
    def count(self) -> int:
        """Number of points p."""
        return len(self.rest)

    @cached_property
    def is_vertex(self) -> Bools:
        """Which points are vertices of the mesh, (p,)."""
        return np.asarray(self.vertices[:, 0] == self.vertices[:, 1])

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """W, (p, n): what the points share of the vertices."""
        import scipy.sparse as sparse  # slow to import

        rows = np.repeat(np.arange(self.count), 4)
        there = self.weights.ravel() != 0
        entries = self.weights.ravel()[there], (rows[there], self.vertices.ravel()[there])
        return sparse.csr_array(entries, shape=(self.count, self.n_vertices))

    def of(self, field: Floats) -> Floats:
        """A field (n, 3) at the points, (p, 3)."""
        return field if self.are_vertices else np.asarray(self.matrix @ field)

    def moved(self, u: Floats) -> Floats:
        """Where the points are [m], (…, p, 3), for displacements (…, n, 3) of the vertices."""
        if self.are_vertices:
            return np.asarray(self.rest + u)
        ways = np.einsum("pk,...pki->...pi", self.weights, u[..., self.vertices, :])
        return np.asarray(self.rest + ways)

    def spread(self, forces: Floats) -> Floats:
        """Forces on the points (p, 3) as forces on the vertices, (n, 3)."""
        return forces if self.are_vertices else np.asarray(self.matrix.T @ forces)
