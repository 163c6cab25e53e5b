"""A sphere: a ball to fall on, or a shell to be in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.contact.obstacles.base import Obstacle, unit
from supple.core.checks import number, vector
from supple.core.types import Floats
from supple.mesh.surface import Surface


@dataclass(frozen=True, eq=False, kw_only=True)
class Sphere(Obstacle):
    """A ball with ``centre`` (3,) [m] and ``radius`` [m]; bodies stay out, or in if ``hollow``."""

    centre: ArrayLike = (0.0, 0.0, 0.0)
    radius: float
    hollow: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "centre", vector("centre", self.centre))
        object.__setattr__(self, "radius", number("radius", self.radius, above=0, unit="m"))

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
