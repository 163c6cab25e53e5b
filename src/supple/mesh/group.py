"""Several meshes as one: the vertices of each after those of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import ClassVar, Self

import numpy as np

from supple.core.types import Floats, Ints
from supple.mesh import checks
from supple.mesh.base import Mesh
from supple.mesh.floating import FloatingMesh
from supple.mesh.points import CarriedPoints
from supple.mesh.reduced import ReducedMesh
from supple.mesh.rigid import RigidMesh
from supple.mesh.sheet import SheetMesh
from supple.mesh.surface import Surface
from supple.mesh.volume import VolumeMesh
from supple.mesh.woven import WovenMesh

_NO_NODE = -1


@dataclass(frozen=True, eq=False, repr=False)
class MeshGroup(Mesh):
    """The meshes of several bodies, ``parts``, as one; ``MeshGroup.of(meshes)`` makes it.

    ``vertices`` (n, 3) are those of one part after the other, and so are ``cells``, which have −1
    in place of nodes where others have more. Each part is a region, by its name: ``body 0``,
    ``body 1`` and so on unless it was given one.
    """

    _: KW_ONLY
    parts: tuple[Mesh, ...]

    cell_nodes: ClassVar[int] = 0
    _cell: ClassVar[str] = "cell"

    @classmethod
    def of(cls, meshes: Sequence[Mesh], names: Sequence[str] = ()) -> Self:
        """The group of these meshes, each with a name of its own."""
        starts = [0, *accumulate(len(each.vertices) for each in meshes)]
        first = [0, *accumulate(each.n_cells for each in meshes)]
        widest = max(each.cells.shape[1] for each in meshes)
        cells = np.full((first[-1], widest), _NO_NODE)
        for mesh, start, (begin, end) in zip(meshes, starts, pairwise(first), strict=False):
            cells[begin:end, : mesh.cells.shape[1]] = mesh.cells + start
        called = names or [f"body {k}" for k in range(len(meshes))]
        regions = {
            name: np.arange(*ends) for name, ends in zip(called, pairwise(first), strict=True)
        }
        vertices = np.concatenate([each.vertices for each in meshes])
        return cls(vertices, cells, regions, parts=tuple(meshes))

    def __post_init__(self) -> None:
        vertices, cells = checks.points(self.vertices), checks.frozen(self.cells, np.int64)
        regions = checks.cell_sets(self.regions, len(cells))
        self._keep(vertices=vertices, cells=cells, regions=regions, parts=tuple(self.parts))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"

    def scaled(self, factor: float) -> Self:
        return type(self).of([each.scaled(factor) for each in self.parts], self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """What the parts are called."""
        return tuple(self.regions)

    @property
    def rows(self) -> tuple[slice, ...]:
        """Which vertices are those of each part."""
        ends = [0, *accumulate(len(each.vertices) for each in self.parts)]
        return tuple(slice(*pair) for pair in pairwise(ends))

    @cached_property
    def centroids(self) -> Floats:
        return np.concatenate([each.centroids for each in self.parts])

    def edge_lengths(self) -> Floats:
        """Length of every edge between corners of each cell [m], part after part, (edges,)."""
        return np.concatenate([each.edge_lengths().ravel() for each in self.parts])

    @cached_property
    def points(self) -> CarriedPoints:
        """The points of its parts, one part after the other."""
        return CarriedPoints.joined([points_of(part) for part in self.parts])

    def surface(self) -> Surface | None:
        """The boundaries of solids and the sheets; None where there is neither.

        Its ``vertex_ids`` are those of ``points_of`` the group: where no part is rigid, its own.
        """
        vertices: list[Floats] = []
        triangles: list[Ints] = []
        ids: list[Ints] = []
        count = start = 0
        for part in self.parts:
            found = own_surface(part)
            if found is not None:
                all_of_it = np.arange(found.n_vertices)
                own = all_of_it if found.vertex_ids is None else found.vertex_ids
                vertices.append(found.vertices)
                triangles.append(found.triangles + count)
                ids.append(own + start)
                count += len(found.vertices)
            start += points_of(part).count
        if not vertices:
            return None
        return Surface(np.concatenate(vertices), np.concatenate(triangles), np.concatenate(ids))


def points_of(mesh: Mesh) -> CarriedPoints:
    """What of a mesh can touch and be drawn: its vertices or, if it has one, those of its skin.

    Of woven cloth they are the crossings.
    """
    if isinstance(mesh, MeshGroup | RigidMesh | ReducedMesh | FloatingMesh | WovenMesh):
        return mesh.points
    return CarriedPoints.of_vertices(mesh.vertices)


def own_surface(mesh: Mesh) -> Surface | None:
    """The boundary of a solid, the triangles of a sheet, those of a group; None of other meshes.

    Its ``vertex_ids`` count the ``points_of`` the mesh.
    """
    if isinstance(mesh, RigidMesh | ReducedMesh | FloatingMesh | WovenMesh):
        return mesh.skin
    if isinstance(mesh, SheetMesh | MeshGroup):
        return mesh.surface()
    if isinstance(mesh, VolumeMesh):
        return mesh.boundary()
    return None


def is_solid(mesh: Mesh) -> bool:
    """Whether a mesh is of something with an inside."""
    return isinstance(mesh, VolumeMesh | ReducedMesh | FloatingMesh)


def own_edges(mesh: Mesh) -> Ints:
    """Edges (e, 2) of ``points_of`` a mesh in no triangle of ``own_surface``: those of springs, and
    of yarns that run alone.
    """
    if isinstance(mesh, MeshGroup):
        starts = [0, *accumulate(points_of(part).count for part in mesh.parts)]
        found = [own_edges(p) + start for p, start in zip(mesh.parts, starts, strict=False)]
        return np.concatenate(found)
    if isinstance(mesh, WovenMesh):
        return mesh.loose_segments
    return mesh.cells if mesh.cells.shape[1] == 2 else np.zeros((0, 2), dtype=np.int64)
