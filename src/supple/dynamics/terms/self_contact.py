"""Contact of a body with itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.contact.self_contact import SelfContact
from supple.contact.self_contact_forces import SelfContactForces
from supple.core.types import Floats, Ints
from supple.dynamics.terms.base import Point, Share, StageStart, Term
from supple.integrators import State
from supple.solvers.interface import Tangent


class SelfContactTerm(Term):
    """A barrier between the parts of a surface, one more stored energy, and lagged friction."""

    def __init__(self, body: ElasticBody, options: SelfContact) -> None:
        self.surface: SelfContactForces = options.bind(body)
        self._count = 0

    def begin(self, start: StageStart) -> None:
        if start.latest is not None:
            self.surface.begin(start.latest)

    def evaluate(self, at: Point) -> Share:
        surface, c_v = self.surface, at.stage.c_v
        apart, friction = surface.force(at.u), surface.friction(at.v)
        potential = surface.energy(at.u)
        if c_v:
            potential += surface.dissipation(at.v) / c_v
        return Share(
            apart + friction,
            potential,
            floor=surface.rounding_force(at.u, apart),
            scale=float(np.linalg.norm(apart)) + float(np.linalg.norm(friction)),
        )

    def pair_blocks(self, at: Point, tangent: Tangent) -> tuple[Ints, Floats] | None:
        return self.surface.matrix(
            at.u,
            at.v,
            at.stage.c_v,
            definite=tangent.definite,
            majorized=tangent.definite or tangent.majorized,
        )

    def nearby_keys(self, at: Point) -> Ints:
        return self.surface.nearby_keys(at.u)

    def collision_free_step(self, u: Floats, step: Floats) -> float:
        return self.surface.collision_free_step(u, step)

    def feasible_starts(self, latest: Floats, starts: Sequence[Floats]) -> Sequence[Floats]:
        return self.surface.feasible_starts(latest, starts)

    def no_start(self, *, feasible: bool) -> str | None:
        return None if feasible else "supports drive the body through itself"

    @property
    def has_smoothed_friction(self) -> bool:
        return self.surface.has_smoothed_friction

    @property
    def has_barriers(self) -> bool:
        return self.surface.has_barriers

    def refresh(self, at: Point, enough: float) -> bool:
        return self.surface.refresh(at.u, at.v, enough)

    def memory(self) -> Any:
        return self._count, self.surface.memory()

    def recall(self, memory: Any) -> None:
        self._count, kept = memory
        self.surface.recall(kept)

    def end_stage(self, solution: State) -> State:
        self.surface.intersection_free = solution.u
        self._count = self.surface.count(solution.u)
        return solution

    @property
    def contacts(self) -> int:
        return self._count

    def forces(self, u: Floats, v: Floats) -> Floats:
        """Force of the body on itself where the last stage ended, at u and v [N], (n, 3)."""
        return -(self.surface.force(u) + self.surface.friction(v))

    def stored_energy(self, shape: Shape) -> float:
        return self.surface.energy(shape.u)

    def free_force(self, shape: Shape, v: Floats) -> Floats | None:
        return self.surface.force(shape.u)

    def power(self, shape: Shape, v: Floats) -> float:
        return self.surface.friction_power(v)
