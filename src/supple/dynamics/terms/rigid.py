"""How rigid bodies turn: by their angular momentum.

Rules move vertices along straight lines. Of a body that turns by θ in a step, they lose or gain a
share θ² of its spin, and the stiffness that keeps it rigid makes vibrations of that. But a rule
that knows forces knows torques: with L and τ = L̇ in place of p and f it gives an angular momentum
that free flight keeps to rounding, whatever the step. So after each stage a rigid body is given the
velocity and the acceleration of a rigid motion, with the linear momentum that it has and that L.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.group import BodyGroup
from supple.bodies.rigid import RigidBody
from supple.core.types import Floats
from supple.dynamics.terms.base import Point, Share, StageStart, Term
from supple.integrators import Stage, State

Part = tuple[RigidBody, slice]


class RigidMotion(Term):
    """Keeps the motion of rigid bodies rigid, without a force of its own."""

    why_implicit = "keep a body rigid"

    _stage: Stage

    def __init__(self, body: ElasticBody, parts: Sequence[Part]) -> None:
        self._none = Share(np.zeros_like(body.mesh.vertices), 0.0)
        self._parts = [(part, rows) for part, rows in parts if part.free.all()]

    @staticmethod
    def parts_of(body: ElasticBody) -> list[Part]:
        """The rigid ones among several bodies, with their vertices."""
        if isinstance(body, BodyGroup):
            pairs = zip(body.parts, body.rows, strict=True)
            return [(part, rows) for part, rows in pairs if isinstance(part, RigidBody)]
        return [(body, slice(0, 4))] if isinstance(body, RigidBody) else []

    def begin(self, start: StageStart) -> None:
        self._stage = start.stage

    def evaluate(self, at: Point) -> Share:
        return self._none

    def feasible_starts(self, latest: Floats, starts: Sequence[Floats]) -> Sequence[Floats]:
        placed = []
        for start in starts[:-1]:
            rigid = start.copy()
            for part, rows in self._parts:
                rigid[rows] = part.placed(*part.pose(start[rows]))
            placed.append(rigid)
        return [*placed, *starts[-1:]]

    def taken_by_impacts(self, now: State, after: State) -> float:
        lost = 0.0
        for part, rows in self._parts:
            before, later = (float((each.v[rows] ** 2).sum()) for each in (now, after))
            lost += 0.125 * part.total_mass * max(before - later, 0.0)
        return lost

    def end_stage(self, solution: State) -> State:
        v, a = solution.v.copy(), solution.acceleration.copy()
        past, share = self._stage.velocity_memory, self._stage.c_v / self._stage.c_a
        for part, rows in self._parts:
            mass = part.total_mass / 4.0
            x = part.mesh.vertices + solution.u[rows]
            torque = mass * _moment(x, a[rows])
            momentum = share * torque
            for alpha, beta, state in past:
                before = part.mesh.vertices + state.u[rows]
                momentum += alpha * mass * _moment(before, state.v[rows])
                if beta:
                    momentum += beta * mass * _moment(before, state.acceleration[rows])
            arms = x - x.mean(axis=0)
            spread = mass * arms.T @ arms
            inertia = np.trace(spread) * np.eye(3) - spread
            spin = np.linalg.solve(inertia, momentum)
            faster = np.linalg.solve(inertia, torque - np.cross(spin, inertia @ spin))
            v[rows] = v[rows].mean(axis=0) + np.cross(spin, arms)
            turning = np.cross(faster, arms) + np.cross(spin, np.cross(spin, arms))
            a[rows] = a[rows].mean(axis=0) + turning
        return State(solution.time, solution.u, v, a)


def _moment(x: Floats, field: Floats) -> Floats:
    """Σ (x − x̄) × field of four vertices, (3,)."""
    moment: Floats = np.cross(x - x.mean(axis=0), field).sum(axis=0)
    return moment
