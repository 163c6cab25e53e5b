"""Networks of springs: vertices, and the pairs of them that a spring joins."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import numbers, vector, whole_number
from supple.core.errors import InputError, MeshError
from supple.core.types import Floats, Ints
from supple.mesh import checks
from supple.mesh.base import Mesh
from supple.mesh.surface import Surface

_SAME_PLACE = 1e-12  # a spring shorter than this share of the network has no direction


@dataclass(frozen=True, eq=False, repr=False)
class SpringMesh(Mesh):
    """Vertices (n, 3) [m] joined by springs, each a pair of vertex indices, (m, 2).

    ``rest_lengths`` [m], a number or (m,), are the lengths at which springs pull nobody: those
    between the vertices as given, unless told otherwise. A network whose rest lengths are shorter
    than these is under tension from the start. The springs are the mesh's cells; ``regions`` name
    sets of them.
    """

    _: KW_ONLY
    rest_lengths: Floats = None  # type: ignore[assignment]  # made whole when the mesh is

    cell_nodes: ClassVar[int] = 2
    _corner_edges: ClassVar[Ints] = np.array([(0, 1)])

    def __post_init__(self) -> None:
        vertices = checks.points(self.vertices)
        springs = checks.connectivity(self.cells, 2, len(vertices), "spring")
        loose = np.setdiff1d(np.arange(len(vertices)), springs)
        if len(loose):
            raise MeshError(
                f"vertex {loose[0]} belongs to no spring; leave it out, or join it to another one"
            )
        lengths = np.linalg.norm(vertices[springs[:, 1]] - vertices[springs[:, 0]], axis=1)
        short = np.flatnonzero(lengths <= _SAME_PLACE * np.ptp(vertices, axis=0).max())
        if len(short):
            first, second = springs[short[0]].tolist()
            raise MeshError(
                f"spring {short[0]} joins vertices {first} and {second}, which are at the same "
                "place, and so has no direction; move one of them, or leave the spring out"
            )
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "cells", springs)
        object.__setattr__(self, "regions", checks.cell_sets(self.regions, len(springs)))
        object.__setattr__(self, "rest_lengths", _rest_lengths(self.rest_lengths, lengths))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self.vertices, self.cells, dict(self.regions), self.rest_lengths)

    def __repr__(self) -> str:
        return f"SpringMesh({self.n_vertices} vertices, {self.n_cells} springs)"

    # -- making ------------------------------------------------------------------------

    @classmethod
    def chain(cls, start: ArrayLike, end: ArrayLike, count: int) -> Self:
        """``count`` springs of equal length in a line from ``start`` (3,) to ``end`` (3,) [m]."""
        springs = whole_number("count", count, at_least=1)
        first, last = vector("start", start), vector("end", end)
        index = np.arange(springs, dtype=np.int64)
        return cls(np.linspace(first, last, springs + 1), np.stack([index, index + 1], axis=1))

    @classmethod
    def from_surface(cls, surface: Surface) -> Self:
        """A spring for every edge of a surface's triangles; vertices of none are left out."""
        if not isinstance(surface, Surface):
            raise InputError(
                f"surface is a {type(surface).__name__}; give a Surface, e.g. read_surface(path)"
            )
        whole, _ = surface.compact()
        sides = whole.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        return cls(whole.vertices, np.unique(np.sort(sides, axis=1), axis=0))

    def scaled(self, factor: float) -> Self:
        """This mesh with every length multiplied by ``factor``, e.g. 0.001 from mm to m."""
        scale = checks.scale_factor(factor)
        if scale == 1.0:
            return self
        return dataclasses.replace(
            self, vertices=scale * self.vertices, rest_lengths=scale * self.rest_lengths
        )

    # -- measuring ---------------------------------------------------------------------

    @property
    def edges(self) -> Ints:
        """The two vertices of each spring, (m, 2)."""
        return self.cells


def _rest_lengths(given: ArrayLike | None, lengths: Floats) -> Floats:
    """``given`` for each spring, or else the ``lengths`` that they have, read-only."""
    if given is None:
        made = lengths
    else:
        m = len(lengths)
        made = np.broadcast_to(numbers("rest_lengths", given, ((), (m,))), m)
        bad = np.flatnonzero(~(made > 0))
        if len(bad):
            raise MeshError(
                f"rest length {bad[0]} is {made[bad[0]]:g} m; springs need rest lengths above "
                "zero, since their strain is counted in them"
            )
    frozen: Floats = checks.frozen(made, np.float64)
    return frozen


def _remade(
    vertices: Floats, springs: Ints, regions: Mapping[str, Ints], rest_lengths: Floats
) -> SpringMesh:
    return SpringMesh(vertices, springs, regions, rest_lengths=rest_lengths)
