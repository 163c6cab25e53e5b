"""What a simulation of a reduced model knows of the obstacles around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.contact import Obstacle
from supple.core.checks import several
from supple.core.types import Floats
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.stepper import RecordedStepper

if TYPE_CHECKING:
    from supple.reduction.runtime.contact.contacts import ReducedContacts


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
        self._obstacles = _several(obstacles)
        self._contacts = None
        super().__init__(model, **options)

    def _follow(self, model: ReducedModel) -> None:
        """Take on the surface of ``model``, with the forces that it has, if it is the same."""
        if not self._obstacles:
            self._contacts = None
            return
        from supple.reduction.runtime.contact.contacts import ReducedContacts

        made = ReducedContacts(model, self._obstacles, self._contacts)
        self._contacts = made

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What keeps the body out; assign others and go on."""
        return self._obstacles

    @obstacles.setter
    def obstacles(self, obstacles: Obstacle | Sequence[Obstacle]) -> None:
        given, before = _several(obstacles), self._obstacles
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

    def _contact_memory(self) -> Any:
        return None if self._contacts is None else self._contacts.memory()

    def _recall_contacts(self, memory: Any) -> None:
        if self._contacts is not None:
            self._contacts.recall(memory)

    def _set_obstacles(self, obstacles: tuple[Obstacle, ...]) -> None:
        self.obstacles = obstacles


def _several(given: Obstacle | Sequence[Obstacle]) -> tuple[Obstacle, ...]:
    return several("obstacles", given, Obstacle, "Sphere(centre=(0, 0, 1), radius=0.1)")
