"""Points between the vertices of a body that meet obstacles: where edges and faces do.

Which of the infinitely many points of a surface count is found out by exchange: a stage begins with
those where edges and faces come nearest, and whatever point is in an obstacle once forces balance,
or has gone through one on the way, joins them. Each keeps the plane that it met first, on the
side where it was; on the way that is found by conservative advancement: signed distances change no
faster than places, so that a step as long as the distance meets nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from supple.contact.facets import Facets, Low
from supple.contact.obstacles.base import Obstacle
from supple.contact.pairs import ContactPairs, Key
from supple.core.types import Bools, Floats, Ints
from supple.integrators import Stage

_OFF = 2e-3  # edges that points between vertices stay away: there is a normal even at a spike
_BACK = 0.05  # of that: how fast those come back that are nearer, a stage
_NEARER = 0.5  # of that: where a point joins
_DEEP = 0.05  # edges: what nothing may be deeper than where forces balance roughly
_SAME = 0.02  # edges apart: points that are one
_MOST_OF_ONE = 8  # points of one edge or face at one obstacle
_MOST_ROUNDS = 12  # of points that join in a stage
_SMALL_WAY = 0.25  # edges: what goes no farther is looked at where it arrives
_STRIDE = 0.125  # edges: steps along the way where obstacles are near
_ACROSS = 0.5  # share of a normal that must be across an edge or a face to be taken as such,
_LOWEST = 0.8  # and for its plane to turn: else something else is what lies on the obstacle now
_HELD = 0.5  # share of a normal below which supports keep a point from moving along it


class PointsBetween:
    """Finds the points between vertices that are contacts in a stage."""

    def __init__(
        self,
        facets: Facets,
        obstacles: Sequence[Obstacle],
        positions: Floats,
        free: Bools,
        edge: float,
    ) -> None:
        self._facets, self._obstacles, self._edge = facets, obstacles, edge
        self._X, self._free = positions, free
        self._vertices = np.unique(facets.nodes)
        self._margin = _OFF * edge
        self._start: Floats | None = None
        self._began = 0.0
        self._clear = np.zeros(len(obstacles))
        self._comes = np.zeros(len(obstacles))
        self._rounds = 0
        self._clear_at: tuple[float, Floats] | None = None
        """When and where nothing was found to cross anything in this stage."""

    def nodes(self, number: int) -> Ints:
        """The nodes (3,) of a point by its number."""
        return np.asarray(self._facets.nodes[(number - len(self._X)) % self._facets.count])

    def farther(self, obstacle: Obstacle, u: Floats) -> float:
        """How much farther than for vertices alone distances must be known [m], at u (n, 3)."""
        if obstacle.meets_vertices_alone:
            return 0.0
        return float(self._facets.sizes(self._X + u).max())

    # -- what a stage begins with ----------------------------------------------------------------

    def begin(
        self,
        stage: Stage,
        start: Floats,
        began: float,
        reach: Sequence[Floats],
        distances: Sequence[Floats],
        comes: Sequence[float],
        kept: Mapping[Key, Floats],
    ) -> ContactPairs | None:
        """Points within reach of obstacles from ``start`` (n, 3), those of the last stage first.

        ``reach`` and ``distances`` [m], (n,) for each obstacle, are those of vertices; ``comes``
        [m] is how far each obstacle may go in the stage; ``kept`` are shares of points that pressed
        in the last one.
        """
        self._start, self._began = start.copy(), began
        self._rounds, self._clear_at = 0, None
        found = []
        x = self._X + start
        sizes = self._facets.sizes(x)
        for number, obstacle in enumerate(self._obstacles):
            if obstacle.meets_vertices_alone:
                continue
            distance = self._completed(obstacle, x, began, distances[number])
            far = reach[number][np.isfinite(reach[number])].max(initial=0.0)
            self._clear[number] = distance[self._vertices].min() - sizes.max()
            self._comes[number] = comes[number]
            if self._clear[number] > far and not any(o == number for _, o in kept):
                continue
            near = np.where(np.isfinite(reach[number]), reach[number], 0.0)
            most = near[self._facets.nodes].max(axis=1)
            low = self._facets.lowest(obstacle, x, began, distance, most, sizes)
            pairs = self._pairs(number, stage, start, began, low, kept)
            if pairs is not None:
                found.append(pairs)
        return found[0].with_more(*found[1:]) if found else None

    def _pairs(
        self,
        number: int,
        stage: Stage,
        start: Floats,
        began: float,
        low: Low,
        kept: Mapping[Key, Floats],
    ) -> ContactPairs | None:
        """Pairs with one obstacle at the start of a stage."""
        n, count = len(self._X), self._facets.count
        old = [(point, shares) for (point, o), shares in kept.items() if o == number]
        points = np.array([point for point, _ in old], dtype=np.int64)
        shares = np.array([each for _, each in old]).reshape(-1, 3)
        new = ~self._known(low, (points - n) % count, shares)
        low = low.of(new)
        numbers = self._numbers(low.facet, points)
        points = np.concatenate([points, numbers[numbers >= 0]])
        shares = np.concatenate([shares, low.shares[numbers >= 0]])
        return self._paired(number, stage, points, shares, start, began, None)

    def _paired(
        self,
        number: int,
        stage: Stage,
        points: Ints,
        shares: Floats,
        u: Floats,
        time: float,
        targets: Floats | None,
    ) -> ContactPairs | None:
        """Pairs of points with the planes that they face at u (n, 3) and ``time`` [s]."""
        obstacle = self._obstacles[number]
        nodes = self._facets.nodes[(points - len(self._X)) % self._facets.count]
        gone = np.einsum("ka,kai->ki", shares, u[nodes])
        touch = obstacle.at(np.einsum("ka,kai->ki", shares, self._X[nodes]) + gone, time)
        normal, _ = self._across(nodes, self._X + u, touch.normal)
        yields = np.linalg.norm(np.einsum("ka,kai->ki", shares, self._free[nodes]) * normal, axis=1)
        if targets is None:
            targets = np.minimum(self._margin, touch.distance + _BACK * self._margin)
        keep = np.flatnonzero(yields > _HELD)
        if not len(keep):
            return None
        friction = np.full(len(keep), obstacle.friction_at(stage.time))
        where = np.full(len(keep), number)
        between = nodes[keep], shares[keep], targets[keep]
        pairs = ContactPairs.new(points[keep], where, friction, between)
        pairs.normal = normal[keep]
        foot = gone[keep] - touch.distance[keep, None] * normal[keep]
        foot += (stage.time - time) * touch.velocity[keep]
        pairs.offset = np.einsum("ki,ki->k", pairs.normal, foot) + pairs.target
        return pairs

    # -- what was not expected -------------------------------------------------------------------

    def crossing(self, stage: Stage, u: Floats, pairs: ContactPairs) -> ContactPairs | None:
        """Points in no pair yet that are in an obstacle at u (n, 3), or have gone through one."""
        self._clear_at = None
        if self._start is None or self._rounds >= _MOST_ROUNDS:
            return None
        n, count, found = len(self._X), self._facets.count, []
        clear = True
        for number, obstacle in enumerate(self._obstacles):
            first = self._first_crossing(number, obstacle, u, stage.time, self._joining)
            if first is None:
                continue
            clear = False
            low, share, targets = first
            mine = pairs.between[pairs.obstacle[pairs.between] == number]
            known = (pairs.vertex[mine] - n) % count
            new = ~self._known(low, known, pairs.shares[mine])
            low, targets = low.of(new), targets[new]
            numbers = self._numbers(low.facet, pairs.vertex[mine])
            low, targets = low.of(numbers >= 0), targets[numbers >= 0]
            before = self._start + share * (u - self._start)
            time = self._began + share * (stage.time - self._began)
            numbers = numbers[numbers >= 0]
            more = self._paired(number, stage, numbers, low.shares, before, time, targets)
            if more is not None:
                found.append(more)
        if clear:
            self._clear_at = stage.time, u.copy()
        if not found:
            return None
        self._rounds += 1
        return found[0].with_more(*found[1:])

    def passed(self, time: float, u: Floats) -> Obstacle | None:
        """An obstacle that something is deep in at the end of a stage, or has gone through."""
        if self._start is None:
            return None
        looked = self._clear_at
        is_clear = looked is not None and looked[0] == time and np.array_equal(looked[1], u)
        for number, obstacle in enumerate(self._obstacles):
            slack = min(_DEEP * self._edge, 0.5 * obstacle.thinnest)
            if is_clear and self._joining <= slack:
                continue
            if self._first_crossing(number, obstacle, u, time, slack) is not None:
                return obstacle
        return None

    def _first_crossing(
        self, number: int, obstacle: Obstacle, u: Floats, time: float, slack: float
    ) -> tuple[Low, float, Floats] | None:
        """Points nearer than they may be by ``slack`` [m], at the first place where there are any.

        With the share of the way after which there were none yet, and how near they may be.
        """
        start, began = self._start, self._began
        assert start is not None
        if obstacle.meets_vertices_alone:
            return None
        way = u - start
        far = float(np.linalg.norm(way[self._vertices], axis=1).max()) + self._comes[number]
        if self._clear[number] - far > self._margin or not np.isfinite(far):
            return None
        share, before = 1.0, 0.0
        if far > _SMALL_WAY * self._edge:
            share = min(max(self._clear[number] / far, 0.0), 1.0)
        stride = min(_STRIDE * self._edge, obstacle.thinnest)
        while True:
            x, now = self._X + start + share * way, began + share * (time - began)
            sizes = self._facets.sizes(x)
            none = np.full(len(x), np.inf)
            distance = self._completed(obstacle, x, now, none, float(sizes.max()) + self._margin)
            most = np.full(len(sizes), self._margin)
            low = self._facets.lowest(obstacle, x, now, distance, most, sizes)
            nodes = self._facets.nodes[low.facet]
            if len(nodes):
                there = np.einsum("ka,kai->ki", low.shares, (self._X + start)[nodes])
                first = obstacle.at(there, began).distance
                targets = np.minimum(self._margin, first + _BACK * self._margin)
                bad = low.distance < targets - slack
                if bad.any():
                    return low.of(bad), before, targets[bad]
            if share >= 1.0:
                return None
            gap = float((distance[self._facets.nodes].max(axis=1) - sizes).min())
            before, share = share, min(1.0, share + max(gap, stride) / far)

    @property
    def _joining(self) -> float:
        """How much nearer than they may be points are that join [m]."""
        return _NEARER * self._margin

    # -- small things ----------------------------------------------------------------------------

    def across(
        self, pairs: ContactPairs, mine: Ints, x: Floats, normal: Floats
    ) -> tuple[Floats, Bools]:
        """Normals (j, 3) of some pairs, made to stand on their edges and faces at x (n, 3).

        And which pairs they are normals of (j,): a point that has slid off a tip stays above what
        was there.
        """
        rows = np.flatnonzero(pairs.shares[mine, 0] < 1.0)
        turned, own = normal.copy(), np.ones(len(mine), dtype=bool)
        turned[rows], share = self._across(pairs.nodes[mine[rows]], x, normal[rows])
        own[rows] = share > _LOWEST
        return turned, own

    def _across(self, nodes: Ints, x: Floats, normal: Floats) -> tuple[Floats, Floats]:
        """The part of normals (k, 3) across their edges and faces, as unit vectors, and its share.

        Where a distance is least in between, its gradient stands on the edge or the face.
        """
        corners = x[nodes]
        first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        is_edge = nodes[:, 1] == nodes[:, 2]
        length = np.einsum("ki,ki->k", first, first)
        part = np.einsum("ki,ki->k", normal, first) / np.maximum(length, np.finfo(float).tiny)
        of_edge = normal - part[:, None] * first
        face = np.cross(first, second)
        area = np.einsum("ki,ki->k", face, face)
        part = np.einsum("ki,ki->k", normal, face) / np.maximum(area, np.finfo(float).tiny)
        found = np.where(is_edge[:, None], of_edge, part[:, None] * face)
        size = np.linalg.norm(found, axis=1)
        keeps = size > _ACROSS
        found[keeps] /= size[keeps, None]
        found[~keeps] = normal[~keeps]
        return found, size

    def _completed(
        self, obstacle: Obstacle, x: Floats, time: float, known: Floats, within: float = np.inf
    ) -> Floats:
        """Distances of all vertices of edges and faces (n,) [m]; beyond ``within`` no more."""
        missing = self._vertices[~np.isfinite(known[self._vertices])]
        found = known
        if len(missing):
            found = known.copy()
            distance = obstacle.at(x[missing], time, within=within).distance
            found[missing] = np.minimum(distance, within)
        return found

    def _known(self, low: Low, facets: Ints, shares: Floats) -> Bools:
        """Which of the places found are those of points that there are, (k,)."""
        found = np.zeros(len(low.facet), dtype=bool)
        for facet, place in zip(facets, shares, strict=True):
            same = np.flatnonzero(low.facet == facet)
            found[same] |= np.abs(low.shares[same] - place).max(axis=1) < _SAME
        return found

    def _numbers(self, facets: Ints, known: Ints) -> Ints:
        """Numbers for new points of facets (k,), −1 where one has too many; ``known`` are taken."""
        n, count = len(self._X), self._facets.count
        taken = set(known.tolist())
        used = Counter(((known - n) % count).tolist())
        found = np.full(len(facets), -1, dtype=np.int64)
        for row, facet in enumerate(facets.tolist()):
            if used[facet] >= _MOST_OF_ONE:
                continue
            number = next(
                m for k in range(_MOST_OF_ONE) if (m := n + facet + k * count) not in taken
            )
            taken.add(number)
            used[facet] += 1
            found[row] = number
        return found
