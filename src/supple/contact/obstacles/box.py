"""A box: a table, a step, a press."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.contact.obstacles.base import OBSTACLES, Obstacle, unit
from supple.contact.obstacles.rotations import ROTATION
from supple.core.parameters import VECTOR, described, parameter
from supple.core.types import Floats
from supple.mesh.surface import Surface


@OBSTACLES.register
@dataclass(frozen=True, eq=False, kw_only=True)
class Box(Obstacle):
    """A box of ``size`` (3,) [m] around ``centre`` (3,) [m].

    ``rotation`` turns it about its centre: a matrix (3, 3) whose columns are the box's axes, a
    rotation vector (3,) [rad], or a SciPy Rotation.
    """

    centre: ArrayLike = parameter((0.0, 0.0, 0.0), "of the box", kind=VECTOR, unit="m")
    size: ArrayLike = field(
        metadata=described(
            "its sides",
            kind=VECTOR,
            unit="m",
            above=0,
            too_low="every side of a box must be above 0 [m]",
        )
    )
    rotation: Any = parameter(None, "about its centre; none", kind=ROTATION, unit="rad")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rotation is None:
            object.__setattr__(self, "rotation", np.eye(3))

    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        local = (points - np.asarray(self.centre)) @ self.rotation
        beyond = np.abs(local) - 0.5 * np.asarray(self.size)
        side = np.where(local < 0, -1.0, 1.0)
        # Inside, the nearest face counts; outside, every face that the point is beyond.
        nearest = beyond.argmax(axis=1)
        inner = np.take_along_axis(beyond, nearest[:, None], axis=1)[:, 0]
        ahead = np.maximum(beyond, 0.0)
        outer = np.linalg.norm(ahead, axis=1)
        normal = unit(ahead, outer, np.zeros(3))
        inside = np.flatnonzero(inner <= 0)
        normal[inside, nearest[inside]] = 1.0
        return np.where(inner > 0, outer, inner), (side * normal) @ self.rotation.T

    def _drawn(self, extent: float, about: Floats) -> Surface:
        from trimesh.creation import box  # slow to import

        made = box(extents=np.asarray(self.size))
        vertices = np.asarray(made.vertices) @ self.rotation.T + np.asarray(self.centre)
        return Surface(vertices, np.asarray(made.faces, dtype=np.int64))
