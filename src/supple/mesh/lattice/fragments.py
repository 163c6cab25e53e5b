"""What a lattice holds of places that it is too coarse for."""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats, Ints
from supple.mesh.lattice.inside import Enclosed, parts_of
from supple.mesh.lattice.linked import linked
from supple.mesh.lattice.octree import volumes6

_SMALL = 0.05  # of the largest piece of a part of the surface: smaller ones are fragments
_FACES = np.array([(1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)])


def without_fragments(solid: Enclosed, vertices: Floats, cells: Ints) -> tuple[Floats, Ints]:
    """Tets without the small pieces that a thin place, such as the tip of an ear, falls into.

    Each part of the surface keeps its largest piece, however small, and what is not much smaller.
    """
    piece = _pieces(cells)
    sizes = np.bincount(piece, weights=volumes6(vertices, cells))
    if len(sizes) == 1:
        return vertices, cells
    first = np.unique(piece, return_index=True)[1]
    at = vertices[cells[first]].mean(axis=1)
    part = parts_of(solid.surface)[solid.nearest(at)]
    largest = np.zeros(part.max() + 1)
    np.maximum.at(largest, part, sizes)
    kept = (sizes >= _SMALL * largest[part])[piece]
    used, cells = np.unique(cells[kept], return_inverse=True)
    return vertices[used], cells.reshape(-1, 4)


def _pieces(cells: Ints) -> Ints:
    """The piece that each cell is in, (m,); cells of a piece hang together by faces."""
    faces = np.sort(cells[:, _FACES].reshape(-1, 3), axis=1)
    order = np.lexsort(faces.T)
    same = np.flatnonzero((faces[order[1:]] == faces[order[:-1]]).all(axis=1))
    return linked(order[same] // 4, order[same + 1] // 4, len(cells))
