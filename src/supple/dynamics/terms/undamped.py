"""Elasticity, inertia and external forces: M a + ∇U − f, the motion without damping or contact."""

from __future__ import annotations

import numpy as np

from supple._kernels.linear_algebra.blocks import add_scaled_identity_blocks
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.types import Floats
from supple.dynamics.terms.base import BlockSum, Point, Share, StageStart, Term
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
        return "a cell has collapsed or turned inside out, which its material forbids"

    def stored_energy(self, shape: Shape) -> float:
        return shape.energy

    def free_force(self, shape: Shape, v: Floats) -> Floats | None:
        return shape.gradient


class Inertia(Term):
    """½ ‖a‖²_M / c_a, whose gradient by u is M a."""

    def __init__(self, body: ElasticBody) -> None:
        self._body = body

    def evaluate(self, at: Point) -> Share:
        force, c_a = self._body.mass_times(at.a), at.stage.c_a
        kinetic = 0.5 * float(np.vdot(at.a, force)) / c_a if c_a else 0.0
        floor = self._body.rounding_inertia(at.u, c_a)
        return Share(force, kinetic, magnitude=kinetic, floor=floor)

    def add_matrix(self, at: Point, share: Share, tangent: Tangent, to: BlockSum) -> None:
        add_scaled_identity_blocks(to.values, self._body.mass_values, at.stage.c_a)


class ExternalForces(Term):
    """Forces f (n, 3) [N] that do not change within a stage, with the potential −f·u."""

    def __init__(self, n_vertices: int) -> None:
        self._force: Floats = np.zeros((n_vertices, 3))

    def begin(self, start: StageStart) -> None:
        self._force = start.external

    def evaluate(self, at: Point) -> Share:
        work = float(np.vdot(self._force, at.u))
        return Share(-self._force, -work, magnitude=abs(work))
