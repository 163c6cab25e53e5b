"""Obstacles: what bodies cannot enter, standing still, moving on rails or changing shape."""

from supple.contact.obstacles.base import OBSTACLES, Obstacle, Touch
from supple.contact.obstacles.height_field import HeightField
from supple.contact.obstacles.mesh_obstacle import AnimatedMesh, MeshObstacle
from supple.contact.obstacles.primitives import Box, Capsule, Plane, Sphere
from supple.contact.obstacles.rails import Pose, Rails
from supple.contact.obstacles.revolved import Cone, Cylinder, Torus
from supple.contact.self_contact import SelfContact

__all__ = [
    "OBSTACLES",
    "AnimatedMesh",
    "Box",
    "Capsule",
    "Cone",
    "Cylinder",
    "HeightField",
    "MeshObstacle",
    "Obstacle",
    "Plane",
    "Pose",
    "Rails",
    "SelfContact",
    "Sphere",
    "Torus",
    "Touch",
]
