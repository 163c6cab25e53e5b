"""Where a simulation of woven cloth is, kept to go back to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.contact.obstacles.base import Obstacle
from supple.yarns.cloth import WovenCloth
from supple.yarns.stages import History


@dataclass(frozen=True, eq=False, repr=False)
class YarnSnapshot:
    """A moment of woven cloth: all that the steps after it depend on, and its settings.

    ``sim.snapshot()`` makes one and ``sim.restore(snapshot)`` goes back to it, any number of times,
    in this simulation or in another one of the same cloth.
    """

    cloth: WovenCloth
    history: History
    obstacles: tuple[Obstacle, ...]
    contacts: Any
    solver: Any
    """What the solver keeps of earlier steps."""
    values: dict[str, Any]
    """The rest of what is kept from step to step."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(at {self.history.now.time:.6g} s)"
