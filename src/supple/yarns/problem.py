"""A step of woven cloth as Newton's method sees it: its potential, with obstacles in the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from supple.contact.contact_forces import ContactForces
from supple.contact.contacts import Contacts
from supple.contact.obstacles.base import Obstacle
from supple.contact.obstacles.padded import Padded
from supple.core.errors import StepFailed
from supple.core.types import Bools, Floats
from supple.integrators import Stage
from supple.solvers.interface import Balance, Problem
from supple.yarns.cloth import WovenCloth
from supple.yarns.obstacle_friction import ObstacleFriction
from supple.yarns.step import StepPotential

_EPSILON = float(np.finfo(float).eps)
_EXACT_AT, _LOOSEST = 1e-6, 100.0  # tolerance at which contacts are as exact as those of bodies
_ROUNDINGS = 100.0  # in a potential, which adds up over all yarns


class YarnProblem(Problem):
    """The force balances of a woven cloth, one step after the other.

    Its displacements are q (n, 5) itself; obstacles see the positions among them. What contacts
    bend sharply is left to line searches: full steps alone lead yarns astray.
    """

    def __init__(
        self, cloth: WovenCloth, free: Bools, obstacles: Sequence[Obstacle], tolerance: float
    ) -> None:
        self.pattern, self.free = cloth.pattern, free
        self._cloth = cloth
        self._diagonal = cloth.pattern.indptr[:-1]
        self._matrix = np.empty((cloth.pattern.n_blocks, 5, 5))
        self._potential: StepPotential | None = None
        self._q, self._floor = cloth.rest_state, 0.0
        self._space: Stage | None = None
        self.contact: ContactForces | None = None
        nodes, family = cloth.net.segments
        ends = cloth.net.arc_lengths[nodes, family[:, None]]
        self._edge = float(np.mean(ends[:, 1] - ends[:, 0]))
        if obstacles:
            self.contact = self._contact_with(obstacles, tolerance)
            self._friction = ObstacleFriction(self.contact, obstacles, cloth.slip_speed)

    def _contact_with(self, obstacles: Sequence[Obstacle], tolerance: float) -> ContactForces:
        cloth, held_off = self._cloth, self._cloth.warp.radius + self._cloth.weft.radius
        rest, free = cloth.rest_state, self.free[:, :3]
        stiffness = np.zeros_like(self._matrix)
        for term in (cloth.stretch_potential, cloth.bending_potential, cloth.shear_potential):
            term(rest, np.zeros_like(rest), stiffness, definite=True)
        contacts = Contacts(
            [Padded(obstacle=each, thickness=held_off) for each in obstacles],
            np.zeros((cloth.n_nodes, 3)),
            free,
            np.flatnonzero(free.any(axis=1)),
            self._edge,
            float(np.clip(tolerance / _EXACT_AT, 1.0, _LOOSEST)),
        )
        return ContactForces(
            contacts,
            self._diagonal,
            self._in_space(stiffness),
            self._in_space(cloth.mass_values(rest)),
        )

    def _in_space(self, values: Floats) -> Floats:
        """What blocks have on the diagonal of each crossing's position, in the mean (n,)."""
        mean: Floats = np.einsum("nii->n", values[self._diagonal, :3, :3]) / 3
        return mean

    @contextmanager
    def step(self, potential: StepPotential, stage: Stage, began: float) -> Iterator[None]:
        """For as long as a step is solved that starts at ``stage.u_v`` at time ``began`` [s].

        Where it cannot be solved, the forces of contacts stay those of the last step.
        """
        self._potential, self._floor = potential, 0.0
        kept = self.contact_state()
        if self.contact is not None:
            start, guess = stage.u_v[:, :3].copy(), stage.guess[:, :3].copy()
            self._space = Stage(stage.time, stage.c_v, start, stage.c_a, start, guess)
            self.contact.begin(self._space, start, guess, began)
            self._friction.begin(guess, 1 / stage.c_v, stage.time)
        try:
            yield
        except StepFailed:
            if self.contact is not None:
                self.contact.contacts.restore(kept["pairs"], kept["forces"])
            raise

    def contact_state(self) -> dict[str, Floats]:
        """What contacts go on from, for checkpoints."""
        return {} if self.contact is None else self.contact.contacts.state()

    def restore_contact(self, saved: Mapping[str, Any]) -> None:
        """Go on from what ``contact_state`` gave, its names behind "contact."."""
        if self.contact is not None and "contact.pairs" in saved:
            pairs, forces = (np.array(saved[f"contact.{name}"]) for name in ("pairs", "forces"))
            self.contact.contacts.restore(pairs, forces)

    def friction_work(self, q: Floats) -> float:
        """What friction on obstacles takes in the step that ends at q (n, 5) [J]."""
        return 0.0 if self.contact is None else 2 * self._friction.potential(q[:, :3])

    def contact_forces(self) -> Floats:
        """Force of the obstacles on every crossing in the last step [N], (n, 3)."""
        if self.contact is None:
            return np.zeros((self._cloth.n_nodes, 3))
        return self.contact.contacts.on_vertices() + self._friction.on_vertices(self._q[:, :3])

    def balance(self, stage: Stage, u: Floats, *, with_matrix: bool = False) -> Balance:
        step = self._step
        gradient = np.empty_like(u)
        potential = step.evaluate(u, gradient)
        scale = step.scale
        if self.contact is not None and np.isfinite(potential):
            x = u[:, :3]
            push = self.contact.push(x)
            np.add.at(push, self.contact.contacts.pairs.vertex, self._friction.forces(x))
            potential += self.contact.potential(x) + self._friction.potential(x)
            gradient[:, :3] += push
            scale += float(np.linalg.norm(push))
        self._q = u
        return Balance(
            residual=gradient,
            scale=scale,
            floor=self._floor,
            from_anchor=lambda: potential,
            current_potential=potential,
            potential_rounding=_ROUNDINGS * (_EPSILON * abs(potential) + self._floor * self._edge),
        )

    def anchor(self) -> None:
        return  # the potential is the same everywhere

    def matrix(
        self, stage: Stage, *, definite: bool, closer: bool = False, majorized: bool = False
    ) -> Floats:
        self._step.evaluate(self._q, np.empty_like(self._q), self._matrix, definite=definite)
        diagonal = np.einsum("nii->ni", self._matrix[self._diagonal])
        self._floor = 2 * _EPSILON * float(np.linalg.norm((diagonal * self._q)[self.free]))
        if self.contact is not None:
            in_space = self._matrix[:, :3, :3]
            self.contact.add_matrix(in_space, majorized=definite)
            self._friction.add_matrix(in_space)
        return self._matrix

    def follow(self, stage: Stage, u: Floats, step: Floats, length: float) -> float:
        if self.contact is None:
            return 0.0
        return self.contact.follow(self._stage, u[:, :3], step[:, :3], length)

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        if self.contact is None:
            return u
        out = self.contact.contacts.projected_out(self._stage, u[:, :3])
        return np.column_stack([out, u[:, 3:]])

    def keep_place(self) -> Callable[[], None]:
        return super().keep_place() if self.contact is None else self.contact.keep_place()

    def improve(self, stage: Stage, u: Floats, enough: float) -> bool:
        if self.contact is None:
            return False
        changed = self.contact.improve(self._stage, u[:, :3], enough)
        return self._friction.improve(u[:, :3], enough) or changed

    @property
    def _step(self) -> StepPotential:
        if self._potential is None:
            raise RuntimeError("begin a step first")
        return self._potential

    @property
    def _stage(self) -> Stage:
        if self._space is None:
            raise RuntimeError("begin a step first")
        return self._space
