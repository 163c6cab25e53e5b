"""A height field: a landscape over a regular grid."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.contact.obstacles import field_distances, field_heights
from supple.contact.obstacles.base import OBSTACLES, Obstacle, in_parts
from supple.contact.obstacles.primitives import sheet_triangles
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.parameters import VECTOR, Kind, Parameter, described, parameter
from supple.core.types import Floats
from supple.mesh.surface import Surface

_FINE = 4  # samples along each side of a cell, to draw and to search


def _heights(of: Parameter, value: Any) -> Floats:
    heights = numbers(of.name, value)
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise InputError(
            f"heights have shape {heights.shape}; give (nx, ny) with at least 2 of each"
        )
    return heights


def _spacing(of: Parameter, value: Any) -> Floats:
    spacing = np.broadcast_to(numbers(of.name, value, ((), (2,))), (2,)).copy()
    if not (spacing > 0).all():
        raise InputError(f"{of.name}={value!r}: give one length above 0 [m], or two")
    return spacing


HEIGHTS = Kind("rows of numbers, two or more along each side", _heights)
SPACING = Kind("above 0, one or two for x and y", _spacing)


@OBSTACLES.register
@dataclass(frozen=True, eq=False, kw_only=True)
class HeightField(Obstacle):
    """A smooth landscape through ``heights`` (nx, ny) [m], z up; bodies stay above it.

    heights[i, j] is above x = i, y = j times ``spacing`` [m], one number or (2,) for x and y, all
    from ``origin`` (3,) [m] on. In between runs a bicubic spline, whose slope and curvature are
    continuous. It is level across the rim, and goes on beyond as it is at the rim. A spline
    swings a little to both sides of a cliff.

    The sign of the distance is exact. So is the nearest place, found by Newton's method from the
    nearest of samples a quarter of a cell apart; only where several places are about as near, or
    farther than eight cells away, it may be the second nearest.
    """

    heights: ArrayLike = field(
        kw_only=False,
        metadata=described("a row for each x, along y: (nx, ny)", kind=HEIGHTS, unit="m"),
    )
    origin: ArrayLike = parameter(
        (0.0, 0.0, 0.0), "where the first height is", kind=VECTOR, unit="m"
    )
    spacing: ArrayLike = parameter(1.0, "from one height to the next", kind=SPACING, unit="m")
    _spline: Floats = field(init=False, repr=False)
    _samples: Floats = field(init=False, repr=False)
    _highest: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        heights = np.asarray(self.heights)
        spline = _spline(heights)
        object.__setattr__(self, "_spline", spline)
        fine = [_FINE * (n - 1) + 1 for n in heights.shape]
        grid = np.stack(np.meshgrid(*map(np.arange, fine), indexing="ij"), axis=-1) / _FINE
        samples = np.empty(fine)
        field_heights(spline, grid.reshape(-1, 2), samples.reshape(-1))
        object.__setattr__(self, "_samples", samples)
        # The surface is in the hull of its Bézier points, a third of the slopes from the nodes.
        bezier = spline[..., 0] + np.abs(spline[..., 1:]) @ np.array([1 / 3, 1 / 3, 1 / 9])
        object.__setattr__(self, "_highest", float(bezier.max()))

    def height(self, places: ArrayLike) -> Floats:
        """Height (k,) [m] of the landscape at ``places`` (k, 2) [m]."""
        given = np.asarray(places, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != 2:
            raise InputError(f"places have shape {given.shape}; give (k, 2)")
        origin = np.asarray(self.origin)
        heights: Floats = np.empty(len(given))
        field_heights(self._spline, (given - origin[:2]) / np.asarray(self.spacing), heights)
        heights += origin[2]
        return heights

    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        distance, normal = np.empty(len(points)), np.empty((len(points), 3))
        local = points - np.asarray(self.origin)
        field = self._spline, self._samples, np.asarray(self.spacing), self._highest
        in_parts(
            len(points),
            lambda part: field_distances(
                local[part], float(within), *field, distance[part], normal[part]
            ),
        )
        return distance, normal

    def _drawn(self, extent: float, about: Floats) -> Surface:
        steps = np.asarray(self.spacing) / _FINE
        x, y = (step * np.arange(n) for step, n in zip(steps, self._samples.shape, strict=True))
        vertices = np.stack([*np.meshgrid(x, y, indexing="ij"), self._samples], axis=-1)
        return Surface(
            vertices.reshape(-1, 3) + np.asarray(self.origin), sheet_triangles(*self._samples.shape)
        )


def _spline(heights: Floats) -> Floats:
    """Height, ∂/∂u, ∂/∂v and ∂²/∂u∂v at the nodes by their indices u, v, (nx, ny, 4)."""
    from scipy.interpolate import CubicSpline  # slow to import

    def slopes(values: Floats, axis: int) -> Floats:
        knots = np.arange(values.shape[axis], dtype=float)
        made: Floats = CubicSpline(knots, values, axis=axis, bc_type="clamped")(knots, 1)
        return made

    along_u, along_v = slopes(heights, 0), slopes(heights, 1)
    return np.stack([heights, along_u, along_v, slopes(along_u, 1)], axis=-1)
