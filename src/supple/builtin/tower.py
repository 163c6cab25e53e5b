"""A soft lattice tower after the one in Paris."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from supple.builtin.shapes import Painted, bar, block, painted, rod
from supple.builtin.solid import Solid, checked_resolution, with_regions
from supple.core.types import Floats
from supple.materials import StVK
from supple.mesh import Embedding, HexMesh, Surface

# Drawn in metres of the real tower, 330 m tall, and scaled to 1 m.
_TALL = 330.0
_HEIGHTS = (0, 25, 57, 115, 160, 200, 240, 276)
_OUTER = (61, 48.5, 34, 19.5, 13.6, 10, 7.6, 6)  # half the width of the tower there
_INNER = (37, 29.5, 19, 8.5, 0.3, 0.3, 0.3, 0.3)  # half the gap between two legs
_STAGES = ((2.0, 18.0, 36.0, 56.0), (61.0, 77.0, 94.0, 113.0))
"""Heights at which the legs' lattice is braced, below the first and the second platform."""
_SPIRE = (117.0, 139.0, 160.0, 182.0, 203.0, 223.0, 242.0, 260.0, 276.0)
_PLATFORMS = ((56.1, 61.0), (112.0, 116.9), (274.3, 279.2))
"""From which height to which each platform reaches; by default two bricks."""
_IRON, _DARK, _STONE = (0.56, 0.42, 0.31), (0.45, 0.33, 0.25), (0.78, 0.74, 0.66)


def tower(*, resolution: int = 124) -> Solid:
    """A soft lattice tower 1 m tall: four curved legs, arches, three platforms and a spire, z up.

    Bricks, ``resolution`` of them over its height, with the regions "platforms", "arches",
    "spire" and "legs". Places: "feet", what it stands on, "first platform", "second platform" and
    "top". Its material is a soft rubber, StVK(young=2e6, poisson=0.4, density=1100): held at its
    feet it swings at about 2 Hz.
    """
    checked_resolution(resolution, 60, 400, "over its height")
    drawn, colors = painted(_quarters())
    skin = drawn.scaled(1 / _TALL)
    mesh = HexMesh.voxelize(skin, resolution)
    x, y, z = np.abs(_TALL * mesh.centroids.T)
    half = 0.5 * _TALL / resolution
    near = np.minimum(x, y) < _inner(np.minimum(z, 57.0)) - 2 * half
    regions = {
        "platforms": np.any([(z > a - half) & (z < b + 2.4) for a, b in _PLATFORMS], axis=0),
        "spire": z > _PLATFORMS[1][0],
        "arches": near & (z > 6.0) & (z < _PLATFORMS[0][0]),
    }
    mesh = with_regions(mesh, regions, rest="legs")
    brick = 1 / resolution
    places = {
        "feet": mesh.where(z=mesh.bounds[0, 2]),
        "first platform": mesh.where(z=tuple(np.array(_PLATFORMS[0]) / _TALL)),
        "second platform": mesh.where(z=tuple(np.array(_PLATFORMS[1]) / _TALL)),
        "top": mesh.where(z=(mesh.bounds[1, 2] - 1.5 * brick, None)),
    }
    material = StVK(young=2e6, poisson=0.4, density=1100)
    return Solid(mesh, Embedding(mesh, skin), colors, places, material)


def _at(widths: ArrayLike, z: ArrayLike) -> Floats:
    """A smooth curve through widths at their heights."""
    from scipy.interpolate import PchipInterpolator  # slow to import

    return np.asarray(PchipInterpolator(_HEIGHTS, widths)(z))


_outer, _inner = partial(_at, _OUTER), partial(_at, _INNER)


def _quarters() -> Iterator[Painted]:
    """All parts: those of one side four times, turned about z, and those in the middle."""
    side = [*_leg(), *_arch(), *_spire_face()]
    for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        turn = np.array([(x, y, 0), (-y, x, 0), (0, 0, 1)], dtype=float)
        for surface, color in side:
            yield Surface(surface.vertices @ turn, surface.triangles), color
    yield from _platforms()
    yield from _top()


def _corners(z: float) -> list[tuple[float, float, float]]:
    """The four chords of the leg at x, y > 0, around it, at a height."""
    o, i = float(_outer(z)), float(_inner(z))
    return [(o, o, z), (o, i, z), (i, i, z), (i, o, z)]


def _leg() -> Iterator[Painted]:
    """Chords, and on each side of the leg between them posts across and crosses."""
    for stage in _STAGES:
        heights = np.linspace(stage[0] - 0.5, stage[-1] + 1.5, 13)
        for k in range(4):
            yield bar(np.array([_corners(z)[k] for z in heights]), (1.15, 1.15)), _IRON
        for z in stage[1:-1]:
            ring = _corners(z)
            yield from (_rod([ring[k], ring[(k + 1) % 4]], 0.6) for k in range(4))
        for low, high in pairwise(stage):
            a, b = _corners(low), _corners(high)
            for k in range(4):
                n = (k + 1) % 4
                yield _rod([a[k], b[n]], 0.5)
                if k in (0, 3):  # the sides that are seen from outside
                    yield _rod([a[n], b[k]], 0.5)
    low, high = float(_inner(0)) - 2.5, float(_outer(0)) + 2.5
    yield block((low, low, 0.0), (high, high, 2.3), bevel=0.6), _STONE


def _arch() -> Iterator[Painted]:
    """The arch on the side towards +y with the girder over it, both in the face of the legs."""
    turn = np.linspace(0.0, np.pi, 33)
    rims = []
    for radius in (37.5, 34.0):
        x, z = radius * np.cos(turn), 9.0 + radius * np.sin(turn)
        rims.append(np.stack([x, _outer(z) - 0.8, z], axis=1))
        yield rod(rims[-1], 1.0), _IRON
    for a, b in zip(rims[0][1:-1], rims[1][1:-1], strict=True):
        yield _rod([a, b], 0.4)
    level = 48.0
    reach, face = float(_inner(level)) + 1.0, float(_outer(level)) - 0.6
    yield _rod([(-reach, face, level), (reach, face, level)], 0.9)
    top = float(_outer(57.0)) - 0.6
    at = np.linspace(-reach, reach, 13)
    for k, (a, b) in enumerate(pairwise(at)):
        ends = (a, b) if k % 2 else (b, a)
        yield _rod([(ends[0], face, level), (ends[1], top, 57.0)], 0.45)


def _spire_face() -> Iterator[Painted]:
    """The side towards +y above the second platform, with the chord of one corner."""
    z = np.linspace(115.0, 277.0, 25)
    yield bar(np.stack([_outer(z), _outer(z), z], axis=1), (1.05, 1.05)), _IRON
    inner = np.linspace(115.0, 160.0, 9)
    for side in (-1, 1):
        chord = np.stack([side * _inner(inner), _outer(inner) - 0.2, inner], axis=1)
        yield rod(chord, 0.7), _IRON
    for height in _SPIRE[1:-1]:
        o = float(_outer(height))
        yield _rod([(-o, o, height), (o, o, height)], 0.55)
    for low, high in pairwise(_SPIRE):
        a, b = float(_outer(low)), float(_outer(high))
        for side in (-1, 1):
            yield _rod([(-side * a, a, low), (side * b, b, high)], 0.5)


def _platforms() -> Iterator[Painted]:
    for (low, high), outer, inner in zip(_PLATFORMS[:2], (37.5, 22.0), (17.0, 7.0), strict=True):
        wide, middle = outer - inner, 0.5 * (outer + inner)
        for turn in range(4):
            flip = 1 if turn < 2 else -1
            ends = [(-outer, middle - 0.5 * wide), (outer, middle + 0.5 * wide)]
            corners = np.array(ends)[:, :: 1 if turn % 2 else -1] * flip
            a, b = corners.min(axis=0), corners.max(axis=0)
            yield block((*a, low), (*b, high), bevel=0.7), _DARK
        rail = float(outer) - 1.2
        ring = [(-rail, -rail), (rail, -rail), (rail, rail), (-rail, rail), (-rail, -rail)]
        for a, b in pairwise(ring):
            yield _rod([(*a, high + 2.4), (*b, high + 2.4)], 0.35)
            for s in np.linspace(0, 1, 12)[:-1]:
                x, y = (1 - s) * np.array(a) + s * np.array(b)
                yield _rod([(x, y, high - 0.5), (x, y, high + 2.4)], 0.25)


def _top() -> Iterator[Painted]:
    """The third platform with its cabin, dome and mast."""
    yield block((-9.0, -9.0, _PLATFORMS[2][0]), (9.0, 9.0, _PLATFORMS[2][1]), bevel=0.8), _DARK
    yield block((-6.0, -6.0, 279.0), (6.0, 6.0, 287.0), bevel=0.8), _IRON
    turn = np.linspace(0.02, 0.5 * np.pi, 9)
    z = 286.5 + 9.0 * np.cos(turn)[::-1]
    yield rod([(0, 0, h) for h in z], 5.2 * np.sin(turn)[::-1], sides=16), _DARK
    mast = [(0, 0, z) for z in (292.0, 310.0, 311.0, _TALL)]
    yield rod(mast, (3.0, 2.6, 1.9, 1.0), sides=10), _IRON


def _rod(ends: ArrayLike, radius: float) -> Painted:
    return rod(ends, radius, sides=5), _IRON
