"""The stored energy of a body: ∇U."""

from __future__ import annotations

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.types import Floats
from supple.dynamics.terms.base import BlockSum, Point, Share, Term
from supple.solvers.interface import Tangent


class Elasticity(Term):
    """The stored energy U(u) of a body."""

    def __init__(self, body: ElasticBody) -> None:
        self._body = body
        self.advice = body.advice

    def evaluate(self, at: Point) -> Share:
        energy = at.shape.energy
        floor = self._body.rounding_force(at.u)
        return Share(at.shape.gradient, energy, magnitude=energy, floor=floor)

    def add_matrix(self, at: Point, share: Share, tangent: Tangent, to: BlockSum) -> None:
        to.add(at.shape.definite_stiffness if tangent.definite else at.shape.stiffness)

    def no_start(self, *, feasible: bool) -> str | None:
        if not feasible:
            return None
        return self._body.infeasible

    def collision_free_step(self, u: Floats, step: Floats) -> float:
        return self._body.feasible_step(u, step)

    def is_feasible(self, u: Floats) -> bool:
        return self._body.is_feasible(u)

    def stored_energy(self, shape: Shape) -> float:
        return shape.energy

    def free_force(self, shape: Shape, v: Floats) -> Floats | None:
        return shape.gradient
