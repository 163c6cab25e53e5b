"""Which copies of a crowd obstacles touch, and what pressed on each."""

from __future__ import annotations

import numpy as np

from supple._kernels.reduction.contact.crowd import find_near
from supple.contact import Obstacle
from supple.core.types import Bools, Floats
from supple.reduction.runtime.contact.contacts import NOTHING, Memory, ReducedContacts
from supple.reduction.runtime.contact.obstacles import REACH


class CrowdContacts:
    """The contacts of one model, lent to each copy in turn, with the forces that each one felt."""

    def __init__(self, contacts: ReducedContacts, before: CrowdContacts | None) -> None:
        self.one = contacts
        self.kept: dict[int, Memory] = {}
        """Of the copies that something has touched lately."""
        if before is not None and before.one.surface is contacts.surface:
            count = len(contacts.obstacles)
            self.kept = {copy: _without(memory, count) for copy, memory in before.kept.items()}

    def near(self, now: Floats, then: Floats, time: float, lasts: float) -> Bools:
        """Whether copies may touch an obstacle on the way (r, copies) from now to then."""
        found = np.zeros(now.shape[1], dtype=bool)
        now, then = now.astype(float, copy=False), then.astype(float, copy=False)
        find_near(self.one.context, now, then, lasts, self.one.poses_at(time)[None], found)
        for each in self.one.given_obstacles:
            found |= self._near_given(each, now, then, time, lasts)
        return found

    def _near_given(
        self, obstacle: Obstacle, now: Floats, then: Floats, time: float, lasts: float
    ) -> Bools:
        """The same by the ball around all of a copy."""
        balls = self.one.surface.balls
        centre = balls.centre[0] + (balls.mean[0] @ now).T
        ahead = (balls.mean[0] @ (then - now)).T
        size = balls.radius[0] + balls.spread[0] @ np.abs(now)
        touch = obstacle.at(centre, time)
        reach = self.one.margin + REACH * np.linalg.norm(ahead, axis=1)
        reach += REACH * (balls.spread[0] @ np.abs(then - now))
        if obstacle.motion is not None:
            turn = float(np.linalg.norm(obstacle.motion.pose(time).spin))
            speed = np.linalg.norm(touch.velocity, axis=1) + turn * (size + np.abs(touch.distance))
            reach += REACH * lasts * speed
        elif obstacle.moves:  # it changes shape, in a way that one place tells little of
            reach += np.inf
        return np.asarray(touch.distance - size <= reach)

    def lend(self, copy: int) -> None:
        """Go on with what pressed on a copy."""
        self.one.recall(self.kept.get(copy, NOTHING))

    def forces(self, copy: int) -> Floats:
        """On the vertices of a copy [N], (s, 3)."""
        self.lend(copy)
        return self.one.forces()

    def on_obstacles(self, copies: int) -> Floats:
        """Of every copy on every obstacle [N], (copies, k, 3)."""
        total = np.zeros((copies, len(self.one.obstacles), 3))
        for copy, (_, obstacle, force, _) in self.kept.items():
            np.add.at(total[copy], obstacle, -force)
        return total


def _without(memory: Memory, count: int) -> Memory:
    """What pressed, but for the obstacles that are gone."""
    vertex, obstacle, force, energy = memory
    rows = obstacle < count
    return vertex[rows], obstacle[rows], force[rows], energy
