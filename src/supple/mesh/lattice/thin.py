"""What is thinner than a lattice can hold is thickened first, as far as it needs."""

from __future__ import annotations

import numpy as np

from supple.core.types import Bools, Floats, Ints
from supple.mesh.lattice.inside import Enclosed
from supple.mesh.surface import Surface, vertex_normals

_ROUNDS = 8  # of halving edges
_NEARLY = 0.999  # so thick is thick enough
_SHARES = np.array([(1, 1, 1), (4, 1, 1), (1, 4, 1), (1, 1, 4)]) / [[3], [6], [6], [6]]


def thickened(solid: Enclosed, least: float) -> Enclosed:
    """The same with both sides of what is thinner than ``least`` [m] moved apart to that.

    Triangles of thin parts are cut up first, so that a blade of a few long triangles grows in its
    middle too. Sheets without an inside are left as they are.
    """
    if least <= 0:
        return solid
    x, triangles = solid.surface.vertices, solid.surface.triangles
    depths = _depths(solid, x, triangles, least)
    thin: Bools = np.any((depths > 0) & (depths < _NEARLY * least), axis=1)
    if not thin.any():
        return solid
    for _ in range(_ROUNDS):
        x, triangles, parents = _halved(x, triangles, thin, 0.5 * least)
        if len(parents) == len(thin):
            break
        thin = thin[parents]
    depths = _depths(solid, x, triangles, least)
    depths = np.where(depths > 0, depths, least).min(axis=1)
    lack = np.zeros(len(x))
    for corner in range(3):
        np.maximum.at(lack, triangles[:, corner], 0.5 * (least - depths))
    moved = x + lack[:, None] * vertex_normals(x, triangles)
    return Enclosed.by(Surface(moved, triangles))


def _places(x: Floats, triangles: Ints) -> Floats:
    return np.asarray((_SHARES @ x[triangles]).reshape(-1, 3))


def _depths(solid: Enclosed, x: Floats, triangles: Ints, most: float) -> Floats:
    """Thickness below four places of each triangle (t, 4) [m], 0 where no inside is."""
    corners = x[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)
    at = _places(x, triangles)
    return solid.thickness(at, np.repeat(normals, 4, axis=0), most).reshape(-1, 4)


def _halved(x: Floats, triangles: Ints, mine: Bools, longest: float) -> tuple[Floats, Ints, Ints]:
    """Long edges of some triangles cut in half, and what is at them cut to fit.

    Returned with the triangle that each was a part of.
    """
    pairs = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    ends, number = np.unique(pairs, axis=0, return_inverse=True)
    number = number.reshape(-1, 3)
    long = np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1) > longest
    wanted = np.zeros(len(ends), dtype=bool)
    wanted[number[mine]] = True
    cut = np.flatnonzero(wanted & long)
    middle = np.full(len(ends), -1)
    middle[cut] = len(x) + np.arange(len(cut))
    mids = middle[number]
    count = (mids >= 0).sum(axis=1)
    made, parents = [triangles[count == 0]], [np.flatnonzero(count == 0)]
    for first in range(3):  # corners a, b, c in that turn in which the pattern fits
        turn = [(first + k) % 3 for k in range(3)]
        (a, b, c), (ab, bc, ca) = triangles[:, turn].T, mids[:, turn].T
        one, two = (count == 1) & (ab >= 0), (count == 2) & (ca < 0)
        three = (count == 3) & (first == 0)
        for which, corners in (
            (one, (a, ab, c)),
            (one, (ab, b, c)),
            (two, (ab, b, bc)),
            (two, (a, ab, bc)),
            (two, (a, bc, c)),
            (three, (a, ab, ca)),
            (three, (ab, b, bc)),
            (three, (ca, bc, c)),
            (three, (ab, bc, ca)),
        ):
            made.append(np.stack(corners, axis=1)[which])
            parents.append(np.flatnonzero(which))
    places = np.concatenate([x, x[ends[cut]].mean(axis=1)])
    return places, np.concatenate(made), np.concatenate(parents)
