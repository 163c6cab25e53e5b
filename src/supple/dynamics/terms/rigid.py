"""How rigid bodies turn, and reduced ones that are free: by their angular momentum.

Rules move vertices along straight lines. Of a body that turns by θ in a step, they lose or gain a
share θ² of its spin, and the stiffness that keeps it in shape makes vibrations of that. But a rule
that knows forces knows torques: with L and τ = L̇ in place of p and f it gives an angular momentum
that free flight keeps to rounding, whatever the step. So after each stage such a body is given the
velocity and the acceleration of a motion through its own shapes: what of those that the rule gave
is one, with L put right by a turn. That keeps the linear momentum, and what else there was in it
is what stiff forces would have taken out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.bodies.constrained import ConstrainedBody
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.group import BodyGroup
from supple.core.types import Floats
from supple.dynamics.terms.base import Point, Share, StageStart, Term
from supple.integrators import Stage, State

Part = tuple[ConstrainedBody, slice]


class RigidMotion(Term):
    """Keeps the motion of bodies of few shapes to these, without a force of its own."""

    why_implicit = "keep a body rigid, nor a free reduced one to the shapes of its model"

    _stage: Stage

    def __init__(self, body: ElasticBody, parts: Sequence[Part]) -> None:
        self._none = Share(np.zeros_like(body.mesh.vertices), 0.0)
        self._parts = [(part, rows) for part, rows in parts if part.free.all()]

    @staticmethod
    def parts_of(body: ElasticBody) -> list[Part]:
        """Those among several bodies, with their vertices."""
        if isinstance(body, BodyGroup):
            pairs = zip(body.parts, body.rows, strict=True)
            return [(part, rows) for part, rows in pairs if isinstance(part, ConstrainedBody)]
        return [(body, slice(0, body.n_vertices))] if isinstance(body, ConstrainedBody) else []

    def begin(self, start: StageStart) -> None:
        self._stage = start.stage

    def evaluate(self, at: Point) -> Share:
        return self._none

    def feasible_starts(self, latest: Floats, starts: Sequence[Floats]) -> Sequence[Floats]:
        placed = []
        for start in starts[:-1]:
            moved = start.copy()
            for part, rows in self._parts:
                moved[rows] = part.nearest(start[rows])
            placed.append(moved)
        return [*placed, *starts[-1:]]

    def taken_by_impacts(self, now: State, after: State) -> float:
        pairs = ((part, now.v[rows], after.v[rows]) for part, rows in self._parts)
        return sum(part.left_by_impacts(before, later) for part, before, later in pairs)

    def end_stage(self, solution: State) -> State:
        v, a = solution.v.copy(), solution.acceleration.copy()
        for part, rows in self._parts:
            u, X = solution.u[rows], part.mesh.vertices
            motions = part.motions(u)
            arms = X + u - (X + u).mean(axis=0)
            spread = arms.T @ arms
            inertia = np.trace(spread) * np.eye(3) - spread
            v[rows] = _among(motions, v[rows])
            lacking = self._momentum(part, rows, arms, a[rows]) - _moment(arms, v[rows])
            v[rows] += np.cross(np.linalg.solve(inertia, lacking), arms)
            curving = part.curving(u, v[rows])
            a[rows] = curving + _among(motions, a[rows] - curving)
        return State(solution.time, solution.u, v, a)

    def _momentum(self, part: ConstrainedBody, rows: slice, arms: Floats, a: Floats) -> Floats:
        """Angular momentum by the rule of the stage, of vertices of unit mass, (3,)."""
        stage = self._stage
        total = stage.c_v / stage.c_a * _moment(arms, a)
        for alpha, beta, state in stage.velocity_memory:
            before = part.mesh.vertices + state.u[rows]
            total += alpha * _moment(before, state.v[rows])
            if beta:
                total += beta * _moment(before, state.acceleration[rows])
        return total


def _among(motions: Floats, field: Floats) -> Floats:
    """What of a field (n, 3) is one of orthonormal motions (k, n, 3)."""
    flat = motions.reshape(len(motions), -1)
    return np.asarray((flat @ field.ravel()) @ flat).reshape(field.shape)


def _moment(x: Floats, field: Floats) -> Floats:
    """Σ (x − x̄) × field of vertices, (3,)."""
    moment: Floats = np.cross(x - x.mean(axis=0), field).sum(axis=0)
    return moment
