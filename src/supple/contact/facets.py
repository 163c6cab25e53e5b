"""Edges and faces of a body among obstacles: where between its vertices it comes nearest.

The signed distance of an obstacle, seen along an edge or over a face, is least at a vertex or in
between. Where it is in between by more than a small share of an edge the place there is a contact
of its own, besides those of the vertices. The search is branch and bound: parts of edges and faces
are halved, and dropped where the distance at their middle and its gradient leave nothing to find.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.contact.obstacles.base import Obstacle
from supple.core.types import Bools, Floats, Ints
from supple.mesh.group import own_edges, own_surface

_SAGGING = 0.03  # of an edge: how much deeper than its ends it may be before that is a contact,
_SAGGING_ROUND = 0.05  # and on what is round, where an edge that lies on its ends sags by itself
_SLACK = 2.0  # times what the curve alone makes of it
_OVER_EDGES = 0.01  # likewise of a face, against its edges
_ACCURATE = 1e-4  # of an edge: how near to the least distance the search comes
_LEVELS = 9  # halvings
_DISTRUST = 0.3  # of its size: how far the gradient may mislead in a part, if not all is convex
_ROUGH = 3  # halvings in which it is not trusted at all then


@dataclass(frozen=True, eq=False)
class Low:
    """Places in between, k of them, that are nearer to an obstacle than the vertices around."""

    facet: Ints
    """(k,)"""
    shares: Floats
    """Of the nodes of the facet in the place, (k, 3)."""
    distance: Floats
    """[m], (k,)"""

    def of(self, rows: Ints | Bools) -> Low:
        """Some of them."""
        return Low(self.facet[rows], self.shares[rows], self.distance[rows])


class Facets:
    """The edges of a body's surface, and after them its triangles."""

    def __init__(self, edges: Ints, triangles: Ints) -> None:
        self.n_edges = len(edges)
        ends = np.concatenate([edges, edges[:, 1:]], axis=1)
        self.nodes = np.concatenate([ends, triangles]).astype(np.int64)
        """(m, 3); an edge has its second end twice."""
        low, high = np.sort(edges, axis=1).T if len(edges) else np.zeros((2, 0), dtype=np.int64)
        base = np.int64(self.nodes.max(initial=0) + 1)
        order = np.argsort(low * base + high)
        sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2)
        keys = sides[..., 0] * base + sides[..., 1]
        at = np.searchsorted((low * base + high)[order], keys)
        self._edges_of = order[np.minimum(at, max(len(order) - 1, 0))] if len(order) else at
        """The edges of each triangle, (t, 3)."""

    @classmethod
    def of_body(cls, body: ElasticBody) -> Facets | None:
        """Those of a body that can move; None where it has none."""
        surface, springs = own_surface(body.mesh), own_edges(body.mesh)
        triangles = np.zeros((0, 3), dtype=np.int64)
        if surface is not None:
            ids = surface.vertex_ids
            triangles = surface.triangles if ids is None else ids[surface.triangles]
        movable = body.points.with_any(np.asarray(body.free.any(axis=1)))
        triangles = triangles[movable[triangles].any(axis=1)]
        springs = springs[movable[springs].any(axis=1)]
        sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges = np.unique(np.concatenate([sides, np.sort(springs, axis=1)]), axis=0)
        return cls(edges, triangles) if len(edges) else None

    @property
    def count(self) -> int:
        return len(self.nodes)

    def sizes(self, x: Floats) -> Floats:
        """The longest side of each with its vertices at x (n, 3) [m], (m,)."""
        corners = x[self.nodes]
        sides = corners - corners[:, [1, 2, 0]]
        return np.asarray(np.sqrt(np.einsum("mai,mai->ma", sides, sides).max(axis=1)))

    def lowest(
        self,
        obstacle: Obstacle,
        x: Floats,
        time: float,
        distance: Floats,
        most: Floats,
        sizes: Floats,
    ) -> Low:
        """Where edges and faces are nearest to an obstacle, in between and within ``most`` (m,).

        ``distance`` (n,) [m] are those of the vertices at x (n, 3), or less where they are far;
        ``most`` [m] is the largest distance of interest of each, and ``sizes`` are those of
        ``sizes``.
        """
        corners = distance[self.nodes]
        ends = corners.min(axis=1)
        wanted = np.minimum(ends - sagging(obstacle, sizes), most)
        # along an edge the distance changes no faster than the place
        bound = corners.max(axis=1) - sizes
        of_edges = slice(0, self.n_edges)
        both = 0.5 * (corners[of_edges, 0] + corners[of_edges, 1] - sizes[of_edges])
        bound[of_edges] = np.maximum(bound[of_edges], both)
        near = bound < wanted
        edges = np.flatnonzero(near[of_edges])
        found = self._search(obstacle, x, time, edges, wanted[edges], sizes[edges])
        faces = self.n_edges + np.flatnonzero(near[self.n_edges :])
        if not len(faces):
            return found
        of_edge = np.full(max(self.n_edges, 1), np.inf)
        of_edge[found.facet] = found.distance
        beside = of_edge[self._edges_of[faces - self.n_edges]].min(axis=1)
        wanted[faces] = np.minimum(wanted[faces], beside - _OVER_EDGES * sizes[faces])
        inner = self._search(obstacle, x, time, faces, wanted[faces], sizes[faces])
        names = ("facet", "shares", "distance")
        return Low(*(np.concatenate([getattr(a, n) for a in (found, inner)]) for n in names))

    def _search(
        self, obstacle: Obstacle, x: Floats, time: float, facets: Ints, wanted: Floats, size: Floats
    ) -> Low:
        """The least distance of each facet, where it is below ``wanted`` (k,) [m]."""
        count = len(facets)
        best, place = wanted.copy(), np.full((count, 3), -1.0)
        corners = x[self.nodes[facets]]
        whole = np.eye(3)
        if count and facets[0] < self.n_edges:
            whole = whole[[0, 1, 1]]
        owner, parts = np.arange(count), np.tile(whole, (count, 1, 1))
        for level in range(_LEVELS + 1):
            if not len(owner):
                break
            middle = parts[:, :2].mean(axis=1) if whole[2, 1] else parts.mean(axis=1)
            at = np.einsum("pb,pbi->pi", middle, corners[owner])
            arms = np.einsum("pab,pbi->pai", parts, corners[owner]) - at[:, None]
            radius = np.sqrt(np.einsum("pai,pai->pa", arms, arms).max(axis=1))
            within = float((best[owner] + radius).max())
            touch = obstacle.at(at, time, within=max(within, 0.0))
            self._take_best(owner, touch.distance, middle, best, place)
            drop = radius
            if obstacle.is_convex or level >= _ROUGH:
                ahead = np.einsum("pai,pi->pa", arms, touch.normal)
                drop = np.maximum(-ahead.min(axis=1), 0.0)
                if not obstacle.is_convex:
                    drop = np.minimum(drop + _DISTRUST * radius, radius)
            more = touch.distance - drop < best[owner] - _ACCURATE * size[owner]
            owner, parts = owner[more], parts[more]
            parts = _halved(parts) if whole[2, 1] else _quartered(parts)
            owner = np.tile(owner, 2 if whole[2, 1] else 4)
        found = place[:, 0] >= 0
        return Low(facets[found], place[found], best[found])

    @staticmethod
    def _take_best(
        owner: Ints, distance: Floats, middle: Floats, best: Floats, place: Floats
    ) -> None:
        order = np.lexsort((distance, owner))
        first = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]
        first = first[distance[first] < best[owner[first]]]
        best[owner[first]] = distance[first]
        place[owner[first]] = middle[first]


def sagging(obstacle: Obstacle, sizes: Floats) -> Floats:
    """How much deeper than their ends edges of these sizes may be [m].

    With its ends on a curve of radius ρ an edge is L²/(8 ρ) inside. Held out of there it would lift
    its ends, and these the edges beside it: a smooth obstacle is felt by vertices as well.
    """
    flat = _SAGGING * sizes
    if not obstacle.rounding_radius:
        return flat
    arch = _SLACK * sizes**2 / (8.0 * obstacle.rounding_radius)
    return np.maximum(flat, np.minimum(arch, _SAGGING_ROUND * sizes))


def _halved(parts: Floats) -> Floats:
    """Pieces of edges (2 p, 3, 3), by shares of the corners, the last corner twice."""
    a, b = parts[:, 0], parts[:, 1]
    m = 0.5 * (a + b)
    return np.concatenate([np.stack([a, m, m], axis=1), np.stack([m, b, b], axis=1)])


def _quartered(parts: Floats) -> Floats:
    """Triangles (4 p, 3, 3), by shares of the corners."""
    a, b, c = parts[:, 0], parts[:, 1], parts[:, 2]
    ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
    pieces = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
    return np.concatenate([np.stack(each, axis=1) for each in pieces])
