"""The mesh of a reduced body: a skin, carried by few coordinates, three to a vertex."""

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
class ReducedMesh(Mesh):
    """A skin that moves by x = X + Σ q_i φ_i; ``ReducedMesh.of(X, triangles, φ)`` makes it.

    Its ``vertices`` are no places: the displacement of each stands for three coordinates q, and all
    of them lie in the middle of the skin. ``skin_vertices`` (s, 3) [m] and ``skin_triangles``
    (t, 3) are what touches and what is drawn, ``shapes`` φ are (r, s, 3).
    """

    _: KW_ONLY
    skin_vertices: Floats
    skin_triangles: Ints
    shapes: Floats

    _cell: ClassVar[str] = "reduced body"
    _lengths: ClassVar[tuple[str, ...]] = ("vertices", "skin_vertices")

    @classmethod
    def of(cls, vertices: Floats, triangles: Ints, shapes: Floats) -> Self:
        """That of a skin with its shapes."""
        count = -(-len(shapes) // 3)
        middle = np.tile(vertices.mean(axis=0), (count, 1))
        return cls(
            middle,
            np.arange(count)[None],
            skin_vertices=vertices,
            skin_triangles=triangles,
            shapes=shapes,
        )

    def __post_init__(self) -> None:
        vertices, cells = checks.points(self.vertices), checks.frozen(self.cells, np.int64)
        skin, shapes = Surface(self.skin_vertices, self.skin_triangles), self.shapes
        if shapes.shape != (len(shapes), skin.n_vertices, 3) or not len(shapes):
            raise MeshError(f"shapes are {shapes.shape}; give (r, {skin.n_vertices}, 3)")
        if len(vertices) != -(-len(shapes) // 3) or cells.shape != (1, len(vertices)):
            raise MeshError(
                "a reduced body has a vertex for each three coordinates, and one cell; use "
                "ReducedMesh.of(vertices, triangles, shapes)"
            )
        regions = checks.cell_sets(self.regions, 1)
        self._keep(vertices=vertices, cells=cells, regions=regions)
        self._keep(skin_vertices=skin.vertices, skin_triangles=skin.triangles)
        self._keep(shapes=checks.frozen(shapes, np.float64))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.shapes)} coordinates, {self.skin!r})"

    @cached_property
    def skin(self) -> Surface:
        """The surface at rest."""
        return Surface(self.skin_vertices, self.skin_triangles)

    @cached_property
    def points(self) -> CarriedPoints:
        """The vertices of the skin, carried by the coordinates."""
        return CarriedPoints.of_shapes(self.skin_vertices, self.shapes)

    @cached_property
    def centroids(self) -> Floats:
        return self.vertices[:1]

    def edge_lengths(self) -> Floats:
        """Length of every edge of the skin [m], (1, edges)."""
        return self.skin.edge_lengths()[None]
