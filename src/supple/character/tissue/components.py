"""Which cells of a tet mesh hang together."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from supple.core.types import Ints
from supple.mesh import TetMesh

_FACES = np.array([(1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)])


def adjacent_cells(mesh: TetMesh) -> Ints:
    """Pairs of cells that share a face, (f, 2)."""
    faces = np.sort(mesh.cells[:, _FACES].reshape(-1, 3), axis=1)
    order = np.lexsort(faces.T)
    same = np.flatnonzero((faces[order[1:]] == faces[order[:-1]]).all(axis=1))
    pairs: Ints = np.stack([order[same], order[same + 1]], axis=1) // len(_FACES)
    return pairs


def pieces(mesh: TetMesh) -> Ints:
    """The piece that each cell is in, (cells,); cells of a piece hang together by faces.

    What hangs by an edge or a vertex alone could turn about it: that is another piece.
    """
    from scipy.sparse import csgraph  # slow to import

    a, b = adjacent_cells(mesh).T
    graph = sparse.coo_array((np.ones(len(a), np.int8), (a, b)), shape=(mesh.n_cells,) * 2)
    labels: Ints = csgraph.connected_components(graph, directed=False)[1].astype(np.int64)
    return labels
