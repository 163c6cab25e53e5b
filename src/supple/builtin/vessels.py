"""Round vessels that are cut open at one end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from supple.builtin.sweeps import loft
from supple.core.types import Floats
from supple.mesh import Surface

_FAR = 0.02  # [m] farther away than this only that it is far is told
_INSIDE = 0.45  # how much darker the inside of an open end is
# The open end, from the outside over the lip to the bottom of the bore, in radii: along, across.
_MOUTH = (
    (-1.5, 0.80), (-1.15, 0.98), (-0.45, 1.02), (-0.25, 1.07), (-0.06, 1.07), (0.0, 1.0),
    (0.0, 0.80), (-0.06, 0.73), (-0.25, 0.70), (-0.30, 0.70), (-0.75, 0.68),
)  # fmt: skip
_SIDES, _DARK_RINGS = 20, 3


@dataclass(frozen=True)
class Vessel:
    """A round vessel through points [m], of a ``radius`` [m], cut open at its last point."""

    points: tuple[tuple[float, float, float], ...]
    radius: float
    color: tuple[float, float, float]

    @cached_property
    def path(self) -> Floats:
        """A smooth curve through the points [m], (k, 3)."""
        from scipy.interpolate import make_interp_spline  # slow to import

        s = np.linspace(0.0, 1.0, len(self.points))
        curve = make_interp_spline(s, np.array(self.points), k=min(3, len(s) - 1))
        path: Floats = curve(np.linspace(0.0, 1.0, 4 * len(s) - 7 if len(s) > 2 else 2))
        return path

    @property
    def end(self) -> Floats:
        """Where it is cut [m]."""
        return np.array(self.points[-1])

    @cached_property
    def direction(self) -> Floats:
        """The unit vector that points out of its open end."""
        last = self.path[-1] - self.path[-2]
        unit: Floats = last / np.linalg.norm(last)
        return unit

    def distance(self, places: Floats) -> Floats:
        """Distance from its outside [m], but for the open end, which is drawn by itself."""
        path = self.path
        low, high = path.min(axis=0) - self.radius - _FAR, path.max(axis=0) + self.radius + _FAR
        near = np.flatnonzero(((places > low) & (places < high)).all(axis=1))
        away = np.full(len(places), _FAR)
        x = places[near]
        tubes = np.sqrt([_square(x, a, b) for a, b in pairwise(path)]) - self.radius
        # The tube ends short of the cut, below the bottom of the bore.
        last = np.linalg.norm(path[:-1] - self.end, axis=1) < 3 * self.radius
        last[-1] = True
        tubes[last] = np.maximum(tubes[last], (x - self.end) @ self.direction + self.radius)
        away[near] = tubes.min(axis=0)
        return away

    @property
    def mouth(self) -> Surface:
        """Its open end: a collar, closed at the bottom of the bore."""
        along, across = self.radius * np.array(_MOUTH).T[..., None, None]
        up = np.eye(3)[np.argmin(np.abs(self.direction))]
        side = np.cross(self.direction, up) / np.linalg.norm(np.cross(self.direction, up))
        over = np.cross(side, self.direction)
        turn = 2 * np.pi * np.arange(_SIDES)[:, None] / _SIDES
        ring = np.cos(turn) * side + np.sin(turn) * over
        return loft(self.end + along * self.direction + across * ring)

    @property
    def mouth_colors(self) -> Floats:
        """Colours of the vertices of its open end, dark inside."""
        light = np.ones(len(_MOUTH))
        light[-_DARK_RINGS:] = _INSIDE
        shades = np.concatenate([np.repeat(light, _SIDES), [1.0, _INSIDE]])
        colors: Floats = shades[:, None] * np.array(self.color)
        return colors


def _square(places: Floats, a: Floats, b: Floats) -> Floats:
    """Square of the distance from the segment between two points [m²]."""
    s = np.clip((places - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    away = places - a - s[:, None] * (b - a)
    square: Floats = np.einsum("pi,pi->p", away, away)
    return square
