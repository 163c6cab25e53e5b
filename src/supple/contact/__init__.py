"""Obstacles: what bodies cannot enter, standing still or moving on rails."""

from .base import Obstacle, Touch
from .box import Box
from .capsule import Capsule
from .height_field import HeightField
from .mesh_obstacle import MeshObstacle
from .plane import Plane
from .rails import Pose, Rails
from .sphere import Sphere

OBSTACLES: tuple[type[Obstacle], ...] = (Plane, Sphere, Box, Capsule, HeightField, MeshObstacle)
"""Every kind of obstacle."""

__all__ = [
    "OBSTACLES",
    "Box",
    "Capsule",
    "HeightField",
    "MeshObstacle",
    "Obstacle",
    "Plane",
    "Pose",
    "Rails",
    "Sphere",
    "Touch",
]
