"""A step of woven cloth as Newton's method sees it: its potential, with obstacles in the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from supple.contact.augmented_lagrangian import AugmentedLagrangian, ContactPoint
from supple.contact.contacts import Contacts
from supple.contact.obstacles.base import Obstacle, Padded
from supple.core.errors import StepFailed
from supple.core.sparse import BlockPattern
from supple.core.types import Bools, Floats
from supple.dynamics.problem import ArrayPool
from supple.integrators import Stage
from supple.solvers.interface import ActiveSet, Linearization, Problem, Tangent
from supple.yarns.cloth import WovenCloth
from supple.yarns.obstacle_friction import ObstacleFriction
from supple.yarns.self_contact import SelfContactForces, YarnSelfContact
from supple.yarns.stages import Spans
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
        self,
        cloth: WovenCloth,
        free: Bools,
        obstacles: Sequence[Obstacle],
        tolerance: float,
        self_contact: YarnSelfContact | None = None,
    ) -> None:
        self.free = free
        self.layers = None if self_contact is None else SelfContactForces(cloth, self_contact)
        """What keeps the cloth out of itself."""
        self._begun = cloth.net.positions
        self._arcs = cloth.net.arc_lengths
        self._cloth = cloth
        self._diagonal = cloth.pattern.indptr[:-1]
        self.arrays = ArrayPool((cloth.pattern.n_blocks, 5, 5))
        """For matrices."""
        self._potential: StepPotential | None = None
        self.floor = 0.0
        """What rounding alone may leave [N], as far as matrices of the step have told."""
        self.contact: AugmentedLagrangian | None = None
        nodes, family = cloth.net.segments
        ends = cloth.net.arc_lengths[nodes, family[:, None]]
        self._edge = float(np.mean(ends[:, 1] - ends[:, 0]))
        self._spans = Spans(cloth.net.segments)
        self.active_set = _Unfolded(self)
        if obstacles:
            self.contact = self._contact_with(obstacles, tolerance)
            self._friction = ObstacleFriction(self.contact, obstacles, cloth.slip_speed)
            self.active_set = _ObstacleContacts(self, self.contact, self._friction)

    @property
    def pattern(self) -> BlockPattern:  # type: ignore[override]
        """Of matrices; it grows with the contacts of the cloth with itself."""
        return self._cloth.pattern if self.layers is None else self.layers.pattern

    def _contact_with(self, obstacles: Sequence[Obstacle], tolerance: float) -> AugmentedLagrangian:
        cloth, held_off = self._cloth, self._cloth.warp.radius + self._cloth.weft.radius
        rest, free = cloth.rest_state, self.free[:, :3]
        stiffness = cloth.stiffness_values(rest, definite=True)
        contacts = Contacts(
            [Padded(obstacle=each, thickness=held_off) for each in obstacles],
            np.zeros((cloth.n_nodes, 3)),
            free,
            np.flatnonzero(free.any(axis=1)),
            self._edge,
            float(np.clip(tolerance / _EXACT_AT, 1.0, _LOOSEST)),
        )
        return AugmentedLagrangian(
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
    def step(
        self, potential: StepPotential, stage: Stage, start: Floats, began: float
    ) -> Iterator[None]:
        """For as long as a stage is solved that starts at ``start`` (n, 5) at time ``began`` [s].

        Where it cannot be solved, the forces of contacts stay those of the last step.
        """
        self._potential, self.floor = potential, 0.0
        kept, self._arcs = self.contact_state(), start[:, 3:]
        if self.layers is not None:
            self._begun = np.ascontiguousarray(start[:, :3])
            past = np.ascontiguousarray(stage.u_v[:, :3])
            self.layers.begin(self._begun, past, 1 / stage.c_v)
        if self.contact is not None:
            past, guess = stage.u_v[:, :3].copy(), stage.guess[:, :3].copy()
            space = Stage(stage.time, stage.c_v, past, stage.c_a, past, guess)
            self.contact.begin(space, start[:, :3].copy(), guess, began)
            self._friction.begin(guess, 1 / stage.c_v, stage.time)
        try:
            yield
        except StepFailed:
            if self.contact is not None:
                self.contact.contacts.restore(kept["pairs"], kept["forces"])
            raise

    def contact_state(self) -> dict[str, Any]:
        """What contacts go on from, for checkpoints."""
        kept: dict[str, Any] = {} if self.contact is None else self.contact.contacts.state()
        return kept if self.layers is None else {**kept, **self.layers.state()}

    def restore_contact(self, saved: Mapping[str, Any]) -> None:
        """Go on from what ``contact_state`` gave, its names behind "contact."."""
        if self.contact is not None and "contact.pairs" in saved:
            pairs, forces = (np.array(saved[f"contact.{name}"]) for name in ("pairs", "forces"))
            self.contact.contacts.restore(pairs, forces)
        if self.layers is not None:
            self.layers.restore(np.array(saved.get("contact.self", ()), dtype=np.int64))

    def memory(self) -> Any:
        """What steps to come depend on, to ``recall`` while the program runs."""
        layers = None if self.layers is None else self.layers.memory()
        if self.contact is None:
            return layers, None, None
        return layers, self.contact.contacts.memory(), self._friction.memory()

    def recall(self, memory: Any) -> None:
        """Go back to what ``memory`` gave."""
        layers, contacts, friction = memory
        if self.layers is not None and layers is not None:
            self.layers.recall(layers)
        if self.contact is not None and contacts is not None:
            self.contact.contacts.recall(contacts)
            self._friction.recall(friction)

    @property
    def touches(self) -> bool:
        """Whether an obstacle pressed on the cloth at the end of the last stage."""
        return self.contact is not None and bool(self.contact.contacts.on_vertices().any())

    def friction_work(self, q: Floats) -> float:
        """What friction on obstacles and between layers takes in the step to q (n, 5) [J]."""
        x = np.ascontiguousarray(q[:, :3])
        work = 0.0 if self.contact is None else 2 * self._friction.potential(x)
        return work if self.layers is None else work + self.layers.taken(x)

    def layer_gaps(self, q: Floats) -> Floats:
        """Distances of places where the cloth touches itself at q (n, 5) [m], (k,)."""
        if self.layers is None:
            return np.zeros(0)
        return self.layers.gaps(np.ascontiguousarray(q[:, :3]))

    def stored_between_layers(self, q: Floats) -> float:
        """What contacts of the cloth with itself store at q (n, 5) [J]."""
        return 0.0 if self.layers is None else self.layers.energy(np.ascontiguousarray(q[:, :3]))

    def collision_free_step(self, u: Floats, step: Floats) -> float:
        if self.layers is None:
            return 1.0
        x, way = (np.ascontiguousarray(each[:, :3]) for each in (u, step))
        return self.layers.collision_free_step(x, way)

    def unfolded(self, u: Floats) -> Floats:
        """u (n, 5) where no segment has lost most of its length in the stage."""
        return self._spans.unfolded(u, self._arcs)

    def feasible_starts(self, starts: Sequence[Floats]) -> Sequence[Floats]:
        if self.layers is None:
            return starts
        last = starts[-1]
        there = last[:, :3] - self._begun
        if there.any() and self.layers.collision_free_step(self._begun, there) < 1.0:
            return []  # supports would have it pass itself
        reached = []
        for start in starts[:-1]:
            way = start - last
            reached.append(last + self.collision_free_step(last, way) * way)
        return [*reached, last]

    def contact_forces(self, q: Floats) -> Floats:
        """Force of the obstacles on every crossing in the last step, to q (n, 5) [N], (n, 3)."""
        if self.contact is None:
            return np.zeros((self._cloth.n_nodes, 3))
        return self.contact.contacts.on_vertices() + self._friction.on_vertices(q[:, :3])

    def linearize(self, stage: Stage, u: Floats, *, with_matrix: bool = False) -> YarnLinearization:
        return YarnLinearization(self, stage, u)

    def evaluate(self, here: YarnLinearization) -> None:
        """Fill in forces and potential at ``here.u`` (n, 5)."""
        step, here.residual = self._step, np.empty_like(here.u)
        here.potential = step.evaluate(here.u, here.residual)
        here.scale = step.scale
        if self.contact is not None and np.isfinite(here.potential):
            x = here.u[:, :3]
            here.contact = self.contact.evaluate(x)
            push = here.contact.force.copy()
            np.add.at(push, self.contact.contacts.pairs.vertex, self._friction.forces(x))
            here.potential += here.contact.potential + self._friction.potential(x)
            here.residual[:, :3] += push
            here.scale += float(np.linalg.norm(push))
        if self.layers is not None and np.isfinite(here.potential):
            x, push = np.ascontiguousarray(here.u[:, :3]), np.zeros((len(here.u), 3))
            here.potential += self.layers.energy(x, push) + self.layers.rubbed(x, push)
            here.residual[:, :3] += push
            here.scale += float(np.linalg.norm(push))
        here.floor = self.floor
        rounding = _EPSILON * abs(here.potential) + self.floor * self._edge
        here.potential_rounding = _ROUNDINGS * rounding

    def matrix(self, here: YarnLinearization, *, definite: bool) -> Floats:
        """The second derivative of the potential there, (blocks, 5, 5)."""
        values = self.arrays.lend(here)
        self._step.evaluate(here.u, np.empty_like(here.u), values, definite=definite)
        diagonal = np.einsum("nii->ni", values[self._diagonal])
        self.floor = 2 * _EPSILON * float(np.linalg.norm((diagonal * here.u)[self.free]))
        if self.contact is not None and here.contact is not None:
            in_space = values[:, :3, :3]
            self.contact.add_matrix(here.contact, in_space, majorized=definite)
            self._friction.add_matrix(in_space)
        if self.layers is not None:
            x = np.ascontiguousarray(here.u[:, :3])
            return self.layers.with_matrix(values, x, majorized=definite)
        return values

    def no_start(self, *, feasible: bool) -> str:
        if self.layers is not None and not feasible:
            return "supports lead parts of the cloth through each other"
        return "a segment of yarn has no length, or crossings have passed each other"

    @property
    def _step(self) -> StepPotential:
        if self._potential is None:
            raise RuntimeError("begin a step first")
        return self._potential


class YarnLinearization(Linearization):
    """The forces of a step at one q (n, 5)."""

    def __init__(self, problem: YarnProblem, stage: Stage, u: Floats) -> None:
        self._problem, self.stage, self.u = problem, stage, u
        self.contact: ContactPoint | None = None
        self._matrices: dict[bool, Floats] = {}
        problem.evaluate(self)

    def matrix(self, tangent: Tangent) -> Floats:
        # Slack yarns make most matrices indefinite. A fixed number of full steps, which asks for
        # friction majorized, has no line search to make up for that.
        definite = tangent.definite or tangent.majorized
        if definite not in self._matrices:
            self._matrices[definite] = self._problem.matrix(self, definite=definite)
        return self._matrices[definite]


class _Unfolded(ActiveSet):
    """No contacts with obstacles."""

    def __init__(self, problem: YarnProblem) -> None:
        self._problem = problem

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        return self._problem.unfolded(u)


class _ObstacleContacts(ActiveSet):
    """The contacts of crossings with obstacles."""

    def __init__(
        self, problem: YarnProblem, contact: AugmentedLagrangian, friction: ObstacleFriction
    ) -> None:
        self._problem, self._contact, self._friction = problem, contact, friction

    def update_multipliers(self, here: Linearization, step: Floats, length: float) -> float:
        assert isinstance(here, YarnLinearization)
        if here.contact is None:
            return 0.0
        return self._contact.update_multipliers(here.contact, step[:, :3], length)

    def snapshot(self) -> Callable[[], None]:
        return self._contact.snapshot()

    def refresh(self, here: Linearization, enough: float) -> bool:
        x = here.u[:, :3]
        changed = self._contact.refresh(x, enough)
        return self._friction.refresh(x, enough) or changed

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        out = self._contact.contacts.projected_out(stage, u[:, :3])
        return np.column_stack([out, self._problem.unfolded(u)[:, 3:]])
