"""Iterations of Newton's method: directions, line search and convergence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.core.errors import StepFailed
from supple.core.sparse import BlockPattern, LowRank
from supple.core.types import Floats
from supple.integrators import Stage
from supple.solvers.interface import (
    BoundSolver,
    Frames,
    Linearization,
    LinearSolver,
    NotPositiveDefinite,
    Problem,
    Tangent,
)
from supple.solvers.line_search import LineSearch
from supple.solvers.linear.conjugate_gradients import truncated_cg

_WELL_SOLVED = 1e-3  # relative residual of a solve that leads to a start
_NEAR_BALANCE = 0.3  # of the forces at play: where a start is good enough not to try the next
_SLOW = 6  # iterations after which a consistent tangent is worth its price
_AMONG_BARRIERS = 1e-4  # relative residual of solves that leave what is soft beside barriers right
_SHORTENED = 0.4  # share of a step between barriers that was gone, below which the next is careful
_CYCLING = 25  # iterations after which, for as many, the residual has to fall in each
_ASSUME_INDEFINITE = 4  # iterations for which an indefinite matrix is not factorized again

_ADVICE = (
    "Try a smaller dt, or loads and supports that change more slowly. From a violent start "
    "BackwardEuler() goes on where second-order rules do not."
)


class NewtonIteration:
    """Newton's method with line search for one problem, with what it takes as given held still."""

    def __init__(
        self, problem: Problem, linear: LinearSolver, tolerance: float, max_iterations: int
    ) -> None:
        self.problem = problem
        self.line = LineSearch(problem, tolerance)
        self.iterations = 0
        """Iterations of the stage at hand."""
        self._options, self._max_iterations = linear, max_iterations
        self._pattern = problem.pattern
        self._linear: BoundSolver = linear.bind(problem.pattern, problem.free)
        self._factorizations = 0  # of linear solvers on patterns that are no longer in use
        self._matrix_of: Linearization | None = None  # whose matrix the linear solver works with
        self._used_definite = False  # whether the last direction came from a definite matrix

    @property
    def factorizations(self) -> int:
        """Factorizations so far."""
        return self._factorizations + self._linear.factorizations

    def memory(self) -> tuple[BlockPattern, Any]:
        """What the linear solver keeps, with the pattern that it is of."""
        return self._pattern, self._linear.memory()

    def recall(self, memory: tuple[BlockPattern, Any]) -> None:
        """Go back to what ``memory`` gave."""
        pattern, kept = memory
        if pattern is not self._pattern:
            self._bind(pattern)
        self._linear.recall(kept)

    def _bind(self, pattern: BlockPattern) -> None:
        self._pattern = pattern
        before = self._linear
        self._factorizations += before.factorizations
        self._linear = self._options.bind(pattern, self.problem.free)
        self._linear.follow(before)

    def start(self, stage: Stage, starts: Sequence[Floats]) -> Linearization:
        """The first warm start where forces are near balance, or else that of least residual."""
        self.iterations = 0
        best: Linearization | None = None
        feasible = self.problem.feasible_starts(starts)
        for u in feasible:
            here = self.problem.linearize(stage, u, with_matrix=True)
            if not here.is_finite:
                continue
            if best is None or self.line.norm(here) < self.line.norm(best):
                best = here
            if self.line.norm(here) <= _NEAR_BALANCE * here.scale:
                break
        if best is None:
            moved = self.problem.start_from_supports(stage, starts[-1], self._solved)
            if moved is not None:
                here = self.problem.linearize(stage, moved, with_matrix=True)
                best = here if here.is_finite else None
        if best is None:
            raise self.failed(self.problem.no_start(feasible=bool(feasible)), stage, np.inf)
        return best

    def _solved(self, values: Floats, force: Floats) -> Floats:
        self._take(values)
        return self._linear.solve(force, _WELL_SOLVED)

    def converge(self, here: Linearization, roughly: float = 0.0) -> Linearization:
        """Steps with line search, until forces balance or only ``roughly`` so, of those at play."""
        problem, line = self.problem, self.line
        previous, assume_indefinite = 0.0, 0
        shortened = False
        for iteration in range(self._max_iterations):
            norm = line.norm(here)
            target = max(line.target(here), roughly * here.scale)
            if norm <= target:
                return here
            self.iterations += 1
            accuracy = forcing_term(norm, target)
            if problem.active_set.has_barriers:
                accuracy = min(accuracy, _AMONG_BARRIERS)
            enough = norm * norm <= previous * target  # as good an iteration again will do
            step = self.direction(
                here,
                accuracy,
                same_matrix=enough,
                assume_indefinite=assume_indefinite > 0,
                consistent=iteration >= _SLOW,
                majorized=shortened,
            )
            if assume_indefinite or not self._used_definite:
                assume_indefinite = max(assume_indefinite - 1, 0)
            else:
                assume_indefinite = _ASSUME_INDEFINITE
            previous = norm
            strictly = iteration // _CYCLING % 2 == 1 and not problem.has_potential
            there = line.along(here, step, strictly=strictly)
            if there is None:
                step = self.direction(here, accuracy, definite=True)
                there = line.along(here, step)
            if there is None:
                reason = "no step along Newton's direction brings forces closer to balance"
                raise self.failed(reason, here.stage, norm)
            length = float(np.vdot(there.u - here.u, step) / np.vdot(step, step))
            shortened = problem.active_set.has_smoothed_friction and length < _SHORTENED * line.free
            if not enough:
                here.update_duals(step, length)
            here = there
        if line.norm(here) <= line.target(here):
            return here
        reason = f"Newton's method did not converge in {self._max_iterations} iterations"
        raise self.failed(reason, here.stage, line.norm(here))

    def direction(
        self,
        here: Linearization,
        accuracy: float,
        *,
        same_matrix: bool = False,
        assume_indefinite: bool = False,
        definite: bool = False,
        consistent: bool = False,
        majorized: bool = False,
    ) -> Floats:
        """Solve with the tangent matrix, or with a definite one near it where it is indefinite.

        The definite matrix is stiffer. Truncated conjugate gradients go from its solution towards
        that of the tangent matrix, as far as they meet positive curvature; ``definite`` keeps to
        the definite matrix itself. ``assume_indefinite`` does not try the tangent matrix, and
        ``same_matrix`` solves with the last one again.
        """
        rhs = -here.residual
        self._used_definite = False
        tries = (True, False) if consistent else (False,)
        for more in () if definite or assume_indefinite else tries:
            try:
                if not same_matrix:
                    self._take_matrix(here, Tangent(consistent=more, majorized=majorized))
                return self._linear.solve(rhs, accuracy)
            except NotPositiveDefinite:
                same_matrix = False
        self._used_definite = True
        problem = self.problem
        truncated = not (definite or majorized or here.low_rank is not None)
        tangent = here.matrix(Tangent()) if truncated else None
        pattern = problem.pattern
        try:
            self._take_matrix(here, Tangent(definite=True))
            first = self._linear.solve(rhs, accuracy)
        except NotPositiveDefinite as error:
            reason = "the matrix of the stage is not positive definite"
            raise self.failed(reason, here.stage, self.line.norm(here)) from error
        if tangent is None or problem.pattern is not pattern:
            return first
        return truncated_cg(pattern, problem.free, tangent, self._linear, rhs, first, accuracy)

    def _take_matrix(self, here: Linearization, tangent: Tangent) -> None:
        self._matrix_of = None  # whose array may be used for the new matrix
        self._take(here.matrix(tangent), here.low_rank, here.frames)
        self._matrix_of = here  # linear solvers may go on reading its matrix

    def _take(
        self, values: Floats, low_rank: LowRank | None = None, frames: Frames | None = None
    ) -> None:
        problem = self.problem
        if problem.pattern is not self._pattern:
            self._bind(problem.pattern)
        self._linear.take(values, low_rank, frames)

    def failed(self, reason: str, stage: Stage, residual: float) -> StepFailed:
        """An error with what the problem advises."""
        advice = " ".join(filter(None, [_ADVICE, self.problem.advice]))
        return StepFailed(reason, time=stage.time, residual=residual, advice=advice)


def forcing_term(norm: float, target: float) -> float:
    """Relative residual of a linear solve: as the stage needs it, and the next iterate can use."""
    return min(0.1, max(1e-3, 0.3 * target / norm))
