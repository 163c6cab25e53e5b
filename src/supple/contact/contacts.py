"""The contacts of a body with its obstacles during a stage: pairs of a vertex and a plane.

Non-penetration is an inequality and friction a dissipation function with a corner at rest, and both
are met exactly as a solver converges, by multipliers: each pair has a force of its own, kept from
iteration to iteration, and a weight that brings the vertex to where the force belongs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from supple._kernels.contact.vertices import contact_energy, project_contacts
from supple.contact.impacts import MassTimes, PressedNormals
from supple.contact.obstacles.base import Obstacle
from supple.core.types import Bools, Floats, Ints
from supple.integrators import Stage, State

_REACH = 2.0  # times the way that vertices are about to go: where obstacles are looked for
_MARGIN = 0.25  # edges, in addition
_SAME_SIDE = 0.5  # cosine of the turn up to which a plane follows its vertex
_HELD = 0.5  # share of a normal below which supports keep a vertex from moving along it
_EXACT = 1e-6  # edges that a converged contact may be off by
_OUT_OF_CREASES = 4  # times that vertices are moved out of what is nearest
_FLAT = 1e-4  # and, an edge away, its plane
_AT_REST = 2.0  # times the speed that a step of free fall gives: slower vertices just come to rest
_LATEST = 0.99  # of a step: when an impact may begin


@dataclass(eq=False)
class ContactPairs:
    """k vertices, each with the plane of an obstacle near it."""

    vertex: Ints
    obstacle: Ints
    normal: Floats
    """(k, 3)"""
    offset: Floats
    """b [m], (k,): the vertex stays out while n·u ≥ b."""
    origin: Floats
    """o [m], (k, 3): the displacement at which it moves with the obstacle."""
    friction: Floats
    """μ, (k,)"""
    limits: Floats
    """The most slip that friction can take back [m], (k,): μ f_n over the weight."""
    scaled_multiplier: Floats
    """The force of each contact over its weight [m], (k, 3), negative: w (z − s)/(−w)."""
    obstacle_velocity: Floats
    """Velocity of the obstacle there [m/s], (k, 3)."""

    @property
    def count(self) -> int:
        return len(self.vertex)

    @classmethod
    def new(cls, vertex: Ints, obstacle: Ints, friction: Floats) -> ContactPairs:
        """Pairs whose planes and forces are not known yet."""
        offset, limits = np.zeros((2, len(vertex)))
        normal, origin, multiplier, velocity = np.zeros((4, len(vertex), 3))
        return cls(vertex, obstacle, normal, offset, origin, friction, limits, multiplier, velocity)

    def with_more(self, *others: ContactPairs) -> ContactPairs:
        """These pairs and others, with arrays of their own."""
        names = [each.name for each in fields(self)]
        return ContactPairs(
            *(np.concatenate([getattr(of, name) for of in (self, *others)]) for name in names)
        )


@dataclass(frozen=True, eq=False)
class Projection:
    """Vertices sought at s, and where non-penetration and friction have them."""

    s: Floats
    """(k, 3)"""
    z: Floats
    """(k, 3)"""
    blocks: Floats
    """I − ∂z/∂s, (k, 3, 3)."""
    kind: Ints
    """Free, sliding or sticking, (k,)."""


@dataclass(frozen=True)
class Impact:
    """What happens at the first impact in a step."""

    delay: float
    """Time until then [s]."""
    speeds: dict[tuple[int, int], float]
    """Speed at which each pair of vertex and obstacle is to part [m/s]."""


class Contacts:
    """A body's boundary among obstacles."""

    def __init__(
        self,
        obstacles: Sequence[Obstacle],
        positions: Floats,
        free: Bools,
        vertices: Ints,
        edge: float,
        tolerance_scale: float = 1.0,
    ) -> None:
        self._free, self._tolerance_scale = free, tolerance_scale
        self.obstacles = tuple(obstacles)
        self._X, self._vertices, self.edge = positions, vertices, edge
        self._forces: dict[tuple[int, int], Floats] = {}
        self.speeds: dict[tuple[int, int], float] = {}
        """At which pairs are to part that bounce in the stage at hand [m/s]."""
        none = np.zeros(0, dtype=np.int64)
        self.pairs = ContactPairs.new(none, none, np.zeros(0))

    @property
    def exact(self) -> float:
        """How far [m] a converged contact may be off."""
        return _EXACT * self._tolerance_scale * self.edge

    @property
    def flat(self) -> float:
        """How far [m] the plane of a converged contact may still turn, an edge away."""
        return _FLAT * self._tolerance_scale * self.edge

    # -- finding them --------------------------------------------------------------------

    def begin(self, stage: Stage, start: Floats, guess: Floats, began: float) -> None:
        """Find the pairs that may touch during a stage from ``start`` (n, 3), bound for ``guess``.

        ``began`` is the time [s] of the start. Forces of the last stage are where the new ones
        start from. The side of an obstacle that a vertex is on at the start is the one it stays on.
        """
        way = np.linalg.norm(guess - start, axis=1)
        reach = _REACH * way[self._vertices] + _MARGIN * self.edge
        x = (self._X + start)[self._vertices]
        vertex, obstacle, normal, offset = [], [], [], []
        for number, each in enumerate(self.obstacles):
            lasts = stage.time - began if each.moves else 0.0
            within = np.inf if lasts else float(reach.max(initial=0.0))
            touch = each.at(x, began, within=within)
            comes = lasts * np.linalg.norm(touch.velocity, axis=1)
            yields = np.linalg.norm(self._free[self._vertices] * touch.normal, axis=1) > _HELD
            near = np.flatnonzero((touch.distance <= reach + _REACH * comes) & yields)
            vertex.append(self._vertices[near])
            obstacle.append(np.full(len(near), number))
            n = touch.normal[near]
            normal.append(n)
            gap = touch.distance[near, None]
            moved = start[vertex[-1]] - gap * n + lasts * touch.velocity[near]
            offset.append(np.einsum("ki,ki->k", n, moved))
        self.pairs = self._new_pairs(stage, np.concatenate(vertex), np.concatenate(obstacle))
        self.pairs.normal, self.pairs.offset = np.concatenate(normal), np.concatenate(offset)
        self.update_planes(stage, start)

    def depths(self, u: Floats, time: float) -> Iterator[tuple[Obstacle, Floats]]:
        """How deep [m] each vertex of the boundary is inside every obstacle at u (n, 3).

        The margin around an animated mesh does not count.
        """
        x = (self._X + u)[self._vertices]
        for each in self.obstacles:
            margin = float(getattr(each, "margin", 0.0))
            yield each, np.maximum(-each.at(x, time, within=0.0).distance - margin, 0.0)

    def _new_pairs(self, stage: Stage, vertex: Ints, obstacle: Ints) -> ContactPairs:
        """Pairs with the friction that obstacles have in a stage."""
        friction = np.array([each.friction_at(stage.time) for each in self.obstacles], dtype=float)
        return ContactPairs.new(vertex, obstacle, friction[obstacle])

    def add_penetrating(self, stage: Stage, u: Floats) -> bool:
        """Whether a vertex is inside an obstacle without being in a pair; if so, it is in one now.

        What the pairs know stays.
        """
        known = set(self._keys())
        x = (self._X + u)[self._vertices]
        missing = []
        for number, each in enumerate(self.obstacles):
            touch = each.at(x, stage.time, within=self.exact)
            yields = np.linalg.norm(self._free[self._vertices] * touch.normal, axis=1) > _HELD
            inside = (touch.distance < -self.exact) & yields
            missing += [(v, number) for v in self._vertices[inside].tolist()]
        missing = [pair for pair in missing if pair not in known]
        if not missing:
            return False
        added = np.array(missing, dtype=np.int64).T
        self.pairs = self.pairs.with_more(self._new_pairs(stage, *added))
        self.update_planes(stage, u)
        return True

    def update_planes(self, stage: Stage, u: Floats) -> None:
        """Turn every pair's plane to where its vertex is now, at u (n, 3).

        A plane that would turn over stays: the vertex has gone through a thin obstacle, or past an
        edge, on its way to where the solver will have it.
        """
        pairs = self.pairs
        for number, each in enumerate(self.obstacles):
            mine = np.flatnonzero(pairs.obstacle == number)
            if not len(mine):
                continue
            where = pairs.vertex[mine]
            touch = each.at(self._X[where] + u[where], stage.time)
            pairs.obstacle_velocity[mine] = touch.velocity
            turn = np.einsum("ki,ki->k", touch.normal, pairs.normal[mine])
            same = (turn > _SAME_SIDE) | ~pairs.normal[mine].any(axis=1)
            kept = mine[same]
            pairs.normal[kept] = touch.normal[same]
            along = np.einsum("ki,ki->k", touch.normal[same], u[where[same]])
            pairs.offset[kept] = along - touch.distance[same]
        pairs.origin = stage.u_v[pairs.vertex].copy()
        if stage.c_v:
            pairs.origin += pairs.obstacle_velocity / stage.c_v
        if self.speeds:  # n·v ≥ speed, with v = c_v (u − o) to the obstacle
            for row, key in enumerate(self._keys()):
                if key in self.speeds:
                    along = float(np.dot(pairs.normal[row], pairs.origin[row]))
                    apart = along + self.speeds[key] / stage.c_v
                    pairs.offset[row] = max(pairs.offset[row], apart)

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        """u (n, 3) with vertices that are inside an obstacle moved to its surface.

        First along the planes that the last ``update_planes`` has turned to u, which know the side
        that a vertex belongs to, then by what is nearest, since in a crease one plane leads to the
        next.
        """
        pairs, out = self.pairs, u.copy()
        along = np.einsum("ki,ki->k", pairs.normal, u[pairs.vertex])
        deep = np.maximum(pairs.offset - along, 0.0)[:, None] * pairs.normal
        np.add.at(out, pairs.vertex, np.where(self._free[pairs.vertex], deep, 0.0))
        for _ in range(_OUT_OF_CREASES):
            inside = False
            for each in self.obstacles:
                touch = each.at((self._X + out)[self._vertices], stage.time, within=0.0)
                deep = np.maximum(-touch.distance, 0.0)[:, None] * touch.normal
                out[self._vertices] += np.where(self._free[self._vertices], deep, 0.0)
                inside |= bool((touch.distance < -self.exact).any())
            if not inside:
                break
        return out

    # -- the forces ----------------------------------------------------------------------

    def projection(self, u: Floats) -> Projection:
        """Where the pairs would have their vertices, sought at s = u + multiplier."""
        s = u[self.pairs.vertex] + self.pairs.scaled_multiplier
        return self.projected(s)

    def slips(self, u: Floats) -> Floats:
        """How far each pair's vertex is, at u, from where it sticks, along the plane (k, 3)."""
        pairs = self.pairs
        away = u[pairs.vertex] - pairs.origin
        along: Floats = away - np.einsum("ki,ki->k", away, pairs.normal)[:, None] * pairs.normal
        return along

    def projected(self, s: Floats, *, majorized: bool = False) -> Projection:
        """The places of vertices sought at s (k, 3).

        ``majorized`` blocks do not overshoot where friction starts to hold.
        """
        pairs = self.pairs
        z, blocks = np.empty_like(s), np.empty((pairs.count, 3, 3))
        kind = np.empty(pairs.count, dtype=np.int64)
        planes = pairs.normal, pairs.offset, pairs.origin
        project_contacts(s, *planes, pairs.friction, pairs.limits, z, kind, blocks, majorized)
        return Projection(s, z, blocks, kind)

    def pressed(self, s: Floats) -> Floats:
        """How deep each pair's vertex would be [m] but for the contact, (k,)."""
        pairs = self.pairs
        depth = pairs.offset - np.einsum("ki,ki->k", pairs.normal, s)
        return np.asarray(np.maximum(depth, 0.0))

    def energy(self, u: Floats, weights: Floats) -> float:
        """What a line search sees of the contacts [J]; its gradient is their force."""
        pairs = self.pairs
        s = u[pairs.vertex] + pairs.scaled_multiplier
        planes = pairs.normal, pairs.offset, pairs.origin
        return float(contact_energy(s, *planes, pairs.limits, weights))

    def store_forces(self, forces: Floats) -> None:
        """Keep the force of each pair (k, 3) [N] for the next stage."""
        pressed = (forces != 0).any(axis=1)
        self._forces = {
            key: force for key, force, on in zip(self._keys(), forces, pressed, strict=True) if on
        }

    def warm_start_forces(self) -> Floats:
        """The forces kept of the last stage, for the pairs of this one, (k, 3) [N]."""
        found = np.zeros((self.pairs.count, 3))
        if self._forces:
            for row, key in enumerate(self._keys()):
                if key in self._forces:
                    found[row] = self._forces[key]
        return found

    def on_vertices(self) -> Floats:
        """Force of the obstacles on every vertex at the end of the last stage [N], (n, 3)."""
        total = np.zeros_like(self._X)
        for (vertex, _), force in self._forces.items():
            total[vertex] += force
        return total

    # -- after a step --------------------------------------------------------------------

    def friction_power(self, v: Floats) -> float:
        """Power that friction takes from the motion [W] at velocity v (n, 3)."""
        pairs, power = self.pairs, 0.0
        for row, key in enumerate(self._keys()):
            if key in self._forces:
                n = pairs.normal[row]
                relative = v[key[0]] - pairs.obstacle_velocity[row]
                power -= float(np.vdot(self._forces[key], relative - np.dot(relative, n) * n))
        return power

    def carried(self) -> tuple[Floats, Floats]:
        """Forces [N] and velocities [m/s] of obstacles that move, at pairs with them, (k, 3) each.

        The forces are those of the last stage, and nothing where none pressed.
        """
        pairs = self.pairs
        moves = np.array([each.moves for each in self.obstacles], dtype=bool)
        mine = moves[pairs.obstacle]
        none = np.zeros(3)
        forces = [
            self._forces.get(key, none) for key, on in zip(self._keys(), mine, strict=True) if on
        ]
        return np.reshape(forces, (-1, 3)), pairs.obstacle_velocity[mine]

    def pushed_out(self, now: State) -> float:
        """Work [J] of the forces of the last stage on vertices that were inside ``now``."""
        work = 0.0
        for number, each in enumerate(self.obstacles):
            forces = {v: force for (v, o), force in self._forces.items() if o == number}
            if forces:
                met = list(forces)
                touch = each.at(self._X[met] + now.u[met], now.time)
                pressed = np.einsum("ki,ki->k", np.array(list(forces.values())), touch.normal)
                work += float(np.maximum(-touch.distance, 0.0) @ np.maximum(pressed, 0.0))
        return work

    def first_impact(
        self, now: State, dt: float, new: set[tuple[int, int]], fall: float
    ) -> Impact | None:
        """The impact with restitution of a step from ``now``, in which ``new`` pairs came to touch.

        Those that come slower than a step of free fall, with the acceleration ``fall`` [m/s²],
        makes them have nothing to bounce with.
        """
        delay, speeds = np.inf, {}
        for number, obstacle in enumerate(self.obstacles):
            met = [vertex for vertex, o in new if o == number]
            if obstacle.vertex_restitution is None or not met:
                continue
            touch = obstacle.at(self._X[met] + now.u[met], now.time)
            approach = -np.einsum("ki,ki->k", now.v[met] - touch.velocity, touch.normal)
            for vertex, speed, gap in zip(met, approach, touch.distance, strict=True):
                if speed > _AT_REST * dt * fall:
                    speeds[vertex, number] = obstacle.vertex_restitution * float(speed)
                    delay = min(delay, max(float(gap), 0.0) / float(speed))
        return Impact(min(delay, _LATEST * dt), speeds) if speeds else None

    def pressed_planes(self) -> tuple[Ints, Floats, Floats]:
        """What presses and does not bounce: numbers (k,), normals (k, 3), velocities (k, 3)."""
        keys, pairs = self._keys(), self.pairs
        rows = [n for n, key in enumerate(keys) if key in self._forces and key not in self.speeds]
        return pairs.vertex[rows], pairs.normal[rows], pairs.obstacle_velocity[rows]

    def after_impact(self, after: State, mass_times: MassTimes) -> State:
        """``after`` a stage, with what presses on an obstacle at rest along its normal."""
        vertex, normal, velocity = self.pressed_planes()
        if not len(vertex):
            return after
        pressed = PressedNormals(vertex, normal, self._free)
        carried = np.zeros_like(after.v)
        carried[vertex] = velocity
        along, still = pressed.components(carried), np.zeros(len(pressed.vertex))
        v = pressed.projected(after.v, along, mass_times)
        a = pressed.projected(after.acceleration, still, mass_times)
        return State(after.time, after.u, v, a)

    def _keys(self) -> list[tuple[int, int]]:
        return list(zip(self.pairs.vertex.tolist(), self.pairs.obstacle.tolist(), strict=True))

    def state(self) -> dict[str, Floats]:
        """What the next stage starts from, for checkpoints."""
        keys = np.array(sorted(self._forces), dtype=float).reshape(-1, 2)
        forces = [self._forces[int(v), int(o)] for v, o in keys]
        return {"pairs": keys, "forces": np.array(forces).reshape(-1, 3)}

    def restore(self, keys: Floats, forces: Floats) -> None:
        """Go on from what ``state`` gave."""
        pairs = keys.astype(int).tolist()
        self._forces = {(v, o): force for (v, o), force in zip(pairs, forces, strict=True)}

    def memory(self) -> tuple[ContactPairs, dict[tuple[int, int], Floats]]:
        """Pairs and forces of the last stage, to ``recall``."""
        return self.pairs.with_more(), dict(self._forces)

    def recall(self, memory: tuple[ContactPairs, dict[tuple[int, int], Floats]]) -> None:
        """Go back to what ``memory`` gave."""
        pairs, forces = memory
        self.pairs, self._forces = pairs.with_more(), dict(forces)

    @property
    def touching(self) -> set[tuple[int, int]]:
        """The pairs of vertex and obstacle that pressed on each other in the last stage."""
        return set(self._forces)
