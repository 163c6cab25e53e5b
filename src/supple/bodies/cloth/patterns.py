"""Flat patterns for garments that come without one: a front and a back, laid flat."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance, vector, whole_number
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh.sheet import SheetMesh
from supple.mesh.surface import area_vectors

_SMOOTHINGS = 30  # of the side that triangles face, before front and back are told apart
_SPECK = 0.02  # of a side's area: smaller pieces go to the other side
_NEXT = np.array([1, 2, 0])


def front_and_back(
    mesh: SheetMesh,
    *,
    facing: ArrayLike = (0, 0, 1),
    up: ArrayLike = (0, 1, 0),
    iterations: int = 100,
) -> SheetMesh:
    """``mesh`` with a pattern of a front and a back panel, sewn where they meet.

    ``facing`` points out of the front; ``up`` is the direction of v, along which warps run. Each
    panel is laid flat as rigidly as it can be (local/global iteration of Liu and others, A
    Local/Global Approach to Mesh Parameterization, 2008), from how it looks along ``facing``.
    """
    instance("mesh", mesh, SheetMesh, "SheetMesh.from_surface(surface)")
    whole_number("iterations", iterations, at_least=1)
    ahead, upward = vector("facing", facing), vector("up", up)
    right = np.cross(upward, ahead)
    if not np.linalg.norm(right) > 1e-6 * np.linalg.norm(upward) * np.linalg.norm(ahead):
        raise InputError("facing and up point the same way; give two that are square, or nearly")
    axes = np.stack([right / np.linalg.norm(right), upward / np.linalg.norm(upward)])
    front = _faces(mesh, ahead / np.linalg.norm(ahead))
    corners = np.empty((mesh.n_cells, 3, 2))
    for which, sign in ((front, 1.0), (~front, -1.0)):
        if which.any():
            seen = axes * np.array([[sign], [1.0]])  # the back is looked at from behind
            corners[which] = _flattened(mesh, np.flatnonzero(which), seen, iterations)
    return dataclasses.replace(mesh, pattern=corners)


def _faces(mesh: SheetMesh, ahead: Floats) -> Bools:
    """Which triangles are of the front, (m,)."""
    from scipy import sparse  # slow to import
    from scipy.sparse.csgraph import connected_components

    m, pairs = mesh.n_cells, mesh.hinges.cells
    sides = np.concatenate([pairs, pairs[:, ::-1]])
    links = sparse.coo_array((np.ones(len(sides)), sides.T), shape=(m, m)).tocsr()
    normal = area_vectors(mesh.vertices, mesh.cells)
    side = normal @ ahead / np.linalg.norm(normal, axis=1)
    around = 1 + links.sum(axis=1)
    for _ in range(_SMOOTHINGS):
        side = (side + links @ side) / around
    front: Bools = side > 0
    areas = 0.5 * np.linalg.norm(normal, axis=1)
    same = front[sides[:, 0]] == front[sides[:, 1]]
    kept = sparse.coo_array((np.ones(same.sum()), sides[same].T), shape=(m, m))
    _, piece = connected_components(kept, directed=False)
    size = np.bincount(piece, weights=areas)
    total = np.array([areas[~front].sum(), areas[front].sum()])
    speck = size[piece] < _SPECK * total[front.astype(int)]
    return np.asarray(front ^ speck)


def _flattened(mesh: SheetMesh, cells: Ints, axes: Floats, iterations: int) -> Floats:
    """Corners of a panel's triangles in the plane, (m, 3, 2), as near as can be to their shape."""
    from scipy import sparse  # slow to import
    from scipy.sparse.linalg import splu

    used, triangles = np.unique(mesh.cells[cells], return_inverse=True)
    triangles = triangles.reshape(-1, 3)
    flat = mesh.vertices[used] @ axes.T
    seen = flat.copy()
    local = dataclasses.replace(mesh, pattern=None).rest_corners[cells]
    spans = local - local[:, _NEXT]  # of the sides, (m, 3, 2)
    weights = _cotangents(local)
    n, each = len(used), np.arange(triangles.size)
    ends = np.concatenate([triangles.ravel(), triangles[:, _NEXT].ravel()])
    signs = np.repeat([1.0, -1.0], len(each))
    sides_of = sparse.coo_array((signs, (ends, np.tile(each, 2))), shape=(n, len(each))).tocsr()
    laplacian = sides_of @ sparse.dia_array((weights.reshape(1, -1), [0]), shape=(len(each),) * 2)
    laplacian = laplacian @ sides_of.T
    held = 1e-9 * float(laplacian.diagonal().mean()) * sparse.eye_array(n)
    factor = splu((laplacian + held).tocsc())
    for _ in range(iterations):
        sides = flat[triangles] - flat[triangles[:, _NEXT]]
        turn = _rotations(np.einsum("mk,mki,mkj->mij", weights, sides, spans))
        wanted = weights[..., None] * np.einsum("mij,mkj->mki", turn, spans)
        flat = factor.solve(sides_of @ wanted.reshape(-1, 2))
    flat -= flat.mean(axis=0)
    seen -= seen.mean(axis=0)
    upright = flat @ _rotations((flat.T @ seen).T[None])[0].T
    laid: Floats = upright[triangles]
    return laid


def _cotangents(corners: Floats) -> Floats:
    """Half the cotangent of the angle opposite to each side of triangles (m, 3, 2), (m, 3)."""
    opposite = np.roll(corners, -2, axis=1)
    a, b = corners - opposite, corners[:, _NEXT] - opposite
    cross = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    half: Floats = 0.5 * np.einsum("mki,mki->mk", a, b) / np.abs(cross)
    return np.maximum(half, 1e-3)


def _rotations(S: Floats) -> Floats:
    """The rotation nearest to each matrix (m, 2, 2)."""
    c, s = S[:, 0, 0] + S[:, 1, 1], S[:, 1, 0] - S[:, 0, 1]
    length = np.maximum(np.hypot(c, s), np.finfo(float).tiny)
    c, s = c / length, s / length
    return np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)], axis=1)
