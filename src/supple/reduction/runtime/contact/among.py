"""What a simulation of a reduced model knows of the obstacles around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple._kernels.reduction.newton import DONE, GAINS
from supple.contact import Obstacle
from supple.core.checks import several
from supple.core.types import Floats
from supple.integrators import BackwardEuler, ImplicitIntegrator
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.stepper import MOST_CUTS, RecordedStepper

if TYPE_CHECKING:
    from supple.reduction.runtime.contact.contacts import ReducedContacts

_EULER = BackwardEuler()


class AmongObstacles(RecordedStepper):
    """A stepper of a body that obstacles keep out, once it has any.

    Nothing of contact is imported, or compiled, before that.
    """

    _contacts: ReducedContacts | None

    def __init__(
        self,
        model: ReducedModel,
        *,
        obstacles: Obstacle | Sequence[Obstacle] = (),
        **options: Any,
    ) -> None:
        self._obstacles = several_obstacles(obstacles)
        self._contacts = None
        super().__init__(model, **options)

    def _follow(self, model: ReducedModel) -> None:
        """Take on the surface of ``model``, with the forces that it has, if it is the same."""
        if not self._obstacles:
            self._contacts = None
            return
        self._contacts = self._kind_of_contacts()(model, self._obstacles, self._contacts)

    def _kind_of_contacts(self) -> type[ReducedContacts]:
        from supple.reduction.runtime.contact.contacts import ReducedContacts

        return ReducedContacts

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What keeps the body out; assign others and go on."""
        return self._obstacles

    @obstacles.setter
    def obstacles(self, obstacles: Obstacle | Sequence[Obstacle]) -> None:
        given, before = several_obstacles(obstacles), self._obstacles
        if given == before:
            return
        if self._contacts is not None and given:
            self._contacts.replace(given)
            self._obstacles = given
        else:
            self._obstacles = given
            try:
                self._use(self._model)
            except Exception:
                self._obstacles = before
                raise
        self._known_settings = None

    @property
    def contacts(self) -> ReducedContacts | None:
        """What kernels know of the obstacles; ``None`` where there are none."""
        return self._contacts

    @property
    def contact_forces(self) -> Floats:
        """Force of the obstacles on every vertex at the end of the last step [N], (s, 3).

        The vertices are those of the model's skin if it has one, or else those of its mesh, (n, 3).
        """
        if self._contacts is not None:
            return self._contacts.forces()
        skin = self.model.skin
        return np.zeros((self.model.mesh if skin is None else skin).vertices.shape)

    @property
    def obstacle_forces(self) -> Floats:
        """Force of the body on each obstacle at the end of the last step [N], (k, 3)."""
        return np.zeros((0, 3)) if self._contacts is None else self._contacts.on_obstacles()

    # -- steps that are taken in parts ------------------------------------------------------

    def _since(self, after: float | None) -> tuple[float, int]:
        """From when steps are counted [s], and how many there were; or parts of the one at hand."""
        if after is None:
            return self._start_time, self._steps
        return self.time + after, 0

    @property
    def _most_cuts(self) -> int:
        """How often a step that fails is halved."""
        return MOST_CUTS

    def _in_parts(
        self,
        reason: int,
        fewest: int,
        state: tuple[Floats, ...],
        take: Callable[[int, ImplicitIntegrator], int],
    ) -> int:
        """A step that failed, as 2^k shorter ones from k = ``fewest`` on, by ``take``; returns k.

        Where they gain energy in contact, BackwardEuler takes them, which loses some. StepFailed,
        with all as it was, if none will do.
        """
        before, pressed, found = [a.copy() for a in state], self._contact_memory(), reason
        assert isinstance(self._integrator, ImplicitIntegrator)
        for cuts in range(max(fewest, int(reason == GAINS)), self._most_cuts + 1):
            for rule in (self._integrator, _EULER):
                found = take(2**cuts, rule)
                if found == DONE:
                    return cuts
                for array, kept in zip(state, before, strict=True):
                    array[...] = kept
                self._recall_contacts(pressed)
                if found != GAINS:
                    break
        if found == GAINS and self._contacts is not None and self._contacts.moves:
            self._contacts.forgive()  # what obstacles that move put in is known to first order
            if take(1, _EULER) == DONE:
                return 0
            for array, kept in zip(state, before, strict=True):
                array[...] = kept
            self._recall_contacts(pressed)
        raise self._failure(reason)

    def _contact_memory(self) -> Any:
        return None if self._contacts is None else self._contacts.memory()

    def _recall_contacts(self, memory: Any) -> None:
        if self._contacts is not None:
            self._contacts.recall(memory)

    def _set_obstacles(self, obstacles: tuple[Obstacle, ...]) -> None:
        self.obstacles = obstacles


def several_obstacles(given: Obstacle | Sequence[Obstacle]) -> tuple[Obstacle, ...]:
    """One or more, as they were given."""
    return several("obstacles", given, Obstacle, "Sphere(centre=(0, 0, 1), radius=0.1)")
