"""Contact of a body with itself: a barrier between its layers, and friction where they press.

To a stage the barrier (Li et al., Incremental Potential Contact, 2020) is one more stored energy,

    B(u) = Σ κ_k d̂_k A_k b(d_k²(u) / d̂_k²)        b(s) = −(s − 1)² ln s  for s < 1,

over the pairs of point and triangle, and of two edges, that are nearer than their reach d̂, each
with its share A of the area; and friction is one more dissipation function R(v), in which pressures
and directions are those of an earlier shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from supple._kernels.contact import barriers, boxes
from supple.bodies.elastic_body import ElasticBody
from supple.contact.carried import CarriedBlocks
from supple.contact.contact_surface import ContactSurface, Pairs, in_parts, toolkit
from supple.contact.near_pairs import NearPairs
from supple.contact.pair_scales import PairScales
from supple.contact.self_contact import SelfContact
from supple.contact.self_friction import LaggedFriction
from supple.core.errors import InputError
from supple.core.types import Floats, Ints

_FIRST, _SECOND = np.triu_indices(4)
_NEARBY = 2.0  # reaches: how far apart pairs may be that get room in the matrix
_FRICTION_ROUNDS = 4  # in which pressures and directions of friction follow the shape
_SAME_FRICTION = 0.02  # share of friction by which it may still change
_EPSILON = float(np.finfo(float).eps)


class _Near(NamedTuple):
    """The pairs in reach where the surface is, in an order that follows from that alone."""

    x: Floats
    """(m, 3)."""
    pairs: Pairs
    reach: Floats
    weights: Floats
    bounds: Floats
    least: float
    """The least distance between the sides of a pair [m]."""

    @property
    def given(self) -> tuple[Ints, Ints, Floats, Floats, Floats, Floats]:
        """What kernels want of them."""
        return self.pairs.kinds, self.pairs.quads, self.reach, self.weights, self.bounds, self.x


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
        self._candidates = NearPairs(self._surface, self.scales)
        self._last: _Near | None = None
        self._placed: tuple[Floats, Floats] | None = None
        self._evaluated: tuple[Floats, float, Floats] | None = None
        self._mu, self._sticking = options.friction, options.sticking_speed
        self._pressed_at = np.zeros((0, 3))
        self._lagged: LaggedFriction | None = None
        self.intersection_free: Floats | None = None
        """A shape (n, 3) that is known not to pass through itself."""
        self._rounds, self._near_at_start = 0, False

    def _places(self, u: Floats) -> Floats:
        last = self._placed
        if last is None or not np.array_equal(u, last[0]):
            last = self._placed = u.copy(), np.ascontiguousarray(self._points.moved(u))
        return last[1]

    def _field(self, on_surface: Floats) -> Floats:
        """A field (n, 3) from its values on the surface."""
        return self._points.spread(on_surface)

    def _near(self, u: Floats) -> _Near:
        """The pairs in reach at u; the last ones are kept."""
        return self._near_places(self._places(u))

    def _near_places(self, x: Floats) -> _Near:
        last = self._last
        if last is not None and np.array_equal(x, last.x):
            return last
        around, reach, weights, _, _ = self._candidates.at(x)
        squares = self._surface.squared_distances(around, x)
        active = np.flatnonzero(squares < reach * reach)
        pairs = around.of(active)
        least = float(np.sqrt(squares[active].min(initial=np.inf)))
        bounds = self._surface.bounds(pairs)
        self._last = _Near(x, pairs, reach[active], weights[active], bounds, least)
        return self._last

    @property
    def has_smoothed_friction(self) -> bool:
        """Whether layers may press on each other with friction in the stage at hand."""
        return bool(self._mu and self._near_at_start)

    @property
    def has_barriers(self) -> bool:
        """Whether pairs are in reach where the surface was last looked at."""
        return self._last is not None and len(self._last.pairs) > 0

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
        return self._candidates.collision_free_step(self._places(u), on_surface)

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
        if self._evaluated is None or self._evaluated[0] is not near.x:
            energies, forces = np.empty(len(near.pairs)), np.empty((len(near.pairs), 4, 3))
            fill = partial(barriers.barrier_forces, *near.given)
            in_parts(fill, len(near.pairs), energies, forces)
            total = np.zeros((len(self._ids), 3))
            barriers.add_forces(near.pairs.quads, forces, total)
            self._evaluated = near.x, float(energies.sum()), self._field(total)
        return self._evaluated[1], self._evaluated[2]

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
        blocks = np.empty((len(near.pairs), len(_FIRST), 3, 3))
        in_parts(partial(barriers.barrier_blocks, *near.given, definite), len(near.pairs), blocks)
        rows, cols = near.pairs.quads[:, _FIRST].ravel(), near.pairs.quads[:, _SECOND].ravel()
        keys, blocks = self._upper(rows, cols, blocks.reshape(-1, 3, 3))
        if not self._lagged or not c_v:
            return keys, blocks
        more = self._upper(*self._lagged.blocks(self._velocities(v), c_v, majorized=majorized))
        return np.concatenate([keys, more[0]]), np.concatenate([blocks, more[1]])

    def nearby_keys(self, u: Floats) -> Ints:
        """The keys of vertices that may soon be in pairs."""
        x, wide = self._places(u), _NEARBY * self.scales.room
        pairs = self._surface.candidates(x, wide)
        reach = _NEARBY * self.scales.of(pairs)[0]
        pairs = pairs.of(self._surface.squared_distances(pairs, x) < reach**2)
        slots = pairs.quads
        if self._mu:
            frames = self._surface.frames(pairs)
            slots = np.hstack([slots, np.where(frames < 0, slots[:, :1], frames)])
        first, second = np.triu_indices(slots.shape[1])
        rows, cols = slots[:, first].ravel(), slots[:, second].ravel()
        if not self._points.is_vertex.all():
            return np.unique(CarriedBlocks(self._points, rows, cols).keys)
        rows, cols = self._ids[rows], self._ids[cols]
        return np.unique(np.minimum(rows, cols) * np.int64(self._n) + np.maximum(rows, cols))

    def _upper(self, rows: Ints, cols: Ints, blocks: Floats) -> tuple[Ints, Floats]:
        """Blocks between vertices of the surface as those of row ≤ column in the body."""
        if not self._points.is_vertex.all():
            carried = CarriedBlocks(self._points, rows, cols)
            return carried.keys, carried.of(blocks)
        keys = np.empty(len(rows), dtype=np.int64)
        boxes.to_upper(rows, cols, self._ids, self._n, keys, blocks)
        return keys, blocks
