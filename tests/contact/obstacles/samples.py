"""One or two obstacles of every kind, in general position, and points around them."""

from __future__ import annotations

import numpy as np
import trimesh
from tests.helpers import rotation

import supple as sp

TURN = rotation(3)


def waves(nx: int = 9, ny: int = 7) -> np.ndarray:
    """Gentle hills, (nx, ny) [m]."""
    i, j = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
    return 0.06 * np.sin(1.1 * i + 0.3) * np.cos(0.9 * j) + 0.02 * np.sin(0.7 * i * j)


def torus() -> sp.Surface:
    made = trimesh.creation.torus(0.6, 0.25, major_sections=18, minor_sections=12)
    return sp.Surface(made.vertices @ TURN.T + (0.1, 0.2, 0.3), np.array(made.faces))


def sheet() -> sp.Surface:
    """An open, wavy sheet that faces up."""
    field = sp.HeightField(waves(), origin=(-1.0, -0.8, 0.1), spacing=0.25)
    return field.surface()


OBSTACLES: dict[str, sp.Obstacle] = {
    "plane": sp.Plane(normal=(1.0, -2.0, 4.0), offset=0.3),
    "sphere": sp.Sphere(centre=(0.1, -0.2, 0.3), radius=0.7),
    "hollow sphere": sp.Sphere(centre=(0.1, -0.2, 0.3), radius=0.7, hollow=True),
    "box": sp.Box(centre=(0.1, 0.0, -0.2), size=(1.0, 0.6, 0.4), rotation=TURN),
    "capsule": sp.Capsule(start=(-0.4, 0.1, 0.0), end=(0.5, 0.3, -0.2), radius=0.3),
    "cylinder": sp.Cylinder(start=(-0.4, 0.1, 0.0), end=(0.4, 0.3, -0.2), radius=0.4),
    "hollow cylinder": sp.Cylinder(
        start=(-0.6, 0.1, 0.1), end=(0.5, 0.2, -0.2), radius=0.6, hollow=True
    ),
    "cone": sp.Cone(apex=(0.5, 0.4, 0.3), base=(-0.4, -0.1, -0.2), radius=0.6),
    "hollow cone": sp.Cone(apex=(0.9, 0.5, 0.3), base=(-0.6, -0.1, -0.2), radius=0.9, hollow=True),
    "torus": sp.Torus(centre=(0.1, 0.0, -0.1), axis=(1.0, -2.0, 3.0), radius=0.6, tube=0.2),
    "hollow torus": sp.Torus(
        centre=(0.1, 0.0, 0.1), axis=(1, 2, 3), radius=0.6, tube=0.3, hollow=True
    ),
    "height field": sp.HeightField(waves(), origin=(-1.0, -0.8, 0.1), spacing=(0.25, 0.3)),
    "closed mesh": sp.MeshObstacle(torus()),
    "hollow mesh": sp.MeshObstacle(torus(), hollow=True),
    "open mesh": sp.MeshObstacle(sheet()),
}


def points(name: str, count: int, seed: int = 0) -> np.ndarray:
    """Random points (count, 3) [m] about an obstacle; about the middle of a sheet."""
    low, high = (-0.9, -0.9, -0.9), (0.9, 0.9, 0.9)
    if name in ("height field", "open mesh"):
        low, high = (-0.5, -0.4, -0.1), (0.5, 0.4, 0.3)
    return np.random.default_rng(seed).uniform(low, high, (count, 3))
