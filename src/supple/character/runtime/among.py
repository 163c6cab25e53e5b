"""A character among obstacles, which its flesh stays out of as far as it can give way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.character.runtime.attempts import WHOLE, Attempt, Attempts
from supple.character.runtime.live import LiveCharacter
from supple.character.runtime.rig import Path, Sample
from supple.contact import Obstacle
from supple.core.types import Floats
from supple.reduction.runtime.contact.among import several_obstacles

if TYPE_CHECKING:
    from supple.character.runtime.contacts import FrameContacts, Planes, Pressed, Surroundings

_FEW = (1, 2, 4)  # parts into which a frame is cut before obstacles give way
_ROUNDS = 6  # in which vertices that were not expected to touch join those that do


class CharacterAmongObstacles(LiveCharacter):
    """The obstacles of a character. Nothing of contact is compiled before it has any."""

    _around: Surroundings | None = None
    _surface_path: Path | None = None
    _pressed: Pressed | None = None
    _softened: int = 0
    _path: Path
    _pose: Floats
    _checked: Callable[[Any], Floats]
    _try_frame: Callable[..., tuple[tuple[int, float], bool]]
    _count_attempt: Callable[[Attempts, Attempt], None]
    _stop: Callable[[Path, Floats, Attempts], None]
    vertices: Callable[[], Floats]

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What keeps the flesh out; assign others and go on."""
        return self._obstacles

    @obstacles.setter
    def obstacles(self, obstacles: Obstacle | Sequence[Obstacle]) -> None:
        self._take_obstacles(several_obstacles(obstacles))
        if self._surface_path is None:
            self._restart_surface(Path.jumped)

    @property
    def contact_forces(self) -> Floats:
        """Force of the obstacles on every vertex of the surface at the end of the last step [N]."""
        total = np.zeros((len(self.model.skin_cells), 3))
        if self._pressed is not None:
            np.add.at(total, self._pressed.vertex, self._pressed.force)
        return total

    @property
    def obstacle_forces(self) -> Floats:
        """Force of the flesh on each obstacle at the end of the last step [N], (k, 3)."""
        total = np.zeros((len(self._obstacles), 3))
        if self._pressed is not None:
            np.add.at(total, self._pressed.obstacle, -self._pressed.force)
        return total

    @property
    def held_depth(self) -> float:
        """How deep the rig has pushed what flesh does not move into an obstacle [m]; 0 for not.

        Nothing can be done about that but to change the pose: such parts follow the rig.
        """
        return 0.0 if self._around is None else self._around.held_depth(self.vertices(), self._time)

    @property
    def softened(self) -> int:
        """Steps in which obstacles had to give way, as flesh could not."""
        return self._softened

    def _take_obstacles(self, obstacles: tuple[Obstacle, ...]) -> None:
        if obstacles == self._obstacles and (self._around is None) == (not obstacles):
            return
        self._around = None
        if obstacles:
            from supple.character.runtime.contacts import Surroundings

            self._around = Surroundings(self.model, obstacles)
        else:
            self._surface_path, self._pressed = None, None
        self._obstacles = obstacles

    def _restart_surface(self, at: Callable[[Sample], Path]) -> None:
        """The surface is where the pose has it."""
        if self._around is not None:
            self._surface_path, self._pressed = at(self._around.sample(self._pose)), None

    # -- stepping --------------------------------------------------------------------------

    def _advance_among(self, path: Path, pose: Any, end: Floats, f: Floats) -> bool:
        """On to the end of the path; whether it is a cut."""
        around, before = self._around, self._surface_path
        assert around is not None  # as there are obstacles
        assert before is not None
        span = path.spans[2]
        times = self._time, self._time + span
        surface = before.on(around.sample(end), span)
        now = self.vertices()
        planes = around.near(now, now - before.end.x + surface.end.x, times)
        start = self.snapshot()
        for _ in range(_ROUNDS):
            cut, contacts = self._meet(path, surface, planes, pose, f)
            # the path is that of the frame now, and vertices are those at its end in this pose
            then = self._surface_at(end)
            more = None if cut else around.missed(planes, now, then, times)
            if more is None:
                break
            planes = more
            self.restore(start)
        self._surface_path = surface if self._path.moving else Path.jumped(surface.end)
        self._pressed = None if contacts is None else contacts.pressed()
        return cut

    def _surface_at(self, pose: Floats) -> Floats:
        here, self._pose = self._pose, pose
        shown = self.vertices()
        self._pose = here
        return shown

    def _meet(
        self, path: Path, surface: Path, planes: Planes, pose: Any, f: Floats
    ) -> tuple[bool, FrameContacts | None]:
        """A frame among these planes, which give way where flesh cannot."""
        from supple.character.runtime.contacts import GIVES

        around = self._around
        assert around is not None
        if not len(planes.vertex):
            return self._advance(path, pose, f), None
        contacts = around.frame(planes, surface, self.model.n_coordinates)
        attempts = Attempts(hurried=False)
        slowest = float(max(self.model.squares.min(), 0.0))
        for gives in GIVES:
            last = gives == GIVES[-1]
            tries = attempts if last else [Attempt(parts=parts) for parts in _FEW]
            compliance = gives * around.most**2 / (path.spans[2] ** -2 + slowest)
            for attempt in tries:
                given = _Given(self, contacts, compliance, path)
                failure, cut = self._try_frame(path, pose, f, attempt, given)
                if attempts.went(failure):
                    self._softened += gives > GIVES[0]
                    if attempt != WHOLE:
                        self._count_attempt(attempts, attempt)
                    return cut, contacts
        self._stop(path, f, attempts)
        return False, None

    @abstractmethod
    def _advance(self, path: Path, pose: Any, f: Floats) -> bool:
        """A frame without obstacles; whether it was cut."""


class _Given:
    """Makes the contacts of a frame for the times of its stages."""

    def __init__(
        self,
        character: CharacterAmongObstacles,
        contacts: FrameContacts,
        gives: float,
        path: Path,
    ) -> None:
        self._character, self._contacts, self._gives = character, contacts, gives
        self._span = path.spans[2]

    def __call__(self, after: Floats, pose: Callable[[float], Any] | None) -> Any:
        character, around = self._character, self._character._around
        assert around is not None
        told: list[Sample] = []
        if pose is not None:
            for later in after:
                asked = character._checked(pose(character._time + float(later)))
                told.append(around.part(asked, self._contacts))
        return self._contacts.begin(self._gives, character._time + after, told)
