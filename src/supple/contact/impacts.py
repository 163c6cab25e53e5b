"""Impacts: vertices that come to an obstacle with speed, and leave it as its restitution says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.contact.contacts import Contacts
from supple.core.types import Floats
from supple.integrators import State

_AT_REST = 2.0  # times the speed that a step of free fall gives: slower vertices just come to rest
_LATEST = 0.99  # of a step: when an impact may begin


@dataclass(frozen=True)
class Impact:
    """What happens at the first impact in a step."""

    delay: float
    """Time until then [s]."""
    speeds: dict[tuple[int, int], float]
    """Speed at which each pair of vertex and obstacle is to part [m/s]."""


def first_impact(
    contacts: Contacts,
    positions: Floats,
    now: State,
    dt: float,
    pressed: set[tuple[int, int]],
    touching: set[tuple[int, int]],
    fall: float,
) -> Impact | None:
    """The impact of a step from ``now``, in which ``pressed`` pairs came to touch.

    Pairs that were ``touching`` before have nothing to bounce with; nor have those that come slower
    than a step of free fall, with the acceleration ``fall`` [m/s²], makes them.
    """
    delay, speeds = np.inf, {}
    for number, obstacle in enumerate(contacts.obstacles):
        if obstacle.restitution is None:
            continue
        new = [vertex for vertex, o in pressed - touching if o == number]
        if not new:
            continue
        touch = obstacle.at(positions[new] + now.u[new], now.time)
        approach = -np.einsum("ki,ki->k", now.v[new] - touch.velocity, touch.normal)
        for vertex, speed, gap in zip(new, approach, touch.distance, strict=True):
            if speed > _AT_REST * dt * fall:
                speeds[vertex, number] = obstacle.restitution * float(speed)
                delay = min(delay, max(float(gap), 0.0) / float(speed))
    return Impact(min(delay, _LATEST * dt), speeds) if speeds else None
