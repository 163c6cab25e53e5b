"""The mesh of woven cloth in a world: crossings, with their places and how far they have slid."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from supple.core.errors import MeshError
from supple.core.types import Bools, Floats, Ints
from supple.mesh.base import Inside, Mesh, Span
from supple.mesh.points import CarriedPoints
from supple.mesh.surface import Surface
from supple.mesh.yarns import YarnMesh


@dataclass(frozen=True, eq=False, repr=False)
class WovenMesh(Mesh):
    """n crossings as 2 n vertices; ``WovenMesh.of(yarns)`` makes it of a ``YarnMesh``.

    The first n vertices are the crossings. The displacement of vertex n + i is no place: it is how
    far crossing i has slid along its warp and its weft [m], with nothing in third place. ``cells``
    (m, 2) are segments of yarn between crossings; the triangles between four crossings are what
    touches.
    """

    _: KW_ONLY
    arc_lengths: Floats
    """How far along its warp and its weft each crossing is at rest [m], (n, 2)."""
    warp_on_top: Bools
    """Which of the two yarns is on top, (n,)."""
    radii: Floats
    """Of a warp and of a weft [m], (2,)."""

    cell_nodes: ClassVar[int] = 2
    _corner_edges: ClassVar[Ints] = np.array([(0, 1)])
    _cell: ClassVar[str] = "segment"
    _lengths: ClassVar[tuple[str, ...]] = ("vertices", "arc_lengths", "radii")

    @classmethod
    def of(cls, yarns: YarnMesh) -> Self:
        """That of a woven cloth."""
        return cls(
            np.concatenate([yarns.vertices, yarns.vertices]),
            yarns.cells,
            yarns.regions,
            arc_lengths=yarns.arc_lengths,
            warp_on_top=yarns.warp_on_top,
            radii=yarns.radii,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.vertices) // 2
        if not np.array_equal(self.vertices[:count], self.vertices[count:]):
            raise MeshError("woven cloth has each crossing twice; use WovenMesh.of(yarns)")
        yarns = self.yarns
        self._keep(arc_lengths=yarns.arc_lengths)
        self._keep(warp_on_top=yarns.warp_on_top, radii=yarns.radii)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.crossings} crossings, {self.yarns.n_yarns} yarns)"

    @cached_property
    def yarns(self) -> YarnMesh:
        """The yarns at rest, as woven cloth alone has them."""
        return YarnMesh(
            self.vertices[: len(self.vertices) // 2],
            self.cells,
            self.regions,
            arc_lengths=self.arc_lengths,
            warp_on_top=self.warp_on_top,
            radii=self.radii,
        )

    @property
    def crossings(self) -> int:
        """Number of crossings n."""
        return len(self.arc_lengths)

    @property
    def thickness(self) -> float:
        """Of the cloth [m]: two of each yarn."""
        return 2.0 * float(self.radii.sum())

    @cached_property
    def skin(self) -> Surface:
        """The crossings at rest, with two triangles between any four."""
        return Surface(self.vertices[: self.crossings], self.yarns.sheet_triangles)

    @cached_property
    def loose_segments(self) -> Ints:
        """Segments of yarn at no triangle, (k, 2)."""
        sides = self.skin.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        count = np.int64(self.crossings)
        known, own = (each.min(axis=1) * count + each.max(axis=1) for each in (sides, self.cells))
        return np.asarray(self.cells[~np.isin(own, known)])

    @cached_property
    def points(self) -> CarriedPoints:
        """The crossings."""
        n = self.crossings
        each = np.arange(n), np.ones(n, dtype=np.int64), np.tile(np.eye(3), (n, 1, 1))
        return CarriedPoints(self.skin.vertices, *each, np.ones(n, dtype=bool), 2 * n)

    def where(
        self,
        x: Span | None = None,
        y: Span | None = None,
        z: Span | None = None,
        *,
        tolerance: float | None = None,
        inside: Inside = None,
    ) -> Ints:
        """Indices of the crossings that meet every condition given, (k,); see ``Mesh.where``."""
        return self.yarns.where(x, y, z, tolerance=tolerance, inside=inside)
