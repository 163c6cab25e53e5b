"""The net of crossings that warp and weft yarns make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from ...checks import instance, number, numbers, vector, whole_number
from ...errors import InputError
from ...mesh import YarnMesh
from ...mesh.yarns import WARP, WEFT
from ...types import Bools, Floats, Ints
from .weave import Weave


@dataclass(frozen=True, eq=False)
class YarnNet:
    """Crossings of warp and weft yarns, at rest.

    A crossing is a node; both of its yarns pass through it, and slide there. ``YarnNet.patch``
    makes a rectangle.
    """

    positions: Floats
    """Of the nodes [m], (n, 3)."""
    arc_lengths: Floats
    """How far along its warp and its weft yarn each node is [m], (n, 2)."""
    along: Ints
    """The nodes before and after each node on its warp and its weft, (n, 2, 2); −1 at ends."""
    warp_on_top: Bools
    """Which of the two yarns is on top, (n,)."""

    def __post_init__(self) -> None:
        n = len(self.positions)
        numbers("positions", self.positions, ((n, 3),))
        numbers("arc_lengths", self.arc_lengths, ((n, 2),))
        if self.along.shape != (n, 2, 2) or self.warp_on_top.shape != (n,):
            raise InputError(
                f"along has shape {self.along.shape} and warp_on_top {self.warp_on_top.shape}; "
                f"{n} nodes need ({n}, 2, 2) and ({n},)"
            )
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
        pair = np.broadcast_to(numbers("spacing", spacing, ((), (1,), (2,))), 2)
        a, b = (number("spacing", each, above=0, unit="m") for each in pair)
        weave = Weave.plain() if weave is None else weave
        instance("weave", weave, Weave, "Weave.twill()")
        i, j = (each.ravel() for each in np.indices((warps, wefts)))
        node = np.arange(warps * wefts)
        along = np.stack(
            [
                np.stack([np.where(j > 0, node - 1, -1), np.where(j < wefts - 1, node + 1, -1)], 1),
                np.stack(
                    [np.where(i > 0, node - wefts, -1), np.where(i < warps - 1, node + wefts, -1)],
                    1,
                ),
            ],
            axis=1,
        )
        flat = np.stack([a * i, b * j, np.zeros(len(node))], axis=1)
        arcs = np.stack([b * j, a * i], axis=1)
        top = weave.over(warps, wefts).ravel()
        return cls(flat + vector("origin", origin), arcs, along.astype(np.int64), top)

    @property
    def n_nodes(self) -> int:
        return len(self.positions)

    @cached_property
    def segments(self) -> tuple[Ints, Ints]:
        """Pairs of neighbours along a yarn (m, 2), and the family of each (m,): 0 warp, 1 weft."""
        pairs, families = [], []
        for f in (WARP, WEFT):
            (start,) = np.nonzero(self.along[:, f, 1] >= 0)
            pairs.append(np.stack([start, self.along[start, f, 1]], axis=1))
            families.append(np.full(len(start), f))
        return np.concatenate(pairs), np.concatenate(families)

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
        triples, families = [], []
        for f in (WARP, WEFT):
            (middle,) = np.nonzero((self.along[:, f] >= 0).all(axis=1))
            ends = self.along[middle, f]
            triples.append(np.stack([ends[:, 0], middle, ends[:, 1]], axis=1))
            families.append(np.full(len(middle), f))
        return np.concatenate(triples), np.concatenate(families)

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
