"""A soft suspension bridge."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.builtin.shapes import Painted, bar, block, painted, rod
from supple.builtin.solid import Solid, checked_resolution, with_regions
from supple.core.types import Floats
from supple.materials import StVK
from supple.mesh import Embedding, HexMesh

# Lengths [m]. The bridge spans along x; its road is level with z = 0 at the ends. By default a
# brick is 0.01 m, and cables, hangers and pylons are placed so that they fill rows of bricks.
_LENGTH, _HALF_WIDTH = 1.28, 0.055
_PYLON = 0.36  # where the pylons stand, |x|
_TOP, _FOOT = 0.26, -0.14  # of the pylons
_CAMBER = 0.030  # how much higher the road is in the middle
_SAG = 0.058  # height of the cable above z = 0 in the middle
_CABLE = 0.060  # |y| of the cables, hangers and railings
_LEG = 0.065  # |y| of the pylons' legs
_RAIL = 0.021  # height of the railing above the road
_POSTS = np.arange(0.015, 0.63, 0.03)  # where the railing has posts, |x|
_HANGERS = np.arange(0.045, 0.60, 0.06)  # where the hangers are, |x|
_ORANGE, _ROAD, _STONE = (0.80, 0.29, 0.19), (0.40, 0.42, 0.45), (0.74, 0.70, 0.64)
_CREAM = (0.93, 0.86, 0.72)


def bridge(*, resolution: int = 128) -> Solid:
    """A soft suspension bridge 1.28 m long along x: deck, railings, cables and two pylons.

    Bricks, ``resolution`` of them along it, with the regions "pylons", "cables" (and hangers),
    "railings", "abutments" and "deck". Places: "ground", the outer faces of the abutments and the
    feet of the pylons, "abutments", "pylon feet", "deck middle" and "pylon tops". Its material is
    a soft rubber, StVK(young=2e6, poisson=0.4, density=1100): held by the ground it swings at
    about 3.5 Hz.
    """
    checked_resolution(resolution, 60, 400, "along it")
    skin, colors = painted([*_deck(), *_railings(), *_cables(), *_pylons(), *_abutments()])
    mesh = HexMesh.voxelize(skin, resolution)
    brick = _LENGTH / resolution
    x, y = np.abs(mesh.centroids[:, 0]), np.abs(mesh.centroids[:, 1])
    above = mesh.centroids[:, 2] - _road(x)
    regions = {
        "pylons": (np.abs(x - _PYLON) < 0.012 + brick)
        & ((y > _CABLE + 0.5 * brick) | (np.abs(above) > 0.03)),
        "cables": above > _RAIL + brick,
        "railings": above > 0.5 * brick,
        "abutments": x > 0.5 * _LENGTH - 0.03,
    }
    mesh = with_regions(mesh, regions, rest="deck")
    ends = [mesh.where(x=mesh.bounds[k, 0]) for k in (0, 1)]
    feet = mesh.where(z=mesh.bounds[0, 2])
    places = {
        "ground": np.unique(np.concatenate([*ends, feet])),
        "abutments": np.concatenate(ends),
        "pylon feet": feet,
        "deck middle": mesh.where(
            x=(-2 * brick, 2 * brick), z=(None, _CAMBER + brick), y=(-_HALF_WIDTH, _HALF_WIDTH)
        ),
        "pylon tops": mesh.where(z=(mesh.bounds[1, 2] - 0.5 * brick, None)),
    }
    material = StVK(young=2e6, poisson=0.4, density=1100)
    return Solid(mesh, Embedding(mesh, skin), colors, places, material)


def _road(x: Floats) -> Floats:
    """Height of the road [m]."""
    return np.asarray(_CAMBER * (1 - (2 * x / _LENGTH) ** 2))


def _cable(x: Floats) -> Floats:
    """Height of the main cable [m]: a parabola between the pylons, a slack line to the ends."""
    top = _TOP - 0.008
    span = _SAG + (top - _SAG) * (x / _PYLON) ** 2
    s = (np.abs(x) - _PYLON) / (0.5 * _LENGTH - 0.02 - _PYLON)
    side = top + (0.004 - top) * s - 0.045 * s * (1 - s)
    return np.asarray(np.where(np.abs(x) < _PYLON, span, side))


def _along(x: Floats, y: float | Floats, z: Floats) -> Floats:
    """A path through points with these coordinates [m], (k, 3)."""
    return np.stack(np.broadcast_arrays(x, y, z), axis=1)


def _pairs(x: Floats) -> Floats:
    """Each place, and its mirror image, twice: where a member that stands across x ends."""
    return np.repeat(np.concatenate([-x[::-1], x]), 2).reshape(-1, 2)


def _deck() -> Iterator[Painted]:
    x = np.linspace(-0.499, 0.499, 129) * _LENGTH
    up = (0, 0, 1)
    yield bar(_along(x, 0.0, _road(x) - 0.004), (_HALF_WIDTH, 0.004), up=up), _ROAD
    for side in (-_CABLE, _CABLE):
        yield bar(_along(x, side, _road(x) - 0.006), (0.0048, 0.0085), up=up), _ORANGE
    for at in _pairs(_HANGERS):
        beam = _along(at, np.array([-_CABLE, _CABLE]), _road(at) - 0.0095)
        yield bar(beam, (0.004, 0.0045), up=up), _ORANGE
    for at in _pairs(_POSTS):  # the line along the middle
        dash = at + np.array([-0.008, 0.008])
        yield bar(_along(dash, 0.0, _road(dash)), (0.0016, 0.0006), up=up), _CREAM


def _railings() -> Iterator[Painted]:
    x = np.linspace(-0.499, 0.499, 129) * _LENGTH
    for side in (-_CABLE, _CABLE):
        yield rod(_along(x, side, _road(x) + _RAIL), 0.0022, sides=8), _ORANGE
        for share in (0.35, 0.67):
            yield rod(_along(x, side, _road(x) + share * _RAIL), 0.0008), _ORANGE
        for at in _pairs(_POSTS):
            post = _along(at, side, _road(at) + np.array([0.0, _RAIL]))
            yield bar(post, (0.0015, 0.0015), up=(0, 1, 0)), _ORANGE


def _cables() -> Iterator[Painted]:
    middle = np.linspace(-_PYLON, _PYLON, 73)
    outer = np.linspace(_PYLON, 0.5 * _LENGTH - 0.02, 29)
    for side in (-_CABLE, _CABLE):
        for x in (middle, outer, -outer):
            yield rod(_along(x, side, _cable(x)), 0.0042, sides=8), _ORANGE
        for at in _pairs(_HANGERS):
            z = np.array([_road(at)[0], _cable(at)[1]])
            if z[1] > z[0] + _RAIL:
                yield rod(_along(at, side, z), 0.0014), _ORANGE


def _pylons() -> Iterator[Painted]:
    levels = [_FOOT, _FOOT + 0.010, _FOOT + 0.012, 0.0, _TOP - 0.011, _TOP - 0.010, _TOP - 0.002]
    half = [0.0145, 0.0140, 0.0095, 0.0092, 0.0085, 0.0105, 0.0105, 0.0085]
    for x in (-_PYLON, _PYLON):
        for side in (-_LEG, _LEG):
            leg = bar([(x, side, z) for z in [*levels, _TOP]], np.repeat(half, 2).reshape(-1, 2))
            yield leg, _ORANGE
        for z, tall in ((-0.025, 0.009), (0.115, 0.008), (0.185, 0.008), (_TOP - 0.025, 0.009)):
            across = [(x, side, z) for side in (-_LEG, _LEG)]
            yield bar(across, (0.0065, tall), up=(0, 0, 1)), _ORANGE
        for a, b in ((_LEG, -_LEG), (-_LEG, _LEG)):
            brace = [(x, a, _FOOT + 0.012), (x, b, -0.030)]
            yield bar(brace, (0.0040, 0.0040), up=(1, 0, 0)), _ORANGE


def _abutments() -> Iterator[Painted]:
    for low in (-0.5 * _LENGTH, 0.5 * _LENGTH - 0.03):
        yield block((low, -0.085, -0.050), (low + 0.03, 0.085, -0.001), bevel=0.003), _STONE
