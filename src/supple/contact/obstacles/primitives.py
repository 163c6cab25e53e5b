"""Obstacles of a few numbers: plane, sphere, box, capsule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.contact.obstacles.base import OBSTACLES, Obstacle, unit
from supple.contact.obstacles.rails import ROTATION
from supple.core.errors import InputError
from supple.core.parameters import VECTOR, described, parameter
from supple.core.types import Floats, Ints
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

    @property
    def is_convex(self) -> bool:
        return True

    @property
    def thinnest(self) -> float:
        return 0.5 * float(np.min(self.size))

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

    @property
    def is_convex(self) -> bool:
        return True

    @property
    def rounding_radius(self) -> float:
        return self.radius

    @property
    def thinnest(self) -> float:
        return self.radius

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

    @property
    def leaves_convex(self) -> bool:
        return True

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


@OBSTACLES.register
@dataclass(frozen=True, eq=False, kw_only=True)
class Sphere(Obstacle):
    """A ball; bodies stay out, or in if ``hollow``."""

    centre: ArrayLike = parameter((0.0, 0.0, 0.0), "of the ball", kind=VECTOR, unit="m")
    radius: float = field(metadata=described("of the ball", unit="m", above=0))
    hollow: bool = parameter(False, "the body stays inside")

    @property
    def is_convex(self) -> bool:
        return not self.hollow

    @property
    def rounding_radius(self) -> float:
        return self.radius

    @property
    def thinnest(self) -> float:
        return np.inf if self.hollow else self.radius

    @property
    def leaves_convex(self) -> bool:
        return self.hollow

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


def sheet_triangles(nx: int, ny: int) -> Ints:
    """Triangles of a grid of nx × ny vertices, y running fastest, that face up, (t, 3)."""
    corner = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).reshape(-1, 1)
    quads = corner + np.array([0, ny, ny + 1, 1])
    triangles: Ints = quads[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3).astype(np.int64)
    return triangles
