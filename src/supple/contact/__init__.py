"""Obstacles: what bodies cannot enter, standing still, moving on rails or changing shape."""

from .animated_mesh import AnimatedMesh
from .base import Obstacle, Touch
from .box import Box
from .capsule import Capsule
from .height_field import HeightField
from .mesh_obstacle import MeshObstacle
from .plane import Plane
from .rails import Pose, Rails
from .self_contact import SelfContact
from .sphere import Sphere

OBSTACLES: tuple[type[Obstacle], ...] = (Plane, Sphere, Box, Capsule, HeightField, MeshObstacle)
"""Every kind of obstacle that a scene can have."""

__all__ = [
    "OBSTACLES",
    "AnimatedMesh",
    "Box",
    "Capsule",
    "HeightField",
    "MeshObstacle",
    "Obstacle",
    "Plane",
    "Pose",
    "Rails",
    "SelfContact",
    "Sphere",
    "Touch",
]
