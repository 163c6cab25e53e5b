"""Newton's method for the force balance of a stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.core.errors import StepFailed
from supple.core.parameters import Model, checked, parameter
from supple.core.sparse import LowRank
from supple.core.types import Floats
from supple.integrators import Stage
from supple.solvers.interface import (
    Balance,
    BoundSolver,
    BoundStageSolver,
    Frames,
    LinearSolver,
    NotPositiveDefinite,
    Problem,
    StageSolver,
)
from supple.solvers.line_search import LineSearch, finite
from supple.solvers.linear import LINEAR_SOLVERS
from supple.solvers.linear.choice import AutomaticSolver
from supple.solvers.linear.truncated_cg import truncated_cg

_WELL_SOLVED = 1e-3  # relative residual of a solve that leads to a start
_NEAR_BALANCE = 0.3  # of the forces at play: where a start is good enough not to try the next
_CLEARLY_CLOSER = 0.5  # share of the residual that full steps must remove to go on
_SLOW = 6  # iterations after which a closer matrix is worth its price
_MOST_TRIES = 4  # to get past corners by full steps alone,
_FEW_FULL_STEPS = 12  # so many of them,
_MOST_FULL_STEPS = 25  # and more while they bring forces closer to balance
_ROUGHLY = 0.05  # of the forces at play: a residual so small is near to balance
_CYCLING = 25  # iterations after which, for as many, forces have to get closer to balance at each
_ASSUME_INDEFINITE = (
    4  # iterations for which a matrix that was not definite is not factorized again
)
_MAX_OUTER_ITERATIONS = 50  # of Newton's method, each with contacts brought up to date
_MOST_CUT_SHORT = 8  # times as many steps, where a fixed number of full ones is asked for
_CLOSER_BY_ROUND = 0.1  # share of the residual that a round may leave where others follow


@dataclass(frozen=True)
class Newton(StageSolver):
    """Newton's method with line search, to convergence or for a fixed number of iterations.

    A stage has converged when the residual force is below ``tolerance`` times the forces at play:
    inertia, elastic, damping and external forces. ``iterations=1`` takes a single full step, as
    real-time codes do, and checks only that the outcome is finite.
    """

    tolerance: float = parameter(
        1e-6, "residual force that may be left, as a share of the forces at play", above=0, below=1
    )
    max_iterations: int = parameter(
        200, "most stages take three to ten; cloth that wrinkles may take a hundred"
    )
    iterations: int | None = parameter(
        None, "take exactly this many full steps instead of iterating to convergence"
    )
    linear: LinearSolver = parameter(
        None,
        "what solves the linear systems",
        make=AutomaticSolver,
        kind=Model(LINEAR_SOLVERS, LinearSolver, "Cholesky()"),
    )

    def __post_init__(self) -> None:
        checked(self)

    def bind(self, problem: Problem) -> BoundNewton:
        """The solver at work on one problem; it keeps factorizations from stage to stage."""
        return BoundNewton(self, problem)


class BoundNewton(BoundStageSolver):
    """Newton's method for one problem."""

    def __init__(self, options: Newton, problem: Problem) -> None:
        self._options, self._problem = options, problem
        self._pattern = problem.pattern
        self._linear: BoundSolver = options.linear.bind(problem.pattern, problem.free)
        self._line = LineSearch(problem, options.tolerance)
        self._used_definite = False  # whether the last direction is that of a stand-in
        self.iterations = 0
        """Iterations that the last stage took."""

    def solve(self, stage: Stage, starts: Sequence[Floats]) -> Floats:
        """The displacements at which the stage's forces balance.

        ``starts`` are places to start from, the most promising first; they carry the values of
        the components that are not free. Raises StepFailed.
        """
        u, here = self._choose(stage, starts)
        if not self._problem.free.any():
            return u
        if self._options.iterations is not None:
            return self._fixed_count(stage, u, here, self._options.iterations)
        full = self._problem.nonsmooth and not self._problem.has_smoothed_friction
        spent, tries = 0, _MOST_TRIES if full else 0
        for _ in range(_MAX_OUTER_ITERATIONS):
            done, roughly = False, 0.0
            if tries:
                u, here, done = self._full_steps(stage, u, here)
                spent += self.iterations
            if not done:
                roughly = _ROUGHLY if tries > 1 and not self._is_near(here) else 0.0
                if self._problem.nonsmooth and not tries:
                    roughly = self._still_open(here)
                tries = max(tries - 1, 0)
                u, here = self._converge(stage, u, here, roughly)
                spent += self.iterations
            if not self._problem.improve(stage, u, self._line.target(here)) and not roughly:
                self.iterations = spent
                return u
            here = self._problem.balance(stage, u, with_matrix=True)
        raise self._failed("contacts kept changing", stage, self._line.norm(here))

    def _choose(self, stage: Stage, starts: Sequence[Floats]) -> tuple[Floats, Balance]:
        """The first start where forces are near balance, or else that of least residual."""
        best: tuple[Floats, Balance] | None = None
        reached = self._problem.reachable(starts)
        for u in reached:
            here = self._problem.balance(stage, u, with_matrix=True)
            if not finite(here):
                continue
            if best is None or self._line.norm(here) < self._line.norm(best[1]):
                best = u, here
            if self._line.norm(here) <= _NEAR_BALANCE * here.scale:
                break
        if best is None:
            led = self._problem.led_along(stage, starts[-1], self._solved)
            if led is not None:
                u, here = led, self._problem.balance(stage, led, with_matrix=True)
                best = (u, here) if finite(here) else None
        if best is None:
            reason = "a cell has collapsed or turned inside out, which its material forbids"
            if not reached:
                reason = "supports drive the body through itself"
            raise self._failed(reason, stage, np.inf)
        if best[0] is not u:
            self._problem.balance(stage, best[0], with_matrix=True)
        return best

    def _solved(self, values: Floats, force: Floats) -> Floats:
        self._take(values)
        return self._linear.solve(force, _WELL_SOLVED)

    def _fixed_count(self, stage: Stage, u: Floats, here: Balance, count: int) -> Floats:
        left, self.iterations = float(count), 0
        while left > 0.0 and self.iterations < _MOST_CUT_SHORT * count:
            if self.iterations:
                here = self._problem.balance(stage, u, with_matrix=True)
            if not finite(here):
                raise self._failed("the forces are not finite", stage, np.inf)
            step = self._direction(stage, here, 1e-4, majorized=True)
            length = self._problem.collision_free_step(u, step)
            self._problem.remember(stage, step, length)
            self._problem.follow(stage, u, step, length)
            u = u + length * step
            left -= length
            self.iterations += 1
        out = self._problem.projected_out(stage, u) - u
        u = u + self._problem.collision_free_step(u, out) * out if out.any() else u
        if not np.isfinite(u).all():
            raise self._failed("the displacements are not finite", stage, np.inf)
        return u

    def _full_steps(self, stage: Stage, u: Floats, here: Balance) -> tuple[Floats, Balance, bool]:
        """Full steps alone, with contacts brought along: a few find out which of them hold.

        No potential falls with every step, so this may come to nothing. Then all is as before, or
        near to a balance that needs smaller steps. Returns whether there is balance.
        """
        start, begin, go_back = u, here, self._problem.keep_place()
        change, previous = 0.0, np.inf
        for iteration in range(_MOST_FULL_STEPS):
            self.iterations = iteration
            norm, target = self._line.norm(here), self._line.target(here)
            if norm <= target and change <= target:
                return u, here, True
            if iteration >= _FEW_FULL_STEPS and norm > _CLEARLY_CLOSER * previous:
                if self._is_near(here):
                    return u, here, False
                break
            previous = norm
            try:
                step = self._direction(stage, here, min(0.1, max(1e-3, 0.3 * target / norm)))
            except StepFailed:  # far astray
                break
            length = self._line.finite_length(stage, u, step)
            self._problem.remember(stage, step, length)
            change = self._problem.follow(stage, u, step, length)
            u = u + length * step
            here = self._problem.balance(stage, u, with_matrix=True)
            if not finite(here):
                break
        go_back()
        self._problem.balance(stage, start, with_matrix=True)
        return start, begin, False

    def _still_open(self, here: Balance) -> float:
        """How far from balance, of the forces at play, a round may end that is not the last."""
        share = _CLOSER_BY_ROUND * self._line.norm(here) / here.scale
        return share if share * here.scale > self._line.target(here) else 0.0

    def _is_near(self, here: Balance) -> bool:
        return self._line.norm(here) <= _ROUGHLY * here.scale

    def _converge(
        self, stage: Stage, u: Floats, here: Balance, roughly: float = 0.0
    ) -> tuple[Floats, Balance]:
        """Steps with line search, until forces balance or only ``roughly`` so, of those at play."""
        previous, assume_indefinite = 0.0, 0
        for iteration in range(self._options.max_iterations):
            self.iterations = iteration
            norm = self._line.norm(here)
            target = max(self._line.target(here), roughly * here.scale)
            if norm <= target:
                return u, here
            # No closer than the stage needs, and no closer than the next iterate can use.
            accuracy = min(0.1, max(1e-3, 0.3 * target / norm))
            enough = norm * norm <= previous * target  # as good an iteration again will do
            closer = iteration >= _SLOW
            step = self._direction(
                stage,
                here,
                accuracy,
                same_matrix=enough,
                assume_indefinite=assume_indefinite > 0,
                closer=closer,
            )
            assume_indefinite = (
                max(assume_indefinite - 1, 0)
                if assume_indefinite or not self._used_definite
                else _ASSUME_INDEFINITE
            )
            previous = norm
            strictly = iteration // _CYCLING % 2 == 1 and not self._problem.has_potential
            found = self._line.along(stage, u, here, step, strictly=strictly)
            if found is None:
                self._problem.balance(stage, u)
                step = self._direction(stage, here, accuracy, definite=True)
                found = self._line.along(stage, u, here, step)
            if found is None:
                raise self._failed(
                    "no step along Newton's direction brings forces closer to balance", stage, norm
                )
            if not enough:
                length = float(np.vdot(found[0] - u, step) / np.vdot(step, step))
                self._problem.remember(stage, step, length)
            u, here = found
        if self._line.norm(here) <= self._line.target(here):
            return u, here
        raise self._failed(
            f"Newton's method did not converge in {self._options.max_iterations} iterations",
            stage,
            self._line.norm(here),
        )

    def _direction(
        self,
        stage: Stage,
        here: Balance,
        accuracy: float,
        *,
        same_matrix: bool = False,
        assume_indefinite: bool = False,
        definite: bool = False,
        closer: bool = False,
        majorized: bool = False,
    ) -> Floats:
        """Solve with the tangent matrix, or with a stand-in where it is not definite.

        The stand-in is definite, and stiffer. Conjugate gradients go from its solution towards that
        of the tangent matrix, as far as they meet positive curvature; ``definite`` keeps to the
        stand-in itself. ``assume_indefinite`` supposes that the tangent matrix is not definite, and
        ``same_matrix`` solves with the last one again.
        """
        rhs = -here.residual
        self._used_definite = False
        tries = (True, False) if closer else (False,)
        for more in () if definite or assume_indefinite else tries:
            try:
                if not same_matrix:
                    self._take_matrix(stage, definite=False, closer=more, majorized=majorized)
                return self._linear.solve(rhs, accuracy)
            except NotPositiveDefinite:
                same_matrix = False
        self._used_definite = True
        problem = self._problem
        tangent = None
        if not (definite or majorized or problem.low_rank(stage) is not None):
            tangent = problem.matrix(stage, definite=False).copy()
        pattern = problem.pattern
        try:
            self._take_matrix(stage, definite=True)
            first = self._linear.solve(rhs, accuracy)
        except NotPositiveDefinite as error:
            raise self._failed(
                "the matrix of the stage is not positive definite", stage, self._line.norm(here)
            ) from error
        if tangent is None or problem.pattern is not pattern:
            return first
        return truncated_cg(pattern, problem.free, tangent, self._linear, rhs, first, accuracy)

    def _take_matrix(
        self, stage: Stage, *, definite: bool, closer: bool = False, majorized: bool = False
    ) -> None:
        problem = self._problem
        values = problem.matrix(stage, definite=definite, closer=closer, majorized=majorized)
        self._take(values, problem.low_rank(stage), problem.frames)

    def _take(
        self, values: Floats, low_rank: LowRank | None = None, frames: Frames | None = None
    ) -> None:
        problem = self._problem
        if problem.pattern is not self._pattern:
            self._pattern = problem.pattern
            self._linear = self._options.linear.bind(problem.pattern, problem.free)
        self._linear.take(values, low_rank, frames)

    def _failed(self, reason: str, stage: Stage, residual: float) -> StepFailed:
        advice = (
            "Try a smaller dt, or loads and supports that change more slowly. From a violent start "
            "BackwardEuler() goes on where second-order rules do not; NeoHookean forbids "
            "inversion, StableNeoHookean recovers from it."
        )
        return StepFailed(
            reason,
            time=stage.time,
            residual=residual,
            advice=" ".join(filter(None, [advice, self._problem.advice])),
        )
