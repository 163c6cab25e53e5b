"""What solvers promise each other: linear systems, and the force balance of a stage.

A solver is an option object; bound to what it works on, it keeps what it can reuse. A linear solver
is bound to a pattern, takes matrices on it one after the other and solves with the last one taken.
A stage solver is bound to a problem, the physics, and solves one stage after the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.core.parameters import checked
from supple.core.sparse import BlockPattern, LowRank
from supple.core.types import Bools, Floats
from supple.integrators import Stage

Frames = Callable[[], Floats | None]
"""Gives how the surroundings of each node have turned since rest, rotations (n, 3, 3), or None."""


class NotPositiveDefinite(ArithmeticError):
    """The matrix has a direction of zero or negative curvature."""


class BoundSolver(ABC):
    """A linear solver at work on one pattern."""

    factorizations: int = 0
    """How many there have been."""

    @abstractmethod
    def take(
        self, values: Floats, low_rank: LowRank | None = None, frames: Frames | None = None
    ) -> None:
        """Use the matrix with these blocks, (blocks, b, b), from now on, and a few dense factors.

        The blocks are symmetric; the low-rank part need not be. ``frames`` help solvers that keep
        something of earlier matrices. Raises NotPositiveDefinite where that shows.
        """

    @abstractmethod
    def solve(self, rhs: Floats, tolerance: float = 0.0) -> Floats:
        """x with A x = rhs on the free components and x = 0 on the others, both (n, b).

        ``tolerance`` is the relative residual that iterative solvers may leave; 0 asks for the
        best they can do.
        """

    def follow(self, before: BoundSolver) -> None:
        """Go on after ``before``, which worked on another pattern of the same problem."""
        return  # nothing is learnt from it

    def memory(self) -> Any:
        """What is kept of earlier matrices, to ``recall``: solutions are then the same again."""
        return None

    def recall(self, memory: Any) -> None:
        """Go back to what ``memory`` gave, here or in a solver on the same pattern."""
        return  # nothing is kept


class LinearSolver(ABC):
    """Options of a linear solver, which check themselves."""

    def __post_init__(self) -> None:
        checked(self)

    @abstractmethod
    def bind(self, pattern: BlockPattern, free: Bools) -> BoundSolver:
        """A solver for the free components (n, b) of matrices on ``pattern``."""


@dataclass(frozen=True)
class Tangent:
    """Which matrix of a linearization is wanted."""

    definite: bool = False
    """A positive definite one near it: every cell's and every pair's part made semidefinite."""
    consistent: bool = False
    """More of the derivative of the residual, at a price: how damping follows the shape."""
    majorized: bool = False
    """Friction by a parabola that lies above it, whose steps do not turn it round."""


class Linearization(ABC):
    """The force balance of a stage at one u, with its potential and its matrix.

    It stays as it is while others are taken. What it takes as given, the active set and its
    multipliers, is that of the moment in which it was made.
    """

    stage: Stage
    u: Floats
    """(n, b)"""
    residual: Floats
    """M a + ∇₂R + ∇U − f [N], (n, b)."""
    scale: float
    """Norm of the forces [N] that the residual is to be measured against."""
    floor: float
    """Norm of the residual [N] that rounding alone may leave."""
    potential: float
    """Incremental potential [J] with damping as it is here; its gradient here is the residual."""
    potential_rounding: float
    """Change of the potential [J] that rounding alone may make."""

    @property
    def is_finite(self) -> bool:
        """Whether forces and potential are finite."""
        return bool(np.isfinite(self.potential) and np.isfinite(self.residual).all())

    def lagged_potential(self, at: Linearization) -> float:
        """The potential [J] with damping lagged: as it is ``at`` another linearization.

        Where damping depends on the shape no potential has the residual as its gradient everywhere;
        with damping lagged at an iterate, one has it there, and a line search can rely on it.
        """
        return self.potential

    @abstractmethod
    def matrix(self, tangent: Tangent) -> Floats:
        """c_a M + c_v C + K, (blocks, b, b) on the problem's pattern. Shared: do not change it."""

    @property
    def low_rank(self) -> LowRank | None:
        """What the matrix has beside its blocks."""
        return None

    def frames(self) -> Floats | None:
        """How nodes have turned since rest, rotations (n, 3, 3), or None."""
        return None

    def update_duals(self, step: Floats, length: float) -> None:
        """Update dual variables of the matrix after a share of a step that was made with it."""
        return  # it has none


class ActiveSet:
    """What a linearization takes as given: active contacts, their multipliers, lagged friction.

    This one is empty; a problem with contacts has one of its own. ``solvers/active_set.py`` is the
    loop that drives it.
    """

    @property
    def nonsmooth(self) -> bool:
        """Whether forces are nonsmooth in the stage at hand; then the residual may cycle."""
        return False

    @property
    def has_smoothed_friction(self) -> bool:
        """Whether forces turn round within tiny ways; then full steps alone go to and fro."""
        return False

    @property
    def has_barriers(self) -> bool:
        """Whether barriers are at work, beside whose stiffness all else is soft."""
        return False

    def update_multipliers(self, here: Linearization, step: Floats, length: float) -> float:
        """The primal–dual update: multipliers as the matrix of ``here`` promises after a step.

        ``length`` is the share of the step that is taken. Returns by how much forces change [N].
        """
        return 0.0

    def weigh(self, share: float) -> bool:
        """Take this share of the weights of contacts from now on; whether that is another one.

        Multipliers stay the forces that they are. With small weights it is more by forces than by
        places that contacts are judged to hold.
        """
        return False  # nothing has weights

    def snapshot(self) -> Callable[[], None]:
        """Gives what takes back all that ``update_multipliers`` and ``weigh`` do from now on."""
        return lambda: None

    def refresh(self, here: Linearization, enough: float) -> bool:
        """The update of an augmented Lagrangian, and of lagged friction, where forces balance.

        Returns whether forces changed by more than ``enough`` [N]; if so, the balance is to be
        found anew.
        """
        return False

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        """u (n, b) with what too few iterations have left inside obstacles moved out of them."""
        return u


class Problem(ABC):
    """What a stage solver needs to know of the physics."""

    pattern: BlockPattern
    free: Bools
    has_potential: bool = True
    """Whether one potential has the residual as its gradient everywhere in a stage."""
    matrix_is_hessian: bool = True
    """Whether the matrix is the curvature of the potential, so that a step it gives may be long."""
    advice: str = ""
    """What a person may try, in this problem, where a stage cannot be solved."""
    active_set: ActiveSet = ActiveSet()

    @abstractmethod
    def linearize(self, stage: Stage, u: Floats, *, with_matrix: bool = False) -> Linearization:
        """Forces at u (n, b); ``with_matrix`` announces that the matrix is wanted next."""

    def collision_free_step(self, u: Floats, step: Floats) -> float:
        """The share of a step from u, up to 1, on which nothing stands in the way."""
        return 1.0

    def feasible_starts(self, starts: Sequence[Floats]) -> Sequence[Floats]:
        """``starts``, or how far each is reached from the last feasible shape; there may be none.

        The last of them is the last feasible shape with its held components in place.
        """
        return starts

    def start_from_supports(
        self, stage: Stage, start: Floats, solve: Callable[[Floats, Floats], Floats]
    ) -> Floats | None:
        """The last feasible shape, moved elastically with its supports to those of ``start``.

        ``solve`` gives A⁻¹ f for the blocks of a matrix and a force. None where there is none.
        """
        return None

    def no_start(self, *, feasible: bool) -> str:
        """Why none of the starts, or none of the ``feasible`` ones, has finite forces."""
        return "no start has finite forces"


class BoundStageSolver(ABC):
    """A stage solver at work on one problem."""

    iterations: int = 0
    """Iterations that the last stage took."""
    residuals: tuple[float, ...] = ()
    """What the last stage left, relative to the forces at play."""

    @property
    def factorizations(self) -> int:
        """Factorizations since the solver was bound."""
        return 0

    @abstractmethod
    def solve(self, stage: Stage, starts: Sequence[Floats]) -> Floats:
        """The displacements at which the stage's forces balance.

        ``starts`` are warm starts, the most promising first; they carry the values of the
        components that are not free. Raises StepFailed.
        """

    def memory(self) -> Any:
        """What is kept from stage to stage, to ``recall``: solutions are then the same again."""
        return None

    def recall(self, memory: Any) -> None:
        """Go back to what ``memory`` gave, here or in a solver of the same problem."""
        return  # nothing is kept


class StageSolver(ABC):
    """Options of a solver of stages, which check themselves."""

    def __post_init__(self) -> None:
        checked(self)

    @property
    def is_best_effort(self) -> bool:
        """Whether what a fixed number of iterations leads to is to be taken as it is."""
        return getattr(self, "iterations", None) is not None

    @abstractmethod
    def bind(self, problem: Problem) -> BoundStageSolver:
        """The solver at work on one problem; it may keep what it has from stage to stage."""
