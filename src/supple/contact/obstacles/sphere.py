"""A sphere: a ball to fall on, or a shell to be in."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from supple.contact.obstacles.base import OBSTACLES, Obstacle, unit
from supple.core.parameters import VECTOR, described, parameter
from supple.core.types import Floats
from supple.mesh.surface import Surface


@OBSTACLES.register
@dataclass(frozen=True, eq=False, kw_only=True)
class Sphere(Obstacle):
    """A ball; bodies stay out, or in if ``hollow``."""

    centre: ArrayLike = parameter((0.0, 0.0, 0.0), "of the ball", kind=VECTOR, unit="m")
    radius: float = field(metadata=described("of the ball", unit="m", above=0))
    hollow: bool = parameter(False, "the body stays inside")

    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        arm = points - np.asarray(self.centre)
        length = np.linalg.norm(arm, axis=1)
        normal = unit(arm, length, np.array([0.0, 0.0, 1.0]))
        distance: Floats = length - self.radius
        return (-distance, -normal) if self.hollow else (distance, normal)

    def _drawn(self, extent: float, about: Floats) -> Surface:
        from trimesh.creation import icosphere  # slow to import

        ball = icosphere(subdivisions=3, radius=self.radius)
        triangles = np.asarray(ball.faces, dtype=np.int64)
        vertices = np.asarray(ball.vertices) + np.asarray(self.centre)
        return Surface(vertices, triangles[:, ::-1] if self.hollow else triangles)
