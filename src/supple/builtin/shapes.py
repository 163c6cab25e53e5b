"""Shapes told by their distance, negative inside, surfaces drawn where it is zero, and closed
surfaces drawn along a path: rods, bars, blocks and whatever has rings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from supple.core.types import Floats, Ints
from supple.mesh import Surface

_CHAMFER = 0.14  # of half the width of a bar: how much its corners are cut
_FAR = 0.02  # [m] farther away than this only that it is far is told
_INSIDE = 0.45  # how much darker the inside of an open end is
# The open end, from the outside over the lip to the bottom of the bore, in radii: along, across.
_MOUTH = (
    (-1.5, 0.80), (-1.15, 0.98), (-0.45, 1.02), (-0.25, 1.07), (-0.06, 1.07), (0.0, 1.0),
    (0.0, 0.80), (-0.06, 0.73), (-0.25, 0.70), (-0.30, 0.70), (-0.75, 0.68),
)  # fmt: skip
_SIDES, _DARK_RINGS = 20, 3


@dataclass(frozen=True)
class Ellipsoid:
    """``radii`` [m] along its axes, turned about y by ``lean`` and about x by ``nod`` [degrees]."""

    centre: tuple[float, float, float]
    radii: tuple[float, float, float]
    lean: float = 0.0
    nod: float = 0.0

    @property
    def turn(self) -> Rotation:
        return Rotation.from_euler("yx", [self.lean, self.nod], degrees=True)

    def distance(self, places: Floats) -> Floats:
        """Roughly the distance from its surface [m], negative inside."""
        local = self.turn.inv().apply(places - np.array(self.centre))
        radii = np.array(self.radii)
        near = np.linalg.norm(local / radii, axis=1)
        steep = np.linalg.norm(local / radii**2, axis=1)
        return np.asarray(near * (near - 1.0) / np.maximum(steep, 1e-9))

    def mirrored(self) -> Ellipsoid:
        x, y, z = self.centre
        return Ellipsoid((-x, y, z), self.radii, -self.lean, self.nod)


def melted(distances: Iterable[Floats], blend: float) -> Floats:
    """The distance from all shapes together, softened over ``blend`` [m] where they meet."""
    first, *others = distances
    whole = first
    for other in others:
        mix = np.maximum(blend - np.abs(whole - other), 0.0) / blend
        whole = np.minimum(whole, other) - 0.25 * blend * mix**2
    return whole


def icosphere(shape: Ellipsoid) -> Surface:
    """The ellipsoid's surface as 320 triangles."""
    ball = _ball()
    points = shape.turn.apply(ball.vertices * shape.radii) + np.array(shape.centre)
    return Surface(points, ball.triangles)


@cache
def _ball() -> Surface:
    """The unit sphere: an icosahedron whose triangles are cut into four, twice.

    Trimesh has it too, but takes longer to import than all of a creature to be made.
    """
    golden = (1 + np.sqrt(5)) / 2
    signs = np.array([(a, b) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]) * np.array([1.0, golden])
    flat = np.concatenate([np.zeros((4, 1)), signs], axis=1)
    points = np.concatenate([np.roll(flat, k, axis=1) for k in range(3)])
    away = np.linalg.norm(points[:, None] - points, axis=2)
    near = np.abs(away - 2.0) < 0.1  # the length of its edges
    triangles = np.array([t for t in combinations(range(12), 3) if near[t, np.roll(t, 1)].all()])
    outward = np.linalg.det(points[triangles]) > 0
    triangles = np.where(outward[:, None], triangles, triangles[:, ::-1])
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    for _ in range(2):
        ends = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1), axis=-1)
        edges, place = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True)
        a, b, c = triangles.T
        ab, bc, ca = len(points) + place.reshape(-1, 3).T
        quarters = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = np.concatenate([np.stack(each, axis=1) for each in quarters])
        middles = points[edges].mean(axis=1)
        middles /= np.linalg.norm(middles, axis=1, keepdims=True)
        points = np.concatenate([points, middles])
    return Surface(points, triangles)


def joined(parts: list[Surface]) -> Surface:
    """All surfaces as one."""
    starts = np.cumsum([0] + [part.n_vertices for part in parts[:-1]])
    triangles = [part.triangles + start for part, start in zip(parts, starts, strict=True)]
    return Surface(np.concatenate([p.vertices for p in parts]), np.concatenate(triangles))


Painted = tuple[Surface, ArrayLike]
"""With its colour, red, green and blue, (3,), or those of its vertices, (n, 3)."""


def painted(parts: Iterable[Painted]) -> tuple[Surface, Floats]:
    """All surfaces as one, with the colours of its vertices (n, 3)."""
    every = list(parts)
    colors = [np.broadcast_to(color, (surface.n_vertices, 3)) for surface, color in every]
    return joined([surface for surface, _ in every]), np.concatenate(colors)


def mixed(colors: ArrayLike, share: Floats, color: ArrayLike) -> Floats:
    """Colours with a ``share`` (n,) of another one laid over them, (n, 3)."""
    s = np.clip(share, 0.0, 1.0)[:, None]
    return np.asarray((1 - s) * np.asarray(colors) + s * np.asarray(color))


def net_surface(
    distance: Callable[[Floats], Floats], low: Floats, high: Floats, edge: float
) -> Surface:
    """The surface distance = 0 by surface nets: one vertex in each grid cell that it crosses."""
    counts = np.ceil((high - low) / edge).astype(np.int64)
    start = 0.5 * (low + high - edge * counts)  # centred, so that a mirror image stays one
    axes = [start[a] + edge * np.arange(counts[a] + 1) for a in range(3)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    value = distance(nodes.reshape(-1, 3)).reshape(nodes.shape[:3])
    inside = value < 0
    sums, hits = np.zeros((*counts, 3)), np.zeros(counts)
    crossed: list[tuple[int, Ints]] = []
    for axis in range(3):
        first, last = (_cut(axis, s) for s in (slice(None, -1), slice(1, None)))
        edges = np.argwhere(inside[first] != inside[last])
        a, b = value[first][tuple(edges.T)], value[last][tuple(edges.T)]
        points = nodes[first][tuple(edges.T)]
        points[:, axis] += edge * a / (a - b)
        b1, b2 = (axis + 1) % 3, (axis + 2) % 3
        around = np.repeat(edges[:, None], 4, axis=1)  # the four cells that share the edge
        around[:, [0, 3], b1] -= 1
        around[:, [0, 1], b2] -= 1
        for corner in range(4):
            np.add.at(sums, tuple(around[:, corner].T), points)
            np.add.at(hits, tuple(around[:, corner].T), 1.0)
        flat = np.ravel_multi_index(tuple(np.moveaxis(around, -1, 0)), tuple(counts))
        outward = inside[first][tuple(edges.T)]
        flat[~outward] = flat[~outward][:, ::-1]
        crossed.append((axis, flat.astype(np.int64)))
    quads = np.concatenate([flat for _, flat in crossed])
    kept, local = np.unique(quads, return_inverse=True)
    vertices = (sums.reshape(-1, 3)[kept]) / hits.reshape(-1)[kept, None]
    corners = local.reshape(-1, 4)
    for _ in range(3):  # ironing: each vertex halfway to the mean of its neighbours
        total, count = np.zeros_like(vertices), np.zeros((len(vertices), 1))
        for k in range(4):
            for other in (corners[:, (k + 1) % 4], corners[:, k - 1]):
                np.add.at(total, corners[:, k], vertices[other])
                np.add.at(count, corners[:, k], 1.0)
        vertices = 0.5 * (vertices + total / count)
    for _ in range(2):  # and back onto the surface
        ahead = [distance(vertices + step) for step in 1e-5 * np.eye(3)]
        behind = [distance(vertices - step) for step in 1e-5 * np.eye(3)]
        slope = (np.array(ahead) - np.array(behind)).T / 2e-5
        steepness = np.maximum((slope**2).sum(axis=1), 0.1)
        vertices = vertices - (distance(vertices) / steepness)[:, None] * slope
    triangles = corners[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    return Surface(vertices, triangles.astype(np.int64))


def _cut(axis: int, part: slice) -> tuple[slice, ...]:
    return tuple(part if a == axis else slice(None) for a in range(3))


def loft(rings: ArrayLike) -> Surface:
    """A closed surface through rings of points (k, m, 3) [m], each end closed around its middle."""
    points = np.asarray(rings, dtype=np.float64)
    k, m, _ = points.shape
    vertices = np.concatenate([points.reshape(-1, 3), points[[0, -1]].mean(axis=1)])
    here = np.arange(m)
    there = (here + 1) % m
    start = m * np.arange(k - 1)[:, None]
    sides = np.stack([start + here, start + there, start + m + there, start + m + here], axis=-1)
    first, last = k * m, (k - 1) * m
    ends = np.concatenate(
        [
            np.stack([np.full(m, first), there, here], axis=1),
            np.stack([np.full(m, first + 1), last + here, last + there], axis=1),
        ]
    )
    triangles: Ints = np.concatenate([sides[..., [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3), ends])
    made = Surface(vertices, triangles)
    return made if made.volume > 0 else Surface(vertices, triangles[:, ::-1])


def rod(path: ArrayLike, radius: ArrayLike, *, sides: int = 6) -> Surface:
    """A round rod along a path (k, 3) [m], of one ``radius`` [m] or of one a point, (k,)."""
    turn = 2 * np.pi * (np.arange(sides) + 0.5) / sides
    outline = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return _swept(path, np.asarray(radius, dtype=np.float64)[..., None], outline, None)


def bar(path: ArrayLike, half: ArrayLike, *, up: ArrayLike | None = None) -> Surface:
    """A bar along a path (k, 3) [m] with chamfered edges.

    ``half`` of its width and of its height [m], (2,) or, where they change, (k, 2); its height is
    measured along ``up``.
    """
    c = 1.0 - _CHAMFER
    outline = np.array([(1, -c), (1, c), (c, 1), (-c, 1), (-1, c), (-1, -c), (-c, -1), (c, -1)])
    return _swept(path, np.asarray(half, dtype=np.float64), outline, up)


def block(low: ArrayLike, high: ArrayLike, *, bevel: float) -> Surface:
    """A box between two corners [m] whose ends at the bottom and the top are bevelled."""
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    x, y, _ = 0.5 * (low + high)
    levels = [low[2], low[2] + bevel, high[2] - bevel, high[2]]
    half = np.tile(0.5 * (high - low)[:2], (4, 1))
    half[[0, 3]] -= bevel
    return bar([(x, y, z) for z in levels], half, up=(0, 1, 0))


def _swept(path: ArrayLike, half: Floats, outline: Floats, up: ArrayLike | None) -> Surface:
    """``outline`` (m, 2), stretched by ``half``, drawn along the path."""
    points = np.asarray(path, dtype=np.float64)
    along = np.gradient(points, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    if up is None:  # the axis that the path follows least
        up = np.eye(3)[np.argmin(np.abs(along).max(axis=0))]
    side = np.cross(along, np.asarray(up, dtype=np.float64))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    over = np.cross(side, along)
    half = np.broadcast_to(half, (len(points), 2))
    wide = outline[None, :, 0] * half[:, :1]
    tall = outline[None, :, 1] * half[:, 1:]
    return loft(points[:, None] + wide[..., None] * side[:, None] + tall[..., None] * over[:, None])


@dataclass(frozen=True)
class Vessel:
    """A round vessel through points [m], of a ``radius`` [m], cut open at its last point."""

    points: tuple[tuple[float, float, float], ...]
    radius: float
    color: tuple[float, float, float]

    @cached_property
    def path(self) -> Floats:
        """A smooth curve through the points [m], (k, 3)."""
        from scipy.interpolate import make_interp_spline  # slow to import

        s = np.linspace(0.0, 1.0, len(self.points))
        curve = make_interp_spline(s, np.array(self.points), k=min(3, len(s) - 1))
        return np.asarray(curve(np.linspace(0.0, 1.0, 4 * len(s) - 7 if len(s) > 2 else 2)))

    @property
    def end(self) -> Floats:
        """Where it is cut [m]."""
        return np.array(self.points[-1])

    @cached_property
    def direction(self) -> Floats:
        """The unit vector that points out of its open end."""
        last = self.path[-1] - self.path[-2]
        return np.asarray(last / np.linalg.norm(last))

    def distance(self, places: Floats) -> Floats:
        """Distance from its outside [m], but for the open end, which is drawn by itself."""
        path = self.path
        low, high = path.min(axis=0) - self.radius - _FAR, path.max(axis=0) + self.radius + _FAR
        near = np.flatnonzero(((places > low) & (places < high)).all(axis=1))
        away = np.full(len(places), _FAR)
        x = places[near]
        tubes = np.sqrt([_square(x, a, b) for a, b in pairwise(path)]) - self.radius
        # The tube ends short of the cut, below the bottom of the bore.
        last = np.linalg.norm(path[:-1] - self.end, axis=1) < 3 * self.radius
        last[-1] = True
        tubes[last] = np.maximum(tubes[last], (x - self.end) @ self.direction + self.radius)
        away[near] = tubes.min(axis=0)
        return away

    @property
    def mouth(self) -> Surface:
        """Its open end: a collar, closed at the bottom of the bore."""
        along, across = self.radius * np.array(_MOUTH).T[..., None, None]
        up = np.eye(3)[np.argmin(np.abs(self.direction))]
        side = np.cross(self.direction, up) / np.linalg.norm(np.cross(self.direction, up))
        over = np.cross(side, self.direction)
        turn = 2 * np.pi * np.arange(_SIDES)[:, None] / _SIDES
        ring = np.cos(turn) * side + np.sin(turn) * over
        return loft(self.end + along * self.direction + across * ring)

    @property
    def mouth_colors(self) -> Floats:
        """Colours of the vertices of its open end, dark inside."""
        light = np.ones(len(_MOUTH))
        light[-_DARK_RINGS:] = _INSIDE
        shades = np.concatenate([np.repeat(light, _SIDES), [1.0, _INSIDE]])
        return np.asarray(shades[:, None] * np.array(self.color))


def _square(places: Floats, a: Floats, b: Floats) -> Floats:
    """Square of the distance from the segment between two points [m²]."""
    s = np.clip((places - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    away = places - a - s[:, None] * (b - a)
    return np.asarray(np.einsum("pi,pi->p", away, away))
