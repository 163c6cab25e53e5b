"""The contacts of a body with its obstacles during a stage: pairs of a point and a plane.

Non-penetration is an inequality and friction a dissipation function with a corner at rest, and both
are met exactly as a solver converges, by multipliers: each pair has a force of its own, kept from
iteration to iteration, and a weight that brings the vertex to where the force belongs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from supple._kernels.contact.vertices import contact_energy, project_contacts
from supple.bodies.elastic_body import ElasticBody
from supple.contact.between import PointsBetween
from supple.contact.facets import Facets
from supple.contact.impacts import pressed_normals
from supple.contact.obstacles.base import Obstacle
from supple.contact.pairs import ContactPairs, Key, Projection
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


@dataclass(frozen=True)
class Impact:
    """What happens at the first impact in a step."""

    delay: float
    """Time until then [s]."""
    speeds: dict[Key, float]
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
        facets: Facets | None = None,
    ) -> None:
        """``facets`` are the edges and faces that count; without any only vertices do."""
        self._free, self._tolerance_scale = free, tolerance_scale
        self.obstacles = tuple(obstacles)
        self._X, self._vertices, self.edge = positions, vertices, edge
        self._forces: dict[Key, Floats] = {}
        self._shares: dict[Key, Floats] = {}  # of points between vertices that have a force
        self._between: PointsBetween | None = None
        if facets is not None:
            self._between = PointsBetween(facets, self.obstacles, positions, free, edge)
        self.speeds: dict[Key, float] = {}
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
        distances, reaches, most = [], [], []
        for number, each in enumerate(self.obstacles):
            lasts = stage.time - began if each.moves else 0.0
            within = np.inf if lasts else float(reach.max(initial=0.0))
            if self._between is not None:
                within += self._between.farther(each, start)
            touch = each.at(x, began, within=within)
            distances.append(self._on_all(np.minimum(touch.distance, within)))
            comes = lasts * np.linalg.norm(touch.velocity, axis=1)
            yields = np.linalg.norm(self._free[self._vertices] * touch.normal, axis=1) > _HELD
            reaches.append(self._on_all(reach + _REACH * comes))
            most.append(float(np.max(comes, initial=0.0)))
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
        if self._between is not None:
            known = reaches, distances, most
            more = self._between.begin(stage, start, began, *known, self._shares)
            if more is not None:
                self.pairs = self.pairs.with_more(more)
        self.update_planes(stage, start)

    def depths(self, u: Floats, time: float) -> Iterator[tuple[Obstacle, Floats]]:
        """How deep [m] each vertex of the boundary is inside every obstacle at u (n, 3).

        The margin around an animated mesh does not count.
        """
        x = (self._X + u)[self._vertices]
        for each in self.obstacles:
            margin = float(getattr(each, "margin", 0.0))
            yield each, np.maximum(-each.at(x, time, within=0.0).distance - margin, 0.0)

    def _on_all(self, values: Floats) -> Floats:
        """Values of the vertices of the boundary as values of all, far away where unknown."""
        found = np.full(len(self._X), np.inf)
        found[self._vertices] = values
        return found

    def _new_pairs(self, stage: Stage, vertex: Ints, obstacle: Ints) -> ContactPairs:
        """Pairs with the friction that obstacles have in a stage."""
        friction = np.array([each.friction_at(stage.time) for each in self.obstacles], dtype=float)
        return ContactPairs.new(vertex, obstacle, friction[obstacle])

    def add_penetrating(self, stage: Stage, u: Floats) -> bool:
        """Whether a vertex is inside an obstacle without being in a pair; if so, it is in one now.

        What the pairs know stays.
        """
        known = set(self.pairs.keys())
        crossed = self._add_crossing(stage, u)
        x = (self._X + u)[self._vertices]
        missing = []
        for number, each in enumerate(self.obstacles):
            touch = each.at(x, stage.time, within=self.exact)
            yields = np.linalg.norm(self._free[self._vertices] * touch.normal, axis=1) > _HELD
            inside = (touch.distance < -self.exact) & yields
            missing += [(v, number) for v in self._vertices[inside].tolist()]
        missing = [pair for pair in missing if pair not in known]
        if not missing:
            return crossed
        added = np.array(missing, dtype=np.int64).T
        self.pairs = self.pairs.with_more(self._new_pairs(stage, *added))
        self.update_planes(stage, u)
        return True

    def _add_crossing(self, stage: Stage, u: Floats) -> bool:
        """The same for edges and faces that are in an obstacle, or have gone through one."""
        more = None if self._between is None else self._between.crossing(stage, u, self.pairs)
        if more is None:
            return False
        self.pairs = self.pairs.with_more(more)
        self.update_planes(stage, u)
        return True

    def passed(self, stage_end: float, u: Floats) -> Obstacle | None:
        """An obstacle that an edge or a face has gone into or through in the stage, to u (n, 3)."""
        return None if self._between is None else self._between.passed(stage_end, u)

    def update_planes(self, stage: Stage, u: Floats) -> None:
        """Turn every pair's plane to where its vertex is now, at u (n, 3).

        A plane that would turn over stays: the vertex has gone through a thin obstacle, or past an
        edge, on its way to where the solver will have it.
        """
        pairs = self.pairs
        moved = pairs.at(u)
        for number, each in enumerate(self.obstacles):
            mine = np.flatnonzero(pairs.obstacle == number)
            if not len(mine):
                continue
            places = pairs.at(self._X)[mine] + moved[mine]
            touch = each.at(places, stage.time)
            facing, own = touch.normal, np.ones(len(mine), dtype=bool)
            if self._between is not None and len(pairs.between):
                facing, own = self._between.across(pairs, mine, self._X + u, touch.normal)
            pairs.obstacle_velocity[mine] = touch.velocity
            turn = np.einsum("ki,ki->k", facing, pairs.normal[mine])
            same = own & (turn > _SAME_SIDE) | ~pairs.normal[mine].any(axis=1)
            kept = mine[same]
            pairs.normal[kept] = facing[same]
            along = np.einsum("ki,ki->k", facing[same], moved[kept])
            pairs.offset[kept] = along - (touch.distance[same] - pairs.target[kept])
        pairs.origin = pairs.at(stage.u_v)
        if stage.c_v:
            pairs.origin += pairs.obstacle_velocity / stage.c_v
        if self.speeds:  # n·v ≥ speed, with v = c_v (u − o) to the obstacle
            for row, key in enumerate(self.pairs.keys()):
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
        along = np.einsum("ki,ki->k", pairs.normal, pairs.at(u))
        deep = np.maximum(pairs.offset - along, 0.0)[:, None] * pairs.normal
        nodes, ways = pairs.moving(deep)
        np.add.at(out, nodes, np.where(self._free[nodes], ways, 0.0))
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
        s = self.pairs.at(u) + self.pairs.scaled_multiplier
        return self.projected(s)

    def slips(self, u: Floats) -> Floats:
        """How far each pair's vertex is, at u, from where it sticks, along the plane (k, 3)."""
        pairs = self.pairs
        away = pairs.at(u) - pairs.origin
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
        s = pairs.at(u) + pairs.scaled_multiplier
        planes = pairs.normal, pairs.offset, pairs.origin
        return float(contact_energy(s, *planes, pairs.limits, weights))

    def store_forces(self, forces: Floats) -> None:
        """Keep the force of each pair (k, 3) [N] for the next stage."""
        pressed = (forces != 0).any(axis=1)
        self._forces = {
            key: force
            for key, force, on in zip(self.pairs.keys(), forces, pressed, strict=True)
            if on
        }
        rows, keys = self.pairs.between, self.pairs.keys()
        self._shares = {keys[row]: self.pairs.shares[row] for row in rows if pressed[row]}

    def warm_start_forces(self) -> Floats:
        """The forces kept of the last stage, for the pairs of this one, (k, 3) [N]."""
        found = np.zeros((self.pairs.count, 3))
        if self._forces:
            for row, key in enumerate(self.pairs.keys()):
                if key in self._forces:
                    found[row] = self._forces[key]
        return found

    def on_vertices(self) -> Floats:
        """Force of the obstacles on every vertex at the end of the last stage [N], (n, 3)."""
        total = np.zeros_like(self._X)
        for key, force in self._forces.items():
            if key in self._shares:
                assert self._between is not None
                spread = self._shares[key][:, None] * force
                np.add.at(total, self._between.nodes(key[0]), spread)
            else:
                total[key[0]] += force
        return total

    # -- after a step --------------------------------------------------------------------

    def friction_power(self, v: Floats) -> float:
        """Power that friction takes from the motion [W] at velocity v (n, 3)."""
        pairs, power = self.pairs, 0.0
        speeds = pairs.at(v)
        for row, key in enumerate(self.pairs.keys()):
            if key in self._forces:
                n = pairs.normal[row]
                relative = speeds[row] - pairs.obstacle_velocity[row]
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
            self._forces.get(key, none)
            for key, on in zip(self.pairs.keys(), mine, strict=True)
            if on
        ]
        return np.reshape(forces, (-1, 3)), pairs.obstacle_velocity[mine]

    def pushed_out(self, now: State) -> float:
        """Work [J] of the forces of the last stage on points that were inside ``now``."""
        work, x = 0.0, self._X + now.u
        for number, each in enumerate(self.obstacles):
            forces = {key: force for key, force in self._forces.items() if key[1] == number}
            if forces:
                touch = each.at(np.array([self._place(key, x) for key in forces]), now.time)
                pressed = np.einsum("ki,ki->k", np.array(list(forces.values())), touch.normal)
                work += float(np.maximum(-touch.distance, 0.0) @ np.maximum(pressed, 0.0))
        return work

    def _place(self, key: Key, x: Floats) -> Floats:
        """Where a point that has pressed is (3,), with vertices at x (n, 3)."""
        if key not in self._shares:
            return np.asarray(x[key[0]])
        assert self._between is not None
        return np.asarray(self._shares[key] @ x[self._between.nodes(key[0])])

    def first_impact(self, now: State, dt: float, new: set[Key], fall: float) -> Impact | None:
        """The impact with restitution of a step from ``now``, in which ``new`` pairs came to touch.

        Those that come slower than a step of free fall, with the acceleration ``fall`` [m/s²],
        makes them have nothing to bounce with.
        """
        delay, speeds = np.inf, {}
        for number, obstacle in enumerate(self.obstacles):
            met = [v for v, o in new if o == number and v < len(self._X)]
            if obstacle.vertex_restitution is None or not met:
                continue
            touch = obstacle.at(self._X[met] + now.u[met], now.time)
            approach = -np.einsum("ki,ki->k", now.v[met] - touch.velocity, touch.normal)
            for vertex, speed, gap in zip(met, approach, touch.distance, strict=True):
                if speed > _AT_REST * dt * fall:
                    speeds[vertex, number] = obstacle.vertex_restitution * float(speed)
                    delay = min(delay, max(float(gap), 0.0) / float(speed))
        return Impact(min(delay, _LATEST * dt), speeds) if speeds else None

    def pressing(self) -> ContactPairs:
        """The pairs that press and do not bounce."""
        keys = self.pairs.keys()
        rows = [n for n, key in enumerate(keys) if key in self._forces and key not in self.speeds]
        return self.pairs.of(np.array(rows, dtype=np.int64))

    def after_impact(self, after: State, body: ElasticBody) -> State:
        """``after`` a stage, with what presses on an obstacle at rest along its normal."""
        pressing = self.pressing()
        if not pressing.count:
            return after
        pressed = pressed_normals(pressing, self._free)
        along = pressed.wanted(pressing.obstacle_velocity, pressing.vertex, after.v)
        v = pressed.projected(after.v, along, body)
        a = pressed.projected(after.acceleration, np.zeros_like(along), body)
        return State(after.time, after.u, v, a)

    def state(self) -> dict[str, Floats]:
        """What the next stage starts from, for checkpoints."""
        keys = sorted(self._forces)
        forces = np.array([self._forces[key] for key in keys]).reshape(-1, 3)
        found = {"pairs": np.array(keys, dtype=float).reshape(-1, 2), "forces": forces}
        if self._between is not None:
            shares = [self._shares.get(key, np.zeros(3)) for key in keys]
            found["shares"] = np.array(shares).reshape(-1, 3)
        return found

    def restore(self, keys: Floats, forces: Floats, shares: Floats | None = None) -> None:
        """Go on from what ``state`` gave."""
        pairs = [(v, o) for v, o in keys.astype(int).tolist()]
        self._forces = dict(zip(pairs, forces, strict=True))
        self._shares = {}
        if shares is not None:
            self._shares = {
                pair: share for pair, share in zip(pairs, shares, strict=True) if share.any()
            }

    def memory(self) -> tuple[ContactPairs, dict[Key, Floats], dict[Key, Floats]]:
        """Pairs and forces of the last stage, to ``recall``."""
        return self.pairs.with_more(), dict(self._forces), dict(self._shares)

    def recall(self, memory: tuple[ContactPairs, dict[Key, Floats], dict[Key, Floats]]) -> None:
        """Go back to what ``memory`` gave."""
        pairs, forces, shares = memory
        self.pairs, self._forces = pairs.with_more(), dict(forces)
        self._shares = dict(shares)

    @property
    def touching(self) -> set[Key]:
        """The pairs of vertex and obstacle that pressed on each other in the last stage."""
        return set(self._forces)
