"""Several characters of one model, moved together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.shape import Wind
from supple.character.runtime.simulation import PoseSimulation
from supple.character.runtime.snapshots import PoseSnapshot
from supple.core.checks import numbers, several, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.threads import run_all
from supple.core.types import Floats


class PoseCrowd:
    """``copies`` of one model, each in its own pose and with its own flesh in motion.

    The options are those of PoseSimulation. What belongs to the model is kept once; the copies are
    shared out to threads.
    """

    def __init__(self, model: PoseSpaceModel, *, copies: int, **options: Any) -> None:
        count = whole_number("copies", copies, at_least=1)
        first = PoseSimulation(model, **options)
        self.model = model
        self.members: tuple[PoseSimulation, ...] = (
            first,
            *(first.copy() for _ in range(count - 1)),
        )
        """The characters, one by one."""

    @property
    def copies(self) -> int:
        """How many there are, k."""
        return len(self.members)

    @property
    def q(self) -> Floats:
        """Their coordinates, (k, r)."""
        return np.array([each.q for each in self.members])

    @property
    def v(self) -> Floats:
        """The rates of these, (k, r)."""
        return np.array([each.v for each in self.members])

    def step(
        self,
        poses: ArrayLike,
        dt: float | None = None,
        *,
        forces: ArrayLike | None = None,
        wind: Wind | None = None,
    ) -> None:
        """On to poses (k, d), ``dt`` [s] later; ``forces`` (k, r) are reduced ones.

        StepFailed names the member that could not follow. That one is where it was before; the
        others have moved on, but for such as failed like it.
        """
        given = self._each("poses", poses, len(self.model.tet_rig.rig.neutral))
        pushed: list[Floats | None] = [None] * self.copies
        if forces is not None:
            pushed = list(self._each("forces", forces, self.model.n_coordinates))
        together = enumerate(zip(given, pushed, strict=True))
        run_all([partial(self._step, k, p, dt, force=f, wind=wind) for k, (p, f) in together])

    def _step(self, k: int, pose: Floats, dt: float | None, **options: Any) -> None:
        try:
            self.members[k].step(pose, dt, **options)
        except StepFailed as error:
            raise StepFailed(
                f"members[{k}]: {error.reason}",
                time=error.time,
                residual=error.residual,
                advice=error.advice,
            ) from error

    def reset(self, poses: ArrayLike) -> None:
        """Each at rest in its pose, (k, d)."""
        given = self._each("poses", poses, len(self.model.tet_rig.rig.neutral))
        for each, pose in zip(self.members, given, strict=True):
            each.reset(pose)

    def snapshot(self) -> tuple[PoseSnapshot, ...]:
        """The moment of each of them, to ``restore``."""
        return tuple(each.snapshot() for each in self.members)

    def restore(self, snapshot: Sequence[PoseSnapshot]) -> None:
        """Go back to a snapshot of all of them."""
        kept = several("snapshot", snapshot, PoseSnapshot, "crowd.snapshot()")
        if len(kept) != self.copies:
            raise InputError(
                f"this snapshot is of {len(kept)} characters, not of {self.copies}; restore it in "
                "the crowd that it was taken of"
            )
        for each, its in zip(self.members, kept, strict=True):
            each.restore(its)

    def vertices(self) -> Floats:
        """Their surfaces [m], (k, surface vertices, 3)."""
        return np.array([each.vertices() for each in self.members])

    def _each(self, name: str, given: ArrayLike, width: int) -> Floats:
        array = numbers(name, given)
        if array.shape != (self.copies, width):
            raise InputError(
                f"{name} have shape {array.shape}; {self.copies} copies need "
                f"({self.copies}, {width})"
            )
        return array
