"""Contact of a body with itself: a barrier between its layers, and friction where they press.

To a stage the barrier (Li et al., Incremental Potential Contact, 2020) is one more stored energy,

    B(u) = Σ κ_k d̂_k A_k b(d_k²(u) / d̂_k²)        b(s) = −(s − 1)² ln s  for s < 1,

over the pairs of point and triangle, and of two edges, that are nearer than their reach d̂, each
with its share A of the area; and friction is one more dissipation function R(v), in which pressures
and directions are those of an earlier shape.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from supple._kernels.contact import barriers
from supple.bodies.elastic_body import ElasticBody
from supple.contact.contact_surface import ContactSurface, Pairs, toolkit
from supple.contact.couplings import Couplings
from supple.contact.pair_scales import PairScales
from supple.contact.partwise import in_parts
from supple.contact.self_contact import SelfContact
from supple.contact.self_friction import LaggedFriction
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh.points import CarriedPoints

_BLOCKS = 10  # of four vertices, on and above the diagonal
_NEARBY = 2.0  # reaches: how far apart pairs may be that get room in the matrix
_SKIN = 0.25  # reaches, or
_SKIN_OF_EDGES = 0.05  # edges: how far vertices may go before near is looked for anew,
_AHEAD = 1.6  # and so many times as far as they went in the last stage,
_WIDEST = 2.0  # reaches at most
_LOOKED_AT = 3  # shapes whose pairs are kept: where a stage begins, may begin, and ends
_FRICTION_ROUNDS = 4  # in which pressures and directions of friction follow the shape
_SAME_FRICTION = 0.02  # share of friction by which it may still change
_EPSILON = float(np.finfo(float).eps)


class _Found(NamedTuple):
    """All pairs that were nearer than their room and skins where the surface once was."""

    x: Floats
    """(m, 3)."""
    skin: Floats
    """[m], (m,)"""
    pairs: Pairs
    reach: Floats
    weights: Floats
    distances: Floats
    """At x [m], (k,)."""

    def holds(self, moved: Floats) -> bool:
        """Whether nothing else may be in room where vertices have moved by so much [m], (m,)."""
        return bool((moved <= self.skin).all())


@dataclass(eq=False)
class _Near:
    """The pairs in reach where the surface is, in an order that follows from that alone."""

    points: CarriedPoints
    """Of the surface, (m,)."""
    x: Floats
    """(m, 3)."""
    pairs: Pairs
    reach: Floats
    weights: Floats
    bounds: Floats
    least: float
    """The least distance between the sides of a pair [m]."""
    energy_and_force: tuple[float, Floats] | None = None
    """B [J] and ∇B (n, 3) [N], once they were asked for."""

    @property
    def given(self) -> tuple[Ints, Ints, Floats, Floats, Floats, Floats]:
        """What kernels want of them."""
        return self.pairs.kinds, self.pairs.quads, self.reach, self.weights, self.bounds, self.x

    @cached_property
    def couplings(self) -> Couplings:
        """Where their blocks belong."""
        return Couplings(self.points, self.pairs.quads)


class SelfContactForces:
    """The surface of one body against itself."""

    def __init__(self, body: ElasticBody, options: SelfContact) -> None:
        toolkit()
        self._n = body.n_vertices
        self._surface = ContactSurface(body)
        self._points = self._surface.carried
        """What touches: all that is on the surface, (m,)."""
        self._ids = self._points.first
        self.scales = PairScales(body, self._surface, options)
        """Reach and stiffness of pairs."""
        self.distance = self.scales.distance
        """The largest d̂ [m]."""
        edges = _SKIN_OF_EDGES * float(np.median(self._surface.lengths))
        room = self.scales.room
        self._least_skin = max(_SKIN * float(room.min()), edges)
        self._widest_skin = _WIDEST * float(room[np.isfinite(room)].min())
        self._skin = np.full(len(room), self._least_skin)
        self._found: _Found | None = None
        self._looked_at: deque[_Near] = deque(maxlen=_LOOKED_AT)
        self._placed: tuple[Floats, Floats] | None = None
        self._block_room = np.empty((0, _BLOCKS, 3, 3))
        self._mu, self._sticking = options.friction, options.sticking_speed
        self._pressed_at = np.zeros((0, 3))
        self._lagged: LaggedFriction | None = None
        self.intersection_free: Floats | None = None
        """A shape (n, 3) that is known not to pass through itself."""
        self._rounds, self._near_at_start = 0, False
        self._began_at: Floats | None = None

    def _places(self, u: Floats) -> Floats:
        last = self._placed
        if last is None or not np.array_equal(u, last[0]):
            last = self._placed = u.copy(), np.ascontiguousarray(self._points.moved(u))
        return last[1]

    def _field(self, on_surface: Floats) -> Floats:
        """A field (n, 3) from its values on the surface."""
        return self._points.spread(on_surface)

    def _near(self, u: Floats) -> _Near:
        """The pairs in reach at u; those of the last shapes are kept."""
        return self._near_places(self._places(u))

    def _near_places(self, x: Floats) -> _Near:
        for k, known in enumerate(self._looked_at):
            if np.array_equal(x, known.x):
                del self._looked_at[k]
                self._looked_at.append(known)  # the last one to be forgotten
                return known
        found = self._candidates(x)
        given = found.pairs, found.reach, found.distances, _ways(x - found.x), x
        squares = self._surface.squares_in_reach(*given)
        active = np.flatnonzero(squares < np.inf)
        pairs = found.pairs.of(active)
        least = float(np.sqrt(squares[active].min(initial=np.inf)))
        of_pairs = found.reach[active], found.weights[active], self._surface.bounds(pairs), least
        self._looked_at.append(_Near(self._points, x, pairs, *of_pairs))
        return self._looked_at[-1]

    def _candidates(self, x: Floats) -> _Found:
        """Pairs that may be in reach near x, kept while x is near."""
        found = self._found
        if found is not None and found.holds(_ways(x - found.x)):
            return found
        pairs, distances = self._surface.near(x, self.scales.room, self._skin)
        self._found = _Found(x, self._skin, pairs, *self.scales.of(pairs), distances)
        return self._found

    def _look_ahead(self, start: Floats) -> None:
        """Find pairs for a whole stage at once, if it goes about as far as the last one."""
        x, last = self._places(start), self._began_at
        self._began_at = x
        if last is None:
            return
        ways = _ways(x - last)
        ahead = np.minimum(_AHEAD * ways, self._widest_skin)
        self._skin = self._least_skin + ahead
        found = self._found
        if found is not None and not found.holds(_ways(x - found.x) + np.minimum(ways, ahead)):
            self._found = None

    @property
    def has_smoothed_friction(self) -> bool:
        """Whether layers may press on each other with friction in the stage at hand."""
        return bool(self._mu and self._near_at_start)

    @property
    def has_barriers(self) -> bool:
        """Whether pairs are in reach where the surface was last looked at."""
        return len(self._looked_at) > 0 and len(self._looked_at[-1].pairs) > 0

    # -- a stage -------------------------------------------------------------------------

    def begin(self, start: Floats) -> None:
        """Start a stage from a shape (n, 3), which must not pass through itself."""
        if self.intersection_free is None or not np.array_equal(start, self.intersection_free):
            if self._surface.crosses_itself(self._places(start)):
                raise InputError(
                    "the body passes through itself; self-contact keeps layers apart but does not "
                    "untangle them, so set state.u to a shape that does not"
                )
            self.intersection_free = start.copy()
        self._rounds = 0
        self._look_ahead(start)
        self._near_at_start = len(self._near(start).pairs) > 0
        self._press(self._places(start))

    def _press(self, x: Floats) -> None:
        """Take the pressures and directions of friction from where the surface is."""
        if self._mu and not np.array_equal(x, self._pressed_at):
            near = self._near_places(x)
            given = self._surface, near.pairs, near.reach, near.weights, x
            self._lagged = LaggedFriction.of(*given, self._mu, self._sticking)
            self._pressed_at = x

    def memory(self) -> tuple[Floats | None, Floats, bool]:
        """What is lagged, to ``recall``."""
        return self.intersection_free, self._pressed_at, self._near_at_start

    def recall(self, memory: tuple[Floats | None, Floats, bool]) -> None:
        """Go back to what ``memory`` gave."""
        self.intersection_free, pressed_at, self._near_at_start = memory
        if len(pressed_at):
            self._press(pressed_at)
        else:
            self._lagged, self._pressed_at = None, pressed_at

    def count(self, u: Floats) -> int:
        """How many pairs are in reach at u (n, 3)."""
        return len(self._near(u).pairs)

    def refresh(self, u: Floats, v: Floats, enough: float) -> bool:
        """Bring friction up to date at u; whether that changed forces by more than ``enough``."""
        if not self._mu or self._rounds >= _FRICTION_ROUNDS:
            return False
        self._rounds += 1
        before = self.friction(v)
        self._press(self._places(u))
        after = self.friction(v)
        change = float(np.linalg.norm(after - before))
        return change > max(enough, _SAME_FRICTION * float(np.linalg.norm(after)))

    def collision_free_step(self, u: Floats, step: Floats) -> float:
        """The share of a step from u, up to 1, that can be gone without passing through itself."""
        on_surface = np.ascontiguousarray(self._points.of(step))
        if not np.isfinite(on_surface).all():
            return 0.0
        if not on_surface.any():
            return 1.0
        x = self._places(u)
        found = self._candidates(x)
        moved, ways = _ways(x - found.x), _ways(on_surface)
        known = found.pairs, x, on_surface, found.distances, moved, ways
        least, room = self._surface.collision_free_step_of(*known), float(self.scales.room.min())
        if self._surface.cannot_meet(x, room, found.skin, moved, least * ways):
            return least
        return self._surface.collision_free_step(x, on_surface, least)

    def feasible_starts(self, start: Floats, ends: Sequence[Floats]) -> list[Floats]:
        """Places on the way from ``start`` to each of ``ends`` that are reached without impact.

        The last of these is the start with its held components where they belong; what is held goes
        all the way or not at all.
        """
        placed = ends[-1]
        if self.collision_free_step(start, placed - start) < 1.0:
            return [end for end in ends[:-1] if self.collision_free_step(start, end - start) == 1.0]
        ways = [end - placed for end in ends[:-1]]
        return [*(placed + self.collision_free_step(placed, way) * way for way in ways), placed]

    # -- energy, force and matrix --------------------------------------------------------

    def _evaluate(self, u: Floats) -> tuple[float, Floats]:
        near = self._near(u)
        if near.energy_and_force is None:
            energies, forces = np.empty(len(near.pairs)), np.empty((len(near.pairs), 4, 3))
            fill = partial(barriers.barrier_forces, *near.given)
            in_parts(fill, len(near.pairs), energies, forces)
            total = np.zeros((len(self._ids), 3))
            barriers.add_forces(near.pairs.quads, forces, total)
            near.energy_and_force = float(energies.sum()), self._field(total)
        return near.energy_and_force

    def energy(self, u: Floats) -> float:
        """B(u) [J]."""
        return self._evaluate(u)[0]

    def force(self, u: Floats) -> Floats:
        """∇B(u) [N], (n, 3)."""
        return self._evaluate(u)[1].copy()

    def rounding_force(self, u: Floats, force: Floats) -> float:
        """Norm of ∇B [N] that rounding of u alone may leave, where it is ``force`` (n, 3)."""
        near = self._near(u)
        if not near.pairs:
            return 0.0
        return _EPSILON * float(np.abs(near.x).max()) * float(np.linalg.norm(force)) / near.least

    def dissipation(self, v: Floats) -> float:
        """R(v) of friction [W]."""
        return self._lagged.forces(self._velocities(v))[0] if self._lagged else 0.0

    def friction(self, v: Floats) -> Floats:
        """∇R(v) [N], (n, 3)."""
        if not self._lagged:
            return np.zeros((self._n, 3))
        return self._field(self._lagged.forces(self._velocities(v))[1])

    def friction_power(self, v: Floats) -> float:
        """Power that friction takes from the motion [W], v·∇R."""
        return float(np.vdot(v, self.friction(v)))

    def _velocities(self, v: Floats) -> Floats:
        return np.ascontiguousarray(self._points.of(v))

    def matrix(
        self, u: Floats, v: Floats, c_v: float, *, definite: bool = False, majorized: bool = False
    ) -> tuple[Ints, Floats]:
        """∇²B + c_v ∇²R as blocks (k, 3, 3) of pairs of vertices, with the keys of these (k,).

        ``definite`` makes each pair's part of ∇²B positive semidefinite, ``majorized`` asks for a
        stand-in for ∇²R that keeps steps from overshooting. A key may be there more than once.
        """
        near = self._near(u)
        couplings, count = near.couplings, len(near.pairs)
        if len(self._block_room) < count:
            self._block_room = np.empty((count + count // 8, _BLOCKS, 3, 3))
        blocks = self._block_room[:count]
        in_parts(partial(barriers.barrier_blocks, *near.given, definite), count, blocks)
        found = couplings.keys, couplings.of_blocks(blocks)
        if not self._lagged or not c_v:
            return found
        more = self._lagged.blocks(self._velocities(v), c_v, majorized=majorized)
        return np.concatenate([found[0], self._lagged.keys]), np.concatenate([found[1], more])

    def nearby_keys(self, u: Floats) -> Ints:
        """The keys of vertices that may soon be in pairs."""
        x, wide = self._places(u), _NEARBY * self.scales.room
        pairs = self._surface.candidates(x, wide)
        reach = _NEARBY * self.scales.of(pairs)[0]
        pairs = pairs.of(self._surface.squared_distances(pairs, x) < reach**2)
        stencils = pairs.quads
        if self._mu:
            frames = self._surface.frames(pairs)
            turning = np.where(frames < 0, stencils[:, :1], frames)
            stencils = np.hstack([stencils, turning])
        return Couplings(self._points, stencils).keys


def _ways(ways: Floats) -> Floats:
    """How far each vertex goes on ways (m, 3), but for what all have in common [m], (m,).

    No two come nearer to each other than by the sum of both.
    """
    middle = 0.5 * (ways.min(axis=0) + ways.max(axis=0))
    return np.asarray(np.sqrt(((ways - middle) ** 2).sum(axis=1)))
