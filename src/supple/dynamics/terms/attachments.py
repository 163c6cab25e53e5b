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
        rows, cols, weights = [], [], []
        for row, tie in enumerate(ties):
            ends: list[tuple[ElasticBody, Anchor, float]] = [(tie.body, tie.anchor, 1.0)]
            if isinstance(tie.target, Anchor):
                assert tie.other is not None
                ends.append((tie.other, tie.target, -1.0))
            else:
                self._paths.append((row, tie.target))
            for part, anchor, sign in ends:
                cols.append(anchor.vertices + _start(body, part))
                weights.append(sign * anchor.weights)
                rows.append(np.full(len(anchor.weights), row))
        entries = np.concatenate(weights), (np.concatenate(rows), np.concatenate(cols))
        self._G = sparse.csr_array(entries, shape=(len(ties), self._n))
        self._pairs = self._pairs_of(self._G)
        self._targets = self._targets_at(0.0)
        self.does_work = not all(isinstance(path, Still) for _, path in self._paths)

    def _pairs_of(self, G: Any) -> tuple[Ints, Ints, Floats]:
        """Keys of pairs of vertices, the tie of each and the product of their weights."""
        keys, ties, products = [], [], []
        for tie, (start, end) in enumerate(zip(G.indptr[:-1], G.indptr[1:], strict=True)):
            v, w = G.indices[start:end].astype(np.int64), G.data[start:end]
            first, second = np.nonzero(v[:, None] <= v[None, :])
            keys.append(v[first] * np.int64(self._n) + v[second])
            products.append(w[first] * w[second])
            ties.append(np.full(len(first), tie))
        return np.concatenate(keys), np.concatenate(ties), np.concatenate(products)

    def _targets_at(self, time: float) -> Floats:
        targets = np.zeros((len(self._k), 3))
        for row, path in self._paths:
            targets[row] = vector("point(t)", path(time))
        return targets

    def _gaps(self, u: Floats, targets: Floats) -> tuple[Floats, Floats, Floats]:
        """g (m, 3), |g| (m,) and its direction (m, 3)."""
        g = self._G @ (self._X + u) - targets
        size = np.linalg.norm(g, axis=1)
        safe = np.maximum(size, _COLLAPSED * np.maximum(self._L, 1e-3))
        return g, size, g / safe[:, None]

    def _energy_and_force(self, u: Floats, targets: Floats) -> tuple[float, Floats]:
        g, size, n = self._gaps(u, targets)
        pull = self._k[:, None] * (g - self._L[:, None] * n)
        energy = 0.5 * float(self._k @ (size - self._L) ** 2)
        return energy, np.asarray(self._G.T @ pull)

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
        keys, ties, products = self._pairs
        return keys, products[:, None, None] * H[ties]

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


def _start(body: ElasticBody, part: ElasticBody) -> int:
    """Where the vertices of a part begin."""
    if body is part:
        return 0
    group = body if isinstance(body, BodyGroup) else BodyGroup([body])
    return int(group.rows[group.number_of(part)].start)
