"""Networks of springs: vertices, and the pairs of them that a spring joins."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance, numbers, vector, whole_number
from supple.core.errors import MeshError
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
    _cell: ClassVar[str] = "spring"
    _lengths: ClassVar[tuple[str, ...]] = ("vertices", "rest_lengths")

    def __post_init__(self) -> None:
        super().__post_init__()
        advice = "leave it out, or join it to another one"
        checks.all_referenced(self.cells, self.n_vertices, self._cell, advice)
        lengths = self.edge_lengths()[:, 0]
        short = np.flatnonzero(lengths <= _SAME_PLACE * np.ptp(self.vertices, axis=0).max())
        if len(short):
            first, second = self.cells[short[0]].tolist()
            raise MeshError(
                f"spring {short[0]} joins vertices {first} and {second}, which are at the same "
                "place, and so has no direction; move one of them, or leave the spring out"
            )
        self._keep(rest_lengths=_rest_lengths(self.rest_lengths, lengths))

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
        instance("surface", surface, Surface, "read_surface(path)")
        whole, _ = surface.compact()
        sides = whole.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        return cls(whole.vertices, np.unique(np.sort(sides, axis=1), axis=0))

    @property
    def edges(self) -> Ints:
        """The two vertices of each spring, (m, 2)."""
        return self.cells


def _rest_lengths(given: ArrayLike | None, lengths: Floats) -> Floats:
    """``given`` for each spring, or else the ``lengths`` that they have, read-only."""
    made = lengths
    if given is not None:
        m = len(lengths)
        made = np.broadcast_to(numbers("rest_lengths", given, ((), (m,))), m)
        bad = np.flatnonzero(~(made > 0))
        if len(bad):
            raise MeshError(
                f"rest length {bad[0]} is {made[bad[0]]:g} m; springs need rest lengths above "
                "zero, since their strain is counted in them"
            )
    return checks.frozen(made, np.float64)
