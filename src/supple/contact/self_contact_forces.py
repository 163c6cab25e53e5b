"""Contact of a body with itself: a barrier between its layers, and friction where they press.

The IPC Toolkit finds what is near, and has the barrier b(d), the smoothed Coulomb friction and
continuous collision detection (Li et al., Incremental Potential Contact, 2020). To a stage the
barrier is one more stored energy,

    B(u) = κ d̂ Σ A_k b(d_k(u) / d̂)        b(s) = −(s − 1)² ln s  for s < 1,

over the pairs of point and triangle, and of two edges, that are nearer than d̂, each with its share
A of the area; and friction is one more dissipation function R(v), in which pressures and directions
are those of an earlier shape.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple._kernels.contact.vertices import friction_blocks
from supple.bodies.elastic_body import ElasticBody
from supple.contact.carried import carried_blocks
from supple.contact.self_contact import SelfContact
from supple.core.errors import InputError, MissingExtra
from supple.core.types import Floats, Ints
from supple.mesh.group import own_edges, own_surface
from supple.mesh.points import CarriedPoints

_FIRST, _SECOND = np.triu_indices(4)
_DISTANCE = 0.2  # mean edges, where no distance is given,
_OF_LEAST = 0.5  # but no more than this share of the least distance in the mesh
_TOUCHING = 1e-6  # mean edges, up to which parts of a mesh touch
_STOPPED = 5.0  # m/s: the speed from which a barrier as stiff as K d̂² = m v² stops a rigid body
_FIRMNESS = 1.0  # times the stiffness of the body at a vertex, that a barrier has there
_NEARBY = 2.0  # distances: how far apart pairs may be that get room in the matrix
_CLOSEST = 0.9  # share of the way to an impact that a step may go
_FRICTION_ROUNDS = 4  # in which pressures and directions of friction follow the shape
_SAME_FRICTION = 0.02  # share of friction by which it may still change
_EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class SelfContactFriction:
    """k pairs that rub, of two points, point and edge, two edges, or point and triangle.

    Friction R = Σ L f₀(|τ|), with the limit L = μ N of a pair and its slip τ, is level along the
    slip once it slides. Newton's step then takes no notice of where it would stick, and goes past.
    The matrix here is that of a parabola that touches f₀ at |τ| and lies above it elsewhere:
    f₁(|τ|)/|τ|, f₁ = f₀', in all directions along the surface. Steps do not turn the slip round.
    """

    vertices: Ints
    """(k, 4); 0 in place of those that a pair does not have."""
    shares: Floats
    """c, (k, 4): the sides move past each other at Σ c v; 0 in place of those not there."""
    along: Floats
    """P = I − n ⊗ n of the normal n between the sides, (k, 3, 3)."""
    limits: Floats
    """L [N], (k,)."""

    @classmethod
    def of(cls, pressed: Any, mesh: Any, x: Floats, friction: float) -> SelfContactFriction:
        """From the toolkit's pairs with friction on a surface at x (m, 3)."""
        parts = [
            part
            for part in (
                _of_points(pressed.vv_collisions),
                _of_edge(pressed.ev_collisions, mesh.edges),
                _of_edges(pressed.ee_collisions, mesh.edges),
                _of_triangle(pressed.fv_collisions, mesh.faces),
            )
            if len(part[0])
        ]
        vertices = np.concatenate([part[0] for part in parts]).astype(np.int64)
        c, N = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        apart = np.einsum("ka,kai->ki", c, x[vertices])
        n = apart / np.linalg.norm(apart, axis=1, keepdims=True)
        return cls(vertices, c, np.eye(3) - n[:, :, None] * n[:, None, :], friction * N)

    def matrix(self, v: Floats, sticking: float) -> tuple[Ints, Ints, Floats]:
        """Rows (m,), columns (m,) and blocks (m, 3, 3) at velocities v, each pair of vertices once.

        ``sticking`` [m/s] is the slip speed ε below which f₁ rises to 1: 2 y/ε − y²/ε².
        """
        blocks = np.empty((len(self.limits), 10, 3, 3))
        friction_blocks(self.vertices, self.shares, self.along, self.limits, v, sticking, blocks)
        there = (self.shares[:, _FIRST] * self.shares[:, _SECOND] != 0).ravel()
        rows, cols = (self.vertices[:, side].ravel()[there] for side in (_FIRST, _SECOND))
        return rows, cols, blocks.reshape(-1, 3, 3)[there]


_Part = tuple[Ints, Floats, Floats]
"""Vertices (k, 4), c (k, 4) and forces N [N], (k,)."""


def _of_points(pairs: Any) -> _Part:
    ids = _ids(pairs, "vertex0_id", "vertex1_id")
    none = np.zeros_like(ids)
    return np.hstack([ids, none]), np.tile([1.0, -1.0, 0.0, 0.0], (len(ids), 1)), _forces(pairs)


def _of_edge(pairs: Any, edges: Ints) -> _Part:
    ids = _ids(pairs, "vertex_id", "edge_id")
    a = _closest(pairs, 1)[:, 0]
    shares = np.stack([np.ones_like(a), a - 1, -a, np.zeros_like(a)], axis=1)
    return np.hstack([ids[:, :1], edges[ids[:, 1]], 0 * ids[:, :1]]), shares, _forces(pairs)


def _of_edges(pairs: Any, edges: Ints) -> _Part:
    ids = _ids(pairs, "edge0_id", "edge1_id")
    a, b = _closest(pairs, 2).T
    return edges[ids].reshape(-1, 4), np.stack([1 - a, a, b - 1, -b], axis=1), _forces(pairs)


def _of_triangle(pairs: Any, faces: Ints) -> _Part:
    ids = _ids(pairs, "vertex_id", "face_id")
    b, c = _closest(pairs, 2).T
    shares = np.stack([np.ones_like(b), b + c - 1, -b, -c], axis=1)
    return np.hstack([ids[:, :1], faces[ids[:, 1]]]), shares, _forces(pairs)


def _ids(pairs: Any, *names: str) -> Ints:
    read = attrgetter(*names)
    return np.array([read(pair) for pair in pairs], dtype=np.int64).reshape(-1, len(names))


def _closest(pairs: Any, size: int) -> Floats:
    return np.array([pair.closest_point for pair in pairs], dtype=float).reshape(-1, size)


def _forces(pairs: Any) -> Floats:
    """N, each with its share of the area."""
    return np.array([pair.normal_force_magnitude * pair.weight for pair in pairs], dtype=float)


class SelfContactForces:
    """The surface of one body against itself."""

    def __init__(self, body: ElasticBody, options: SelfContact) -> None:
        ipc = self._ipc = _toolkit()
        ipc.set_num_threads(1)  # with more, its sums come in another order in every run
        surface = _Outside.of(body)
        self._n, self._points = body.n_vertices, body.points.only(surface.ids)
        """What touches: all that is on the surface, (m,)."""
        vertices = self._points.rest
        self._mesh = ipc.CollisionMesh(
            vertices, surface.edges.astype(np.int32), surface.triangles.astype(np.int32)
        )
        if not self._points.is_vertex.all():  # a rigid body cannot come near itself
            self._mesh.can_collide = ipc.make_vertex_patches_filter(_patches(self._points))
        self._ccd = ipc.AdditiveCCD(conservative_rescaling=_CLOSEST)
        ends = vertices[surface.edges]
        edge = float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean())
        self.distance = self._fitting_distance(options.distance, edge)
        """d̂ [m]"""
        self.stiffness = options.stiffness or self._fitting_stiffness(body, surface.area, edge)
        """κ [Pa]"""
        self._barrier = ipc.BarrierPotential(self.distance, self.stiffness, True)
        self._mu, self._friction = options.friction, ipc.FrictionPotential(options.sticking_speed)
        self._pairs, self._pairs_at = self._no_pairs(), np.zeros((0, 3))
        self._pressed, self._pressed_at = ipc.TangentialCollisions(), np.zeros((0, 3))
        self._lagged_friction: SelfContactFriction | None = None
        self.intersection_free: Floats | None = None
        """A shape (n, 3) that is known not to pass through itself."""
        self._rounds, self._near_at_start = 0, False

    # -- the surface ---------------------------------------------------------------------

    def _no_pairs(self) -> Any:
        pairs = self._ipc.NormalCollisions()
        pairs.use_area_weighting = True
        return pairs

    def _fitting_distance(self, given: float | None, edge: float) -> float:
        rest = self._places(np.zeros((self._n, 3)))
        wanted = _DISTANCE * edge if given is None else given
        pairs = self._no_pairs()
        pairs.build(self._mesh, rest, wanted / _OF_LEAST)
        least = self._gap(pairs, rest)
        if least <= _TOUCHING * edge or self._ipc.has_intersections(self._mesh, rest):
            raise InputError(
                "the mesh touches or passes through itself where it starts; self-contact keeps "
                "layers apart but does not untangle them, so move them apart, join vertices that "
                "should be one, or go without self_contact"
            )
        if given is None:
            return min(wanted, _OF_LEAST * least)
        if given > least:
            raise InputError(
                f"distance={given:g} m, but parts of the mesh that share no vertex are {least:.3g} "
                "m apart as it starts and would push each other away; give less, or nothing for a "
                "distance that fits the mesh"
            )
        return given

    def _fitting_stiffness(self, body: ElasticBody, area: float, edge: float) -> float:
        """κ at which the barrier is about as stiff as the body: A κ / d̂ = K at a vertex.

        What is rigid has K = m ω² there: it is stopped half way from a speed of ω d̂.
        """
        rest = body.evaluate(np.zeros_like(body.mesh.vertices), order=2).stiffness
        points, first = self._points, self._points.vertices[:, 0]
        K = np.einsum("bii->b", rest[body.pattern.indptr[first]]) / 3
        firm = [float(K[points.is_vertex].mean())] if points.is_vertex.any() else []
        if not points.is_vertex.all():
            four = 4.0 * body.mass_values[body.pattern.indptr[first]]  # m, of each body
            rigid = ~points.is_vertex
            share = np.bincount(first[rigid], minlength=self._n)[first[rigid]]
            firm.append(float((four[rigid] / share).max()) * (_STOPPED / self.distance) ** 2)
        own = area / points.count if area else edge**2  # springs have none
        return _FIRMNESS * max(firm) * self.distance / own

    def _gap(self, pairs: Any, x: Floats) -> float:
        """The least distance [m] between the two sides of a pair, of those that there are."""
        if not pairs:
            return np.inf
        return float(np.sqrt(pairs.compute_minimum_distance(self._mesh, x)))

    def _places(self, u: Floats) -> Floats:
        return np.asfortranarray(self._points.moved(u))

    def _field(self, flat: Floats) -> Floats:
        """A field (n, 3) from its values on the surface."""
        return self._points.spread(flat.reshape(-1, 3))

    def _near(self, u: Floats) -> tuple[Any, Floats]:
        """The pairs nearer than d̂ at u, and where the surface is; the last are kept."""
        x = self._places(u)
        if not np.array_equal(x, self._pairs_at):
            self._pairs.build(self._mesh, x, self.distance)
            self._pairs_at = x
        return self._pairs, x

    @property
    def has_smoothed_friction(self) -> bool:
        """Whether layers may press on each other with friction in the stage at hand."""
        return bool(self._mu and self._near_at_start)

    # -- a stage -------------------------------------------------------------------------

    def begin(self, start: Floats) -> None:
        """Start a stage from a shape (n, 3), which must not pass through itself."""
        if self.intersection_free is None or not np.array_equal(start, self.intersection_free):
            if self._ipc.has_intersections(self._mesh, self._places(start)):
                raise InputError(
                    "the body passes through itself; self-contact keeps layers apart but does not "
                    "untangle them, so set state.u to a shape that does not"
                )
            self.intersection_free = start.copy()
        self._rounds = 0
        self._near_at_start = bool(self._near(start)[0])
        self._press(start)

    def _press(self, u: Floats) -> None:
        """Take the pressures and directions of friction from the shape u."""
        if self._mu:
            pairs, x = self._near(u)
            self._pressed.build(self._mesh, x, pairs, self._barrier, self._mu)
            self._pressed_at, self._lagged_friction = x, None

    def memory(self) -> tuple[Floats | None, Floats, bool]:
        """What is lagged, to ``recall``."""
        return self.intersection_free, self._pressed_at, self._near_at_start

    def recall(self, memory: tuple[Floats | None, Floats, bool]) -> None:
        """Go back to what ``memory`` gave."""
        self.intersection_free, pressed_at, self._near_at_start = memory
        self._pressed, self._pressed_at = self._ipc.TangentialCollisions(), pressed_at
        self._pairs, self._pairs_at = self._no_pairs(), np.zeros((0, 3))
        self._lagged_friction = None
        if len(pressed_at):
            self._pairs.build(self._mesh, pressed_at, self.distance)
            self._pairs_at = pressed_at
            self._pressed.build(self._mesh, pressed_at, self._pairs, self._barrier, self._mu)

    def count(self, u: Floats) -> int:
        """How many pairs are near at u (n, 3)."""
        return len(self._near(u)[0])

    def refresh(self, u: Floats, v: Floats, enough: float) -> bool:
        """Bring friction up to date at u; whether that changed forces by more than ``enough``."""
        if not self._mu or self._rounds >= _FRICTION_ROUNDS:
            return False
        self._rounds += 1
        before = self.friction(v)
        self._press(u)
        after = self.friction(v)
        change = float(np.linalg.norm(after - before))
        return change > max(enough, _SAME_FRICTION * float(np.linalg.norm(after)))

    def collision_free_step(self, u: Floats, step: Floats) -> float:
        """The share of a step from u, up to 1, that can be gone without passing through itself."""
        x, y = self._places(u), self._places(u + step)
        if not np.isfinite(y).all():
            return 0.0
        return float(
            self._ipc.compute_collision_free_stepsize(self._mesh, x, y, narrow_phase_ccd=self._ccd)
        )

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

    def energy(self, u: Floats) -> float:
        """B(u) [J]."""
        pairs, x = self._near(u)
        return float(self._barrier(pairs, self._mesh, x)) if pairs else 0.0

    def force(self, u: Floats) -> Floats:
        """∇B(u) [N], (n, 3)."""
        pairs, x = self._near(u)
        return self._field(self._barrier.gradient(pairs, self._mesh, x))

    def rounding_force(self, u: Floats, force: Floats) -> float:
        """Norm of ∇B [N] that rounding of u alone may leave, where it is ``force`` (n, 3)."""
        pairs, x = self._near(u)
        if not pairs:
            return 0.0
        steepness = float(np.linalg.norm(force)) / self._gap(pairs, x)
        return _EPSILON * float(np.abs(x).max()) * steepness

    def dissipation(self, v: Floats) -> float:
        """R(v) of friction [W]."""
        return float(self._friction(self._pressed, self._mesh, self._velocities(v)))

    def friction(self, v: Floats) -> Floats:
        """∇R(v) [N], (n, 3)."""
        return self._field(self._friction.gradient(self._pressed, self._mesh, self._velocities(v)))

    def friction_power(self, v: Floats) -> float:
        """Power that friction takes from the motion [W], v·∇R."""
        return float(np.vdot(v, self.friction(v)))

    def _velocities(self, v: Floats) -> Floats:
        return np.asfortranarray(self._points.of(v))

    def matrix(
        self, u: Floats, v: Floats, c_v: float, *, definite: bool = False, majorized: bool = False
    ) -> tuple[Ints, Floats]:
        """∇²B + c_v ∇²R as blocks (k, 3, 3) of pairs of vertices, with the keys of these (k,).

        ``definite`` makes each pair's part of ∇²B positive semidefinite, ``majorized`` asks for a
        stand-in for ∇²R that keeps steps from overshooting. A key may be there more than once.
        """
        pairs, x = self._near(u)
        project = self._ipc.CLAMP if definite else self._ipc.NONE
        barrier = self._upper_blocks(self._barrier.hessian(pairs, self._mesh, x, project))
        if not self._pressed:
            return barrier
        y = self._velocities(v)
        if majorized:
            if self._lagged_friction is None:
                self._lagged_friction = SelfContactFriction.of(
                    self._pressed, self._mesh, self._pressed_at, self._mu
                )
            rows, cols, blocks = self._lagged_friction.matrix(y, self._friction.eps_v)
            keys, blocks = self._on_vertices(rows, cols, blocks)
        else:
            exact = self._friction.hessian(self._pressed, self._mesh, y)
            keys, blocks = self._upper_blocks(exact)
        return np.concatenate([barrier[0], keys]), np.concatenate([barrier[1], c_v * blocks])

    def nearby_keys(self, u: Floats) -> Ints:
        """The keys of vertices that may soon be in pairs."""
        wide = _NEARBY * self.distance
        pairs, x = self._no_pairs(), self._places(u)
        pairs.build(self._mesh, x, wide)
        barrier = self._ipc.BarrierPotential(wide, 1.0, True)
        return self._upper_blocks(barrier.hessian(pairs, self._mesh, x))[0]

    def _upper_blocks(self, matrix: Any) -> tuple[Ints, Floats]:
        """The blocks of a symmetric matrix on the surface, those of row ≤ column in the body."""
        rows_first = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), matrix.shape)
        blocks = rows_first.tobsr((3, 3))
        rows = np.repeat(np.arange(self._points.count), np.diff(blocks.indptr))
        upper = rows <= blocks.indices
        return self._on_vertices(rows[upper], blocks.indices[upper], blocks.data[upper])

    def _on_vertices(self, rows: Ints, cols: Ints, blocks: Floats) -> tuple[Ints, Floats]:
        """Keys and blocks of the body, row ≤ column, from those of a matrix on the surface.

        Of that one each pair of points is there once, in whatever order.
        """
        points, n = self._points, np.int64(self._n)
        carried = ~(points.is_vertex[rows] & points.is_vertex[cols])
        keys, values = [], []
        if not carried.all():
            row, col = points.vertices[rows[~carried], 0], points.vertices[cols[~carried], 0]
            turned = row > col
            own = blocks[~carried]
            own[turned] = own[turned].swapaxes(1, 2)
            keys.append(np.minimum(row, col) * n + np.maximum(row, col))
            values.append(own)
        if carried.any():
            found = carried_blocks(points, rows[carried], cols[carried], blocks[carried])
            keys.append(found[0] * n + found[1])
            values.append(found[2])
        if not keys:
            return np.zeros(0, dtype=np.int64), np.zeros((0, 3, 3))
        return np.concatenate(keys), np.concatenate(values)


def _patches(points: CarriedPoints) -> Ints:
    """A number for each rigid body, and one for each vertex of all else, (p,)."""
    own = points.vertices[:, 0].astype(np.int32)
    return np.asarray(own)


def _toolkit() -> Any:
    try:
        return importlib.import_module("ipctk")
    except ImportError as error:
        raise MissingExtra("self-contact", "contact") from error


@dataclass(frozen=True, eq=False)
class _Outside:
    """What of a body can touch: vertices ``ids`` (m,), edges (e, 2) and triangles (t, 3)."""

    ids: Ints
    edges: Ints
    triangles: Ints
    area: float
    """Of the triangles [m²]."""

    @classmethod
    def of(cls, body: ElasticBody) -> _Outside:
        """The surface of solids and sheets, and springs, which are edges alone."""
        surface, springs = own_surface(body.mesh), own_edges(body.mesh)
        triangles = np.zeros((0, 3), dtype=np.int64)
        if surface is not None:
            ids = surface.vertex_ids
            triangles = surface.triangles if ids is None else ids[surface.triangles]
        sides = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        edges = np.unique(np.sort(np.concatenate([sides, springs])), axis=0)
        ids = np.unique(edges)
        area = 0.0 if surface is None else surface.area
        return cls(ids, np.searchsorted(ids, edges), np.searchsorted(ids, triangles), area)
