"""Stiffness painted on the surface of a character, or given by joint (pose space paper, §8)."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import splu

from supple.character.skeleton.character import Character
from supple.character.tissue.volume import adjacent_cells, pieces
from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh import Embedding, TetMesh


def painted(skin: Embedding, values: ArrayLike, *, smoothness: float = 1.0) -> Floats:
    """Values of the cells, (cells,) or (m, cells), from values painted on the surface, Eq. 37.

    ``values`` (s,), or (m, s) in m poses, are those of the surface's vertices; NaN is not painted.
    A cell with painted vertices takes their mean, as closely as ``smoothness`` ζ lets it; others go
    on smoothly, and stay between the lowest and the highest value painted.
    """
    mesh = skin.mesh
    if not isinstance(mesh, TetMesh):
        raise InputError(f"skin is embedded in a {type(mesh).__name__}; embed it in a TetMesh")
    zeta = number("smoothness", smoothness, above=0)
    given = np.asarray(values, dtype=np.float64)
    count = len(skin.cells)
    if given.ndim not in (1, 2) or given.shape[-1] != count or np.isinf(given).any():
        raise InputError(
            f"values have shape {given.shape}; give ({count},) or (m, {count}), finite or NaN"
        )
    L, piece = _laplacian(mesh), pieces(mesh)
    found = np.stack([_smoothed(skin, row, zeta, L, piece) for row in np.atleast_2d(given)])
    return found if given.ndim == 2 else found[0]


def stiffness_by_joint(
    character: Character,
    skin: Embedding,
    factors: Mapping[str, float],
    *,
    smoothness: float = 1.0,
) -> Floats:
    """Factors of stiffness of the cells, (cells,), from those of joints by name.

    Names may have wildcards: ``{"Tail*": 0.2, "Head": 5}``; the last that fits a joint counts, and
    joints that none fits have 1. Flesh that follows several joints has the geometric mean of what
    they have. ``skin`` is the surface of the character in its tets.
    """
    of_joints = np.zeros(character.rig.n_joints)
    for pattern, factor in factors.items():
        log = np.log(number(f"the factor of {pattern}", factor, above=0))
        of_joints[_joints_called(character, pattern)] = log
    logs = _on_surface(character, skin, of_joints)
    return np.exp(painted(skin, logs, smoothness=smoothness))


def flesh_of_joints(
    character: Character, skin: Embedding, names: Iterable[str], *, smoothness: float = 0.1
) -> Floats:
    """The share, 0 to 1, by which each vertex of the tets follows joints by name, (n,).

    Names may have wildcards. ``volume.held(bones, fixed=flesh_of_joints(…) > 0.5)`` makes what
    follows these joints hard.
    """
    chosen = np.zeros(character.rig.n_joints)
    for pattern in names:
        chosen[_joints_called(character, pattern)] = 1.0
    cells = painted(skin, _on_surface(character, skin, chosen), smoothness=smoothness)
    mesh = skin.mesh
    weights = np.repeat(mesh.volumes, mesh.cell_nodes)
    nodes = mesh.cells.ravel()
    total = np.bincount(nodes, weights=weights)
    shares = np.bincount(nodes, weights=weights * np.repeat(cells, mesh.cell_nodes)) / total
    return np.clip(shares, 0.0, 1.0)


def _joints_called(character: Character, pattern: str) -> list[int]:
    names = character.rig.names
    fits = [k for k, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)]
    if not fits:
        near = difflib.get_close_matches(pattern, names, n=3) or list(names[:12])
        raise InputError(f"no joint is called {pattern!r}; there is {', '.join(near)}")
    return fits


def _on_surface(character: Character, skin: Embedding, of_joints: Floats) -> Floats:
    """Values of joints (j,) blended as the skin is, (s,)."""
    own = character.skin
    if len(own.vertices) != len(skin.cells):
        raise InputError(
            f"the skin has {len(skin.cells)} vertices and the character {len(own.vertices)}; "
            "embed the character's own surface"
        )
    return np.asarray((own.weights * of_joints[own.joints[own.bones]]).sum(axis=1))


def _smoothed(skin: Embedding, values: Floats, zeta: float, L: Any, piece: Ints) -> Floats:
    """The E (cells,) of least Σ_e (E^e − Ē^e)² + ½ ζ Eᵀ L E."""
    known = np.flatnonzero(~np.isnan(values))
    if not len(known):
        raise InputError("nothing is painted; give a value other than NaN")
    cells, count = skin.cells[known], skin.mesh.n_cells
    marks = np.bincount(cells, minlength=count)
    means = np.bincount(cells, weights=values[known], minlength=count) / np.maximum(marks, 1)
    bare = np.flatnonzero(~np.isin(piece, piece[cells]))  # pieces without paint
    if len(bare):
        from scipy.spatial import cKDTree  # slow to import

        tree = cKDTree(skin.surface.vertices[known])
        means[bare] = values[known[tree.query(skin.mesh.centroids[bare])[1]]]
        marks[bare] = 1
    has = 2.0 * (marks > 0)
    return np.asarray(splu((sparse.diags_array(has) + zeta * L).tocsc()).solve(has * means))


def _laplacian(mesh: TetMesh) -> Any:
    """L with Eᵀ L E = Σ (E_a − E_b)² (V_a + V_b) / 2V̄ over the faces between cells a and b."""
    from scipy.sparse import csgraph  # slow to import

    a, b = adjacent_cells(mesh).T
    weights = 0.5 * (mesh.volumes[a] + mesh.volumes[b]) / mesh.volumes.mean()
    graph = sparse.coo_array((weights, (a, b)), shape=(mesh.n_cells,) * 2)
    return csgraph.laplacian((graph + graph.T).tocsr())
