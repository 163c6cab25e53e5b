"""Newton's method for the force balance of a stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from supple.core.parameters import Model, parameter
from supple.core.types import Floats
from supple.integrators import Stage
from supple.solvers.active_set import ActiveSetLoop
from supple.solvers.interface import BoundStageSolver, LinearSolver, Problem, StageSolver
from supple.solvers.linear import LINEAR_SOLVERS
from supple.solvers.linear.choice import AutomaticSolver
from supple.solvers.newton_iteration import NewtonIteration


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

    def bind(self, problem: Problem) -> BoundNewton:
        """The solver at work on one problem; it keeps factorizations from stage to stage."""
        return BoundNewton(self, problem)


class BoundNewton(BoundStageSolver):
    """Newton's method for one problem, inside the loop over its active set."""

    def __init__(self, options: Newton, problem: Problem) -> None:
        self._count, self._problem = options.iterations, problem
        self._newton = NewtonIteration(
            problem, options.linear, options.tolerance, options.max_iterations
        )
        self._loop = ActiveSetLoop(self._newton)

    @property
    def factorizations(self) -> int:
        return self._newton.factorizations

    def memory(self) -> Any:
        return self._newton.memory()

    def recall(self, memory: Any) -> None:
        self._newton.recall(memory)

    def solve(self, stage: Stage, starts: Sequence[Floats]) -> Floats:
        here, self.residuals = self._newton.start(stage, starts), ()
        if not self._problem.free.any():
            return here.u
        if self._count is not None:
            u = self._loop.fixed_count(here, self._count)
        else:
            here = self._loop.solve(here)
            u, self.residuals = here.u.copy(), (self._newton.line.relative_norm(here),)
        self.iterations = self._newton.iterations
        return u
