"""The mesh of a free reduced body: a skin, carried by places that may turn together."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from supple.core.errors import MeshError
from supple.core.types import Floats, Ints
from supple.mesh import checks
from supple.mesh.base import Mesh
from supple.mesh.points import CarriedPoints
from supple.mesh.surface import Surface


@dataclass(frozen=True, eq=False, repr=False)
class FloatingMesh(Mesh):
    """A skin that moves by x = Σ ψ_a x_a; ``FloatingMesh.of(X, triangles, x, ψ)`` makes it.

    The weights ψ of each vertex of the skin add up to one and give its place at rest, so that the
    skin moves and turns as the ``vertices`` x (n, 3) do. ``skin_vertices`` (s, 3) [m] and
    ``skin_triangles`` (t, 3) are what touches and what is drawn, ``weights`` are (s, n).
    """

    _: KW_ONLY
    skin_vertices: Floats
    skin_triangles: Ints
    weights: Floats

    _cell: ClassVar[str] = "floating body"
    _lengths: ClassVar[tuple[str, ...]] = ("vertices", "skin_vertices")

    @classmethod
    def of(cls, skin: Floats, triangles: Ints, vertices: Floats, weights: Floats) -> Self:
        """That of a skin (s, 3), carried by vertices (n, 3) with weights (s, n)."""
        return cls(
            vertices,
            np.arange(len(vertices))[None],
            skin_vertices=skin,
            skin_triangles=triangles,
            weights=weights,
        )

    def __post_init__(self) -> None:
        vertices, cells = checks.points(self.vertices), checks.frozen(self.cells, np.int64)
        skin, weights = Surface(self.skin_vertices, self.skin_triangles), self.weights
        if weights.shape != (skin.n_vertices, len(vertices)) or cells.shape != (1, len(vertices)):
            raise MeshError(
                f"weights are {weights.shape}; give ({skin.n_vertices}, {len(vertices)}), those of "
                "each vertex of the skin, and one cell: FloatingMesh.of(skin, triangles, vertices, "
                "weights)"
            )
        regions = checks.cell_sets(self.regions, 1)
        self._keep(vertices=vertices, cells=cells, regions=regions)
        self._keep(skin_vertices=skin.vertices, skin_triangles=skin.triangles)
        self._keep(weights=checks.frozen(weights, np.float64))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.vertices)} vertices, {self.skin!r})"

    @cached_property
    def skin(self) -> Surface:
        """The surface at rest."""
        return Surface(self.skin_vertices, self.skin_triangles)

    @cached_property
    def points(self) -> CarriedPoints:
        """The vertices of the skin, carried by all others."""
        return CarriedPoints.of_weights(self.skin_vertices, self.weights)

    @cached_property
    def centroids(self) -> Floats:
        return np.asarray(self.vertices.mean(axis=0)[None])

    def edge_lengths(self) -> Floats:
        """Length of every edge of the skin [m], (1, edges)."""
        return self.skin.edge_lengths()[None]
