"""Motions of reduced models, frame by frame, as full simulations give them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from supple._kernels.reduction.newton import NOT_CONVERGED, NOT_DEFINITE, NOT_FINITE
from supple.core.checks import number, whole_number
from supple.core.types import Floats, Progress
from supple.dynamics.motion import Frame, Motion
from supple.reduction.runtime.stage_table import StageTable
from supple.reduction.runtime.stepper import Stepper

REASONS = {
    NOT_FINITE: "the forces are not finite",
    NOT_CONVERGED: "the Newton iteration did not converge",
    NOT_DEFINITE: "the matrix of the step is not positive definite",
}
"""Why kernels gave up a step."""


class RecordedStepper(Stepper):
    """A stepper of one body, moved by kernels, which can hand out its motion."""

    _contexts: dict[bool, Any]
    """What kernels need, for the first step and for later ones; emptied where it changes."""

    @abstractmethod
    def _make_context(self, table: StageTable) -> Any:
        """All that a kernel needs, behind pointers."""

    def _context(self, table: StageTable) -> Any:
        """The same, kept: it takes longer to make than a small step."""
        if self._contexts and self._made_for is not self.solver:
            self._contexts.clear()
        start = table is self._start_table
        if start not in self._contexts:
            self._made_for = self.solver
            self._contexts[start] = self._make_context(table)
        return self._contexts[start]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_contexts": {}}  # pointers cannot be copied; they are made anew

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
