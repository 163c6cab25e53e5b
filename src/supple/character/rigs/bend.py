"""A body that is bent about an axis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.character.rig import bend
from supple.character.rigs.base import PoseRig
from supple.character.rigs.poses import one_pose
from supple.core.checks import instance, numbers, vector
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh.surface import Surface


@dataclass(frozen=True, eq=False)
class BendRig(PoseRig):
    """Bends a surface along one direction, about another one across it.

    A pose (1,) is the angle [rad] by which the far end has turned against the near one, about the
    axis ``about``. What lies between ``bounds`` [m], measured from ``origin`` in the direction
    ``along``, becomes an arc of unchanged length; beyond them it stays straight. What is around
    ``origin`` stays where it is. Left out, ``origin`` is the middle of the surface, and ``bounds``
    take in all of it.
    """

    rest: Surface
    along: ArrayLike = (1.0, 0.0, 0.0)
    about: ArrayLike = (0.0, 1.0, 0.0)
    origin: ArrayLike | None = None
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        instance("rest", self.rest, Surface, 'read_surface("x.obj")')
        along, about = vector("along", self.along), vector("about", self.about)
        if not (along.any() and about.any()):
            raise InputError("along and about must have a direction; (0, 0, 0) has none")
        along, about = along / np.linalg.norm(along), about / np.linalg.norm(about)
        if abs(along @ about) > 1e-6:
            raise InputError(f"along and about must be at right angles; got {along} and {about}")
        low, high = self.rest.bounds
        origin = (low + high) / 2 if self.origin is None else vector("origin", self.origin)
        places = (self.rest.vertices - origin) @ along
        given = (places.min(), places.max()) if self.bounds is None else self.bounds
        start, end = numbers("bounds", given, ((2,),)).tolist()
        if not start < end:
            raise InputError(f"bounds={self.bounds!r}: give its start and its end, in order")
        values = {"along": along, "about": about, "origin": origin, "bounds": (start, end)}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "triangles", self.rest.triangles)
        object.__setattr__(self, "neutral", np.zeros(1))

    def vertices(self, pose: Floats, which: Ints | None = None) -> Floats:
        return self._bent(pose, which, turned=False)[0]

    def frames(self, pose: Floats, which: Ints | None = None) -> Floats:
        return self._bent(pose, which)[1]

    def posed(self, pose: Floats, which: Ints | None = None) -> tuple[Floats, Floats]:
        return self._bent(pose, which)

    def _bent(
        self, pose: Floats, which: Ints | None, *, turned: bool = True
    ) -> tuple[Floats, Floats]:
        """Vertices (k, 3) and frames (k, 3, 3), or (0, 3, 3) if unwanted."""
        all_of_them = self._coordinates
        coordinates = all_of_them if which is None else all_of_them[which]
        x = np.empty((len(coordinates), 3))
        turns = np.empty((len(x) if turned else 0, 3, 3))
        angle = float(one_pose(pose, 1)[0]) / self._length
        bend(angle, self._start, coordinates, self._origin, self._axes, x, turns)
        return x, turns

    def perturbed(self, pose: Floats, rng: np.random.Generator, size: float = 1.0) -> Floats:
        """Bent by up to ``size`` degrees more or less."""
        return np.asarray(one_pose(pose, 1) + np.deg2rad(size) * rng.uniform(-1.0, 1.0, 1))

    @cached_property
    def _length(self) -> float:
        start, end = self._bounds
        return float(end - start)

    @cached_property
    def _start(self) -> float:
        """Where the arc begins that leaves the origin alone [m]."""
        return float(np.clip(0.0, *self._bounds))

    @cached_property
    def _bounds(self) -> Floats:
        return np.asarray(self.bounds, dtype=float)

    @cached_property
    def _origin(self) -> Floats:
        return np.asarray(self.origin, dtype=float)

    @cached_property
    def _axes(self) -> Floats:
        """Along, about, and the third direction, towards which positive angles bend, as rows."""
        along, about = np.asarray(self.along, dtype=float), np.asarray(self.about, dtype=float)
        return np.stack([along, about, np.cross(about, along)])

    @cached_property
    def _coordinates(self) -> Floats:
        """How far each vertex is along the arc, beyond it, above it and to the side [m], (n, 4)."""
        place, level, high = ((self.rest.vertices - self._origin) @ self._axes.T).T
        within = np.clip(place, *self._bounds)
        return np.stack([within - self._start, place - within, high, level], axis=1)
