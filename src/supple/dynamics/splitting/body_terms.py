"""Local terms of a body, as opposed to those of what it touches."""

from __future__ import annotations

from abc import abstractmethod

from supple.core.types import Floats
from supple.integrators import Stage
from supple.solvers.splitting import LocalTerms


class BodyTerms(LocalTerms):
    """Terms that live as long as the stages keep their c_v."""

    @abstractmethod
    def set_weight(self, factor: float) -> None:
        """Multiply the weights that the rule gives by a factor."""

    @abstractmethod
    def begin(self, stage: Stage, u_v: Floats, start_velocity: Floats) -> None:
        """Set where rates are counted from, and the velocity at the start of the step (n, 3)."""
