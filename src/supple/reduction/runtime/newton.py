"""How a step of a reduced model is solved."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.core.checks import number, whole_number


@dataclass(frozen=True, kw_only=True)
class DenseNewton:
    """Newton iterations on the few equations of a reduced model.

    Stops when the corrections still to come are estimated at ``tolerance`` times the largest
    coordinate or less. A step that is not solved after ``max_iterations`` of them is cut into
    shorter ones; where that does not help either, StepFailed is raised.

    ``iterations`` is for those who must not wait: at most so many, best effort, and the step is
    taken as it is then. It never raises; ``stats`` of the simulation says what was given up.
    ``iterations=1`` is the semi-implicit step of the subspace StVK paper (App. C), the fastest.
    """

    max_iterations: int = 20
    tolerance: float = 1e-6
    iterations: int | None = None

    def __post_init__(self) -> None:
        whole_number("max_iterations", self.max_iterations, at_least=1)
        number("tolerance", self.tolerance, above=0, below=1)
        if self.iterations is not None:
            whole_number("iterations", self.iterations, at_least=1)
        elif self.max_iterations == 1:
            message = "DenseNewton(max_iterations=1) is called DenseNewton(iterations=1) now"
            warnings.warn(message, DeprecationWarning, stacklevel=3)
            object.__setattr__(self, "iterations", 1)

    @property
    def most(self) -> int:
        """Iterations of a stage."""
        return self.max_iterations if self.iterations is None else self.iterations

    @property
    def is_best_effort(self) -> bool:
        """Whether what is not solved is taken as it is."""
        return self.iterations is not None


@dataclass(frozen=True)
class StepStats:
    """What it took to move a reduced model, since it was made."""

    steps: int
    iterations: int
    """Of Newton's method, over all stages, with those that shortened a correction."""
    backtracks: int
    """How often a correction was shortened."""
    cut: int
    """Steps that were taken as several shorter ones."""
    unsolved: int
    """Stages left before the tolerance was reached, with ``iterations`` given."""
    stopped: int
    """Steps that could not be taken at all, with ``iterations`` given: the body was stopped."""


COUNTED = ("iterations", "backtracks", "unsolved", "stopped")
"""What kernels count, in this order."""


def step_stats(steps: int, cut: int, counts: NDArray[np.int64]) -> StepStats:
    """With ``counts`` (4,) as kernels keep them."""
    return StepStats(steps=steps, cut=cut, **dict(zip(COUNTED, map(int, counts), strict=True)))
