"""Conjugate gradients where they soon get there, and another solver where they do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from supple.core.sparse import BlockPattern, LowRank
from supple.core.types import Bools, Floats
from supple.solvers.interface import BoundSolver, Frames
from supple.solvers.linear.conjugate_gradients import BlockJacobi

_WORTH = (
    10.0  # iterations over √n: what a sheet's new pattern and factor take; those of solids more
)
_FIRST_PAUSE = 4  # matrices that the direct solver takes once iterations were of no use,
_LONGEST_PAUSE = 64  # and at most, as they are of no use again and again

Bind = Callable[[BlockPattern, Bools], BoundSolver]


class _Experience(NamedTuple):
    left: int = 0
    """Matrices that still go to the direct solver."""
    pause: int = _FIRST_PAUSE
    """How many it gets when iterations are of no use the next time."""


class IterativeOrDirect(BoundSolver):
    """Block Jacobi's conjugate gradients, or a direct solver where these would take longer.

    Among pairs that come and go, a factor lasts for one matrix, and couplings between layers fill
    it; while the stiff and short-ranged forces of barriers are what few iterations resolve. Which
    of both is cheaper is counted in iterations, and never measured by a clock.
    """

    def __init__(self, pattern: BlockPattern, free: Bools, direct: Bind) -> None:
        self._pattern, self._free, self._bind = pattern, free, direct
        most = max(2, round(_WORTH * math.sqrt(pattern.n_nodes)))
        self._iterative = BlockJacobi(pattern, free, most)
        self._direct: BoundSolver | None = None
        self._spent = 0  # factorizations of solvers that are gone
        self._experience, self._iterates = _Experience(), True
        self._taken: tuple[Floats, LowRank | None, Frames | None] | None = None

    @property
    def factorizations(self) -> int:  # type: ignore[override]
        return self._spent + (0 if self._direct is None else self._direct.factorizations)

    def follow(self, before: BoundSolver) -> None:
        if isinstance(before, IterativeOrDirect):
            self._experience = before._experience

    def memory(self) -> tuple[_Experience, object]:
        return self._experience, None if self._direct is None else self._direct.memory()

    def recall(self, memory: tuple[_Experience, object]) -> None:
        self._experience, kept = memory
        if kept is not None:
            self._bound().recall(kept)
        else:
            self._spent, self._direct = self.factorizations, None

    def _bound(self) -> BoundSolver:
        if self._direct is None:
            self._direct = self._bind(self._pattern, self._free)
        return self._direct

    def take(
        self, values: Floats, low_rank: LowRank | None = None, frames: Frames | None = None
    ) -> None:
        left, pause = self._experience
        self._taken, self._iterates = (values, low_rank, frames), not left
        if self._iterates:
            self._iterative.take(values, low_rank, frames)
        else:
            self._experience = _Experience(left - 1, pause)
            self._bound().take(values, low_rank, frames)

    def solve(self, rhs: Floats, tolerance: float = 0.0) -> Floats:
        if self._iterates:
            x, done = self._iterative.try_solve(rhs, tolerance)
            if done:
                return x
            _, pause = self._experience
            self._experience = _Experience(pause, min(2 * pause, _LONGEST_PAUSE))
            self._iterates = False
            assert self._taken is not None
            self._bound().take(*self._taken)
        return self._bound().solve(rhs, tolerance)
