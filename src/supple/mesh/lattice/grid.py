"""The lattice about a surface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.types import Bools, Floats, Ints
from supple.mesh.lattice.inside import Enclosed
from supple.mesh.lattice.octree import FINEST, Octree
from supple.mesh.lattice.symmetry import Frame

_CLEAR = 1.5  # sides: a cube so far from the surface may be larger than those at it


@dataclass(frozen=True, eq=False)
class Grid:
    """Points (n, 3) and tets (m, 4) of a lattice about a surface, in whole numbers."""

    frame: Frame
    unit: float
    """What one of them is [m]."""
    points: Ints
    tets: Ints

    def to_world(self, places: Floats | Ints) -> Floats:
        """Places of the lattice (k, 3) [m]."""
        return self.frame.to_world(self.unit * np.asarray(places, dtype=np.float64))


def grid_about(solid: Enclosed, frame: Frame, edge: float, grading: int) -> Grid:
    """A lattice with long edges of ``edge`` [m] at the surface, graded inside.

    Edges there are up to 2**grading times as long. All cubes that the surface comes near are of
    one size, so that only tets of the plain lattice, or halves of them, are ever cut: that is what
    the bounds on angles hold for.
    """
    unit = edge / FINEST
    root = FINEST * 2**grading
    local = frame.from_world(solid.surface.vertices) / unit
    margin = 2 * FINEST
    low = np.floor((local.min(axis=0) - margin) / root).astype(np.int64)
    high = np.ceil((local.max(axis=0) + margin) / root).astype(np.int64)
    if frame.symmetric:
        high[0] = max(high[0], -low[0])
        low[0] = -high[0]
    roots = np.indices(tuple(high - low)).reshape(3, -1).T + low

    def divide(middles: Ints, side: int) -> Bools:
        apart = solid.distances(frame.to_world(unit * middles.astype(np.float64))) / unit
        return np.asarray(apart < _CLEAR * side)

    tree = Octree.grown(roots, grading + 1, divide, frame.symmetric)
    return Grid(frame, unit, *tree.tets(frame.symmetric))
