"""Yarns of a woven cloth: crossings, and the segments of yarn between them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

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

    def __post_init__(self) -> None:
        vertices = checks.points(self.vertices)
        segments = checks.connectivity(self.cells, 2, len(vertices), "segment")
        regions = checks.cell_sets(self.regions, len(segments))
        if set(regions) != {"warp", "weft"}:
            raise MeshError(
                f"regions are {', '.join(map(repr, regions)) or 'none'}; yarns have 'warp' and "
                "'weft', which hold the segments of either family"
            )
        n = len(vertices)
        top = np.asarray(self.warp_on_top)
        if top.shape != (n,):
            raise MeshError(f"warp_on_top has shape {top.shape}; {n} crossings need ({n},)")
        radii = numbers("radii", self.radii, ((2,),))
        if not (radii > 0).all():
            raise MeshError(f"radii={radii.tolist()}: give two lengths above zero [m]")
        made = {
            "vertices": vertices,
            "cells": segments,
            "regions": regions,
            "arc_lengths": checks.frozen(
                numbers("arc_lengths", self.arc_lengths, ((n, 2),)), np.float64
            ),
            "warp_on_top": checks.frozen(top, np.bool_),
            "radii": checks.frozen(radii, np.float64),
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        rest = (self.arc_lengths, self.warp_on_top, self.radii)
        return _remade, (self.vertices, self.cells, dict(self.regions), *rest)

    def __repr__(self) -> str:
        return f"YarnMesh({self.n_vertices} crossings, {self.n_yarns} yarns)"

    def scaled(self, factor: float) -> Self:
        """This mesh with every length multiplied by ``factor``, e.g. 0.001 from mm to m."""
        scale = checks.scale_factor(factor)
        return dataclasses.replace(
            self,
            vertices=scale * self.vertices,
            arc_lengths=scale * self.arc_lengths,
            radii=scale * self.radii,
        )

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


def _remade(
    vertices: Floats,
    segments: Ints,
    regions: Mapping[str, Ints],
    arc_lengths: Floats,
    warp_on_top: Bools,
    radii: Floats,
) -> YarnMesh:
    return YarnMesh(
        vertices,
        segments,
        regions,
        arc_lengths=arc_lengths,
        warp_on_top=warp_on_top,
        radii=radii,
    )
