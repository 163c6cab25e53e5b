"""Yarns on their way to a picture or a file, as tubes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple.core.types import Floats, Ints
from supple.dynamics.motion import Motion
from supple.mesh import YarnMesh
from supple.mesh.yarns import WARP, WEFT
from supple.yarns import YarnCurves

WARP_PAINT, WEFT_PAINT = (0.31, 0.42, 0.56), (0.83, 0.79, 0.72)
"""Red, green and blue that yarns are drawn with."""

SIDES, SAMPLES = 6, 4
"""Sides of a tube, and pieces of it from crossing to crossing, where nothing is said."""

_MANY = 45_000  # vertices: a page plays no more
_COARSER = ((SAMPLES, SIDES), (3, 5), (2, 4), (1, 4), (1, 3))


class YarnTubes:
    """The tubes of all yarns, as one surface that follows the crossings."""

    def __init__(self, mesh: YarnMesh, samples: int = SAMPLES, sides: int = SIDES) -> None:
        self.sides = sides
        self.curves = YarnCurves(mesh, samples)
        self.triangles: Ints = self.curves.tube_triangles(sides)
        self._rest = mesh.vertices

    @classmethod
    def light(cls, mesh: YarnMesh) -> YarnTubes | None:
        """Tubes as fine as a page can play; None where there are too many yarns for any."""
        for samples, sides in _COARSER:
            if sides * YarnCurves(mesh, samples).counts.sum() <= _MANY:
                return cls(mesh, samples, sides)
        return None

    def at(self, u: Floats) -> Floats:
        """Vertices (…, v, 3) [m] for displacements of the crossings (…, n, 3) [m]."""
        if u.ndim > 2:
            return np.stack([self.at(each) for each in u])
        return self.curves.tubes(self._rest + u, self.sides)

    @property
    def vertex_families(self) -> Ints:
        """Whether each vertex is that of a warp, 0, or of a weft, 1, (v,)."""
        return np.repeat(self.curves.point_families, self.sides)

    @property
    def paint(self) -> Floats:
        """A colour for each vertex, (v, 3)."""
        return np.array([WARP_PAINT, WEFT_PAINT])[self.vertex_families]

    def of_family(self, family: int) -> tuple[Ints, Ints]:
        """The vertices (w,) of the warps or of the wefts, and triangles (t, 3) between them."""
        (vertices,) = np.nonzero(self.vertex_families == family)
        mine = self.triangles[self.vertex_families[self.triangles[:, 0]] == family]
        return vertices, np.searchsorted(vertices, mine)


def following(
    motion: Motion, curves: YarnCurves, mine: Ints | slice = slice(None)
) -> Callable[[int], Floats]:
    """Points of yarns (p, 3) [m], all or some of them, in a frame of a motion."""
    return lambda i: curves.points(motion.mesh.vertices + motion.displacements[i])[mine]


def sheet_paint(mesh: YarnMesh) -> Floats:
    """Colours of the crossings as the yarns on top have them, (n, 3)."""
    return np.where(mesh.warp_on_top[:, None], WARP_PAINT, WEFT_PAINT)


FAMILIES = (("warp", WARP, WARP_PAINT), ("weft", WEFT, WEFT_PAINT))
"""Name, number and colour of the two families of yarns."""
