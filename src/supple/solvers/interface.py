"""What solvers promise each other: linear systems, and the force balance of a stage.

A solver is an option object; bound to what it works on, it keeps what it can reuse. A linear solver
is bound to a pattern, takes matrices on it one after the other and solves with the last one taken.
A stage solver is bound to a problem, the physics, and solves one stage after the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from supple.core.sparse import BlockPattern, LowRank
from supple.core.types import Bools, Floats
from supple.integrators import Stage

Frames = Callable[[], Floats | None]
"""Gives how the surroundings of each node have turned since rest, rotations (n, 3, 3), or None."""


class NotPositiveDefinite(ArithmeticError):
    """The matrix has a direction of zero or negative curvature."""


class BoundSolver(ABC):
    """A linear solver at work on one pattern."""

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


class LinearSolver(ABC):
    """Options of a linear solver."""

    @abstractmethod
    def bind(self, pattern: BlockPattern, free: Bools) -> BoundSolver:
        """A solver for the free components (n, b) of matrices on ``pattern``."""


@dataclass(frozen=True, eq=False)
class Balance:
    """The forces of a stage at one displacement."""

    residual: Floats
    """M a + ∇₂R + ∇U − f [N], (n, b)."""
    scale: float
    """Norm of the forces [N] that the residual is to be measured against."""
    floor: float
    """Norm of the residual [N] that rounding alone may leave."""
    from_anchor: Callable[[], float]
    """Gives the potential below; good until the next balance."""
    current_potential: float
    """The same with damping as it is here; its gradient here is the residual."""
    potential_rounding: float
    """Change of the potential [J] that rounding alone may make."""

    @cached_property
    def potential(self) -> float:
        """Incremental potential [J] with damping frozen as it is at the anchor."""
        return self.from_anchor()


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

    @property
    def nonsmooth(self) -> bool:
        """Whether forces bend sharply in the stage at hand, as contacts do.

        Then the residual may lead round in circles.
        """
        return False

    @property
    def has_smoothed_friction(self) -> bool:
        """Whether forces turn round within tiny ways, as smoothed friction does.

        Then full steps alone go to and fro.
        """
        return False

    @abstractmethod
    def balance(self, stage: Stage, u: Floats, *, with_matrix: bool = False) -> Balance:
        """Forces at u (n, b); ``with_matrix`` announces that the matrix is wanted next."""

    @abstractmethod
    def anchor(self) -> None:
        """From now on, measure potentials with damping as it is where the last balance was taken.

        Where damping depends on the shape no potential has the residual as its gradient everywhere;
        with damping frozen at an iterate, one has it there, and a line search can rely on it.
        """

    @abstractmethod
    def matrix(
        self, stage: Stage, *, definite: bool, closer: bool = False, majorized: bool = False
    ) -> Floats:
        """c_a M + c_v C + K where the last balance was taken, (blocks, b, b).

        ``closer`` asks for more of the derivative of the residual, at a price: how C follows the
        shape. ``majorized`` asks for steps that do not turn friction round, where no search
        follows."""

    def low_rank(self, stage: Stage) -> LowRank | None:
        """What the matrix has beside its blocks there."""
        return None

    def frames(self) -> Floats | None:
        """How nodes have turned where the last balance was taken; good until the next call."""
        return None

    def led_along(
        self, stage: Stage, start: Floats, solve: Callable[[Floats, Floats], Floats]
    ) -> Floats | None:
        """The last sound shape, led along by its supports to where ``start`` (n, b) has them.

        ``solve`` gives A⁻¹ f for the blocks of a matrix and a force. None where there is none.
        """
        return None

    def reachable(self, starts: Sequence[Floats]) -> Sequence[Floats]:
        """``starts``, or how far each can be followed from the last sound shape; there may be none.

        The last of them is the last sound shape with its held components in place.
        """
        return starts

    def collision_free_step(self, u: Floats, step: Floats) -> float:
        """The share of a step from u, up to 1, on which nothing stands in the way."""
        return 1.0

    def remember(self, stage: Stage, step: Floats, length: float) -> None:
        """Let the matrix, where it was last asked for, know of a share of a step from there."""
        return  # it has no use for that

    def follow(self, stage: Stage, u: Floats, step: Floats, length: float) -> float:
        """Bring what the balance takes as given, such as contacts, along a share of a step from u.

        The matrix was last asked for at u. Returns by how much [N] that changes forces.
        """
        return 0.0

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        """u (n, b), or near it a place that is sound, where too few iterations have led astray."""
        return u

    def keep_place(self) -> Callable[[], None]:
        """Gives what takes back all that ``follow`` does from now on."""
        return lambda: None

    def improve(self, stage: Stage, u: Floats, enough: float) -> bool:
        """Bring what the balance takes as given up to date where it holds.

        Returns whether that changed forces by more than ``enough`` [N]; if so, the balance is to be
        found anew from u.
        """
        return False


class BoundStageSolver(ABC):
    """A stage solver at work on one problem."""

    @abstractmethod
    def solve(self, stage: Stage, starts: Sequence[Floats]) -> Floats:
        """The displacements at which the stage's forces balance.

        ``starts`` are places to start from, the most promising first; they carry the values of
        the components that are not free. Raises StepFailed.
        """


class StageSolver(ABC):
    """Options of a solver of stages."""

    @abstractmethod
    def bind(self, problem: Problem) -> BoundStageSolver:
        """The solver at work on one problem; it may keep what it has from stage to stage."""
