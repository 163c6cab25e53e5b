"""Triangle meshes: anything else, rigid or changing its shape."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.contact.obstacles.base import ANYWHERE, OBSTACLES, Obstacle, Touch, points_of
from supple.contact.obstacles.triangle_tree import TriangleTree, without_flat
from supple.core.checks import instance, numbers
from supple.core.errors import InputError
from supple.core.parameters import Kind, Parameter, described, parameter
from supple.core.types import Floats, Ints
from supple.mesh.files.surfaces import read_surface
from supple.mesh.surface import Surface
from supple.mesh.triangle_boxes import halved

_KEPT = 4  # times whose trees are kept: those of a step and of the next


def _surface(of: Parameter, value: Any) -> Surface:
    found = read_surface(value) if isinstance(value, str | os.PathLike) else value
    instance(of.name, found, Surface, 'read_surface("bowl.obj"), or a path')
    assert isinstance(found, Surface)
    return found


SURFACE = Kind("a surface", _surface)


@OBSTACLES.register(name="mesh")
@dataclass(frozen=True, eq=False, kw_only=True)
class MeshObstacle(Obstacle):
    """Triangles: ``mesh`` is a Surface or the path of a file with one, in metres.

    Bodies stay on the side from which the triangles are counter-clockwise, or on the other if
    ``hollow``, as in a bowl whose triangles face out. A closed mesh should not cut through itself.
    An open sheet is an obstacle from one side: behind it is inside, however deep; beside it, where
    its rim is the nearest, is outside all around.

    Distances are exact, to the nearest place on the triangles themselves. With a cutoff, most
    points that are well away from a closed mesh are cheap.
    """

    mesh: Surface | str | os.PathLike[str] = field(
        kw_only=False, metadata=described("a Surface, or a file with one", kind=SURFACE, unit="m")
    )
    hollow: bool = parameter(False, "the body stays on the other side")
    _tree: TriangleTree = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.mesh, Surface)
        object.__setattr__(self, "_tree", TriangleTree.of(self._facing(self.mesh)))

    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        return self._tree.distances(points, float(within))

    def _drawn(self, extent: float, about: Floats) -> Surface:
        assert isinstance(self.mesh, Surface)
        return self._facing(self.mesh)

    def _facing(self, mesh: Surface) -> Surface:
        """The mesh with its triangles turned towards the bodies."""
        return Surface(mesh.vertices, mesh.triangles[:, ::-1]) if self.hollow else mesh


@dataclass(frozen=True, eq=False)
class _Moment:
    """The surface at one time: its tree, and corners and their velocities in the tree's order."""

    tree: TriangleTree
    velocities: Floats
    """(t, 3, 3) [m/s]"""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnimatedMesh(Obstacle):
    """Triangles (t, 3) whose vertices are at ``positions`` (T, n, 3) [m] at ``times`` (T,) [s].

    Between these times vertices go along cubics with the velocities that the neighbouring times
    suggest; before and after, they rest. As with MeshObstacle, bodies stay on the side from which
    triangles are counter-clockwise. Vertices at the same place at the first time count as one.
    ``margin`` [m] keeps bodies that far off: its normals turn smoothly where those of the triangles
    jump, on which thin cloth settles better, and hides that cloth meets it with vertices alone.
    """

    triangles: ArrayLike
    times: ArrayLike
    positions: ArrayLike
    margin: float = parameter(0.0, "keeps bodies that far off", unit="m", at_least=0)
    _surface: Surface = field(init=False, repr=False)
    _kept_vertices: Ints = field(init=False, repr=False)
    _arrangement: tuple[Ints, Ints] = field(init=False, repr=False)
    _closed: bool = field(init=False, repr=False)
    _rates: Floats = field(init=False, repr=False)
    _moments: dict[float, _Moment] = field(init=False, repr=False, default_factory=dict)

    @property
    def meets_vertices_alone(self) -> bool:
        return True  # skins are fine, and a search in ten thousand moving triangles is slow

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.motion is not None:
            raise InputError("motion= is for rigid obstacles; give positions= that move as wanted")
        times, positions = numbers("times", self.times), numbers("positions", self.positions)
        if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
            raise InputError("times must be two or more, each later than the one before")
        if positions.ndim != 3 or positions.shape[::2] != (len(times), 3):
            raise InputError(
                f"positions have shape {positions.shape} for {len(times)} times; give (T, n, 3)"
            )
        rest = Surface(positions[0], np.asarray(self.triangles))
        whole, merged = rest.welded()
        kept = np.unique(merged, return_index=True)[1]  # for each welded vertex, one that is there
        joined = without_flat(whole)
        values = {
            "triangles": rest.triangles,
            "times": times,
            "positions": positions,
            "_surface": joined,
            "_kept_vertices": kept,
            "_arrangement": halved(joined),
            "_closed": whole.is_closed,
            "_rates": np.gradient(positions, times, axis=0),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def moves(self) -> bool:
        return True

    def vertices_at(self, time: float) -> tuple[Floats, Floats]:
        """Where the vertices are at ``time`` [s] and how fast, (n, 3) [m] and [m/s]."""
        times, x = np.asarray(self.times), np.asarray(self.positions)
        if not times[0] <= time <= times[-1]:
            end = 0 if time < times[0] else -1
            return x[end].copy(), np.zeros_like(x[end])
        i = min(int(np.searchsorted(times, time, side="right")) - 1, len(times) - 2)
        h = times[i + 1] - times[i]
        s = (time - times[i]) / h
        a, b = x[i], x[i + 1]
        m, n = h * self._rates[i], h * self._rates[i + 1]
        c, d = 3 * (b - a) - 2 * m - n, 2 * (a - b) + m + n
        return a + s * (m + s * (c + s * d)), (m + s * (2 * c + 3 * s * d)) / h

    def at(self, points: ArrayLike, time: float, *, within: float = ANYWHERE) -> Touch:
        x = points_of(points)
        moment = self._moment(float(time))
        distance, normal, triangle = moment.tree.nearest(x, float(within) + self.margin)
        velocity = np.zeros_like(x)
        found = np.flatnonzero(triangle >= 0)
        corners = moment.tree.corners[triangle[found]]
        place = x[found] - distance[found, None] * normal[found]
        shares = _shares(corners, place)
        velocity[found] = np.einsum("ka,kai->ki", shares, moment.velocities[triangle[found]])
        return Touch(distance - self.margin, normal, velocity)

    def carried(self, points: ArrayLike, time: float) -> Callable[[float], Floats]:
        """Where points (k, 3) [m] go that are tied to the surface at ``time`` [s].

        Each keeps its place on the nearest triangle, and its distance from it, for a Support:
        buttons, belts, the waist of a skirt.
        """
        x = points_of(points)
        distance, normal, nearest = self._moment(float(time)).tree.nearest(x, ANYWHERE)
        triangles = self._surface.triangles[self._arrangement[0][nearest]]
        place = x - distance[:, None] * normal
        corners = self.vertices_at(time)[0][self._kept_vertices][triangles]
        shares = _shares(corners, place)
        off = np.einsum("kai,ki->ka", _frames(corners), x - place)

        def at(now: float) -> Floats:
            there = self.vertices_at(now)[0][self._kept_vertices][triangles]
            tied = shares[..., None] * there + off[..., None] * _frames(there)
            total: Floats = tied.sum(axis=1)
            return total

        return at

    def surface(
        self, time: float = 0.0, extent: float = 2.0, *, about: ArrayLike = (0.0, 0.0, 0.0)
    ) -> Surface:
        return Surface(self.vertices_at(time)[0], np.asarray(self.triangles))

    def _moment(self, time: float) -> _Moment:
        found = self._moments.get(time)
        if found is None:
            order, starts = self._arrangement
            x, v = (field[self._kept_vertices] for field in self.vertices_at(time))
            surface = Surface(x, self._surface.triangles)
            tree = TriangleTree.arranged(surface, order, starts, closed=self._closed)
            found = _Moment(tree, v[self._surface.triangles[order]])
            if len(self._moments) >= _KEPT:
                del self._moments[next(iter(self._moments))]
            self._moments[time] = found
        return found

    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        touch = self.at(points, float(np.asarray(self.times)[0]), within=within)
        return touch.distance, touch.normal

    def _drawn(self, extent: float, about: Floats) -> Surface:
        return self.surface(float(np.asarray(self.times)[0]))


def _frames(corners: Floats) -> Floats:
    """Along the first edge of triangles (k, 3, 3), across it and along the normal, (k, 3, 3)."""
    edge = corners[:, 1] - corners[:, 0]
    normal = np.cross(edge, corners[:, 2] - corners[:, 0])
    axes = np.stack([edge, np.cross(normal, edge), normal], axis=1)
    unit: Floats = axes / np.linalg.norm(axes, axis=2, keepdims=True)
    return unit


def _shares(corners: Floats, place: Floats) -> Floats:
    """How much of each corner (k, 3) is in places on triangles (k, 3, 3)."""
    ab, ac = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    ap = place - corners[:, 0]
    d00, d01, d11 = (np.einsum("ki,ki->k", p, q) for p, q in ((ab, ab), (ab, ac), (ac, ac)))
    d20, d21 = np.einsum("ki,ki->k", ap, ab), np.einsum("ki,ki->k", ap, ac)
    area = np.maximum(d00 * d11 - d01 * d01, np.finfo(float).tiny)
    b = np.clip((d11 * d20 - d01 * d21) / area, 0.0, 1.0)
    c = np.clip((d00 * d21 - d01 * d20) / area, 0.0, 1.0 - b)
    return np.stack([1.0 - b - c, b, c], axis=1)
