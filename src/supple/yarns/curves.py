"""Yarns as they are seen: smooth curves that pass over and under each other, and tubes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from supple.core.checks import instance, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh import YarnMesh

_SIDES = np.array([1.0, -1.0])  # of the cloth that warp and weft are on where the warp is on top


@dataclass(frozen=True, eq=False)
class YarnCurves:
    """Every yarn as a curve of points, warps first.

    At a crossing the two yarns are ± their radius off the node, along the normal of the cloth.
    Between crossings each segment has ``samples`` pieces of a Catmull–Rom spline. With one, points
    are at the crossings alone.
    """

    mesh: YarnMesh
    samples: int = 4

    def __post_init__(self) -> None:
        instance("mesh", self.mesh, YarnMesh, "WovenCloth.mesh")
        whole_number("samples", self.samples, at_least=1)

    # -- which points belong together --------------------------------------------------------

    @property
    def _yarns(self) -> list[Ints]:
        warps, wefts = self.mesh.yarns
        return [*warps, *wefts]

    @cached_property
    def counts(self) -> Ints:
        """Points of each curve, (k,)."""
        crossings = np.array([len(yarn) for yarn in self._yarns], dtype=np.int64)
        return 1 + self.samples * (crossings - 1)

    @cached_property
    def families(self) -> Ints:
        """Whether each curve is a warp, 0, or a weft, 1, (k,)."""
        return np.repeat(np.arange(2), [len(family) for family in self.mesh.yarns])

    @cached_property
    def point_families(self) -> Ints:
        """The same for each point, (p,)."""
        return np.repeat(self.families, self.counts)

    @cached_property
    def lines(self) -> Ints:
        """Pairs of points that follow each other on a curve, (l, 2)."""
        last = np.cumsum(self.counts) - 1
        first = np.setdiff1d(np.arange(self.counts.sum()), last)
        return np.stack([first, first + 1], axis=1)

    # -- where they are ----------------------------------------------------------------------

    def points(self, positions: Floats) -> Floats:
        """Points of the curves [m], (p, 3), for crossings at (n, 3)."""
        lifted, _ = self._lifted(positions)
        return self._smooth(lifted)

    def tubes(self, positions: Floats, sides: int = 6) -> Floats:
        """Vertices of a ring around each point [m], (p · sides, 3), for crossings at (n, 3)."""
        lifted, normal = self._lifted(positions)
        x = self._smooth(lifted)
        along = self._gradient(x)
        # One axis of a ring lies along the normal of the cloth, so rings never turn about the yarn.
        up = self._smooth(np.stack([normal, normal], axis=1))
        up = _unit(up - np.einsum("pi,pi->p", up, along)[:, None] * along)
        across = np.cross(along, up)
        angle = 2 * np.pi * np.arange(sides) / sides
        radius = self.mesh.radii[self.point_families][:, None, None]
        ring = np.cos(angle)[:, None] * up[:, None] + np.sin(angle)[:, None] * across[:, None]
        vertices: Floats = (x[:, None] + radius * ring).reshape(-1, 3)
        return vertices

    def tube_triangles(self, sides: int = 6) -> Ints:
        """Triangles of the tubes, outwards, their ends closed, (t, 3)."""
        if not (isinstance(sides, int | np.integer) and sides >= 3):
            raise InputError(f"sides={sides!r}: a tube has three or more")
        k = np.arange(sides)
        a = sides * self.lines[:, :1] + k
        b = sides * self.lines[:, :1] + (k + 1) % sides
        c, d = (at - sides * self.lines[:, :1] + sides * self.lines[:, 1:] for at in (a, b))
        walls = np.stack([a, b, d, a, d, c], axis=-1).reshape(-1, 3)
        last = sides * (np.cumsum(self.counts) - 1)
        first = last - sides * (self.counts - 1)
        fan = np.stack([np.zeros(sides - 2, dtype=np.int64), k[1:-1], k[2:]], axis=1)
        start, end = (at[:, None, None] + fan for at in (first, last))
        return np.concatenate([walls, start[..., ::-1].reshape(-1, 3), end.reshape(-1, 3)])

    def _lifted(self, positions: Floats) -> tuple[Floats, Floats]:
        """Where warp and weft pass each crossing (n, 2, 3), and the normal of the cloth (n, 3)."""
        along = self.mesh.neighbours
        node = np.arange(len(along))[:, None]
        before = np.where(along[..., 0] >= 0, along[..., 0], node)
        after = np.where(along[..., 1] >= 0, along[..., 1], node)
        slope = positions[after] - positions[before]
        normal = _unit(np.cross(slope[:, 1], slope[:, 0]))
        top = np.where(self.mesh.warp_on_top, 1.0, -1.0)
        height = top[:, None] * _SIDES * self.mesh.radii
        lifted: Floats = positions[:, None] + height[..., None] * normal[:, None]
        return lifted, normal

    def _smooth(self, values: Floats) -> Floats:
        """Values of warp and weft at the crossings (n, 2, 3), at all points of curves (p, 3)."""
        made: Floats = np.empty((int(self.counts.sum()), 3))
        yarns, ends = self._yarns, np.cumsum(self.counts)
        sizes = np.array([len(yarn) for yarn in yarns])
        for size in np.unique(sizes):  # those of the same length at once
            chosen = np.flatnonzero(sizes == size)
            nodes = np.stack([yarns[i] for i in chosen], axis=1)
            at = values[nodes, self.families[chosen]]  # (crossings, yarns, 3)
            knots = np.arange(size)
            spline = CubicHermiteSpline(knots, at, np.gradient(at, axis=0))
            count = 1 + self.samples * (size - 1)
            places = ends[chosen] - count + np.arange(count)[:, None]
            made[places] = spline(np.linspace(0, size - 1, count))
        return made

    def _gradient(self, x: Floats) -> Floats:
        """Unit tangents of the curves at their points (p, 3)."""
        first, second = self.lines.T
        step = x[second] - x[first]
        along = np.zeros_like(x)
        along[first] += step
        along[second] += step
        return _unit(along)


def _unit(vectors: Floats) -> Floats:
    """Vectors at length one; where there is none, any."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    up = np.broadcast_to(np.array([0.0, 0.0, 1.0]), vectors.shape).copy()
    unit: Floats = np.divide(vectors, length, out=up, where=length > 0)
    return unit
