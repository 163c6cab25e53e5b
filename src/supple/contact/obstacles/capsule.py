"""A capsule: a rod, a finger, a rail."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from supple.contact.obstacles.base import OBSTACLES, Obstacle, unit
from supple.core.errors import InputError
from supple.core.parameters import VECTOR, described
from supple.core.types import Floats
from supple.mesh.surface import Surface


@OBSTACLES.register
@dataclass(frozen=True, eq=False, kw_only=True)
class Capsule(Obstacle):
    """All within ``radius`` [m] of the segment from ``start`` to ``end``, each (3,) [m]."""

    start: ArrayLike = field(metadata=described("one end of its axis", kind=VECTOR, unit="m"))
    end: ArrayLike = field(metadata=described("the other", kind=VECTOR, unit="m"))
    radius: float = field(metadata=described("around the axis", unit="m", above=0))

    def __post_init__(self) -> None:
        super().__post_init__()
        start = np.asarray(self.start)
        if (start == self.end).all():
            raise InputError(
                f"start and end of a capsule are both {start.tolist()}; "
                "move one, or use Sphere(centre=..., radius=...)"
            )

    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        start, axis = np.asarray(self.start), self._axis
        share = np.clip((points - start) @ axis / (axis @ axis), 0.0, 1.0)
        arm = points - start - share[:, None] * axis
        length = np.linalg.norm(arm, axis=1)
        return length - self.radius, unit(arm, length, self._sideways)

    def _drawn(self, extent: float, about: Floats) -> Surface:
        from trimesh.creation import capsule  # slow to import

        # It lies along z; versions differ in where.
        made = capsule(height=np.linalg.norm(self._axis), radius=self.radius, count=[32, 32])
        centred = np.asarray(made.vertices) - np.asarray(made.bounds).mean(axis=0)
        z = self._axis / np.linalg.norm(self._axis)
        x = self._sideways
        frame = np.stack([x, np.cross(z, x), z], axis=1)
        vertices = centred @ frame.T + 0.5 * (np.asarray(self.start) + np.asarray(self.end))
        return Surface(vertices, np.asarray(made.faces, dtype=np.int64))

    @property
    def _axis(self) -> Floats:
        axis: Floats = np.asarray(self.end) - np.asarray(self.start)
        return axis

    @property
    def _sideways(self) -> Floats:
        """A unit vector across the axis; points on the axis itself have it as their normal."""
        axis = self._axis
        across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        sideways: Floats = across / np.linalg.norm(across)
        return sideways
