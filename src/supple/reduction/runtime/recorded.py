"""Motions of reduced models, frame by frame, as full simulations give them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from supple.core.checks import number, whole_number
from supple.core.types import Floats, Progress
from supple.dynamics.motion import Frame, Motion
from supple.reduction.runtime.stepper import Stepper


class RecordedStepper(Stepper):
    """A stepper of one body, which can hand out its motion."""

    @abstractmethod
    def step(self, *, force: Any = None) -> None:
        """One step."""

    @abstractmethod
    def displacements(self, *, out: Floats | None = None) -> Floats:
        """Of the volume mesh [m], (n, 3)."""

    @property
    @abstractmethod
    def damping_power(self) -> float:
        """Power that damping takes from the motion [W]."""

    @abstractmethod
    def frame(self, *, dissipated: float = 0.0) -> Frame:
        """The body as it is now, with its energies and momenta."""

    def run(
        self,
        duration: float,
        *,
        every: int = 1,
        force: Any = None,
        progress: Progress | None = None,
    ) -> Motion:
        """Move on for ``duration`` [s] under a steady ``force`` and return the motion.

        A frame is kept after every ``every`` steps; for long motions of large meshes keep few, or
        use ``run_steps`` and ``displacements``.
        """
        steps = max(1, round(number("duration", duration, above=0, unit="s") / self.dt))
        whole_number("every", every, at_least=1)
        return Motion.from_frames(self.model.mesh, self._frames(steps, every, force, progress))

    def _frames(
        self, steps: int, every: int, force: Any, progress: Progress | None
    ) -> Iterator[Frame]:
        dissipated, power = 0.0, self.damping_power
        yield self.frame()
        for step in range(1, steps + 1):
            self.step(force=force)
            before, power = power, self.damping_power
            dissipated += 0.5 * self.dt * (before + power)
            if progress is not None:
                progress(step, steps, "steps")
            if step % every == 0 or step == steps:
                yield self.frame(dissipated=dissipated)
