"""Where a character is, kept to go back to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.rig import Sample
from supple.contact import Obstacle
from supple.core.types import Floats


@dataclass(frozen=True, eq=False, repr=False)
class PoseSnapshot:
    """A moment of a character: all that the steps after it depend on, and its settings.

    ``sim.snapshot()`` makes one and ``sim.restore(snapshot)`` goes back to it, any number of times,
    in this simulation or in another one of the same model.
    """

    model: PoseSpaceModel
    time: float
    """[s]"""
    options: dict[str, Any]
    """Damping, gravity, solver and bounds."""
    taken: Sample
    """The rig at the end of the last step."""
    arrays: tuple[Floats, ...]
    values: dict[str, Any]
    """The rest of what is kept from step to step."""
    obstacles: tuple[Obstacle, ...] = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(at {self.time:.6g} s)"
