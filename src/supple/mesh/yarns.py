"""Yarns of a woven cloth: crossings, and the segments of yarn between them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from supple.core.checks import numbers
from supple.core.errors import MeshError
from supple.core.types import Bools, Floats, Ints
from supple.mesh import checks
from supple.mesh.base import Mesh

WARP, WEFT = 0, 1


@dataclass(frozen=True, eq=False, repr=False)
class YarnMesh(Mesh):
    """Crossings of warp and weft yarns (n, 3) [m], joined by segments along the yarns, (m, 2).

    A segment goes from a crossing to the next one of the same yarn. The regions "warp" and "weft"
    hold the segments of either family. ``WovenCloth.mesh`` makes one.
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.regions) != {"warp", "weft"}:
            raise MeshError(
                f"regions are {checks.names(self.regions)}; yarns have 'warp' and 'weft', which "
                "hold the segments of either family"
            )
        n = self.n_vertices
        top = np.asarray(self.warp_on_top)
        if top.shape != (n,):
            raise MeshError(f"warp_on_top has shape {top.shape}; {n} crossings need ({n},)")
        radii = numbers("radii", self.radii, ((2,),))
        if not (radii > 0).all():
            raise MeshError(f"radii={radii.tolist()}: give two lengths above zero [m]")
        arcs = numbers("arc_lengths", self.arc_lengths, ((n, 2),))
        self._keep(
            arc_lengths=checks.frozen(arcs, np.float64),
            warp_on_top=checks.frozen(top, np.bool_),
            radii=checks.frozen(radii, np.float64),
        )

    def __repr__(self) -> str:
        return f"YarnMesh({self.n_vertices} crossings, {self.n_yarns} yarns)"

    # -- yarns -------------------------------------------------------------------------

    @cached_property
    def neighbours(self) -> Ints:
        """The crossings before and after each on its warp and its weft, (n, 2, 2); −1 at ends."""
        along = np.full((self.n_vertices, 2, 2), -1, dtype=np.int64)
        for family, name in enumerate(("warp", "weft")):
            start, end = self.cells[self.regions[name]].T
            along[start, family, 1] = end
            along[end, family, 0] = start
        return along

    @cached_property
    def yarns(self) -> tuple[tuple[Ints, ...], tuple[Ints, ...]]:
        """The crossings of every warp and of every weft, each from its start to its end."""
        return self._chains(WARP), self._chains(WEFT)

    @cached_property
    def sheet_triangles(self) -> Ints:
        """The cloth seen from afar: two triangles between four crossings, (t, 3)."""
        after = self.neighbours[..., 1]
        along, across = after[:, WARP], after[:, WEFT]
        (a,) = np.nonzero((along >= 0) & (across >= 0))
        b, d = across[a], along[a]
        c = after[b, WARP]
        whole = (c >= 0) & (c == after[d, WEFT])
        a, b, c, d = (corner[whole] for corner in (a, b, c, d))
        return np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3)

    @property
    def n_yarns(self) -> int:
        """Warps and wefts together."""
        return sum(map(len, self.yarns))

    def _chains(self, family: int) -> tuple[Ints, ...]:
        before, after = self.neighbours[:, family].T
        (front,) = np.nonzero((before < 0) & (after >= 0))
        rows: list[Ints] = []
        while (front >= 0).any() and len(rows) <= self.n_vertices:
            rows.append(front)
            front = np.where(front >= 0, after[front], -1)
        if not rows:
            return ()
        return tuple(row[row >= 0] for row in np.stack(rows, axis=1))
