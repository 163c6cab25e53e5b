"""The equation of motion of a body as solvers see it: a list of terms."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from supple._kernels.linear_algebra import node_rotations
from supple._kernels.linear_algebra.blocks import add_scaled_identity_blocks
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.sparse import BlockPattern, GrowingPattern, LowRank, joined
from supple.core.types import Floats, Ints
from supple.dynamics.splitting import Splitter
from supple.dynamics.terms.base import BlockSum, Point, StageStart, Term
from supple.integrators import Stage, State
from supple.solvers.interface import ActiveSet, Linearization, Tangent
from supple.solvers.splitting import Outside, SplitOptions, SplitProblem, Splitting

_CACHED = 2  # shapes: a stage ends at one of the last two that were looked at
_EPSILON = float(np.finfo(float).eps)
_ROUNDINGS = 100.0  # in a potential, which adds up over all cells
_INCREMENTS = (1, 2, 4, 8)  # in how many a body is moved along with supports that go far
_INERTIA = 1e-6  # share of its inertia that it has then: enough for a soft hold on it


class ArrayPool:
    """Large arrays of one shape, used again when what they were lent to is gone.

    New ones would cost more, in pages that the system has to clear, than what is done with them.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._unused: list[Floats] = []

    def lend(self, owner: object) -> Floats:
        """An array, of any content, for as long as ``owner`` lives."""
        array = self._unused.pop() if self._unused else np.empty(self._shape)
        weakref.finalize(owner, self._unused.append, array).atexit = False
        return array


class ProblemMemory(NamedTuple):
    """What a problem keeps from stage to stage."""

    terms: list[Any]
    shapes: list[tuple[Floats, int]]
    """The shapes last looked at: u, and how they were evaluated, which rounding depends on."""
    rotations: Floats
    pattern: Any


class BodyProblem(SplitProblem):
    """Force balances of a body: what its terms add up to."""

    def __init__(self, body: ElasticBody, terms: Sequence[Term]) -> None:
        self.body, self.terms = body, tuple(terms)
        self.free = body.free
        self.edge = float(body.mesh.edge_lengths().mean())
        """Mean length of the edges [m]."""
        wider = [term.pattern for term in self.terms if term.pattern is not None]
        keys = [pattern.keys for pattern in (body.pattern, *wider)]
        own = body.pattern.with_keys(np.concatenate(keys)) if wider else body.pattern
        self._places = [np.searchsorted(own.keys, each) for each in keys]
        self._own_pattern, self._wide_pattern = own, GrowingPattern(own)
        self.arrays = ArrayPool((body.pattern.n_blocks, 3, 3))
        """For matrices on the body's pattern."""
        self._last_shapes: deque[Shape] = deque(maxlen=_CACHED)
        self._to_evaluate: list[tuple[Floats, int]] = []
        self._order = 2 if any(term.uses_stiffness_matrix for term in self.terms) else 1
        self._begun: StageStart | None = None
        self._held = np.flatnonzero(~body.free)
        self._held_velocity, self._held_acceleration = np.zeros((2, body.n_vertices, 3))
        self._rotations = np.tile(np.eye(3), (body.n_vertices, 1, 1))
        self.has_potential = all(term.has_potential for term in self.terms)
        self.matrix_is_hessian = all(term.matrix_is_hessian for term in self.terms)
        self.advice = " ".join(dict.fromkeys(term.advice for term in self.terms if term.advice))
        self.active_set = _ActiveTerms(self)

    @property
    def pattern(self) -> BlockPattern:  # type: ignore[override]
        return self._wide_pattern.pattern

    # -- a stage -----------------------------------------------------------------------------

    def begin(self, start: StageStart) -> None:
        """Get ready for a stage: what acts in it, and how supports move."""
        self._begun = start
        self.body.held.set_velocity(self._held_velocity, start.stage.time)
        self.body.held.set_acceleration(self._held_acceleration, start.stage.time)
        for term in self.terms:
            term.begin(start)

    def linearize(self, stage: Stage, u: Floats, *, with_matrix: bool = False) -> BodyLinearization:
        v = self._following(stage.velocity(u), self._held_velocity)
        a = self._following(stage.acceleration(u), self._held_acceleration)
        shape = self.shape_at(u, with_matrix=with_matrix)
        return BodyLinearization(self, Point(stage, shape, v, a))

    def _following(self, field: Floats, prescribed: Floats) -> Floats:
        """``field`` with its held components as prescribed."""
        if len(self._held):
            field.reshape(-1)[self._held] = prescribed.reshape(-1)[self._held]
        return field

    def assemble(self, shares: Sequence[Floats]) -> Floats:
        """The sum of blocks on the body's pattern and on the wider ones of terms, on all of them.

        Shares of terms that are left out at the end count as nothing.
        """
        if len(self._places) == 1:
            return shares[0]
        total = np.zeros((self._own_pattern.n_blocks, 3, 3))
        for places, share in zip(self._places, shares, strict=False):
            total[places] += share
        return total

    def with_pairs(self, values: Floats, at: Point, tangent: Tangent) -> Floats:
        """Values on the blocks that are always there, with those of pairs that come and go."""
        found = [(term, term.pair_blocks(at, tangent)) for term in self.terms]
        there = [(term, pairs) for term, pairs in found if pairs is not None]
        if not there:
            return values
        keys = np.concatenate([pairs[0] for _, pairs in there])
        blocks = np.concatenate([pairs[1] for _, pairs in there])

        def reserve() -> Ints:
            return np.concatenate([term.nearby_keys(at) for term, _ in there])

        return self._wide_pattern.sum(values, keys, blocks, reserve)

    def rotations_at(self, u: Floats) -> Floats:
        """How the surroundings of each node have turned at u, rotations (n, 3, 3)."""
        X, pattern = self.body.mesh.vertices, self.body.turning
        node_rotations.update_rotations(pattern.indptr, pattern.cols, X, X + u, self._rotations)
        return self._rotations.copy()

    # -- what stands in the way --------------------------------------------------------------

    def collision_free_step(self, u: Floats, step: Floats) -> float:
        return min((term.collision_free_step(u, step) for term in self.terms), default=1.0)

    def feasible_starts(self, starts: Sequence[Floats]) -> Sequence[Floats]:
        if self._latest is not None:
            for term in self.terms:
                starts = term.feasible_starts(self._latest, starts)
        return starts

    @property
    def _latest(self) -> Floats | None:
        return None if self._begun is None else self._begun.latest

    def start_from_supports(
        self, stage: Stage, start: Floats, solve: Callable[[Floats, Floats], Floats]
    ) -> Floats | None:
        body, held, latest = self.body, ~self.free, self._latest
        if latest is None or np.array_equal(latest[held], start[held]):
            return None
        slow, still = replace(stage, c_v=0.0), np.zeros_like(start)  # friction would hold it back
        for increments in _INCREMENTS:
            u = latest
            for left in range(increments, 0, -1):
                moved = np.where(self.free, 0.0, (start - u) / left)
                shape = self.shape_at(u)
                if not np.isfinite(shape.energy):
                    break
                values = shape.definite_stiffness.copy()
                add_scaled_identity_blocks(values, body.mass_values, _INERTIA * stage.c_a)
                at = Point(slow, shape, still, still)
                values = self.with_pairs(self.assemble([values]), at, Tangent(definite=True))
                force = -self.pattern.multiply(values, moved)
                moved = moved + solve(values, force)
                if self.collision_free_step(u, moved) < 1.0:
                    break
                u = u + moved
            else:
                if np.isfinite(self.shape_at(u).energy):
                    return u
        return None

    def no_start(self, *, feasible: bool) -> str:
        reasons = (term.no_start(feasible=feasible) for term in self.terms)
        return next(filter(None, reasons), super().no_start(feasible=feasible))

    # -- between stages ----------------------------------------------------------------------

    def shape_at(self, u: Floats, *, with_matrix: bool = False) -> Shape:
        """The body at u (n, 3); the last ones are cached."""
        for known, order in self._to_evaluate:  # as they were when a moment was kept
            shape = Shape(self.body, known, order=order, lend=self.arrays.lend)
            self._last_shapes.append(shape)
        self._to_evaluate = []
        for shape in self._last_shapes:
            if np.array_equal(shape.u, u):
                return shape
        order = 2 if with_matrix else self._order
        shape = Shape(self.body, u.copy(), order=order, lend=self.arrays.lend)
        self._last_shapes.append(shape)
        return shape

    def memory(self) -> ProblemMemory:
        """What stages to come depend on, beside the state of the body."""
        return ProblemMemory(
            [term.memory() for term in self.terms],
            [*self._to_evaluate, *((shape.u, shape.order) for shape in self._last_shapes)],
            self._rotations.copy(),
            self._wide_pattern.memory(),
        )

    def recall(self, memory: ProblemMemory) -> None:
        """Go back to what ``memory`` gave."""
        for term, kept in zip(self.terms, memory.terms, strict=True):
            term.recall(kept)
        self._last_shapes.clear()
        self._to_evaluate = list(memory.shapes)
        self._rotations[:] = memory.rotations
        self._wide_pattern.recall(memory.pattern)

    def stored_energy(self, u: Floats) -> float:
        """U [J], of all terms."""
        shape = self.shape_at(u)
        return sum(term.stored_energy(shape) for term in self.terms)

    def free_force(self, u: Floats, v: Floats) -> Floats:
        """∇₂R + ∇U [N], (n, 3), without what acts within stages alone."""
        return self.free_force_at(self.shape_at(u), v)

    def free_force_at(self, shape: Shape, v: Floats) -> Floats:
        """The same at a shape that is known."""
        total = np.zeros_like(v)
        for term in self.terms:
            force = term.free_force(shape, v)
            if force is not None:
                total += force
        return total

    def kinetic(self, u: Floats, v: Floats) -> float:
        """Kinetic energy [J]."""
        own = 0.5 * float(np.vdot(v, self.body.mass_times(v)))
        return own + sum(term.kinetic(u, v) for term in self.terms)

    def momentum(self, u: Floats, v: Floats) -> Floats:
        """M v [kg m/s], (n, 3)."""
        total = self.body.mass_times(v)
        for term in self.terms:
            beside = term.momentum(u, v)
            total = total if beside is None else total + beside
        return total

    def inertia(self, state: State) -> Floats:
        """M a [N], (n, 3), or what stands for it where the mass depends on the shape."""
        total = self.body.mass_times(state.acceleration)
        for term in self.terms:
            beside = term.inertia(state)
            total = total if beside is None else total + beside
        return total

    def power(self, u: Floats, v: Floats) -> float:
        """Power that damping and friction take from the motion [W]."""
        shape = self.shape_at(u)
        return sum(term.power(shape, v) for term in self.terms)

    # -- ADMM --------------------------------------------------------------------------------

    @cached_property
    def _splitter(self) -> Splitter:
        splitter = Splitter(self.body, self._own_pattern, self._places[0])
        wide = iter(self._places[1:])
        for term in self.terms:
            term.split(splitter, self._places[0] if term.pattern is None else next(wide))
        return splitter

    def split(self, stage: Stage, starts: Sequence[Floats], options: SplitOptions) -> Splitting:
        u_v = stage.u_v.copy()  # held components as their supports move: v = c_v (u − u_v)
        held, start = self._held, None if self._begun is None else self._begun.start
        if len(held) and stage.c_v:
            prescribed = self._held_velocity.reshape(-1)[held] / stage.c_v
            u_v.reshape(-1)[held] = starts[0].reshape(-1)[held] - prescribed
        velocity = np.zeros_like(u_v) if start is None else start.v
        begin = self._before_supports_move(starts[-1])
        return self._splitter.split(stage, begin, options, u_v=u_v, start_velocity=velocity)

    def _before_supports_move(self, u: Floats) -> Floats:
        """u (n, 3) where a stage begins, with held components as they were: cells are sound there.

        Supports that have gone half a cell further crush what has not followed yet.
        """
        latest = self._latest
        if latest is None or not np.array_equal(u[self.free], latest[self.free]):
            return u
        return latest

    def splitting_memory(self) -> Any:
        return self._splitter.memory()

    def recall_splitting(self, memory: Any) -> None:
        self._splitter.recall(memory)

    def needs_new_contacts(self, stage: Stage, u: Floats) -> bool:
        found = [term.needs_new_contacts(stage, u) for term in self.terms]  # of all of them
        return any(found)

    def is_feasible(self, u: Floats) -> bool:
        return all(term.is_feasible(u) for term in self.terms)

    def outside(self, stage: Stage, u: Floats) -> Outside:
        v = self._following(stage.velocity(u), self._held_velocity)
        a = self._following(stage.acceleration(u), self._held_acceleration)
        external = np.zeros_like(u) if self._begun is None else self._begun.external
        return self._splitter.outside(stage, u, v, a, external)


class BodyLinearization(Linearization):
    """The terms of a body at one point."""

    def __init__(self, problem: BodyProblem, at: Point) -> None:
        self._problem, self.at = problem, at
        self.stage, self.u = at.stage, at.u
        self.shares = [term.evaluate(at) for term in problem.terms]
        self.residual = np.zeros_like(at.u)
        for share in self.shares:
            self.residual += share.force
        self.scale = sum(share.force_scale for share in self.shares)
        self.floor = sum(share.floor for share in self.shares)
        self.potential = sum(share.potential for share in self.shares)
        magnitude = sum(share.magnitude for share in self.shares)
        self.potential_rounding = _ROUNDINGS * (_EPSILON * magnitude + self.floor * problem.edge)
        self._matrices: dict[Tangent, tuple[BlockPattern, Floats]] = {}

    def lagged_potential(self, at: Linearization) -> float:
        assert isinstance(at, BodyLinearization)
        pairs = zip(self._problem.terms, self.shares, strict=True)
        return sum(term.lagged_potential(self.at, share, at.at) for term, share in pairs)

    def matrix(self, tangent: Tangent) -> Floats:
        pattern, values = self._matrices.get(tangent, (None, None))
        if values is None or pattern is not self._problem.pattern:  # pairs have come and gone
            values = self._assembled(tangent)
            self._matrices[tangent] = self._problem.pattern, values
        return values

    def _assembled(self, tangent: Tangent) -> Floats:
        problem, wide = self._problem, []
        body = BlockSum(problem.arrays.lend(self))
        for term, share in zip(problem.terms, self.shares, strict=True):
            to = body
            if term.pattern is not None:
                to = BlockSum(np.empty((term.pattern.n_blocks, 3, 3)))
                wide.append(to)
            term.add_matrix(self.at, share, tangent, to)
        total = problem.assemble([body.values, *(each.values for each in wide)])
        return problem.with_pairs(total, self.at, tangent)

    @cached_property
    def low_rank(self) -> LowRank | None:
        return joined([term.low_rank(self.at) for term in self._problem.terms])

    def frames(self) -> Floats | None:
        return self._problem.rotations_at(self.u)

    def update_duals(self, step: Floats, length: float) -> None:
        for term in self._problem.terms:
            term.update_duals(self.at, step, length)


class _ActiveTerms(ActiveSet):
    """The active sets of all terms."""

    def __init__(self, problem: BodyProblem) -> None:
        self._terms = problem.terms

    @property
    def nonsmooth(self) -> bool:
        return any(term.nonsmooth for term in self._terms)

    @property
    def has_smoothed_friction(self) -> bool:
        return any(term.has_smoothed_friction for term in self._terms)

    @property
    def has_barriers(self) -> bool:
        return any(term.has_barriers for term in self._terms)

    def update_multipliers(self, here: Linearization, step: Floats, length: float) -> float:
        assert isinstance(here, BodyLinearization)
        pairs = zip(self._terms, here.shares, strict=True)
        return sum(term.update_multipliers(share, step, length) for term, share in pairs)

    def weigh(self, share: float) -> bool:
        changed = [term.weigh(share) for term in self._terms]  # all of them
        return any(changed)

    def snapshot(self) -> Callable[[], None]:
        restores = [restore for term in self._terms if (restore := term.snapshot()) is not None]

        def restore_all() -> None:
            for restore in restores:
                restore()

        return restore_all

    def refresh(self, here: Linearization, enough: float) -> bool:
        assert isinstance(here, BodyLinearization)
        changed = [term.refresh(here.at, enough) for term in self._terms]  # all of them
        return any(changed)

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        for term in self._terms:
            u = term.projected_out(stage, u)
        return u
