"""What every damping model offers to a simulation."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..body import Body
from ..shape import Shape
from ..types import Floats


class BoundDamping(ABC):
    """A damping model at work on one body: R(x, v), ∇₂R and ∂∇₂R/∂v."""

    @abstractmethod
    def dissipation(self, shape: Shape, v: Floats) -> float:
        """R [W], the dissipation function at a shape and velocity (n, 3) [m/s]."""

    @abstractmethod
    def force(self, shape: Shape, v: Floats) -> Floats:
        """∇₂R [N], (n, 3); the body feels its negative."""

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
