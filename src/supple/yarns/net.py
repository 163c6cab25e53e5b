"""The net of crossings that warp and weft yarns make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance, number, numbers, vector, whole_number
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh import SheetMesh, YarnMesh
from supple.mesh.yarns import WARP, WEFT
from supple.yarns.garment import lay_yarns
from supple.yarns.weave import Weave


@dataclass(frozen=True, eq=False)
class YarnNet:
    """Crossings of warp and weft yarns, at rest.

    A crossing is a node; both of its yarns pass through it, and slide there. ``YarnNet.patch``
    makes a rectangle, ``YarnNet.from_garment`` clothes.
    """

    positions: Floats
    """Of the nodes [m], (n, 3)."""
    arc_lengths: Floats
    """How far along its warp and its weft yarn each node is [m], (n, 2)."""
    along: Ints
    """The nodes before and after each node on its warp and its weft, (n, 2, 2); −1 at ends."""
    warp_on_top: Bools
    """Which of the two yarns is on top, (n,)."""
    stitches: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    """Pairs of crossings that seams hold together, (k, 2)."""
    stitch_lengths: Floats = field(default_factory=lambda: np.zeros(0))
    """How far apart these are at rest [m], (k,)."""

    def __post_init__(self) -> None:
        n = len(self.positions)
        numbers("positions", self.positions, ((n, 3),))
        numbers("arc_lengths", self.arc_lengths, ((n, 2),))
        if self.along.shape != (n, 2, 2) or self.warp_on_top.shape != (n,):
            raise InputError(
                f"along has shape {self.along.shape} and warp_on_top {self.warp_on_top.shape}; "
                f"{n} nodes need ({n}, 2, 2) and ({n},)"
            )
        k = len(self.stitches)
        if self.stitches.shape != (k, 2) or self.stitch_lengths.shape != (k,):
            raise InputError(
                f"stitches have shape {self.stitches.shape} and stitch_lengths "
                f"{self.stitch_lengths.shape}; give (k, 2) and (k,)"
            )
        if not (self.stitch_lengths > 0).all():
            raise InputError("stitch_lengths must be above zero [m]")
        nodes, family = self.segments
        s = self.arc_lengths
        growing = s[nodes[:, 1], family] > s[nodes[:, 0], family]
        if not growing.all():
            i, j = nodes[np.argmin(growing)]
            raise InputError(
                f"arc lengths do not grow from node {i} to node {j}; they must along every yarn"
            )

    @classmethod
    def patch(
        cls,
        warps: int,
        wefts: int,
        *,
        spacing: float | Sequence[float],
        weave: Weave | None = None,
        origin: ArrayLike = (0, 0, 0),
    ) -> YarnNet:
        """A rectangle in the plane z = const: warps along y, wefts along x.

        ``spacing`` [m] is the distance between warps and that between wefts, or one number for
        both. Node i · wefts + j is where warp i and weft j cross.
        """
        warps = whole_number("warps", warps, at_least=3)
        wefts = whole_number("wefts", wefts, at_least=3)
        a, b = _two_spacings(spacing)
        weave = _weave(weave)
        node = np.arange(warps * wefts).reshape(warps, wefts)
        along = np.full((warps, wefts, 2, 2), -1, dtype=np.int64)
        along[:, 1:, WARP, 0], along[:, :-1, WARP, 1] = node[:, :-1], node[:, 1:]
        along[1:, :, WEFT, 0], along[:-1, :, WEFT, 1] = node[:-1], node[1:]
        i, j = (each.ravel() for each in np.indices((warps, wefts)))
        flat = np.stack([a * i, b * j, np.zeros(len(i))], axis=1)
        arcs = np.stack([b * j, a * i], axis=1)
        top = weave.over(warps, wefts).ravel()
        return cls(flat + vector("origin", origin), arcs, along.reshape(-1, 2, 2), top)

    @classmethod
    def from_garment(
        cls,
        mesh: SheetMesh,
        *,
        spacing: float | Sequence[float],
        weave: Weave | None = None,
        seam_tolerance: float | None = None,
    ) -> YarnNet:
        """Yarns on a garment: wefts along u, warps along v of its flat pattern.

        ``mesh`` has a pattern [m]; where that has cuts, panels are sewn together. ``spacing`` [m]
        is the distance between warps and that between wefts. Yarns end where a panel does, at holes
        too, with their last crossing. At seams they are stitched to those of the other panel:
        where borders are at most ``seam_tolerance`` [m] apart in space, a thousandth of the spacing
        unless given. Seams that are asked for so and not found are an error; a panel that is sewn
        to nothing is warned of otherwise.
        """
        instance("mesh", mesh, SheetMesh, "SheetMesh(vertices, triangles, pattern=uv)")
        if mesh.pattern is None:
            raise InputError(
                "the garment has no pattern to tell warp from weft; give SheetMesh(..., "
                "pattern=uv) in metres, or take front_and_back(mesh)"
            )
        if seam_tolerance is not None:
            number("seam_tolerance", seam_tolerance, at_least=0, unit="m")
        laid = lay_yarns(mesh, np.array(_two_spacings(spacing)), seam_tolerance)
        table = _weave(weave).warp_on_top
        top: Bools = table[laid.lines[:, 0] % table.shape[0], laid.lines[:, 1] % table.shape[1]]
        return cls(
            laid.positions, laid.arc_lengths, laid.along, top, laid.stitches, laid.stitch_lengths
        )

    @property
    def n_nodes(self) -> int:
        return len(self.positions)

    @cached_property
    def segments(self) -> tuple[Ints, Ints]:
        """Pairs of neighbours along a yarn (m, 2), and the family of each (m,): 0 warp, 1 weft."""
        family, start = np.nonzero(self.along[:, :, 1].T >= 0)
        return np.stack([start, self.along[start, family, 1]], axis=1), family

    def mesh(self, radii: Floats) -> YarnMesh:
        """The yarns at rest, as recordings and pictures know them; radii (2,) of warp and weft."""
        nodes, family = self.segments
        return YarnMesh(
            self.positions,
            nodes,
            {"warp": family == WARP, "weft": family == WEFT},
            arc_lengths=self.arc_lengths,
            warp_on_top=self.warp_on_top,
            radii=radii,
        )

    @cached_property
    def triples(self) -> tuple[Ints, Ints]:
        """Three neighbours along a yarn, where it can bend (t, 3), and their family (t,)."""
        family, middle = np.nonzero((self.along >= 0).all(axis=2).T)
        first, last = self.along[middle, family].T
        return np.stack([first, middle, last], axis=1), family

    @cached_property
    def corners(self) -> Ints:
        """A crossing with a neighbour along its warp and one along its weft, (c, 3)."""
        found = []
        for first, second in product((0, 1), repeat=2):
            warp, weft = self.along[:, WARP, first], self.along[:, WEFT, second]
            (at,) = np.nonzero((warp >= 0) & (weft >= 0))
            found.append(np.stack([at, warp[at], weft[at]], axis=1))
        return np.concatenate(found)

    @cached_property
    def edge(self) -> Bools:
        """Nodes where a yarn ends, (n,)."""
        return np.asarray((self.along < 0).any(axis=(1, 2)))


def _two_spacings(given: float | Sequence[float]) -> tuple[float, float]:
    """Between warps and between wefts [m]."""
    pair = np.broadcast_to(numbers("spacing", given, ((), (1,), (2,))), 2)
    a, b = (number("spacing", each, above=0, unit="m") for each in pair)
    return a, b


def _weave(given: Weave | None) -> Weave:
    weave = Weave.plain() if given is None else given
    instance("weave", weave, Weave, "Weave.twill()")
    return weave
