"""A triangle mesh: anything else."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from supple.contact.obstacles.base import OBSTACLES, Obstacle
from supple.contact.obstacles.triangle_tree import TriangleTree
from supple.core.checks import instance
from supple.core.parameters import Kind, Parameter, described, parameter
from supple.core.types import Floats
from supple.mesh.files.surfaces import read_surface
from supple.mesh.surface import Surface


@dataclass(frozen=True)
class SurfaceKind(Kind):
    """Triangles, or the path of a file with them, which is read."""

    words = "a surface"

    def check(self, of: Parameter, value: Any) -> Surface:
        found = read_surface(value) if isinstance(value, str | os.PathLike) else value
        instance(of.name, found, Surface, 'read_surface("bowl.obj"), or a path')
        assert isinstance(found, Surface)
        return found


SURFACE = SurfaceKind()


@OBSTACLES.register(name="mesh")
@dataclass(frozen=True, eq=False, kw_only=True)
class MeshObstacle(Obstacle):
    """Triangles: ``mesh`` is a Surface or the path of a file with one, in metres.

    Bodies stay on the side from which the triangles are counter-clockwise, or on the other if
    ``hollow``, as in a bowl whose triangles face out. A closed mesh should not cut through itself.
    An open sheet is an obstacle from one side: behind it is inside, however deep; beside it, where
    its rim is the nearest, is outside all around.

    Distances are exact, to the nearest place on the triangles themselves. With a cutoff, most
    points that are well away from a closed mesh are cheap.
    """

    mesh: Surface | str | os.PathLike[str] = field(
        kw_only=False, metadata=described("a Surface, or a file with one", kind=SURFACE, unit="m")
    )
    hollow: bool = parameter(False, "the body stays on the other side")
    _tree: TriangleTree = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.mesh, Surface)
        object.__setattr__(self, "_tree", TriangleTree.of(self._facing(self.mesh)))

    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        return self._tree.distances(points, float(within))

    def _drawn(self, extent: float, about: Floats) -> Surface:
        assert isinstance(self.mesh, Surface)
        return self._facing(self.mesh)

    def _facing(self, mesh: Surface) -> Surface:
        """The mesh with its triangles turned towards the bodies."""
        return Surface(mesh.vertices, mesh.triangles[:, ::-1]) if self.hollow else mesh
