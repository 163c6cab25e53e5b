"""What every damping model offers to a simulation."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..body import Body
from ..shape import Shape
from ..types import Floats


class BoundDamping(ABC):
    """A damping model at work on one body: R(x, v), ∇₂R and ∂∇₂R/∂v."""

    @abstractmethod
    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        """R [W], the dissipation function, and ∇₂R [N], (n, 3), at velocity v (n, 3) [m/s].

        The body feels the negative of ∇₂R.
        """

    @property
    def depends_on_shape(self) -> bool:
        """Whether R changes with the shape; where it does not, solvers have less to do."""
        return True

    @abstractmethod
    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        """Add factor · ∂∇₂R/∂v to blocks on the body's pattern, (blocks, 3, 3).

        ``definite`` asks for a positive semidefinite stand-in.
        """


class Damping(ABC):
    """A description of damping; ``bind`` sets it up for a body."""

    @abstractmethod
    def bind(self, body: Body) -> BoundDamping:
        """This damping for ``body``."""
