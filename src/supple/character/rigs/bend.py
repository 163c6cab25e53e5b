"""A body that is bent about an axis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.character.rig import bend
from supple.character.rigs.base import PoseRig, one_pose
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
        self._set(along=along, about=about, origin=origin, bounds=(start, end))
        self._set(triangles=self.rest.triangles, neutral=np.zeros(1))

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
        length, start, axes, found = self._arc
        coordinates = found if which is None else found[which]
        x = np.empty((len(coordinates), 3))
        turns = np.empty((len(x) if turned else 0, 3, 3))
        angle = float(one_pose(pose, 1)[0]) / length
        bend(angle, start, coordinates, np.asarray(self.origin), axes, x, turns)
        return x, turns

    def perturbed(self, pose: Floats, rng: np.random.Generator, size: float = 1.0) -> Floats:
        """Bent by up to ``size`` degrees more or less."""
        return np.asarray(one_pose(pose, 1) + np.deg2rad(size) * rng.uniform(-1.0, 1.0, 1))

    @cached_property
    def _arc(self) -> tuple[float, float, Floats, Floats]:
        """Its length and where it begins so that the origin stays [m], its axes, vertices by it.

        The axes (3, 3) are along, about, and the one towards which positive angles bend. Vertices
        (n, 4) are so far along the arc, beyond it, above it and to the side [m].
        """
        low, high = np.asarray(self.bounds, dtype=float).tolist()
        along, about = np.asarray(self.along), np.asarray(self.about)
        axes, start = np.stack([along, about, np.cross(about, along)]), float(np.clip(0, low, high))
        place, level, above = ((self.rest.vertices - np.asarray(self.origin)) @ axes.T).T
        within = np.clip(place, low, high)
        vertices = np.stack([within - start, place - within, above, level], axis=1)
        return high - low, start, axes, vertices
