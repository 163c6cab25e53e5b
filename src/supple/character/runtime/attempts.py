"""The ways in which a step of a character is tried, and what to say where none works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from supple._kernels.reduction import newton as reasons
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.core.errors import StepFailed

PARTS = tuple(2**k for k in range(9))  # into which a step is cut that cannot be solved whole
_TO_GAIN_LESS = 4  # of them at most where each step gains energy: the rule is to blame


class Attempt(NamedTuple):
    """How a frame is taken."""

    settling: bool = False
    """By backward Euler, in place of the rule."""
    parts: int = 1
    thorough: bool = False
    """With more iterations than are given, where these are few."""


WHOLE = Attempt()
_HURRIED = (WHOLE, Attempt(False, 2, True), Attempt(True, 1, True), Attempt(True, 4, True))
"""Of a step whose cost has a bound."""


class Attempts:
    """What to try until something works."""

    def __init__(self, hurried: bool) -> None:
        self._hurried = hurried
        self.gained = False
        """Whether any has gained energy."""
        self.failure: tuple[int, float] = reasons.NOT_CONVERGED, 0.0
        """Why the last one came to nothing, and at which share of the frame."""

    def __iter__(self) -> Iterator[Attempt]:
        if self._hurried:
            yield from _HURRIED
            return
        for settling in (False, True):
            for parts in PARTS:
                if settling or parts <= _TO_GAIN_LESS or not self._gains():
                    yield WHOLE if (settling, parts) == WHOLE[:2] else Attempt(settling, parts)

    def _gains(self) -> bool:
        return self.failure[0] == reasons.GAINS

    def went(self, failure: tuple[int, float]) -> bool:
        """Takes note of how one has ended; whether it was well."""
        self.failure = failure
        self.gained |= self._gains()
        return failure[0] == reasons.DONE


def step_failed(model: PoseSpaceModel, reason: int, time: float) -> StepFailed:
    """What is raised for a step that nothing leads through."""
    material = "a material that survives more, such as StableNeoHookean, "
    return StepFailed(
        _REASONS[reason],
        time=time,
        residual=float("nan"),
        advice=(
            "Shorter steps and backward Euler did not help: take smaller forces, "
            f"{'' if model.material.survives_inversion else material}teleport(pose) where the "
            "character jumps, or ease(pose) to go on all the same."
        ),
    )


_REASONS = {
    reasons.NOT_FINITE: "the forces are not finite",
    reasons.NOT_CONVERGED: "the Newton iteration did not converge",
    reasons.NOT_DEFINITE: "the matrix of the step is not positive definite",
    reasons.GAINS: "the step gains energy that nothing puts in",
    reasons.TOO_FAR: "the flesh has left the body by more than ten times its size",
}
