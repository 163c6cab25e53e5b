"""Contact of points that a mesh carries, such as those of the skin of a rigid body.

Forces on the points are Bᵀ f on its vertices, matrices Bᵀ H B.
"""

from __future__ import annotations

import numpy as np

from supple._kernels.contact import carrying
from supple.bodies.constrained import ConstrainedBody
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.group import BodyGroup
from supple.contact.impacts import pressed_normals
from supple.contact.pairs import ContactPairs
from supple.core.types import Floats, Ints
from supple.integrators import State
from supple.mesh.points import CarriedPoints

_SAME = 1e-9  # of the largest: what else presses already keeps a point from moving


class CarriedBlocks:
    """Blocks between points as blocks between vertices of row ≤ column, each two of these once.

    ``rows`` and ``cols`` (k,) are points, each pair of them at most in one order; ``keys`` are
    those of the blocks on vertices, row · n + column.
    """

    def __init__(self, points: CarriedPoints, rows: Ints, cols: Ints) -> None:
        self._points, self._rows, self._cols = points, rows, cols
        n = points.n_vertices
        table = np.full(2 << len(rows).bit_length(), carrying.FREE)
        slots, couples = np.empty((2, len(rows)), dtype=np.int64)
        count = carrying.couples(rows, cols, points.first, n, table, slots, couples)
        widths = np.zeros(n, dtype=np.int64)
        widths[points.first] = points.widths
        a, b = couples[:count] // n, couples[:count] % n
        sizes = np.where(a == b, widths[a] * (widths[a] + 1) // 2, widths[a] * widths[b])
        self._slots, self._starts = slots, np.concatenate([[0], np.cumsum(sizes)])
        lower = np.where(points.first[rows] > points.first[cols], cols, rows)
        self._order = np.lexsort((lower, slots))
        self.keys: Ints = np.empty(self._starts[-1], dtype=np.int64)
        carrying.fill_keys(couples[:count], self._starts, widths, n, self.keys)

    def of(self, blocks: Floats) -> Floats:
        """Those of a symmetric matrix with blocks (k, 3, 3) between the points, Bᵀ H B."""
        points, total = self._points, np.zeros((len(self.keys), 3, 3))
        room = np.empty((int(points.widths.max(initial=1)), 3, 3))
        carriers = points.first, points.widths, points.begins, points.maps, points.are_means
        given = (
            self._order,
            self._rows,
            self._cols,
            np.ascontiguousarray(blocks),
            self._slots,
            self._starts,
        )
        carrying.add_carried(*given, *carriers, total, room)
        return total


def carried_out(points: CarriedPoints, u: Floats, out: Floats) -> Floats:
    """u (n, 3) where its points have moved by ``out`` (p, 3).

    Of a rigid body and of a reduced one as the farthest has.
    """
    moved = u.copy()
    own = points.is_vertex
    moved[points.first[own]] += out[own]
    for start in np.unique(points.first[~own]):
        mine = np.flatnonzero((points.first == start) & ~own)
        farthest = mine[np.argmax(np.linalg.norm(out[mine], axis=1))]
        way = out[farthest]
        if not points.are_means[farthest]:
            B = np.hstack(list(points.maps_of(farthest)))
            way = (np.linalg.pinv(B) @ way).reshape(-1, 3)
        moved[points.of_point(farthest)] += way
    return moved


def after_impact(
    points: CarriedPoints, pressing: ContactPairs, after: State, body: ElasticBody
) -> State:
    """``after`` a stage, with what presses at rest along its normal (``contact/impacts.py``).

    A rigid body keeps what it can of its motion: its velocity changes by the smallest rigid one.
    That of a reduced body changes by the smallest that its coordinates, and its turns, can make.
    """
    v, a = after.v, after.acceleration
    own = points.is_vertex[pressing.nodes[:, 0]]
    if own.any():
        soft = pressing.of(np.flatnonzero(own))
        alone = soft.shares[:, 0] == 1.0
        soft.vertex = np.where(alone, points.first[soft.nodes[:, 0]], soft.vertex)
        soft.nodes = points.first[soft.nodes]
        planes = pressed_normals(soft, body.free)
        along = planes.wanted(soft.obstacle_velocity, soft.vertex, v)
        v = planes.projected(v, along, body)
        a = planes.projected(a, np.zeros_like(along), body)
    v, a = v.copy(), a.copy()
    hard = pressing.of(np.flatnonzero(~own))
    first = points.first[hard.nodes[:, 0]]
    for start in np.unique(first):
        mine = np.flatnonzero(first == start)
        point = int(hard.nodes[mine[0], 0])
        carrier = points.of_point(point)
        motions = _motions(_part_at(body, carrier), after.u[carrier])
        if not len(motions):
            continue
        normal = hard.normal[mine]
        shares = np.einsum("ka,ki->kai", hard.shares[mine], normal)
        rows = np.zeros((len(mine), *v[carrier].shape))  # what of v is along each normal
        for row, nodes, share in zip(rows, hard.nodes[mine], shares, strict=True):
            for node, along in zip(nodes, share, strict=True):
                row += np.einsum("kij,i->kj", points.maps_of(node), along)
        C = np.einsum("kvi,bvi->kb", rows, motions)
        wanted = np.einsum("ki,ki->k", normal, hard.obstacle_velocity[mine])
        for field, along in ((v, wanted), (a, np.zeros(len(mine)))):
            now = np.einsum("kvi,vi->k", rows, field[carrier])
            change = np.linalg.lstsq(C, along - now, rcond=_SAME)[0]
            field[carrier] += np.einsum("b,bvi->vi", change, motions)
    return State(after.time, after.u, v, a)


def _part_at(body: ElasticBody, carrier: slice) -> ElasticBody:
    """The body whose vertices carry the points."""
    if isinstance(body, BodyGroup):
        starts = [rows.start for rows in body.rows]
        return body.parts[starts.index(carrier.start)]
    return body


def _motions(part: ElasticBody, u: Floats) -> Floats:
    """What velocities its vertices may have at u (n, 3), orthonormal, (k, n, 3)."""
    if isinstance(part, ConstrainedBody) and part.free.all():
        return part.motions(u)
    if isinstance(part, ConstrainedBody):
        return np.zeros((0, *u.shape))
    free = np.flatnonzero(part.free)
    return np.eye(part.free.size)[free].reshape(len(free), -1, 3)
