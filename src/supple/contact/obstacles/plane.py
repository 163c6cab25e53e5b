"""A plane: a floor, a wall, a slope."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.contact.obstacles.base import OBSTACLES, Obstacle
from supple.core.errors import InputError
from supple.core.parameters import VECTOR, parameter
from supple.core.types import Floats, Ints
from supple.mesh.surface import Surface


@OBSTACLES.register
@dataclass(frozen=True, eq=False, kw_only=True)
class Plane(Obstacle):
    """Bodies stay where n·x ≥ ``offset``.

    n is the unit vector along ``normal`` (3,), and ``offset`` [m] is signed.
    """

    normal: ArrayLike = parameter(
        (0.0, 0.0, 1.0), "points to the bodies' side, of any length", kind=VECTOR
    )
    offset: float = parameter(0.0, "distance of the plane from the origin along n", unit="m")

    def __post_init__(self) -> None:
        super().__post_init__()
        given = np.asarray(self.normal)
        largest = np.abs(given).max()
        if largest == 0:
            raise InputError.of(
                "normal", (0, 0, 0), " has no direction; give e.g. (0, 0, 1) for a floor"
            )
        n = given / largest
        object.__setattr__(self, "normal", n / np.linalg.norm(n))

    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        n = np.asarray(self.normal)
        normal = np.broadcast_to(n, points.shape).copy()
        normal[np.isnan(points).any(axis=1)] = np.nan
        return points @ n - self.offset, normal

    def _drawn(self, extent: float, about: Floats) -> Surface:
        n = np.asarray(self.normal)
        # Sides along the coordinate axes where the plane allows it.
        first = np.eye(3)[np.argmin(np.abs(n))]
        first = first - (first @ n) * n
        first /= np.linalg.norm(first)
        second = np.cross(n, first)
        centre = about - (about @ n - self.offset) * n
        steps = np.linspace(-0.5, 0.5, 11) * extent
        a, b = np.meshgrid(steps, steps, indexing="ij")
        vertices = centre + a.reshape(-1, 1) * first + b.reshape(-1, 1) * second
        return Surface(vertices, sheet_triangles(11, 11))


def sheet_triangles(nx: int, ny: int) -> Ints:
    """Triangles of a grid of nx × ny vertices, y running fastest, that face up, (t, 3)."""
    corner = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).reshape(-1, 1)
    quads = corner + np.array([0, ny, ny + 1, 1])
    triangles: Ints = quads[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3).astype(np.int64)
    return triangles
