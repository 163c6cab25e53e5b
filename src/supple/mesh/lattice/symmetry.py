"""The plane in which a surface is its own mirror image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.types import Bools, Floats
from supple.mesh.lattice.inside import Enclosed

_ALIKE = 1e-3  # of the size: how far a mirrored vertex may be from the surface
_MOST = 0.9  # of the area: as much as has to be mirrored for the plane to count
_ALL = 0.999  # and for the surface to be symmetric as a whole


@dataclass(frozen=True, eq=False)
class Frame:
    """Where a lattice lies: its axes, and its origin."""

    origin: Floats
    axes: Floats
    """Unit vectors in rows, right-handed, (3, 3)."""
    symmetric: bool
    """Whether the surface has a plane of symmetry, that through the origin across axis 0."""
    whole: bool
    """Whether all of the surface is symmetric about it."""

    def to_world(self, places: Floats) -> Floats:
        """Places (k, 3) along the axes [m], where they are."""
        return np.asarray(self.origin + _times(places, self.axes))

    def from_world(self, places: Floats) -> Floats:
        """The other way round."""
        return _times(places - self.origin, self.axes.T)


def _times(places: Floats, axes: Floats) -> Floats:
    """``places`` (k, 3) times ``axes`` (3, 3), rounded alike by every processor."""
    return np.asarray(places[:, :1] * axes[0] + places[:, 1:2] * axes[1] + places[:, 2:] * axes[2])


def frame_of(solid: Enclosed) -> Frame:
    """A frame on the plane of symmetry, or in the middle of the surface where it has none.

    Planes are tried across the coordinate axes and across the principal axes of the area, each
    through the middle of the area, the middle of the bounds and the origin. The one that mirrors
    most of the area is taken, and of equally good ones the first.
    """
    surface = solid.surface
    corners = surface.vertices[surface.triangles]
    centres = corners.mean(axis=1)
    weights = surface.areas / surface.area
    middle = weights @ centres
    bounds = surface.bounds.mean(axis=0)
    spread = (weights[:, None] * (centres - middle)).T @ (centres - middle)
    principal = np.linalg.eigh(spread)[1].T[::-1]
    tried = []
    for normal in (*np.eye(3), *principal):
        for place in (np.zeros(3), middle, bounds):
            mirrored = _mirrored(solid, normal, place)
            tried.append((float(weights @ mirrored[surface.triangles].mean(axis=1)), normal, place))
    best = max(round(share, 3) for share, _, _ in tried)
    share, normal, place = next(each for each in tried if round(each[0], 3) == best)
    if share < _MOST:
        return Frame(bounds, np.eye(3), symmetric=False, whole=False)
    origin = bounds - ((bounds - place) @ normal) * normal
    return Frame(origin, _axes(normal), symmetric=True, whole=share > _ALL)


def _mirrored(solid: Enclosed, normal: Floats, place: Floats) -> Bools:
    """Which vertices of the surface are on the surface when mirrored, (n,)."""
    x = solid.surface.vertices
    there = x - 2 * ((x - place) @ normal)[:, None] * normal
    return np.asarray(solid.distances(there) < _ALIKE * solid.size)


def _axes(normal: Floats) -> Floats:
    """A right-handed frame that begins with the normal, the others near the coordinate axes."""
    first = np.where(np.abs(normal) < 1e-9, 0.0, normal)
    first = first / np.linalg.norm(first)
    lead = int(np.argmax(np.abs(first)))
    first = first if first[lead] > 0 else -first
    second = np.eye(3)[(lead + 1) % 3]
    second = second - (second @ first) * first
    second /= np.linalg.norm(second)
    return np.stack([first, second, np.cross(first, second)])
