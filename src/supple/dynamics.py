"""The equation M a + ∇₂R(u, v) + ∇U(u) = f of a damped body, as solvers see it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._kernels.blocks import add_scaled_identity_blocks
from .body import Body
from .damping import BoundDamping, Damping
from .integrators import Stage
from .shape import Shape
from .solvers.newton import Balance, Problem
from .types import Floats


class Dynamics(Problem):
    """Force balances of a body with damping under external forces."""

    def __init__(self, body: Body, damping: Sequence[Damping]) -> None:
        self.body = body
        self.damping: tuple[BoundDamping, ...] = tuple(model.bind(body) for model in damping)
        self.pattern, self.free = body.pattern, body.free
        self.external = np.zeros((body.n_vertices, 3))
        """Force of the stage at hand [N], (n, 3)."""
        self._shape: Shape | None = None
        self._stiffness = np.empty((body.pattern.n_blocks, 3, 3))
        self._matrix = np.empty((body.pattern.n_blocks, 3, 3))
        self._v = np.zeros((body.n_vertices, 3))

    def balance(self, stage: Stage, u: Floats, *, with_matrix: bool = False) -> Balance:
        body = self.body
        shape = self.shape_at(u, order=2 if with_matrix else 1)
        v = self._v = stage.velocity(u)
        offset = u - stage.u_a
        inertia = body.mass_times(stage.c_a * offset)
        friction = np.zeros_like(u)
        dissipation = 0.0
        for model in self.damping:
            friction += model.force(shape, v)
            dissipation += model.dissipation(shape, v)
        # ½ c_a ‖u − û_a‖²_M + U(u) + R(u, v(u))/c_v − f·u
        potential = 0.5 * np.vdot(offset, inertia) + shape.energy - np.vdot(self.external, u)
        if dissipation:
            potential += dissipation / stage.c_v
        parts = [inertia, friction, shape.gradient, self.external]
        if stage.c_v:
            parts.append(stage.c_v * body.mass_times(v))  # would stop the motion within the stage
        scale = sum(float(np.linalg.norm(part)) for part in parts)
        residual = inertia + friction + shape.gradient - self.external
        return Balance(residual, scale, body.rounding_force, float(potential))

    def matrix(self, stage: Stage, *, definite: bool) -> Floats:
        shape = self._shape
        if shape is None:
            raise RuntimeError("ask for a balance first")
        values = self._matrix
        values[:] = shape.definite_stiffness() if definite else shape.stiffness
        add_scaled_identity_blocks(values, self.body.mass_values, stage.c_a)
        for model in self.damping:
            model.add_matrix(shape, self._v, stage.c_v, values)
        return values

    def shape_at(self, u: Floats, *, order: int = 1) -> Shape:
        """The body at u; the last shape asked for is kept."""
        if self._shape is None or not np.array_equal(self._shape.u, u):
            self._shape = Shape(self.body, u.copy(), order=order, buffer=self._stiffness)
        return self._shape

    def damping_force(self, u: Floats, v: Floats) -> Floats:
        """∇₂R [N] of all damping, (n, 3)."""
        total = np.zeros_like(u)
        for model in self.damping:
            total += model.force(self.shape_at(u), v)
        return total
