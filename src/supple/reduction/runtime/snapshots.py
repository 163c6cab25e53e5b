"""Where a simulation of a reduced model is, kept to go back to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact import Obstacle
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import Damping
from supple.integrators import Integrator
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.newton import DenseNewton


class Settings(NamedTuple):
    """What can be changed between two steps."""

    model: ReducedModel
    damping: Damping | Any
    gravity: Floats
    integrator: Integrator
    dt: float
    solver: DenseNewton
    obstacles: tuple[Obstacle, ...] = ()


@dataclass(eq=False, repr=False)
class ReducedSnapshot:
    """A moment of a simulation: all that the steps after it depend on, and its settings.

    ``sim.snapshot()`` makes one and ``sim.restore(snapshot)`` goes back to it, any number of times,
    in this simulation or in another one of the same kind and mesh. Settings are held as they are
    and not copied: none of them changes.
    """

    kind: type
    time: float
    """[s]"""
    settings: Settings
    arrays: tuple[NDArray[Any], ...]
    values: tuple[Any, ...]
    contacts: Any = None
    """What pressed, and how hard."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kind.__name__} at {self.time:.6g} s)"

    def fits(self, live: tuple[NDArray[Any], ...]) -> bool:
        """Whether its arrays are of the shapes of these."""
        return len(live) == len(self.arrays) and all(
            a.shape == b.shape and a.dtype == b.dtype
            for a, b in zip(live, self.arrays, strict=True)
        )

    def check(self, kind: type, model: ReducedModel) -> None:
        """Stop where it is of another kind of simulation, or of another body."""
        if self.kind is not kind:
            raise InputError(
                f"this snapshot is of a {self.kind.__name__}, not of a {kind.__name__}; restore it "
                "in a simulation of its own kind"
            )
        mine, its = model.mesh, self.settings.model.mesh
        if mine is not its and not (
            np.array_equal(mine.vertices, its.vertices) and np.array_equal(mine.cells, its.cells)
        ):
            raise InputError(
                f"this snapshot is of another body ({its!r}, here {mine!r}); restore it in a "
                "simulation of the model that it was taken of"
            )
