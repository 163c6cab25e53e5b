"""What a character's surface meets: the vertices near obstacles in a frame, and what pressed."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from supple._kernels.character.contact import Touching, pose_contacts
from supple._kernels.reduction.contact.pairs import PAIRS, SOFT, Pairs
from supple._kernels.reduction.contact.shapes import GIVEN, POSE, Balls, Shapes
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.rig import Path, RigSampler, Sample
from supple.contact import Obstacle
from supple.core.types import Bools, Floats, Ints
from supple.mesh.surface import Surface
from supple.reduction.runtime.contact.contacts import pair_rooms, refuse_restitution
from supple.reduction.runtime.contact.obstacles import numbers_of, write_pose

HELD = 0.02  # of the most that a vertex of the surface moves: what moves less follows the rig
GIVES = (1e-7, 1e-5, 1e-3, 1e-1)
"""Compliances of contacts that are tried, as shares of that of what moves most."""
_EXACT = 1e-6  # edges that a converged contact may be off by
_NEAR = 0.5  # edges: how near a vertex is looked at, beside what it is about to move
_INSIDE = 1e-3  # edges: what is deeper inside after a frame must be among the pairs
_SAME_SIDE = 0.5  # cosine of the turn up to which a plane follows its vertex


class Pressed(NamedTuple):
    """What pressed at the end of a frame."""

    vertex: Ints
    """Of the surface, (k,)."""
    obstacle: Ints
    force: Floats
    """[N], (k, 3)."""


NOTHING = Pressed(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 3)))


class Planes(NamedTuple):
    """Pairs of a vertex and an obstacle in a frame."""

    vertex: Ints
    """Of the surface, (p,)."""
    obstacle: Ints
    plane: Floats
    """n and b [m] as the frame begins, so that it is out while n·x ≥ b; and velocity, (p, 7)."""


class Surroundings:
    """The obstacles of a character, and those vertices of its surface that can give way."""

    def __init__(self, model: PoseSpaceModel, obstacles: tuple[Obstacle, ...]) -> None:
        refuse_restitution(obstacles)
        self._model, self.obstacles = model, obstacles
        self._rig = model.tet_rig.rig
        cells = model.tet_rig.mesh.cells[model.skin_cells]
        self._carriers, corners = np.unique(cells, return_inverse=True)
        self._corners = corners.reshape(cells.shape)
        self._sampler = RigSampler(model.tet_rig, self._carriers)
        self._turns = self._rig.frames(self._rig.neutral, np.zeros(1, dtype=np.int64)) is not None
        size = self._sizes()
        self.most = float(size.max(initial=0.0))
        self.gives_way: Bools = size > HELD * self.most
        """Which vertices of the surface flesh moves; the others are where the rig has them."""
        neutral = Surface(self._rig.vertices(self._rig.neutral), self._rig.triangles)
        corner = neutral.vertices[neutral.triangles]
        self.edge = float(np.linalg.norm(corner - np.roll(corner, 1, axis=1), axis=2).mean())
        found = [numbers_of(each) for each in obstacles]
        self._kinds = np.array([kind for kind, _ in found], dtype=np.int64)
        self._shapes = Shapes(self._kinds, np.array([numbers for _, numbers in found]))

    def _sizes(self) -> Floats:
        """How far vertices of the surface move by all coordinates together, (v,)."""
        model, size = self._model, np.zeros(len(self._corners))
        for U in model.bases:
            rows = np.einsum("vc,vcir->vir", model.skin_weights, U[self._carriers][self._corners])
            size = np.maximum(size, np.linalg.norm(rows, axis=(1, 2)))
        return size

    def copy(self) -> Surroundings:
        """The same for another thread."""
        other = copy(self)
        other._sampler = self._sampler.copy()
        return other

    def sample(self, pose: Floats) -> Sample:
        """The surface in a pose, with the frames of what carries it."""
        x = np.ascontiguousarray(self._rig.vertices(pose), dtype=float)
        frames = self._sampler.sample(pose).frames if self._turns else np.empty((0, 3, 3))
        return Sample(x, frames, np.empty(0))

    # -- what may touch --------------------------------------------------------------------

    def near(self, now: Floats, then: Floats, times: tuple[float, float]) -> Planes:
        """What may touch on the way from ``now`` to ``then`` (v, 3), between two times [s]."""
        start, end = times
        moving = np.flatnonzero(self.gives_way)
        x, later = now[moving], then[moving]
        way = np.linalg.norm(later - x, axis=1)
        found: list[Planes] = [_NO_PLANES]
        for o, each in enumerate(self.obstacles):
            touch = each.at(x, start)
            speed = np.linalg.norm(touch.velocity, axis=1)
            reach = _NEAR * self.edge + way + (end - start) * speed
            close = np.flatnonzero(touch.distance <= reach)
            offset = np.einsum("ki,ki->k", touch.normal, x) - touch.distance
            plane = np.column_stack([touch.normal, offset, touch.velocity])[close]
            if self._kinds[o] == GIVEN and len(close):
                plane = self._turned(o, plane, later[close], times)
            found.append(Planes(moving[close], np.full(len(close), o), plane))
        return _joined(found)

    def _turned(self, o: int, plane: Floats, x: Floats, times: tuple[float, float]) -> Floats:
        """Planes of an obstacle that kernels do not know, as vertices at x meet it at the end."""
        touch = self.obstacles[o].at(x, times[1])
        same = np.einsum("ki,ki->k", touch.normal, plane[:, :3]) > _SAME_SIDE
        offset = np.einsum("ki,ki->k", touch.normal, x) - touch.distance
        offset -= (times[1] - times[0]) * np.einsum("ki,ki->k", touch.normal, touch.velocity)
        turned = np.column_stack([touch.normal, offset, touch.velocity])
        return np.where(same[:, None], turned, plane)

    def missed(
        self, planes: Planes, now: Floats, then: Floats, times: tuple[float, float]
    ) -> Planes | None:
        """The planes with those of vertices that were inside in the end; None where none was."""
        known = np.zeros((len(self.obstacles), len(now)), dtype=bool)
        known[planes.obstacle, planes.vertex] = True
        more: list[Planes] = [planes]
        for o, each in enumerate(self.obstacles):
            inside = each.at(then, times[1]).distance < -_INSIDE * self.edge
            fresh = np.flatnonzero(inside & self.gives_way & ~known[o])
            if len(fresh):
                touch = each.at(now[fresh], times[0])
                offset = np.einsum("ki,ki->k", touch.normal, now[fresh]) - touch.distance
                plane = np.column_stack([touch.normal, offset, touch.velocity])
                if self._kinds[o] == GIVEN:
                    plane = self._turned(o, plane, then[fresh], times)
                more.append(Planes(fresh, np.full(len(fresh), o), plane))
            bent = inside[planes.vertex] & (planes.obstacle == o)
            if self._kinds[o] == GIVEN and bent.any():
                turned = planes.plane.copy()
                turned[bent] = self._turned(o, turned[bent], then[planes.vertex[bent]], times)
                if np.abs(turned - planes.plane).max() > 1e-9:
                    planes = planes._replace(plane=turned)
                    more[0] = planes
                    more.append(_NO_PLANES)
        return _joined(more) if len(more) > 1 else None

    def held_depth(self, x: Floats, time: float) -> float:
        """How deep what follows the rig is inside an obstacle [m]; 0 where nothing is."""
        held = x[~self.gives_way]
        if not len(held):
            return 0.0
        depths = [-float(each.at(held, time).distance.min()) for each in self.obstacles]
        return max(0.0, *depths)

    # -- for kernels -----------------------------------------------------------------------

    def frame(self, planes: Planes, path: Path, r: int) -> FrameContacts:
        """The pairs of a frame, for kernels."""
        which, vertex = np.unique(planes.vertex, return_inverse=True)
        own, corners = np.unique(self._corners[which], return_inverse=True)
        corners = np.ascontiguousarray(corners.reshape(-1, 4))
        c, p, k = len(which), len(vertex), len(self.obstacles)
        one, two, now, new = (self._part(each, which, own) for each in path.samples)
        room = pair_rooms(p, 0, k, r)
        options = np.array([0.0, _EXACT * self.edge, self.most * np.sqrt(3 * r), 0.0, 0.0])
        pairs = Pairs(options=options, **room)
        pairs.counts[PAIRS] = p
        pairs.vertex[:], pairs.obstacle[:] = vertex, planes.obstacle
        none = np.zeros(0)
        balls = Balls(
            places=np.zeros((c, 3)), rows=np.zeros((c, 3, r)), centre=np.zeros((0, 3)),
            mean=np.zeros((0, 3, r)), radius=none, spread=np.zeros((0, r)), first=NOTHING.vertex,
            last=NOTHING.vertex, after=NOTHING.vertex, is_leaf=np.zeros(0, dtype=bool),
        )  # fmt: skip
        frames = new.frames
        touching = Touching(
            corners=corners, shares=np.ascontiguousarray(self._model.skin_weights[which]),
            carriers=self._carriers[own], bases=self._model.bases, planes=planes.plane,
            given_x=np.empty((0, c, 3)), given_frames=np.empty((0, *frames.shape)),
            frames=np.zeros(frames.shape), no_features=none, own=np.zeros((len(own), 3, r)),
            carried=np.zeros((c, 3)), speed=np.zeros((c, 3)),
        )  # fmt: skip
        return FrameContacts(
            self, touching, path._replace(samples=(one, two, now, new)), balls, pairs, which, own
        )

    @staticmethod
    def _part(sample: Sample, which: Ints, own: Ints) -> Sample:
        frames = sample.frames[own] if len(sample.frames) else sample.frames
        return Sample(sample.x[which], frames, sample.features)

    def part(self, pose: Floats, frame: FrameContacts) -> Sample:
        """The rig in a pose, where it is asked in a frame."""
        return self._part(self.sample(pose), frame.which, frame.own)

    def poses(self, times: Floats) -> Floats:
        """Where obstacles are at these times [s], (rows, k, 19)."""
        rows = np.empty((len(times), len(self.obstacles), POSE))
        for row, time in zip(rows, times, strict=True):
            for each, numbers in zip(self.obstacles, row, strict=True):
                write_pose(each, float(time), numbers)
        return rows

    @property
    def shapes(self) -> Shapes:
        """The obstacles as numbers."""
        return self._shapes


class FrameContacts:
    """The pairs of one frame, as kernels take them."""

    def __init__(
        self,
        around: Surroundings,
        touching: Touching,
        path: Path,
        balls: Balls,
        pairs: Pairs,
        which: Ints,
        own: Ints,
    ) -> None:
        self._around, self._touching, self._path = around, touching, path
        self._balls, self._pairs, self.which, self.own = balls, pairs, which, own

    def begin(self, gives: float, times: Floats, told: list[Sample]) -> Any:
        """What a kernel needs to try the frame, in stages that end at ``times`` [s].

        Contacts give way by ``gives`` [m/N]. The rig may be ``told`` in each stage.
        """
        pairs, touching = self._pairs, self._touching
        pairs.options[SOFT] = gives
        pairs.force[:] = 0.0
        pairs.frame[:] = np.eye(3)
        if told:
            touching = touching._replace(
                given_x=np.array([each.x for each in told]),
                given_frames=np.array([each.frames for each in told]),
            )
        poses = self._around.poses(times)
        return pose_contacts(touching, self._path, self._balls, self._around.shapes, pairs, poses)

    def pressed(self) -> Pressed:
        """What pressed in the last stage."""
        pairs = self._pairs
        rows = np.flatnonzero(pairs.force[:, 0] > 0.0)
        force = np.einsum("ki,kij->kj", pairs.force[rows], pairs.frame[rows])
        return Pressed(self.which[pairs.vertex[rows]], pairs.obstacle[rows].copy(), force)


_NO_PLANES = Planes(NOTHING.vertex, NOTHING.obstacle, np.zeros((0, 7)))


def _joined(parts: list[Planes]) -> Planes:
    return Planes(*(np.concatenate(each) for each in zip(*parts, strict=True)))
