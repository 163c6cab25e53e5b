"""The one small interface over linear solvers.

A solver is an option object. Bound to a pattern, it takes matrices on that pattern one after the
other and solves with the last one taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..sparse import BlockPattern
from ..types import Bools, Floats


class NotPositiveDefinite(ArithmeticError):
    """The matrix has a direction of zero or negative curvature."""


class BoundSolver(ABC):
    """A linear solver at work on one pattern."""

    @abstractmethod
    def take(self, values: Floats) -> None:
        """Use the matrix with these blocks, (blocks, b, b), from now on.

        Raises NotPositiveDefinite where that shows.
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
