"""Obstacles that are round about an axis: cylinder, cone, torus.

What is round about an axis is described by half of its section: how far out a place is from the
axis, and how far along it. Distances in that half plane are those in space.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from supple.contact.obstacles.base import OBSTACLES, Obstacle, unit
from supple.core.errors import InputError
from supple.core.parameters import VECTOR, described, parameter
from supple.core.types import Floats
from supple.mesh.surface import Surface

_AROUND = 48  # sides of what is drawn
_ALONG_TUBE = 24  # and of the section of a torus
_ALONG_SIDE = 8  # rings from corner to corner of a section


@dataclass(frozen=True, eq=False, kw_only=True)
class Revolved(Obstacle):
    """A solid of revolution; bodies stay out, or in if ``hollow``."""

    hollow: bool = parameter(False, "the body stays inside")

    @abstractmethod
    def _frame(self) -> tuple[Floats, Floats]:
        """A place on the axis (3,) [m], from which the axis is measured, and its direction (3,)."""

    @abstractmethod
    def _section_distance(self, out: Floats, along: Floats) -> tuple[Floats, Floats]:
        """Signed distance (k,) [m], and its gradient (k, 2) by ``out`` ≥ 0 and ``along``."""

    @abstractmethod
    def _outline(self) -> Floats:
        """The section as a polygon (m, 2) [m] of ``out`` and ``along``, around its inside.

        It is open where it begins and ends on the axis.
        """

    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        origin, axis = self._frame()
        arm = points - origin
        along = arm @ axis
        arm -= along[:, None] * axis
        out = np.linalg.norm(arm, axis=1)
        distance, slope = self._section_distance(out, along)
        normal: Floats = slope[:, :1] * unit(arm, out, sideways(axis)) + slope[:, 1:] * axis
        return (-distance, -normal) if self.hollow else (distance, normal)

    def _drawn(self, extent: float, about: Floats) -> Surface:
        origin, axis = self._frame()
        outline = self._outline()
        x = sideways(axis)
        y = np.cross(axis, x)
        angles = 2 * np.pi * np.arange(_AROUND) / _AROUND
        spokes = np.cos(angles)[:, None] * x + np.sin(angles)[:, None] * y
        rings = outline[:, None, :1] * spokes + outline[:, None, 1:] * axis + origin
        count = len(outline)
        closed = outline[0, 0] > 0
        here = np.arange(count if closed else count - 1)
        first = (here[:, None] * _AROUND + np.arange(_AROUND)).ravel()
        after = (here[:, None] * _AROUND + (np.arange(_AROUND) + 1) % _AROUND).ravel()
        beyond = ((here + 1) % count)[:, None] * _AROUND
        over = (beyond + np.arange(_AROUND)).ravel()
        across = (beyond + (np.arange(_AROUND) + 1) % _AROUND).ravel()
        triangles = np.concatenate(
            [np.stack([first, after, across], axis=1), np.stack([first, across, over], axis=1)]
        )
        made = Surface(rings.reshape(-1, 3), triangles).welded()[0]
        a, b, c = made.triangles.T
        solid = (a != b) & (b != c) & (c != a)  # where a ring is a point on the axis
        faces = made.triangles[solid]
        return Surface(made.vertices, faces[:, ::-1] if self.hollow else faces)


@OBSTACLES.register
@dataclass(frozen=True, eq=False, kw_only=True)
class Cylinder(Revolved):
    """All within ``radius`` [m] of the axis from ``start`` to ``end``, each (3,) [m]: flat ends."""

    start: ArrayLike = field(metadata=described("the middle of one end", kind=VECTOR, unit="m"))
    end: ArrayLike = field(metadata=described("of the other", kind=VECTOR, unit="m"))
    radius: float = field(metadata=described("around the axis", unit="m", above=0))

    def __post_init__(self) -> None:
        super().__post_init__()
        _apart("start", self.start, "end", self.end, "a cylinder")

    @property
    def is_convex(self) -> bool:
        return not self.hollow

    @property
    def leaves_convex(self) -> bool:
        return self.hollow

    @property
    def thinnest(self) -> float:
        return np.inf if self.hollow else min(self.radius, self._half)

    def _frame(self) -> tuple[Floats, Floats]:
        start, end = np.asarray(self.start), np.asarray(self.end)
        return 0.5 * (start + end), (end - start) / np.linalg.norm(end - start)

    @property
    def _half(self) -> float:
        return 0.5 * float(np.linalg.norm(np.asarray(self.end) - np.asarray(self.start)))

    def _section_distance(self, out: Floats, along: Floats) -> tuple[Floats, Floats]:
        half = self._half
        beyond = np.stack([out - self.radius, np.abs(along) - half], axis=1)
        nearest = beyond.argmax(axis=1)
        inner = np.take_along_axis(beyond, nearest[:, None], axis=1)[:, 0]
        ahead = np.maximum(beyond, 0.0)
        outer = np.hypot(ahead[:, 0], ahead[:, 1])
        slope = unit(ahead, outer, np.zeros(2))
        inside = np.flatnonzero(inner <= 0)
        slope[inside, nearest[inside]] = 1.0
        slope[along < 0, 1] *= -1.0
        return np.where(inner > 0, outer, inner), slope

    def _outline(self) -> Floats:
        half = self._half
        return _finer([(0.0, -half), (self.radius, -half), (self.radius, half), (0.0, half)])


@OBSTACLES.register
@dataclass(frozen=True, eq=False, kw_only=True)
class Cone(Revolved):
    """A cone from its ``apex`` (3,) [m] to a base of ``radius`` [m] around ``base`` (3,) [m]."""

    apex: ArrayLike = field(metadata=described("its tip", kind=VECTOR, unit="m"))
    base: ArrayLike = field(metadata=described("the middle of its base", kind=VECTOR, unit="m"))
    radius: float = field(metadata=described("of the base", unit="m", above=0))

    def __post_init__(self) -> None:
        super().__post_init__()
        _apart("apex", self.apex, "base", self.base, "a cone")

    @property
    def is_convex(self) -> bool:
        return not self.hollow

    @property
    def leaves_convex(self) -> bool:
        return self.hollow

    @property
    def thinnest(self) -> float:
        return np.inf if self.hollow else self._inscribed

    def _frame(self) -> tuple[Floats, Floats]:
        base, apex = np.asarray(self.base), np.asarray(self.apex)
        return base, (apex - base) / np.linalg.norm(apex - base)

    @property
    def _height(self) -> float:
        return float(np.linalg.norm(np.asarray(self.apex) - np.asarray(self.base)))

    @property
    def _inscribed(self) -> float:
        """Radius of the largest ball in it [m]."""
        slant = float(np.hypot(self.radius, self._height))
        return self.radius * self._height / (self.radius + slant)

    def _section_distance(self, out: Floats, along: Floats) -> tuple[Floats, Floats]:
        # Two sides of a triangle: the base, and the slant from the rim to the apex.
        r, h = self.radius, self._height
        slant = float(np.hypot(r, h))
        way = np.array([-r, h]) / slant
        facing = np.array([h, r]) / slant
        share = np.clip((out - r) * way[0] + along * way[1], 0.0, slant)
        at_slant = np.stack([out - r - share * way[0], along - share * way[1]], axis=1)
        at_base = np.stack([out - np.minimum(out, r), along], axis=1)
        to_slant, to_base = (np.hypot(each[:, 0], each[:, 1]) for each in (at_slant, at_base))
        height = (out - r) * facing[0] + along * facing[1]  # above the slant
        inside = (height <= 0) & (along >= 0)
        nearer = to_slant <= to_base
        length = np.where(nearer, to_slant, to_base)
        slope = unit(np.where(nearer[:, None], at_slant, at_base), length, np.zeros(2))
        slope[inside & nearer] = facing
        slope[inside & ~nearer] = (0.0, -1.0)
        on_it = length == 0  # on the rim, the apex, or a side
        slope[on_it & (along > 0)] = facing
        slope[on_it & (along <= 0)] = (0.0, -1.0)
        return np.where(inside, -length, length), slope

    def _outline(self) -> Floats:
        return _finer([(0.0, 0.0), (self.radius, 0.0), (0.0, self._height)])


@OBSTACLES.register
@dataclass(frozen=True, eq=False, kw_only=True)
class Torus(Revolved):
    """A ring: all within ``tube`` [m] of a circle of ``radius`` [m] around ``centre`` (3,) [m].

    The circle lies across ``axis`` (3,), which may have any length.
    """

    centre: ArrayLike = parameter((0.0, 0.0, 0.0), "of the ring", kind=VECTOR, unit="m")
    axis: ArrayLike = parameter((0.0, 0.0, 1.0), "which the ring lies around", kind=VECTOR)
    radius: float = field(metadata=described("of the circle in its tube", unit="m", above=0))
    tube: float = field(metadata=described("radius of its tube", unit="m", above=0))

    def __post_init__(self) -> None:
        super().__post_init__()
        given = np.asarray(self.axis)
        largest = np.abs(given).max()
        if largest == 0:
            raise InputError.of(
                "axis", (0, 0, 0), " has no direction; give e.g. (0, 0, 1) for a ring that lies"
            )
        if self.tube >= self.radius:
            raise InputError.of(
                "tube",
                self.tube,
                f" [m] leaves no hole in a ring of radius {self.radius:g} m; "
                "give less than the radius",
            )
        n = given / largest
        object.__setattr__(self, "axis", n / np.linalg.norm(n))

    @property
    def rounding_radius(self) -> float:
        return self.tube

    @property
    def thinnest(self) -> float:
        return np.inf if self.hollow else self.tube

    def _frame(self) -> tuple[Floats, Floats]:
        return np.asarray(self.centre), np.asarray(self.axis)

    def _section_distance(self, out: Floats, along: Floats) -> tuple[Floats, Floats]:
        arm = np.stack([out - self.radius, along], axis=1)
        length = np.hypot(arm[:, 0], arm[:, 1])
        return length - self.tube, unit(arm, length, np.array([0.0, 1.0]))

    def _outline(self) -> Floats:
        angles = 2 * np.pi * np.arange(_ALONG_TUBE) / _ALONG_TUBE
        return np.stack([self.radius + self.tube * np.cos(angles), self.tube * np.sin(angles)], 1)


def sideways(axis: Floats) -> Floats:
    """A unit vector across an axis; places on the axis itself have it as the way out."""
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    found: Floats = across / np.linalg.norm(across)
    return found


def _finer(corners: list[tuple[float, float]]) -> Floats:
    """An open polygon with more points on its sides, (m, 2)."""
    shares = np.arange(_ALONG_SIDE)[:, None] / _ALONG_SIDE
    sides = [(1 - shares) * a + shares * b for a, b in pairwise(np.array(corners))]
    return np.concatenate([*sides, np.array(corners[-1:])])


def _apart(first: str, a: ArrayLike, second: str, b: ArrayLike, what: str) -> None:
    if (np.asarray(a) == np.asarray(b)).all():
        place = np.asarray(a).tolist()
        raise InputError(f"{first} and {second} of {what} are both {place}; move one")
