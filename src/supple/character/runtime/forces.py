"""What pushes a character from outside: pulls at single vertices, and wind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import number, vector
from supple.core.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Pull:
    """A force (3,) [N] on vertices (k,) of the tet mesh; ``PoseSimulation.pull`` makes it."""

    vertices: Ints
    shares: Floats
    force: Floats


@dataclass(frozen=True, kw_only=True)
class Wind:
    """Moving air: the force ½ ρ A C ‖w‖ w on each triangle, w the wind relative to it.

    It is taken from the surface as it was at the start of a step.
    """

    velocity: ArrayLike = (0.0, 0.0, 0.0)
    """[m/s], (3,)."""
    normal: float = 1.2
    """C across a triangle, about 1.2 for a plate that faces the flow."""
    tangential: float = 0.02
    """C along it."""
    density: float = 1.2
    """ρ [kg/m³]; water has 1000."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "velocity", tuple(vector("velocity", self.velocity).tolist()))
        for name in ("normal", "tangential", "density"):
            object.__setattr__(self, name, number(name, getattr(self, name), at_least=0))

    @property
    def coefficients(self) -> tuple[Floats, float, float]:
        """The velocity, and ½ ρ C across and along."""
        half = 0.5 * self.density
        return np.array(self.velocity), half * self.normal, half * self.tangential
