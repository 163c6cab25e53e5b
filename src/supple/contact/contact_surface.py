"""What of bodies can touch, what of it is near, and how far it can go."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple._kernels.contact import boxes, company
from supple._kernels.contact.barriers import squared_distances
from supple._kernels.contact.closest import EDGE_EDGE, VERTEX_FACE
from supple.bodies.elastic_body import ElasticBody
from supple.core.errors import MissingExtra
from supple.core.threads import run_all, thread_count
from supple.core.types import Floats, Ints
from supple.mesh.group import own_edges, own_surface
from supple.mesh.points import CarriedPoints

_IN_A_LEAF = 4
_WORTH_A_THREAD = 500
"""Primitives or pairs."""
_PARALLEL = 1e-3
"""Squared sine, by the edges at rest, below which barriers between edges are smoothed."""
_SLOWNESS = 0.1
"""Share of a gap that a step may leave."""
STOPS_OFF = 0.15
"""Share of the ways up to an impact by which the sides may still be apart then, and more."""
_ROUNDINGS = 1000 * float(np.finfo(float).eps)
"""Times the largest coordinate: a gap that rounding cannot close."""
_NO_TRIANGLE = -1


Kind = tuple[Ints, Ints, int, tuple[Ints, Ints]]
"""Primitives that may meet others, these, what kind of pairs they are, and which they are."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """k stencils of a surface: a vertex and a triangle, or two edges."""

    kinds: Ints
    """(k,): VERTEX_FACE or EDGE_EDGE."""
    quads: Ints
    """Vertices (k, 4): of the first side, then of the second."""
    sides: Ints
    """(k, 2): which vertex and triangle, or which edges."""

    def __len__(self) -> int:
        return len(self.kinds)

    def of(self, chosen: Any) -> Pairs:
        """Those that are chosen by a mask or by their numbers."""
        return Pairs(self.kinds[chosen], self.quads[chosen], self.sides[chosen])


class ContactSurface:
    """The surface of solids and sheets, and springs, which are edges alone; m vertices.

    A primitive never meets what shares a vertex with it, nor do two that stay where they are.
    """

    def __init__(self, body: ElasticBody) -> None:
        surface, springs = own_surface(body.mesh), own_edges(body.mesh)
        triangles = np.zeros((0, 3), dtype=np.int64)
        if surface is not None:
            ids = surface.vertex_ids
            triangles = surface.triangles if ids is None else ids[surface.triangles]
        sides = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        edges = np.unique(np.sort(np.concatenate([sides, springs])), axis=0)
        self.ids = np.unique(edges)
        """(m,): which of the points that the body carries they are."""
        self.carried = body.points.only(self.ids)
        self.edges = np.searchsorted(self.ids, edges).astype(np.int64)
        self.triangles = np.searchsorted(self.ids, triangles).astype(np.int64)
        self.X = np.ascontiguousarray(self.carried.rest)
        """(m, 3), at rest."""
        moved = np.zeros(body.n_vertices, dtype=bool)
        for index, _ in body.held.moving:
            moved[index] = True
        stays = ~body.free.any(axis=1) & ~moved
        self.held = np.asarray(~self.carried.with_any(~stays))
        """(m,): which vertices stay where they are, whatever happens."""
        self._points = np.arange(len(self.ids), dtype=np.int64)[:, None]
        self._graph = _graph_on(body, self.carried)
        count, parts = sparse.csgraph.connected_components(_whole_graph(body), directed=False)
        first = self.carried.first
        self.n_parts, self.parts = int(count), parts[first].astype(np.int64)
        """(m,): which of the connected parts of the body a vertex belongs to."""
        bound = np.where(self.carried.is_vertex, boxes.FREE, self.parts)
        self._groups = np.where(self.held, boxes.HELD, bound).astype(np.int64)

    # -- sizes at rest -------------------------------------------------------------------

    @cached_property
    def lengths(self) -> Floats:
        """Of the edges [m], (e,)."""
        return np.asarray(
            np.linalg.norm(self.X[self.edges[:, 1]] - self.X[self.edges[:, 0]], axis=1)
        )

    @cached_property
    def _crosses(self) -> Floats:
        a, b, c = self.X[self.triangles].transpose(1, 0, 2)
        return np.asarray(np.linalg.norm(np.cross(b - a, c - a), axis=1))

    @cached_property
    def _edges_of(self) -> Ints:
        """The edges of triangles, (t, 3)."""
        count = np.int64(len(self.ids))
        sides = np.sort(self.triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2)
        known = self.edges[:, 0] * count + self.edges[:, 1]
        return np.searchsorted(known, sides[..., 0] * count + sides[..., 1])

    @cached_property
    def areas(self) -> tuple[Floats, Floats]:
        """What of the surface each vertex and each edge stands for [m²], (m,) and (e,).

        A third of its triangles; of a spring, a square as long as it is, half for each end.
        """
        third = np.repeat(self._crosses / 6, 3)
        of_edges = np.asarray(np.bincount(self._edges_of.ravel(), third, len(self.edges)), float)
        of_vertices = np.bincount(self.triangles.ravel(), third, len(self.ids))
        alone = ~np.isin(np.arange(len(self.edges)), self._edges_of)
        squares = np.where(alone, self.lengths**2, 0.0)
        of_vertices += np.bincount(self.edges.ravel(), np.repeat(squares / 2, 2), len(self.ids))
        return np.asarray(of_vertices, float), of_edges + squares

    @cached_property
    def _frames(self) -> tuple[Ints, Ints, Floats]:
        """The best triangle of each vertex and of each edge, and the altitudes of triangles."""
        sides = self.lengths[self._edges_of]
        altitudes = self._crosses / sides.max(axis=1, initial=0.0)
        by_altitude = np.argsort(altitudes, kind="stable")
        found = []
        for corners, count in ((self.triangles, len(self.ids)), (self._edges_of, len(self.edges))):
            best = np.full(count, _NO_TRIANGLE)
            best[corners[by_altitude].ravel()] = np.repeat(by_altitude, 3)  # the last one stays
            found.append(best)
        return found[0], found[1], altitudes

    # -- pairs ---------------------------------------------------------------------------

    def weights(self, pairs: Pairs) -> Floats:
        """The share of the area that each pair stands for [m²], (k,)."""
        of_vertices, of_edges = self.areas
        first, second = pairs.sides.T
        found = np.empty(len(pairs))
        vertex = pairs.kinds == VERTEX_FACE
        found[vertex] = of_vertices[first[vertex]] / 4
        found[~vertex] = (of_edges[first[~vertex]] + of_edges[second[~vertex]]) / 4
        return found

    def bounds(self, pairs: Pairs) -> Floats:
        """|u × v|² [m⁴] from which on edges are not parallel, (k,)."""
        found = np.zeros(len(pairs))
        edges = pairs.kinds == EDGE_EDGE
        squares = self.lengths[pairs.sides[edges]] ** 2
        found[edges] = _PARALLEL * squares[:, 0] * squares[:, 1]
        return found

    def frames(self, pairs: Pairs) -> Ints:
        """The triangles (k, 3) that tell how pairs turn; −1 for pairs of springs.

        Of a vertex and a triangle the latter, unless it is a sliver beside those of the vertex.
        """
        of_vertices, of_edges, altitudes = self._frames
        if not len(self.triangles):
            return np.full((len(pairs), 3), _NO_TRIANGLE)
        first, second = pairs.sides.T
        vertex = pairs.kinds == VERTEX_FACE
        mine = np.where(vertex, of_vertices[first * vertex], of_edges[first * ~vertex])
        other = np.where(vertex, second * vertex, of_edges[second * ~vertex])
        height = np.append(altitudes, -np.inf)  # of none
        better = height[mine] > np.where(vertex, 2.0, 1.0) * height[other]
        chosen = np.where(better, mine, other)
        corners = np.append(self.triangles, np.full((1, 3), _NO_TRIANGLE), axis=0)
        return np.asarray(corners[chosen])

    def squared_distances(self, pairs: Pairs, x: Floats) -> Floats:
        """D [m²] of pairs at x (m, 3), (k,)."""
        found = np.empty(len(pairs))
        in_parts(partial(squared_distances, pairs.kinds, pairs.quads, x), len(pairs), found)
        return found

    def are_neighbours(self, pairs: Pairs) -> Any:
        """Whether an edge of a cell joins the sides of each pair, (k,)."""
        found = np.zeros(len(pairs), dtype=bool)
        for kind, split in ((VERTEX_FACE, 1), (EDGE_EDGE, 2)):
            of_kind = pairs.kinds == kind
            some = np.zeros(int(of_kind.sum()), dtype=bool)
            boxes.joined_sides(pairs.quads[of_kind], split, *self._graph, some)
            found[of_kind] = some
        return found

    def reach(
        self, pairs: Pairs, wanted: Floats, close: Ints, values: Floats, share: float
    ) -> Floats:
        """d̂ [m] of each pair, (k,); see ``boxes.pair_reach``."""
        found = np.empty(len(pairs))
        for kind, split in ((VERTEX_FACE, 1), (EDGE_EDGE, 2)):
            of_kind = pairs.kinds == kind
            some = np.empty(int(of_kind.sum()))
            given = self.X, self.parts, wanted, close, values, *self._graph, share
            boxes.pair_reach(pairs.quads[of_kind], split, *given, some)
            found[of_kind] = some
        return found

    def candidates(self, x: Floats, room: Floats, radii: Floats | None = None) -> Pairs:
        """The pairs that may come near while vertices are within ``radii`` (m,) of x (m, 3).

        Near is the ``room`` [m] of the first vertex of the first side, (m,). They are in order.
        Without radii they are those at x, by their boxes alone.
        """
        none = np.zeros((0, 6), dtype=np.int64)
        found = [(none[:, 0], none[:, :4], none[:, :2])]
        widest = float(room.max())
        if radii is not None:
            widest += 2 * float(radii.max())
        for prims, others, kind, rows in self._kinds(x, x, widest):
            of_prims, of_others = np.empty((len(prims), 6)), np.empty((len(others), 6))
            far, aside = room[prims[:, 0]], np.zeros(len(others))
            if radii is not None:
                far, aside = far + radii[prims].max(axis=1), radii[others].max(axis=1)
            boxes.swept_boxes(x, x, prims, far, of_prims)
            boxes.swept_boxes(x, x, others, aside, of_others)
            order, nodes = _tree(of_others)
            same = kind == EDGE_EDGE
            given = prims, of_prims, others, of_others, order, nodes, self._groups, same
            sides = np.concatenate(_all_of(partial(boxes.overlapping, *given), len(prims)))
            first, second = sides.T
            quads = np.concatenate([prims[first], others[second]], axis=1)
            numbers = np.stack([of[side] for of, side in zip(rows, sides.T, strict=True)], axis=1)
            pairs = Pairs(np.full(len(sides), kind), quads, numbers)
            if radii is not None:
                most = far[first] + aside[second]
                pairs = pairs.of(self.squared_distances(pairs, x) < most * most)
            found.append((pairs.kinds, pairs.quads, pairs.sides))
        return Pairs(*(np.concatenate(each) for each in zip(*found, strict=True)))

    def collision_free_step(self, x: Floats, step: Floats, most: float = 1.0) -> float:
        """The share of a step (m, 3) from x, up to ``most``, that can be gone without an impact."""
        floor, ways, least = self._floor(x), np.sqrt((step**2).sum(axis=1)), most
        widest = floor + STOPS_OFF * float(ways.max(initial=0.0))
        for prims, others, kind, _ in self._kinds(x, x + step, widest):
            of_prims, of_others = np.empty((len(prims), 6)), np.empty((len(others), 6))
            for of, them in ((of_prims, prims), (of_others, others)):
                room = floor + STOPS_OFF * least * ways[them].max(axis=1)
                boxes.swept_boxes(x, x + least * step, them, room, of)
            order, nodes = _tree(of_others)
            given = kind, x, step, prims, of_prims, others, of_others, order, nodes, self._groups
            find = partial(boxes.earliest_impact, *given, _SLOWNESS, floor)
            least = min(least, _least_of(find, len(prims)))
        return least

    def collision_free_step_of(self, pairs: Pairs, x: Floats, step: Floats) -> float:
        """The share up to which none of these pairs has an impact."""
        given = pairs.kinds, pairs.quads, x, step, _SLOWNESS, self._floor(x)
        return _least_of(partial(boxes.earliest_of_pairs, *given), len(pairs))

    def _floor(self, x: Floats) -> float:
        """What rounding of coordinates cannot close [m]."""
        return _ROUNDINGS * float(np.abs(x).max())

    def _kinds(self, x: Floats, y: Floats, room: float) -> list[Kind]:
        """Primitives that may come as near to others as ``room`` on the way from x to y (m, 3)."""
        points, triangles = self._in_company(x, y, room, self._points, self.triangles)
        of_triangles = self._points[points], self.triangles[triangles], VERTEX_FACE
        (edges,) = self._in_company(x, y, room, self.edges)
        found: list[Kind] = [(*of_triangles, (points, triangles))]
        found.append((self.edges[edges], self.edges[edges], EDGE_EDGE, (edges, edges)))
        return [each for each in found if len(each[0]) and len(each[1])]

    def _in_company(self, x: Floats, y: Floats, room: float, *of: Ints) -> list[Ints]:
        """Which primitives are near others, (k,) each; of what may meet itself all are."""
        alone = ~self.carried.is_vertex
        if not alone.any():
            return [np.arange(len(prims)) for prims in of]
        around = np.empty((self.n_parts, 6))
        company.part_boxes(x, y, self.parts, room, around)
        low, high = around[:, None, :3], around[None, :, 3:]
        meet = (low <= high).all(axis=2)
        meet &= meet.T
        found = []
        for prims in of:
            near = np.empty(len(prims), dtype=bool)
            company.in_company(x, y, prims, alone, self.parts, around, meet, near)
            found.append(np.flatnonzero(near))
        return found

    # -- crossings -----------------------------------------------------------------------

    def crosses_itself(self, x: Floats) -> bool:
        """Whether edges go through triangles at x (m, 3), as the IPC Toolkit finds it."""
        ipc, mesh = self._toolkit_mesh
        return bool(ipc.has_intersections(mesh, np.asfortranarray(x[self._order])))

    @cached_property
    def _order(self) -> Ints:
        """The vertices, those that are held last."""
        return np.argsort(self.held, kind="stable")

    @cached_property
    def _toolkit_mesh(self) -> tuple[Any, Any]:
        ipc = toolkit()
        places = np.empty_like(self._order)
        places[self._order] = np.arange(len(places))
        edges, triangles = (places[of].astype(np.int32) for of in (self.edges, self.triangles))
        mesh = ipc.CollisionMesh(self.X[self._order], edges, triangles)
        if self.held.any():
            mesh.can_collide = ipc.make_static_obstacle_filter(int((~self.held).sum()))
        if not self.carried.is_vertex.all():  # each rigid body is a patch, and each other vertex
            own = self.carried.first[self._order].astype(np.int32)
            mesh.can_collide = mesh.can_collide & ipc.make_vertex_patches_filter(own)
        return ipc, mesh


def toolkit() -> Any:
    """The IPC Toolkit."""
    try:
        return importlib.import_module("ipctk")
    except ImportError as error:
        raise MissingExtra("self-contact", "contact") from error


def in_parts(fill: Callable[..., Any], count: int, *arrays: Any) -> None:
    """Run ``fill(first, last, *arrays)``, which fills rows of arrays, on all rows."""
    ends = _ends(count)
    run_all([partial(fill, first, last, *arrays) for first, last in pairwise(ends)])


def _least_of(find: Callable[[int, int], float], count: int) -> float:
    """The least that ``find(first, last)`` finds of rows."""
    ends = _ends(count)
    found = np.ones(len(ends) - 1)

    def task(n: int) -> None:
        found[n] = find(ends[n], ends[n + 1])

    run_all([partial(task, n) for n in range(len(found))])
    return float(found.min())


def _ends(count: int) -> Ints:
    parts = max(1, min(thread_count(), count // _WORTH_A_THREAD))
    return np.linspace(0, count, parts + 1).astype(np.int64)


def _all_of(find: Callable[[int, int, Ints], int], count: int) -> list[Ints]:
    """What ``find(first, last, found)`` finds of rows in order, whose number is not known."""
    ends = _ends(count)
    found: list[Ints] = [np.zeros((0, 2), dtype=np.int64)] * (len(ends) - 1)

    def task(n: int) -> None:
        first, last = ends[n], ends[n + 1]
        room = np.empty((16 * (last - first) + 64, 2), dtype=np.int64)
        many = find(first, last, room)
        if many > len(room):
            room = np.empty((many, 2), dtype=np.int64)
            find(first, last, room)
        found[n] = room[:many]

    run_all([partial(task, n) for n in range(len(found))])
    return found


def _tree(of: Floats) -> tuple[Ints, Floats]:
    """The order of primitives with boxes (k, 6) in a tree, and the boxes of its nodes."""
    centres = 0.5 * (of[:, :3] + of[:, 3:])
    low = centres.min(axis=0)
    extent = float(np.ptp(centres, axis=0).max())
    codes = np.empty(len(of), dtype=np.int64)
    boxes.curve_codes(centres, low, 1023.999 / extent if extent else 0.0, codes)
    order = np.argsort(codes, kind="stable")
    leaves = 1 << max(0, int(np.ceil(np.log2(len(of) / _IN_A_LEAF))))
    nodes = np.empty((2 * leaves - 1, 6))
    boxes.fill_tree(order, of, nodes)
    return order, nodes


def _whole_graph(body: ElasticBody) -> Any:
    above = body.pattern.graph()
    return above + above.T


def _graph_on(body: ElasticBody, points: CarriedPoints) -> tuple[Ints, Ints]:
    """The edges of cells between vertices of a surface: where each row starts, and the others."""
    are = np.flatnonzero(points.is_vertex)
    entries = np.ones(len(are)), (are, points.first[are])
    chosen = sparse.csr_array(entries, shape=(points.count, points.n_vertices))
    own = sparse.csr_array(chosen @ _whole_graph(body) @ chosen.T)
    own.sort_indices()
    return own.indptr.astype(np.int64), own.indices.astype(np.int64)
