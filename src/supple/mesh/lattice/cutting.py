"""Where a surface cuts a lattice, which points move onto it, and what stays apart.

Labelle and Shewchuk (2007), §3. Each tet is taken once for every part of material in it: two
legs that come near each other share no point of the lattice, as in Molino, Bao and Fedkiw, A
Virtual Node Algorithm for Changing Mesh Topology During Simulation (2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.types import Bools, Floats, Ints
from supple.mesh.lattice.linked import linked
from supple.mesh.lattice.octree import keys_of

SAFE = {4: 0.24999, 3: 0.41189}
"""How near to a point, in parts of an edge, a cut is too near: by the squared length of the edge
against a quarter of that of a long one, as in Labelle and Shewchuk, Table 1."""

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
_FACES = np.array([(1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)])


@dataclass(frozen=True, eq=False)
class Cuts:
    """Tets of the lattice with material in them, and where its surface cuts their edges.

    ``nodes`` are points of the lattice; one on the outside of two parts of material is there
    twice. ``state`` (n,) is 1 inside, 0 on the surface and -1 outside; ``places`` (n, 3) have been
    moved onto the surface where it is 0, ``lattice`` (n, 3) are where they were.
    """

    lattice: Ints
    places: Floats
    state: Ints
    tets: Ints
    inner: Ints
    """The node inside of each edge that is cut, (c,)."""
    outer: Ints
    share: Floats
    """Of the way to the node outside that is inside, (c,)."""


def edges_of(tets: Ints) -> tuple[Ints, Ints]:
    """Edges (e, 2), the lower number first, and those of each tet, (m, 6)."""
    pairs = np.sort(tets[:, EDGES].reshape(-1, 2), axis=1)
    keys = pairs[:, 0] * (pairs.max(initial=0) + 1) + pairs[:, 1]
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return pairs[first], number.reshape(-1, 6)


def components(inside: Bools, joined: Bools) -> Ints:
    """The part of material that each corner of a tet is in, (m, 4): its lowest corner, or -1.

    ``inside`` (m, 4); ``joined`` (m, 6), whether material goes all along an edge.
    """
    label = np.where(inside, np.arange(4), -1)
    for _ in range(3):
        for k, (a, b) in enumerate(EDGES):
            both = joined[:, k]
            lower = np.minimum(label[:, a], label[:, b])
            label[:, a] = np.where(both, lower, label[:, a])
            label[:, b] = np.where(both, lower, label[:, b])
    return label


def parted(tets: Ints, label: Ints) -> tuple[Ints, Bools]:
    """Tets, once for each part of material (c,), and which corners are in it (c, 4)."""
    cells, inside = [], []
    for part in range(4):
        mine = label == part
        there = np.flatnonzero(mine.any(axis=1))
        cells.append(there)
        inside.append(mine[there])
    which, own = np.concatenate(cells), np.concatenate(inside)
    order = np.argsort(which, kind="stable")
    return which[order], own[order]


def outer_nodes(tets: Ints, own: Bools, count: int) -> tuple[Ints, Ints]:
    """Nodes (c, 4) of tets whose corners outside are those of one part of material alone.

    Returned with the point that each node is at. Corners inside are their points; outside, two
    tets that share a face have its corners in common where they share one that is inside.
    """
    nodes = np.where(own, tets, -1)
    flat = np.flatnonzero(~own.ravel())
    number = np.full(own.shape, -1)
    number[~own] = np.arange(len(flat))
    mixed = np.flatnonzero(~own.all(axis=1))
    a, b = [], []
    (one, face_one), (two, face_two) = _shared(tets[mixed], own[mixed])
    one, two = mixed[one], mixed[two]
    for k in range(3):  # faces are listed by their points, so that k is the same on both
        i, j = face_one[:, k], face_two[:, k]
        outside = ~own[one, i] & ~own[two, j]
        a.append(number[one, i][outside])
        b.append(number[two, j][outside])
    none = np.zeros(0, dtype=np.int64)
    label = linked(np.concatenate([none, *a]), np.concatenate([none, *b]), len(flat))
    points = tets.ravel()[flat]
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.lexsort((first, points[first]))] = np.arange(len(first))
    found = nodes.ravel()
    found[flat] = count + rank[inverse.reshape(-1)]
    at = np.empty(len(first), dtype=np.int64)
    at[rank] = points[first]
    return found.reshape(-1, 4), np.concatenate([np.arange(count), at])


def _shared(tets: Ints, own: Bools) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """Pairs of tets that share a face and a corner of it that is inside of both.

    Each as tets (f,) and the local corners of the face, ordered by their points, (f, 3).
    """
    points = tets[:, _FACES]
    order = np.argsort(points, axis=2)
    corners = np.take_along_axis(np.broadcast_to(_FACES, points.shape), order, axis=2)
    points = np.take_along_axis(points, order, axis=2).reshape(-1, 3)
    inside = np.take_along_axis(np.repeat(own[:, None], 4, axis=1), corners, axis=2).reshape(-1, 3)
    corners = corners.reshape(-1, 3)
    cell = np.repeat(np.arange(len(tets)), 4)
    useful: Bools = np.any(inside, axis=1) & ~np.all(inside, axis=1)
    row, which = np.nonzero(inside & useful[:, None])
    keys = np.column_stack([points[row], points[row, which]])
    by = np.lexsort(keys.T)
    same = np.flatnonzero((keys[by[1:]] == keys[by[:-1]]).all(axis=1))
    one, two = row[by[same]], row[by[same + 1]]
    return (cell[one], corners[one]), (cell[two], corners[two])


def snapped(
    lattice: Ints, state: Ints, inner: Ints, outer: Ints, share: Floats, *, plane: bool
) -> tuple[Floats, Ints]:
    """Nodes that a cut is too near to are moved onto it: places (n, 3) and states (n,).

    First those outside, then those inside to which a cut is left that is too near; so the outcome
    does not depend on any order. Of several cuts the nearest is taken, of equally near ones the
    first as seen from the plane of symmetry, which points on it do not leave.
    """
    places, state = lattice.astype(np.float64), state.copy()
    along = lattice[outer] - lattice[inner]
    squares = (along**2).sum(axis=1)
    length = np.sqrt(squares)
    near = _nearness(squares)
    for end, part, way in ((outer, 1.0 - share, -1.0), (inner, share, 1.0)):
        close = (part < near) & (state[outer] < 0) & (state[inner] > 0)
        which = np.flatnonzero(close)
        if not len(which):
            continue
        direction = way * along[which]
        side = np.where(lattice[end[which], 0] < 0, -1.0, 1.0) if plane else 1.0
        seen = direction[:, 0] * side
        distance = np.round(part[which] * length[which], 6)
        order = np.lexsort((direction[:, 2], direction[:, 1], seen, distance, end[which]))
        first = order[np.unique(end[which][order], return_index=True)[1]]
        moved = end[which[first]]
        step = part[which[first], None] * direction[first]
        if plane:
            step[lattice[moved, 0] == 0, 0] = 0.0
        places[moved] += step
        state[moved] = 0
    return places, state


def _nearness(squares: Ints) -> Floats:
    """How near a cut may come to a point, in parts of edges of squared length ``squares``."""
    found = np.full(len(squares), 0.3)
    four = squares.copy()
    while True:  # lengths of larger cubes are twice those of smaller ones
        even = (four % 4 == 0) & (four > 4)
        if not even.any():
            break
        four = np.where(even, four // 4, four)
    for square, safe in SAFE.items():
        found[four == square] = safe
    return found


def signed_count(lattice: Ints, a: Ints, b: Ints, *, plane: bool) -> Ints:
    """How many coordinates of points ``a`` are greater than those of points ``b``, (k,).

    With a ``plane`` the first coordinate counts from it, to either side.
    """
    x, y = lattice[a].copy(), lattice[b].copy()
    if plane:
        x[:, 0], y[:, 0] = np.abs(x[:, 0]), np.abs(y[:, 0])
    return np.asarray((x > y).sum(axis=1))


def rank_of(lattice: Ints, *, plane: bool) -> Ints:
    """An order of all points in which mirrored ones are equal, (n,)."""
    seen = lattice.copy()
    if plane:
        seen[:, 0] = np.abs(seen[:, 0])
    return np.unique(keys_of(seen), return_inverse=True)[1].reshape(-1)
