"""What of a tet mesh the bones hold."""

from __future__ import annotations

import numpy as np

from supple.character.skeleton.bones import crossed_cells, segment_distances
from supple.character.tissue.components import pieces
from supple.contact.obstacles.triangle_tree import TriangleTree
from supple.core.types import Bools, Floats
from supple.mesh import TetMesh

_FLAT = 1e-3  # of their spread: fixed vertices that are in line as closely as this hold no turn


def on_bones(mesh: TetMesh, segments: Floats, share: float | None) -> Bools:
    """Vertices on bones (k, 2, 3), (n,).

    With a ``share``, those on the first part of the way from a bone to the skin; of a cell that a
    bone crosses and that has none of these, the vertex nearest to a bone. Without, all vertices
    of the cells that bones cross, as in the pose space paper, §9.
    """
    crossed = mesh.cells[crossed_cells(mesh, segments).any(axis=0)]
    fixed = np.zeros(mesh.n_vertices, dtype=bool)
    if share is None:
        fixed[crossed] = True
        return fixed
    to_bone = segment_distances(mesh.vertices, segments).min(axis=1)
    to_skin = np.abs(TriangleTree.of(mesh.boundary()).distances(mesh.vertices, np.inf)[0])
    inner = np.ones(mesh.n_vertices, dtype=bool)
    inner[mesh.boundary_facets()] = False
    fixed[:] = inner & (to_bone <= share * (to_bone + to_skin))
    bare = crossed[~fixed[crossed].any(axis=1)]
    fixed[np.take_along_axis(bare, to_bone[bare].argmin(axis=1)[:, None], axis=1)] = True
    return fixed


def with_loose_components(
    mesh: TetMesh, fixed: Bools, crossed: Bools
) -> tuple[Bools, tuple[str, ...]]:
    """``fixed`` (n,) and what else of each piece has to be so that it cannot turn or drift.

    A piece with too little is held by its vertices of cells that bones cross, ``crossed`` (n,);
    where that is too little also, by all its vertices, of which a note tells.
    """
    labels, held, notes = pieces(mesh), fixed.copy(), []
    for piece in range(labels.max() + 1):
        nodes = np.unique(mesh.cells[labels == piece])
        if _holds(mesh.vertices[nodes[fixed[nodes]]]):
            continue
        if _holds(mesh.vertices[nodes[crossed[nodes]]]):
            held[nodes[crossed[nodes]]] = True
        else:
            held[nodes] = True
            middle = ", ".join(f"{c:.3g}" for c in mesh.vertices[nodes].mean(axis=0))
            notes.append(
                f"a piece of {np.count_nonzero(labels == piece)} tets around ({middle}) has too "
                "little on bones to hang on; it follows the rig as a whole"
            )
    return held, tuple(notes)


def _holds(places: Floats) -> bool:
    """Whether places (k, 3) are three or more that are not in line."""
    if len(places) < 3:
        return False
    stretch = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    return bool(stretch[1] > _FLAT * stretch[0])
