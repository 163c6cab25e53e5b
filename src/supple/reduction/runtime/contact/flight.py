"""The contacts of a free reduced body with obstacles, from step to step."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple._kernels.reduction.contact import flight_stepping
from supple._kernels.reduction.contact.energy import NOISE
from supple._kernels.reduction.contact.flight import FlightRoom
from supple._kernels.reduction.frame import OMEGA, R_NOW, Flight, P, V
from supple.core.memory import rooms_apart
from supple.core.types import Floats
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.contact.contacts import UNSEEN, ReducedContacts
from supple.reduction.runtime.contact.obstacles import Place
from supple.reduction.runtime.stage_table import StageTable

_FRAME = 6  # coordinates of the body as a whole
_MOST_STEPS = 256  # whose poses are worked out at once


class FlightContacts(ReducedContacts):
    """As ReducedContacts, of a body that obstacles move as a whole too."""

    _flight: Any

    def _of_model(self, model: ReducedModel) -> None:
        assert model.floating is not None  # or it would not fly
        mass, inertia = model.floating.mass, model.floating.inertia(np.zeros(model.size))
        turning = float(np.trace(inertia)) / 3.0
        self._scales = np.array([mass, mass**-0.5, turning**-0.5])

    @property
    def _width(self) -> int:
        return self._size + _FRAME

    def _most(self) -> float:
        arms = float(np.linalg.norm(self.surface.balls.places, axis=1).max())
        shift, turn = float(self._scales[1]), float(self._scales[2])
        return max(super()._most(), shift, 2.0 * arms * turn)

    def _bind(self) -> None:
        super()._bind()
        r, n, k = self._size, self._width, len(self.obstacles)
        shapes = {
            "poses": (2, k, 19), "turned": (3, 3), "load": (r + 1, 3, 3), "push": (3,),
            "by": (3,), "A": (n, n), "M": (n, n), "delta": (n,), "own": (n,), "still": (r,),
            "rates": (2, n), "error": (1,),
        }  # fmt: skip
        rooms = dict(zip(shapes, rooms_apart(*shapes.values()), strict=True))
        planes = self._pairs.given_plane
        room = FlightRoom(scales=self._scales, given=planes.copy(), **rooms)
        self._flight = flight_stepping.flight_context(
            self.surface.balls, self._shapes, self._pairs, room
        )

    def fly(
        self,
        contexts: tuple[Any, Any],
        state: tuple[tuple[float, int], Flight, StageTable],
        steps: int,
        load: Floats,
        push: Floats,
    ) -> tuple[int, int]:
        """As ``floating.run_floating_steps``, from a state: when, the flight and the table."""
        since, flight, table = state
        done = 0
        most = 1 if self._given else steps if self._stands else _MOST_STEPS
        while True:
            part = min(most, steps - done)
            now = since[0], since[1] + done
            poses = self.poses(table, now, part)
            self.find_given_in_flight(flight, table, now)
            taken, reason = flight_stepping.run_flight_steps(
                *contexts, self._flight, part, load, push, poses, not self._stands
            )
            done += int(taken)
            if reason == self.NO_ROOM:
                self.grow()
            elif reason or done == steps:
                return done, int(reason)

    # -- piece by piece, for forces that are found in Python -------------------------------

    def enter(self, context: Any, s: int, push: Floats, poses: Floats) -> int:
        """Find the pairs of a stage: the first with a plane from outside; −1 without room."""
        return int(flight_stepping.enter_flight_stage(context, self._flight, s, push, poses))

    def move(self, context: Any, s: int, load: Floats, push: Floats) -> bool:
        """As ``floating.move_stage``."""
        return bool(flight_stepping.move_flight_stage(context, self._flight, s, load, push))

    def correct(self, context: Any, s: int, poses: Floats, given: int) -> int:
        """As ``floating.iterate``."""
        return int(flight_stepping.iterate_in_flight(context, self._flight, s, poses, given, False))

    def is_complete(self, context: Any, s: int, poses: Floats, given: int) -> int:
        """1 where nothing is inside an obstacle unseen, 0 where now it is not, −1 without room."""
        return int(flight_stepping.iterate_in_flight(context, self._flight, s, poses, given, True))

    def leave(self, context: Any, s: int, poses: Floats, given: int) -> bool:
        """As ``floating.leave_stage``."""
        return bool(flight_stepping.leave_flight_stage(context, self._flight, s, poses, given))

    def gains(self, context: Any, elastic: tuple[float, float], load: Floats, push: Floats) -> bool:
        """Whether a step has gained energy, with the elastic one before it and after [J]."""
        moves = not self._stands
        return bool(
            flight_stepping.gains_in_flight(context, self._flight, elastic, load, push, moves)
        )

    def find_given_in_flight(
        self, flight: Flight, table: StageTable, since: tuple[float, int]
    ) -> None:
        """Planes of the obstacles that kernels do not know, for a step."""
        if not self._given:
            return
        h = float(table.times[-1])
        times = since[0] + since[1] * h, since[0] + (since[1] + 1) * h
        q, rigid, R = flight.history[0], flight.rigid[0], flight.frame[R_NOW]
        later = R @ _turn(h * rigid[OMEGA])
        path = (
            Place(q, R, rigid[P]),
            Place(2.0 * q - flight.history[3], later, rigid[P] + h * rigid[V]),
        )
        self._take_given(*self._given_planes(path, times))

    def weigh(self, weight: float) -> None:
        self._noise = weight * UNSEEN * self.surface.edge
        self._pairs.energy[NOISE] = self._noise

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_flight": None}


def _turn(theta: Floats) -> Floats:
    """exp(θ×), by Rodrigues' formula."""
    angle = float(np.linalg.norm(theta))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = theta / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)
