"""What soft tissue adds to a clip of a character."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.types import Floats


@dataclass(frozen=True, eq=False)
class SoftMotion:
    """How far each vertex of a skin is from where its clip puts it.

    ``times`` (T,) [s] are those of the clip, ``displacements`` (T, n, 3) [m] of the world. A clip
    that ``loops`` was played for ``rounds`` until it repeated itself; ``gap`` [m] is how far the
    last two rounds were apart at most, and ``agrees`` whether that was near enough.
    """

    clip: str
    times: Floats
    displacements: Floats
    loops: bool = False
    rounds: int = 1
    gap: float = 0.0
    agrees: bool = True

    def __post_init__(self) -> None:
        times, moved = numbers("times", self.times), numbers("displacements", self.displacements)
        if times.ndim != 1 or not len(times) or not (np.diff(times) > 0).all():
            raise InputError("times must be one or more, each later than the one before")
        if moved.ndim != 3 or moved.shape[2] != 3 or len(moved) != len(times):
            raise InputError(
                f"displacements have shape {moved.shape}; {len(times)} times need "
                f"({len(times)}, n, 3)"
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "displacements", moved)

    @property
    def largest(self) -> float:
        """How far a vertex goes at most [m]."""
        return float(np.sqrt((self.displacements**2).sum(axis=2).max(initial=0.0)))
