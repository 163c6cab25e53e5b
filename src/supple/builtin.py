"""Bodies made by code, to try things on: a soft creature and a beam."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from supple.errors import InputError
from supple.mesh import Embedding, HexMesh, Surface, TetMesh, VolumeMesh
from supple.types import Floats, Ints

_SKIN_EDGE = 0.0075  # [m] grid on which the creature's skin is drawn
_BLEND = 0.022  # [m] how softly two of its ellipsoids run into one another


@dataclass(frozen=True, eq=False)
class Solid:
    """A solid with what to draw of it, and where it is natural to hold or push it.

    ``mesh`` the solid, with regions; ``skin`` a surface to draw instead of its boundary, or None;
    ``colors`` of the skin's vertices, red, green and blue in 0…1, (s, 3), or None; ``places``
    named sets of vertices.
    """

    mesh: VolumeMesh
    skin: Embedding | None = None
    colors: Floats | None = None
    places: Mapping[str, Ints] = field(default_factory=dict)


@dataclass(frozen=True)
class _Ellipsoid:
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
        away: Floats = near * (near - 1.0) / np.maximum(steep, 1e-9)
        return away

    def mirrored(self) -> _Ellipsoid:
        x, y, z = self.centre
        return _Ellipsoid((-x, y, z), self.radii, -self.lean, self.nod)


# The creature looks towards −y and stands on z = 0; it is 0.43 m tall, ears included.
_BELLY = _Ellipsoid((0.0, -0.030, 0.100), (0.086, 0.080, 0.082))
_EAR = _Ellipsoid((0.062, 0.006, 0.345), (0.030, 0.022, 0.088), lean=20.0, nod=-6.0)
_HEAD = _Ellipsoid((0.0, -0.014, 0.245), (0.088, 0.078, 0.070))
_EARS = (_EAR, _EAR.mirrored())
_FOOT = _Ellipsoid((0.060, -0.062, 0.026), (0.040, 0.060, 0.028))
_ARM = _Ellipsoid((0.098, -0.040, 0.148), (0.026, 0.028, 0.052), lean=-38.0, nod=-24.0)
_BODY = (
    _Ellipsoid((0.0, 0.0, 0.105), (0.100, 0.088, 0.105)),
    _BELLY,
    _HEAD,
    _Ellipsoid((0.0, -0.078, 0.228), (0.040, 0.028, 0.028)),
    _Ellipsoid((0.0, 0.094, 0.062), (0.036, 0.034, 0.036)),
    *_EARS,
    *(part for limb in (_FOOT, _ARM) for part in (limb, limb.mirrored())),
)
_EYE = _Ellipsoid((0.034, -0.0795, 0.262), (0.0115, 0.0075, 0.0145), lean=0.0, nod=12.0)
_GLINT = _Ellipsoid((0.037, -0.0856, 0.2675), (0.0036, 0.0024, 0.0036))
_NOSE = _Ellipsoid((0.0, -0.105, 0.238), (0.0125, 0.0085, 0.0085))

_FUR, _PALE, _ROSE = (0.87, 0.62, 0.46), (0.98, 0.89, 0.77), (0.95, 0.66, 0.62)
_DARK, _WHITE = (0.14, 0.11, 0.13), (1.0, 1.0, 1.0)


def creature(*, resolution: int = 24) -> Solid:
    """A soft creature 0.43 m tall: round belly, head, two floppy ears.

    Bricks, ``resolution`` of them over its height, with the regions "ears", "belly" and "rest",
    and a smooth skin. Places: "feet", what it stands on, "head" and "ear tips".
    """
    if isinstance(resolution, bool) or not 16 <= resolution <= 120:
        raise InputError(f"resolution={resolution}: give 16 to 120 bricks over its height")
    low, high = np.array([-0.16, -0.17, -0.02]), np.array([0.16, 0.16, 0.46])
    smooth = _surface(_blended, low, high, _SKIN_EDGE)
    mesh = HexMesh.voxelize(smooth, resolution)
    middle = mesh.centroids
    ears = (np.min([ear.distance(middle) for ear in _EARS], axis=0) < 0.006) & (
        _HEAD.distance(middle) > 0.004
    )
    belly = (_BELLY.distance(middle) < 0.0) & ~ears
    for name, cells in (("ears", ears), ("belly", belly), ("rest", ~(ears | belly))):
        mesh = mesh.with_region(name, cells)
    face = [_EYE, _EYE.mirrored(), _GLINT, _GLINT.mirrored(), _NOSE]
    features = [_icosphere(part) for part in face]
    paints = [_DARK, _DARK, _WHITE, _WHITE, _DARK]
    skin = _joined([smooth, *features])
    colors = np.concatenate(
        [_fur(smooth.vertices)]
        + [np.tile(c, (f.n_vertices, 1)) for c, f in zip(paints, features, strict=True)]
    )
    brick = float(np.ptp(mesh.vertices[mesh.cells[0], 2]))
    top = mesh.bounds[1, 2]
    places = {
        "feet": mesh.where(z=(None, mesh.bounds[0, 2] + 0.5 * brick)),
        "head": mesh.where(inside=lambda x: np.asarray(_HEAD.distance(x) < 0)),
        "ear tips": mesh.where(z=(top - 1.5 * brick, None)),
    }
    return Solid(mesh, Embedding(mesh, skin), colors, places)


def beam(*, resolution: int = 20) -> Solid:
    """A beam of 1 × 0.2 × 0.2 m along x, of tets, with ``resolution`` bricks along it.

    Places: "root", the end at x = 0, and "tip", the other one.
    """
    if isinstance(resolution, bool) or not 1 <= resolution <= 200:
        raise InputError(f"resolution={resolution}: give 1 to 200 bricks along the beam")
    across = max(1, round(resolution / 5))
    mesh = TetMesh.box(size=(1.0, 0.2, 0.2), cells=(resolution, across, across))
    return Solid(mesh, places={"root": mesh.where(x=0), "tip": mesh.where(x=1)})


BUILTINS: dict[str, Callable[..., Solid]] = {"beam": beam, "creature": creature}
"""Every built-in body by the name that scene files give it."""


def _blended(places: Floats) -> Floats:
    """Distance from all ellipsoids, melted together where they meet; the same left and right."""
    places = np.abs(places[:, :1]) * np.array([1.0, 0.0, 0.0]) + places * np.array([0.0, 1.0, 1.0])
    whole = _BODY[0].distance(places)
    for part in _BODY[1:]:
        other = part.distance(places)
        mix = np.maximum(_BLEND - np.abs(whole - other), 0.0) / _BLEND
        whole = np.minimum(whole, other) - 0.25 * _BLEND * mix**2
    return whole


def _fur(places: Floats) -> Floats:
    """Colours: pale belly, muzzle and tail, rosy inside of the ears."""

    def blend(share: Floats, color: tuple[float, float, float], onto: Floats) -> Floats:
        s = np.clip(share, 0.0, 1.0)[:, None]
        s = s * s * (3 - 2 * s)
        mixed: Floats = (1 - s) * onto + s * np.array(color)
        return mixed

    x, y, z = places.T
    colors = np.tile(np.array(_FUR), (len(places), 1))
    patch = _Ellipsoid((0.0, -0.115, 0.100), (0.062, 0.07, 0.062)).distance(places)
    muzzle = _Ellipsoid((0.0, -0.09, 0.224), (0.045, 0.035, 0.030)).distance(places)
    tail = _Ellipsoid((0.0, 0.125, 0.062), (0.04, 0.035, 0.04)).distance(places)
    for where in (patch, muzzle, tail):
        colors = blend(0.5 - where / 0.010, _PALE, colors)
    for side in (1, -1):
        cheek = np.sqrt((x - side * 0.060) ** 2 + (y + 0.078) ** 2 + (z - 0.228) ** 2)
        colors = blend(0.75 * (1.4 - cheek / 0.017), _ROSE, colors)
        inner = _Ellipsoid((side * 0.064, -0.025, 0.352), (0.019, 0.022, 0.066), side * 20.0, -6.0)
        colors = blend(0.5 - inner.distance(places) / 0.006, _ROSE, colors)
    return colors


def _icosphere(shape: _Ellipsoid) -> Surface:
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=2)
    points = shape.turn.apply(np.asarray(ball.vertices) * shape.radii) + np.array(shape.centre)
    return Surface(points, np.asarray(ball.faces, dtype=np.int64))


def _joined(parts: list[Surface]) -> Surface:
    starts = np.cumsum([0] + [part.n_vertices for part in parts[:-1]])
    triangles = [part.triangles + start for part, start in zip(parts, starts, strict=True)]
    return Surface(np.concatenate([p.vertices for p in parts]), np.concatenate(triangles))


def _surface(
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
