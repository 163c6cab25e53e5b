"""Contact of points that a mesh carries, such as those of the skin of a rigid body.

Matrices on the points are Wᵀ H W on its vertices.
"""

from __future__ import annotations

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.contact.impacts import pressed_normals
from supple.contact.pairs import ContactPairs
from supple.core.types import Floats, Ints
from supple.integrators import State
from supple.mesh.points import CarriedPoints

_SAME = 1e-9  # of the largest: what else presses already keeps a point from moving


def carried_blocks(
    points: CarriedPoints, rows: Ints, cols: Ints, blocks: Floats
) -> tuple[Ints, Ints, Floats]:
    """Rows ≤ columns and blocks (m, 3, 3) on vertices, each pair of vertices once.

    ``rows`` and ``cols`` (k,) are points, each pair of them once, with blocks (k, 3, 3) of a
    symmetric matrix.
    """
    n = points.n_vertices
    mirrored = rows != cols
    a = np.concatenate([rows, cols[mirrored]])
    b = np.concatenate([cols, rows[mirrored]])
    whole = np.concatenate([blocks, blocks[mirrored].swapaxes(1, 2)])
    weights = points.weights[a][:, :, None] * points.weights[b][:, None, :]
    row = np.broadcast_to(points.vertices[a][:, :, None], weights.shape)
    col = np.broadcast_to(points.vertices[b][:, None, :], weights.shape)
    there = (row <= col) & (weights != 0)
    keys, place = np.unique((row * np.int64(n) + col)[there], return_inverse=True)
    pair = np.broadcast_to(np.arange(len(a))[:, None, None], weights.shape)[there]
    terms = weights[there][:, None] * whole[pair].reshape(-1, 9)
    summed: Floats = np.stack(
        [np.bincount(place.ravel(), terms[:, k], minlength=len(keys)) for k in range(9)], axis=1
    )
    return keys // n, keys % n, summed.reshape(-1, 3, 3)


def carried_out(points: CarriedPoints, u: Floats, out: Floats) -> Floats:
    """u (n, 3) where its points have moved by ``out`` (p, 3): a rigid body as the farthest has."""
    moved = u.copy()
    own = points.is_vertex
    moved[points.vertices[own, 0]] += out[own]
    first = points.vertices[:, 0]
    for start in np.unique(first[~own]):
        mine = np.flatnonzero((first == start) & ~own)
        farthest = mine[np.argmax(np.linalg.norm(out[mine], axis=1))]
        moved[points.vertices[farthest]] += out[farthest]
    return moved


def after_impact(
    points: CarriedPoints, pressing: ContactPairs, after: State, body: ElasticBody
) -> State:
    """``after`` a stage, with what presses at rest along its normal (``contact/impacts.py``).

    A rigid body keeps what it can of its motion: its velocity changes by the smallest rigid one.
    """
    v, a = after.v, after.acceleration
    own = points.is_vertex[pressing.nodes[:, 0]]
    if own.any():
        soft = pressing.of(np.flatnonzero(own))
        first = points.vertices[:, 0]
        alone = soft.shares[:, 0] == 1.0
        soft.vertex = np.where(alone, first[soft.nodes[:, 0]], soft.vertex)
        soft.nodes = first[soft.nodes]
        planes = pressed_normals(soft, body.free)
        along = planes.wanted(soft.obstacle_velocity, soft.vertex, v)
        v = planes.projected(v, along, body.mass_times)
        a = planes.projected(a, np.zeros_like(along), body.mass_times)
    v, a = v.copy(), a.copy()
    hard = pressing.of(np.flatnonzero(~own))
    weights = np.einsum("ka,kav->kv", hard.shares, points.weights[hard.nodes])
    carriers = points.vertices[hard.nodes[:, 0]]
    for start in np.unique(carriers[:, 0]):
        mine = np.flatnonzero(carriers[:, 0] == start)
        four, w, normal = carriers[mine[0]], weights[mine], hard.normal[mine]
        if not body.free[four].all():
            continue
        B = _rigid_motions((body.mesh.vertices + after.u)[four])
        C = np.einsum("ki,kv,bvi->kb", normal, w, B)
        wanted = np.einsum("ki,ki->k", normal, hard.obstacle_velocity[mine])
        for field, along in ((v, wanted), (a, np.zeros(len(mine)))):
            now = np.einsum("ki,kv,vi->k", normal, w, field[four])
            change = np.linalg.lstsq(C, along - now, rcond=_SAME)[0]
            field[four] += np.einsum("b,bvi->vi", change, B)
    return State(after.time, after.u, v, a)


def _rigid_motions(x: Floats) -> Floats:
    """The six rigid motions of four equal masses at x (4, 3), orthonormal, (6, 4, 3)."""
    arms = x - x.mean(axis=0)
    shifts = [np.broadcast_to(axis, x.shape) for axis in np.eye(3)]
    turns = [np.cross(axis, arms) for axis in np.eye(3)]
    flat = np.reshape([*shifts, *turns], (6, -1))
    return np.asarray(np.linalg.qr(flat.T)[0].T.reshape(6, 4, 3))
