"""Pins, glue and springs between bodies: ½ k (|g| − L)² over the gaps g of ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.group import BodyGroup
from supple.bodies.shape import Shape
from supple.contact.attachments import Anchor, Attachment, Path, Still
from supple.core.checks import vector
from supple.core.types import Floats, Ints
from supple.dynamics.terms.base import Point, Share, StageStart, Term
from supple.integrators import State
from supple.solvers.interface import Tangent

_Gap = tuple[Ints, Floats]
"""Of a tie: the vertices (k,) that its ends hang on, in order, and Σ ± B of each, (k, 3, 3)."""
_COLLAPSED = 1e-9  # of its length: a spring has no direction below


class AttachmentTerm(Term):
    """All attachments of a simulation. Forces on both ends of a tie are equal and opposite."""

    def __init__(self, body: ElasticBody, attachments: Sequence[Attachment]) -> None:
        import scipy.sparse as sparse  # slow to import

        self._X, self._n = body.mesh.vertices, body.n_vertices
        ties = [tie for each in attachments for tie in each.ties()]
        self._k = np.array([tie.stiffness for tie in ties])
        self._L = np.array([tie.length for tie in ties])
        self._paths: list[tuple[int, Path]] = []
        self._rest: Floats = np.zeros((len(ties), 3))
        found = []
        for row, tie in enumerate(ties):
            ends: list[tuple[ElasticBody, Anchor, float]] = [(tie.body, tie.anchor, 1.0)]
            if isinstance(tie.target, Anchor):
                assert tie.other is not None
                ends.append((tie.other, tie.target, -1.0))
            else:
                self._paths.append((row, tie.target))
            for _, anchor, sign in ends:
                self._rest[row] += sign * anchor.rest
            found.append(_gap(body, ends))
        self._gap = sparse.csr_array(_stacked(found, self._n))
        self._pairs = _pairs_of(found, self._n)
        self._targets = self._targets_at(0.0)
        self.does_work = not all(isinstance(path, Still) for _, path in self._paths)

    def _targets_at(self, time: float) -> Floats:
        targets = np.zeros((len(self._k), 3))
        for row, path in self._paths:
            targets[row] = vector("point(t)", path(time))
        return targets

    def _gaps(self, u: Floats, targets: Floats) -> tuple[Floats, Floats, Floats]:
        """g (m, 3), |g| (m,) and its direction (m, 3)."""
        g = self._rest + (self._gap @ u.ravel()).reshape(-1, 3) - targets
        size = np.linalg.norm(g, axis=1)
        safe = np.maximum(size, _COLLAPSED * np.maximum(self._L, 1e-3))
        return g, size, g / safe[:, None]

    def _energy_and_force(self, u: Floats, targets: Floats) -> tuple[float, Floats]:
        g, size, n = self._gaps(u, targets)
        pull = self._k[:, None] * (g - self._L[:, None] * n)
        energy = 0.5 * float(self._k @ (size - self._L) ** 2)
        return energy, np.asarray(self._gap.T @ pull.ravel()).reshape(-1, 3)

    def begin(self, start: StageStart) -> None:
        self._targets = self._targets_at(start.stage.time)

    def evaluate(self, at: Point) -> Share:
        energy, force = self._energy_and_force(at.u, self._targets)
        reach = float(np.abs(self._X).max() + np.abs(at.u).max())
        floor = float(np.finfo(float).eps) * reach * float(np.linalg.norm(self._k))
        return Share(force, energy, magnitude=energy, floor=floor)

    def pair_blocks(self, at: Point, tangent: Tangent) -> tuple[Ints, Floats]:
        _, size, n = self._gaps(at.u, self._targets)
        safe = np.maximum(size, _COLLAPSED * np.maximum(self._L, 1e-3))
        across = self._k * np.where(self._L > 0, 1.0 - self._L / safe, 1.0)
        if tangent.definite:
            across = np.maximum(across, 0.0)
        along = (self._k - across)[:, None, None] * (n[:, :, None] * n[:, None, :])
        H = (
            across[:, None, None] * np.eye(3)
            + np.where(self._L > 0, 1.0, 0.0)[:, None, None] * along
        )
        keys, ties, first, second = self._pairs
        return keys, np.swapaxes(first, 1, 2) @ H[ties] @ second

    def nearby_keys(self, at: Point) -> Ints:
        return self._pairs[0]

    def work(self, now: State, after: State) -> float:
        """What moves the points in space puts in: the mean force times their way."""
        if not self.does_work:
            return 0.0
        ends = [self._targets_at(each.time) for each in (now, after)]
        pulls = []
        for each, targets in zip((now, after), ends, strict=True):
            g, _, n = self._gaps(each.u, targets)
            pulls.append(self._k[:, None] * (g - self._L[:, None] * n))
        return -0.5 * float(np.vdot(pulls[0] + pulls[1], ends[1] - ends[0]))

    def stored_energy(self, shape: Shape) -> float:
        return self._energy_and_force(shape.u, self._targets)[0]

    def free_force(self, shape: Shape, v: Floats) -> Floats:
        return self._energy_and_force(shape.u, self._targets)[1]


def _gap(body: ElasticBody, ends: Sequence[tuple[ElasticBody, Anchor, float]]) -> _Gap:
    """The maps of a tie's gap, those of both ends where these share vertices."""
    every = np.concatenate([end.point.vertices + _start(body, part) for part, end, _ in ends])
    vertices, places = np.unique(every, return_inverse=True)
    maps = np.zeros((len(vertices), 3, 3))
    np.add.at(maps, places, np.concatenate([sign * end.point.maps for _, end, sign in ends]))
    return vertices, maps


def _stacked(gaps: Sequence[_Gap], n: int) -> Any:
    """All gaps as one matrix (3m, 3n)."""
    import scipy.sparse as sparse  # slow to import

    vertices = np.concatenate([own for own, _ in gaps])
    maps = np.concatenate([own for _, own in gaps])
    ties = np.repeat(np.arange(len(gaps)), [len(own) for own, _ in gaps])
    axes = np.arange(3)
    rows = np.broadcast_to(3 * ties[:, None, None] + axes[:, None], maps.shape)
    cols = np.broadcast_to(3 * vertices[:, None, None] + axes, maps.shape)
    there = maps != 0
    entries = maps[there], (rows[there], cols[there])
    return sparse.coo_array(entries, shape=(3 * len(gaps), 3 * n))


def _pairs_of(gaps: Sequence[_Gap], n: int) -> tuple[Ints, Ints, Floats, Floats]:
    """Keys of pairs of vertices with row ≤ column, the tie of each and the maps of both."""
    keys, ties, ones, others = [], [], [], []
    for tie, (vertices, maps) in enumerate(gaps):
        first, second = np.triu_indices(len(vertices))  # they are in order
        keys.append(vertices[first] * np.int64(n) + vertices[second])
        ties.append(np.full(len(first), tie))
        ones.append(maps[first])
        others.append(maps[second])
    parts = (keys, ties, ones, others)
    a, b, c, d = (np.concatenate(each) for each in parts)
    return a, b, c, d


def _start(body: ElasticBody, part: ElasticBody) -> int:
    """Where the vertices of a part begin."""
    if body is part:
        return 0
    group = body if isinstance(body, BodyGroup) else BodyGroup([body])
    return int(group.rows[group.number_of(part)].start)
