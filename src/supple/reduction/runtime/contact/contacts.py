"""The contacts of one reduced model with obstacles, from step to step."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from supple._kernels.reduction.contact import stepping
from supple._kernels.reduction.contact.energy import GAINED, NOISE
from supple._kernels.reduction.contact.pairs import (
    GIVEN_PAIRS,
    KEPT,
    MARGIN,
    MOST_PAIRS,
    MOVES,
    SWEEPS,
    Pairs,
)
from supple._kernels.reduction.contact.shapes import GIVEN, POSE, Shapes
from supple._kernels.reduction.newton import NO_ROOM
from supple.contact import Obstacle
from supple.core.errors import InputError
from supple.core.memory import rooms_apart
from supple.core.types import Floats, Ints
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.contact.obstacles import Place, given_planes, numbers_of, write_pose
from supple.reduction.runtime.contact.surface import ContactSurface
from supple.reduction.runtime.stage_table import StageTable

Memory = tuple[Ints, Ints, Floats, Floats]

_MARGIN = 0.25  # edges: how near a vertex is looked at, beside what it is about to move
_EXACT = 1e-6  # edges that a converged contact may be off by
UNSEEN = 1e-5  # edges: a fall by which nobody sees
_ROOM = 256  # pairs, to begin with
_MOST_STEPS = 256  # whose poses are worked out at once
_NO_PLACES = np.zeros(0, dtype=np.int64)
NOTHING: Memory = _NO_PLACES, _NO_PLACES, np.zeros((0, 3)), np.zeros(4)
_NO_TURN, _NO_SHIFT = np.eye(3), np.zeros(3)


class ReducedContacts:
    """A model's surface among obstacles: arrays for kernels, and the forces of the last stage."""

    _noise = 0.0

    NO_ROOM = NO_ROOM
    """A reason to stop: make room by ``grow``, and try again."""

    def __init__(
        self,
        model: ReducedModel,
        obstacles: tuple[Obstacle, ...],
        before: ReducedContacts | None = None,
    ) -> None:
        """``before`` are contacts of another material or damping, whose forces are kept."""
        known = None if before is None else before.surface
        self.surface: ContactSurface = ContactSurface.of(model, known)
        self._size = model.size
        self._of_model(model)
        self._use(obstacles)
        self._room = _ROOM
        goes_on = before is not None and before.surface is self.surface
        self._make_room(before.memory() if before is not None and goes_on else NOTHING)

    def _use(self, obstacles: tuple[Obstacle, ...]) -> None:
        refuse_restitution(obstacles)
        self.obstacles = obstacles
        found = [numbers_of(each) for each in obstacles]
        kinds = np.array([kind for kind, _ in found], dtype=np.int64)
        self._shapes = Shapes(kinds, np.array([numbers for _, numbers in found]))
        self._note_motions()

    def _note_motions(self) -> None:
        kinds, obstacles = self._shapes.kind, self.obstacles
        self._given = [n for n, kind in enumerate(kinds) if kind == GIVEN]
        self._stands = not any(
            each.motion is not None or each.friction_from is not None for each in obstacles
        )
        self._still: dict[int, Floats] = {}
        self._latest: tuple[float, Floats] | None = None

    def replace(self, obstacles: tuple[Obstacle, ...]) -> None:
        """Go on among others. Those that are in the places of the old ones keep their forces."""
        found = [numbers_of(each) for each in obstacles]
        if [kind for kind, _ in found] == self._shapes.kind.tolist():  # a live hand, as it moves
            refuse_restitution(obstacles)
            self.obstacles = obstacles
            self._shapes.numbers[:] = [numbers for _, numbers in found]
            self._note_motions()
            self._pairs.options[MOVES] = float(not self._stands)
            return
        kept = self.memory()
        self._use(obstacles)
        rows = kept[1] < len(obstacles)
        self._make_room((kept[0][rows], kept[1][rows], kept[2][rows], kept[3]))

    def _make_room(self, kept: Memory) -> None:
        """Arrays for as many pairs as there is room for; ``kept`` are the forces to begin with."""
        m, r = len(self.surface.vertices), self._width
        p, k = min(self._room, m * len(self.obstacles)), len(self.obstacles)
        edge = self.surface.edge
        moves = float(not self._stands)
        options = np.array([_MARGIN * edge, _EXACT * edge, self._most(), moves, 0.0])
        rooms = pair_rooms(p, m, k, r)
        self._pairs = Pairs(options=options, **rooms)
        self._bind()
        self.recall(kept)

    @property
    def context(self) -> Any:
        """All that kernels need, behind one pointer."""
        return self._contacts

    @property
    def margin(self) -> float:
        """How near a vertex is looked at, beside what it is about to move [m]."""
        return float(self._pairs.options[MARGIN])

    @property
    def given_obstacles(self) -> list[Obstacle]:
        """Those that kernels do not know."""
        return [self.obstacles[n] for n in self._given]

    def _of_model(self, model: ReducedModel) -> None:
        """Take on what else counts of a model."""

    def weigh(self, weight: float) -> None:
        """Tell how much pulls at the coordinates: what that moves by an error may be gained."""
        self._noise = weight * UNSEEN * self.surface.edge / self._most()
        self._pairs.energy[NOISE] = self._noise

    @property
    def moves(self) -> bool:
        """Whether any obstacle does."""
        return not self._stands

    def forgive(self) -> None:
        """Let the steps to come gain what the next one does."""
        self._pairs.energy[GAINED] = -np.finfo(float).max

    @property
    def _width(self) -> int:
        """How many coordinates contacts act on."""
        return self._size

    def _most(self) -> float:
        """How far a coordinate of one moves any vertex, at most [m]."""
        return float(np.abs(self.surface.balls.rows).sum(axis=2).max())

    def _bind(self) -> None:
        """Put all that kernels need behind one pointer."""
        self._contacts = stepping.contact_context(self.surface.balls, self._shapes, self._pairs)

    # -- steps -----------------------------------------------------------------------------

    def run(
        self,
        contexts: tuple[Any, Any],
        state: tuple[tuple[float, int], Floats, StageTable],
        steps: int,
        forces: Floats,
        sampled: bool,
        record: Floats,
    ) -> tuple[int, int]:
        """As ``stepping.run_steps``, from a state: when, the history and the table of stages.

        It is when the steps are counted from [s], and how many there were.
        """
        (origin, count), history, table = state
        done = 0
        most = 1 if self._given else steps if self._stands else _MOST_STEPS
        while True:
            part = min(most, steps - done)
            since = origin, count + done
            poses = self.poses(table, since, part)
            self.find_given(history, table, since)
            now = forces if len(forces) == 1 else forces[min(done, len(forces) - 1) :]
            taken, reason = stepping.run_contact_steps(
                *contexts, self._contacts, poses, part, sampled, now, record[done:]
            )
            done += taken
            if reason == self.NO_ROOM:
                self.grow()
            elif reason or done == steps:
                return done, reason

    def grow(self) -> None:
        """Make room for more pairs; the forces stay."""
        self._room *= 4
        counts, kept = self._pairs.counts.copy(), self.memory()
        self._make_room(kept)
        self._pairs.counts[SWEEPS], self._pairs.counts[MOST_PAIRS] = (
            counts[SWEEPS],
            counts[MOST_PAIRS],
        )

    def poses(self, table: StageTable, since: tuple[float, int], steps: int) -> Floats:
        """Where the obstacles are as each step begins and at its stages, (steps (1 + s), k, 19)."""
        rows, h = 1 + len(table.times), float(table.times[-1])
        if self._stands:
            if rows not in self._still:
                self._still[rows] = np.stack([self.poses_at(since[0])] * rows)
            return self._still[rows]
        poses = np.empty((steps * rows, len(self.obstacles), POSE))
        row = 0
        for n in range(steps):
            start, end = (since[0] + (since[1] + n + later) * h for later in (0, 1))
            moments = [start, *(start + table.times[:-1]).tolist(), end]
            for time in moments:
                poses[row] = self.poses_at(time)
                row += 1
        return poses

    def poses_at(self, time: float) -> Floats:
        """At one time, (k, 19); a step often begins where the last one ended."""
        if self._latest is None or self._latest[0] != time:
            found = np.empty((len(self.obstacles), POSE))
            for n, each in enumerate(self.obstacles):
                write_pose(each, time, found[n])
            self._latest = time, found
        return self._latest[1]

    def find_given(self, history: Floats, table: StageTable, since: tuple[float, int]) -> None:
        """Planes of the obstacles that kernels do not know, for a step."""
        if not self._given:
            return
        h = float(table.times[-1])
        times = since[0] + since[1] * h, since[0] + (since[1] + 1) * h
        later = 2.0 * history[0] - history[3]
        path = (Place(q, _NO_TURN, _NO_SHIFT) for q in (history[0], later))
        vertex, obstacle, planes = self._given_planes(tuple(path), times)
        places = self.surface.balls.places[vertex]
        planes[:, 3] -= np.einsum("ki,ki->k", planes[:, :3], places)  # of displacements
        self._take_given(vertex, obstacle, planes)

    def _given_planes(self, path: Any, times: tuple[float, float]) -> tuple[Ints, Ints, Floats]:
        """Vertices, obstacles and planes (g, 7) of those that kernels do not know."""
        balls, margin = self.surface.balls, float(self._pairs.options[0])
        found = [given_planes(self.obstacles[n], balls, path, times, margin) for n in self._given]
        vertex = np.concatenate([near for near, _ in found])
        obstacle = np.repeat(self._given, [len(near) for near, _ in found])
        return vertex, obstacle.astype(np.int64), np.concatenate([each for _, each in found])

    def _take_given(self, vertex: Ints, obstacle: Ints, planes: Floats) -> None:
        self._pairs = self._pairs._replace(
            given_vertex=vertex, given_obstacle=obstacle, given_plane=planes
        )
        self._pairs.counts[GIVEN_PAIRS] = len(vertex)
        self._bind()

    def enter_stage(self, context: Any, poses: Floats, s: int) -> bool:
        """Find the pairs of a stage; whether there was room."""
        return bool(stepping.enter_contact_stage(context, self._contacts, poses, s))

    def iterate(
        self, contexts: tuple[Any, Any], poses: Floats, s: int, size: float
    ) -> tuple[int, float]:
        """As ``stepping.iterate``."""
        found: tuple[int, float] = stepping.iterate_in_contact(
            *contexts, self._contacts, poses, s, size
        )
        return found

    def leave_stage(self, context: Any, s: int) -> None:
        """Keep the forces of a stage, and what they do to velocities."""
        stepping.leave_contact_stage(context, self._contacts, s)

    def undo(self) -> None:
        """Take back a step that failed."""
        stepping.undo_contacts(self._contacts)

    # -- what is kept ----------------------------------------------------------------------

    def memory(self) -> Memory:
        """The forces of the last stage: vertices, obstacles, and forces [N] (k, 3)."""
        pairs = self._pairs
        count = int(pairs.counts[KEPT])
        kept = pairs.kept_vertex, pairs.kept_obstacle, pairs.kept_force
        first = kept[0][:count].copy(), kept[1][:count].copy(), kept[2][:count].copy()
        return *first, pairs.energy.copy()

    def recall(self, memory: Memory) -> None:
        """Go back to what ``memory`` gave."""
        vertex, obstacle, force, energy = memory
        count = len(vertex)
        pairs = self._pairs
        pairs.energy[:] = energy
        pairs.energy[NOISE] = self._noise
        pairs.former_vertex[:count], pairs.former_obstacle[:count] = vertex, obstacle
        pairs.former_force[:count] = force
        stepping.recall_forces(self._contacts, count)

    def forces(self) -> Floats:
        """On every vertex of the skin, or of the mesh, in the last stage [N], (s, 3)."""
        vertex, _, force, _ = self.memory()
        total = np.zeros((self.surface.count, 3))
        np.add.at(total, self.surface.vertices[vertex], force)
        return total

    def on_obstacles(self) -> Floats:
        """Force of the body on each obstacle in the last stage [N], (k, 3)."""
        _, obstacle, force, _ = self.memory()
        total = np.zeros((len(self.obstacles), 3))
        np.add.at(total, obstacle, -force)
        return total

    def counts(self) -> tuple[int, int]:
        """Sweeps over the pairs so far, and the most pairs of a stage."""
        return int(self._pairs.counts[SWEEPS]), int(self._pairs.counts[MOST_PAIRS])

    def __getstate__(self) -> dict[str, Any]:
        shapes = Shapes(*[array.copy() for array in self._shapes])
        return {**self.__dict__, "_shapes": shapes, "_contacts": None}  # no pointers are copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self).__new__(type(self))  # with arrays of its own; the surface is shared
        other.__setstate__(self.__getstate__())
        return other

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = state["_pairs"]
        self.__dict__.update(state)
        counts = kept.counts.copy()
        count = int(counts[KEPT])
        first = kept.kept_vertex[:count], kept.kept_obstacle[:count], kept.kept_force[:count]
        self._make_room((*first, kept.energy))
        self._pairs.counts[SWEEPS], self._pairs.counts[MOST_PAIRS] = (
            counts[SWEEPS],
            counts[MOST_PAIRS],
        )


def pair_rooms(p: int, m: int, k: int, r: int) -> dict[str, Any]:
    """Room for p pairs of m vertices and k obstacles, which r coordinates move."""
    shapes = {
        "side": (p, 4), "frame": (p, 3, 3), "offset": (p,), "origin": (p, 3),
        "velocity": (p, 3), "friction": (p,), "force": (p, 3), "gap": (p, 3),
        "swept": (p, 3), "along": (p, 3), "start": (p,), "energy": (4,), "J": (p, 3, r),
        "Y": (p, 3, r), "T": (p, 4), "kept_force": (m * k, 3),
        "former_force": (m * k, 3), "H": (r, r), "rates": (2, r), "way": (r,),
        "given_plane": (0, 7),
    }  # fmt: skip
    whole = {
        "counts": (6,), "vertex": (p,), "obstacle": (p,), "known": (p,), "place": (k, m),
        "kept_vertex": (m * k,), "kept_obstacle": (m * k,), "kept_place": (k, m),
        "former_vertex": (m * k,), "former_obstacle": (m * k,),
        "given_vertex": (0,), "given_obstacle": (0,),
    }  # fmt: skip
    rooms: dict[str, Any] = dict(zip(shapes, rooms_apart(*shapes.values()), strict=True))
    numbers = rooms_apart(*whole.values(), dtype=np.int64)
    rooms |= dict(zip(whole, numbers, strict=True))
    rooms["place"][:] = rooms["kept_place"][:] = -1
    return rooms


def refuse_restitution(obstacles: tuple[Obstacle, ...]) -> None:
    for each in obstacles:
        if each.vertex_restitution is not None:
            raise InputError(
                f"{type(each).__name__} has vertex_restitution={each.vertex_restitution:g}, which "
                "reduced models do not know: they bounce by their own elasticity; leave it out"
            )
