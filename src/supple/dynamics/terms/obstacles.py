"""Contact with obstacles, and friction on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.contact.augmented_lagrangian import AugmentedLagrangian, ContactPoint
from supple.contact.carried import after_impact, carried_out
from supple.contact.contacts import Impact
from supple.contact.obstacles.base import Obstacle
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats, Ints
from supple.damping.base import BoundDamping, DampingTangent
from supple.damping.sums import summands
from supple.dynamics.splitting import Splitter
from supple.dynamics.terms.base import BlockSum, Point, Share, StageStart, Term
from supple.integrators import Stage, State
from supple.solvers.interface import Tangent

_MOSTLY_INSIDE = 0.5  # share of a body's boundary that no body has inside an obstacle on purpose
_TOO_DEEP = 0.5  # edges: what is less deep is pushed out


@dataclass(eq=False)
class _ContactShare(Share):
    here: ContactPoint | None = None


class ObstacleContact(Term):
    """Obstacles that a body cannot enter, with friction, by an augmented Lagrangian."""

    def __init__(
        self, body: ElasticBody, obstacles: Sequence[Obstacle], damping: Sequence[BoundDamping] = ()
    ) -> None:
        self._body = body
        self._lagrangian = AugmentedLagrangian.of_body(body, obstacles)
        self._contacts = self._lagrangian.contacts
        self._points = body.points
        self._any_moves = any(each.moves for each in obstacles)
        self._touching: set[tuple[int, int]] = set()
        self._pressed: set[tuple[int, int]] = set()
        self._in_motion = False
        self._add_damping_diagonal(damping)

    def _add_damping_diagonal(self, damping: Sequence[BoundDamping]) -> None:
        """Let the weights of contacts know how damping adds to the matrix of a stage.

        What thins says at rest, as dry friction does, is not how it resists in motion: contacts
        that count it are far too stiff, and which of them stick is not found out.
        """
        still = np.zeros_like(self._body.mesh.vertices)
        rest = Shape(self._body, still, order=2)
        for model in (each for sum_ in damping for each in summands(sum_)):
            if model.pattern is None and not model.is_thinning:
                values = np.zeros((self._body.pattern.n_blocks, 3, 3))
                model.add_tangent(rest, still, DampingTangent(1.0, definite=True), values)
                self._lagrangian.add_damping_diagonal(values)

    def begin(self, start: StageStart) -> None:
        if start.start is None or start.latest is None:
            return
        stage = start.stage
        if not self._in_motion:
            self._check_start(self._points.of(start.latest), start.start.time)
            self._in_motion = True
        self._lagrangian.begin(stage, start.latest, stage.guess, start.start.time)

    def _check_start(self, u: Floats, time: float) -> None:
        """Stop where a body begins inside an obstacle: no way out of it is the right one."""
        for number, (obstacle, depths) in enumerate(self._contacts.depths(u, time)):
            inside = depths > _TOO_DEEP * self._contacts.edge
            if inside.sum() <= _MOSTLY_INSIDE * len(depths):
                continue
            cure = "move one of the two"
            if hasattr(obstacle, "hollow") and not obstacle.hollow:
                cure += ", or give it hollow=True if the body is to stay in it, as in a bowl"
            raise InputError(
                f"the body begins inside obstacles[{number}], a {type(obstacle).__name__}: "
                f"{int(inside.sum())} of the {len(depths)} vertices of its boundary, up to "
                f"{depths.max():.3g} m deep; {cure}"
            )

    def evaluate(self, at: Point) -> Share:
        here = self._lagrangian.evaluate(at.u)
        return _ContactShare(here.force, here.potential, here=here)

    def add_matrix(self, at: Point, share: Share, tangent: Tangent, to: BlockSum) -> None:
        self._lagrangian.add_matrix(_here(share), to.values, majorized=tangent.definite)

    # -- the active set ----------------------------------------------------------------------

    @property
    def nonsmooth(self) -> bool:
        return self._contacts.pairs.count > 0

    def update_multipliers(self, share: Share, step: Floats, length: float) -> float:
        return self._lagrangian.update_multipliers(_here(share), step, length)

    def weigh(self, share: float) -> bool:
        return self._lagrangian.weigh(share)

    def snapshot(self) -> Callable[[], None] | None:
        return self._lagrangian.snapshot()

    def refresh(self, at: Point, enough: float) -> bool:
        return self._lagrangian.refresh(at.u, enough)

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        if self._points.are_vertices:
            return self._contacts.projected_out(stage, u)
        at = self._points.of(u)
        return carried_out(self._points, u, self._contacts.projected_out(stage, at) - at)

    # -- steps -------------------------------------------------------------------------------

    def begin_step(self) -> None:
        self._pressed = set()

    def end_stage(self, solution: State) -> State:
        obstacle = self._contacts.passed(solution.time, self._points.of(solution.u))
        if obstacle is not None:
            raise StepFailed(
                f"a part of the body between its vertices would pass a {type(obstacle).__name__}",
                time=solution.time,
                residual=float("nan"),
                advice="Try a smaller dt, or a finer mesh.",
            )
        self._pressed |= self._contacts.touching
        points, body = self._points, self._body
        if points.are_vertices:
            return self._contacts.after_impact(solution, body)
        return after_impact(points, self._contacts.pressing(), solution, body)

    def impact(self, now: State, dt: float, external: Floats) -> Impact | None:
        # pairs that touched before have nothing to bounce with
        new = self._pressed - self._touching
        if not new:
            return None
        fall = float(np.linalg.norm(external.sum(axis=0))) / self._body.total_mass
        return self._contacts.first_impact(self._state_of_points(now), dt, new, fall)

    def _state_of_points(self, of: State) -> State:
        points = self._points
        return of if points.are_vertices else State(of.time, points.of(of.u), points.of(of.v), None)

    def set_restitution_speeds(self, speeds: Mapping[tuple[int, int], float]) -> None:
        self._contacts.speeds = dict(speeds)

    def end_step(self) -> None:
        self._touching = self._contacts.touching

    @property
    def contacts(self) -> int:
        return len(self._contacts.touching)

    def forces(self) -> Floats:
        """Force of the obstacles on every vertex in the last stage [N], (n, 3)."""
        return self._points.spread(self._contacts.on_vertices())

    def power(self, shape: Shape, v: Floats) -> float:
        return self._contacts.friction_power(self._points.of(v))

    def carried(self) -> tuple[Floats, Floats] | None:
        return self._contacts.carried() if self._any_moves else None

    def pushed_out(self, now: State) -> float:
        return self._contacts.pushed_out(self._state_of_points(now))

    def state(self) -> dict[str, Floats]:
        return {f"contact.{name}": array for name, array in self._contacts.state().items()}

    def restore(self, saved: Mapping[str, Floats]) -> None:
        if "contact.pairs" in saved:
            names = ("contact.pairs", "contact.forces", "contact.shares")
            self._contacts.restore(*(saved[name] for name in names if name in saved))
            self._touching = self._contacts.touching
        self._pressed = set()

    def memory(self) -> Any:
        return self._contacts.memory(), self._touching, self._in_motion

    def recall(self, memory: Any) -> None:
        contacts, self._touching, self._in_motion = memory
        self._contacts.recall(contacts)
        self._pressed = set()

    def split(self, splitter: Splitter, places: Ints) -> None:
        splitter.add_contacts(self._contacts)

    def needs_new_contacts(self, stage: Stage, u: Floats) -> bool:
        return self._contacts.add_penetrating(stage, u)


def _here(share: Share) -> ContactPoint:
    assert isinstance(share, _ContactShare)
    assert share.here is not None
    return share.here
