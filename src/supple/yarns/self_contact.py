"""Woven cloth that keeps out of itself: layers stay their thickness apart, and rub."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import ceil
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from supple._kernels.yarns import self_contact as kernels
from supple.core.parameters import checked, parameter
from supple.core.sparse import GrowingPattern
from supple.core.types import Floats, Ints
from supple.mesh.yarns import WARP, WEFT
from supple.yarns.cloth import NO_GRADIENT, WovenCloth

_BENT = 1.6  # distances, along the cloth: layers of a bend that is so short are not kept apart
_LEAST = 0.5  # distances that are looked beyond the distance,
_MOST = 2.0  # and edges, at most: longer steps are cut
_SLACK = 1.1  # times the way of a step: how far is looked for it
_PAIRS = list(combinations_with_replacement(range(4), 2))
_NO_BLOCKS = np.zeros((0, 10, 3, 3))
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class YarnSelfContact:
    """Keeps different parts of a woven cloth from passing through each other.

    Crossings push off the cloth between other crossings from ``distance`` on, the harder the nearer
    they come, and never reach it. ``stiffness`` decides how near they come under load.
    """

    distance: float | None = parameter(
        None, "from which layers push; the thickness of the cloth, two of each yarn", unit="m",
        above=0,
    )  # fmt: skip
    friction: float = parameter(0.0, "Coulomb's μ between layers", at_least=0)
    stiffness: float | None = parameter(
        None, "κ; the contact stiffness of the cloth", unit="N", above=0
    )

    def __post_init__(self) -> None:
        checked(self)


class SelfContactForces:
    """Self-contact at work on one cloth: candidates, potential, friction, free steps."""

    def __init__(self, cloth: WovenCloth, options: YarnSelfContact) -> None:
        net = cloth.net
        self._friction, self._speed = options.friction, cloth.slip_speed
        thick = 2 * (cloth.warp.radius + cloth.weft.radius)
        self.distance = thick if options.distance is None else options.distance
        self.stiffness = cloth.contact_stiffness if options.stiffness is None else options.stiffness
        # Two triangles of each cell of the net: those at its first and its last crossing.
        self._triangles = np.concatenate([_corners(net.along, end) for end in (0, 1)])
        n = cloth.n_nodes
        cells = self._triangles.ravel()
        self._tri_at = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=n))])
        self._tri = np.argsort(cells, kind="stable") // 3
        nodes, family = net.segments
        ends = net.arc_lengths[nodes, family[:, None]]
        spacing = ends[:, 1] - ends[:, 0]
        self._edge, self._segments = float(spacing.mean()), nodes
        steps = 2 + ceil(_BENT * self.distance / float(np.median(spacing)))
        self._near_at, self._near = _near(np.concatenate([nodes, net.stitches]), n, steps)
        self._growing = GrowingPattern(cloth.pattern)
        self._own = cloth.pattern
        self._x: Floats | None = None
        self._margin = 0.0
        self._pairs = np.zeros((0, 2), dtype=np.int64)
        self._past, self._h = np.zeros((n, 3)), 1.0
        self._rubbing: tuple[Ints, Floats, Floats, Floats] | None = None

    # -- which pairs there are ---------------------------------------------------------------

    @property
    def pattern(self) -> Any:
        """Of matrices with contacts."""
        return self._growing.pattern

    def _look(self, x: Floats, margin: float) -> None:
        """Find all pairs that are at most the distance and a margin apart at x (n, 3)."""
        self._x, self._margin = x.copy(), margin
        within = self.distance + margin
        first, last = x[self._segments[:, 0]], x[self._segments[:, 1]]
        longest = float(np.sqrt(np.einsum("si,si->s", last - first, last - first).max(initial=0.0)))
        low, high = x.min(axis=0), x.max(axis=0)
        # No point of a triangle with two sides so long is farther from the nearest corner.
        reach = max(within + 0.71 * longest, float((high - low).max()) / 2**20)
        keys = np.empty(len(x), dtype=np.int64)
        kernels.cell_keys(x, low, reach, keys)
        order = np.argsort(keys, kind="stable")
        room = max(len(self._pairs) + 1024, 1024)
        while True:
            pairs = np.empty((room, 2), dtype=np.int64)
            count = kernels.find(
                x, keys, order, reach, within, self._near_at, self._near, self._tri_at, self._tri,
                self._triangles, pairs,
            )  # fmt: skip
            if count <= room:
                break
            room = count
        self._pairs = np.ascontiguousarray(pairs[:count])

    def _off(self, x: Floats) -> float:
        """How far crossings have gone since pairs were looked for, but for what all go [m]."""
        if self._x is None:
            return np.inf
        return _spread(x - self._x)

    def _ensure(self, x: Floats) -> None:
        if 2 * self._off(x) > self._margin:
            self._look(x, _LEAST * self.distance)

    def collision_free_step(self, x: Floats, step: Floats) -> float:
        """The share of a step (n, 3) from x, up to 1, on which nothing passes anything."""
        far = _spread(step)
        if 2 * (self._off(x) + far) > self._margin:
            most = max(_LEAST * self.distance, _MOST * self._edge)
            self._look(x, min(max(_LEAST * self.distance, 2 * _SLACK * far), most))
        limit = 1.0 if far == 0.0 else min(1.0, (0.5 * self._margin - self._off(x)) / far)
        found: float = kernels.free_share(x, step, self._pairs, self._triangles, limit)
        return found

    def gaps(self, x: Floats) -> Floats:
        """Distances [m] of the pairs that touch at x (n, 3), all below ``distance``."""
        self._ensure(x)
        found = np.empty(len(self._pairs))
        kernels.distances(x, self._pairs, self._triangles, found)
        return found[found < self.distance]

    # -- forces ------------------------------------------------------------------------------

    def begin(self, start: Floats, past: Floats, h: float) -> None:
        """Start a stage at ``start`` (n, 3), as pressed as there; slip is (x − past)/h."""
        self._ensure(start)
        self._past, self._h, self._rubbing = past, h, None
        if self._friction == 0.0:
            return
        k = len(self._pairs)
        chosen, pressed = np.empty(k, dtype=np.int64), np.empty(k)
        shares, normals = np.empty((k, 3)), np.empty((k, 3))
        count = kernels.frames(
            start, self._pairs, self._triangles, self.distance, self.stiffness, chosen, pressed,
            shares, normals,
        )  # fmt: skip
        if count:
            nodes, limits = self._nodes(chosen[:count]), self._friction * pressed[:count]
            self._rubbing = nodes, shares[:count], normals[:count], limits

    def _nodes(self, chosen: Ints) -> Ints:
        """The crossing and the three of the triangle of some pairs, (k, 4)."""
        pairs = self._pairs[chosen]
        return np.column_stack([pairs[:, 0], self._triangles[pairs[:, 1]]])

    def energy(self, x: Floats, gradient: Floats = NO_GRADIENT) -> float:
        """What contacts store at x (n, 3) [J]; the gradient is added."""
        self._ensure(x)
        total, _ = kernels.potential(
            x, self._pairs, self._triangles, self.distance, self.stiffness, gradient, _NONE,
            _NO_BLOCKS,
        )  # fmt: skip
        return float(total)

    def rubbed(self, x: Floats, gradient: Floats = NO_GRADIENT) -> float:
        """The potential of friction at x (n, 3) [J]; the gradient is added."""
        if self._rubbing is None:
            return 0.0
        nodes, shares, normals, limits = self._rubbing
        found = kernels.friction(
            x - self._past, nodes, shares, normals, limits, self._speed, self._h, False, gradient,
            _NO_BLOCKS,
        )  # fmt: skip
        return float(found)

    def taken(self, x: Floats) -> float:
        """What friction takes in the stage, over c_v times its length [J]."""
        push = np.zeros_like(x)
        self.rubbed(x, push)
        return float(np.vdot(push, x - self._past))

    def with_matrix(self, values: Floats, x: Floats, *, majorized: bool) -> Floats:
        """Values (blocks, 5, 5) of a cloth with those of contacts at x, on ``pattern``."""
        self._ensure(x)
        k = len(self._pairs)
        active, blocks = np.empty(k, dtype=np.int64), np.zeros((k, 10, 3, 3))
        _, count = kernels.potential(
            x, self._pairs, self._triangles, self.distance, self.stiffness, NO_GRADIENT, active,
            blocks,
        )  # fmt: skip
        nodes, blocks = self._nodes(active[:count]), blocks[:count]
        if self._rubbing is not None:
            rubbing, shares, normals, limits = self._rubbing
            more = np.zeros((len(rubbing), 10, 3, 3))
            kernels.friction(
                x - self._past, rubbing, shares, normals, limits, self._speed, self._h, majorized,
                NO_GRADIENT, more,
            )  # fmt: skip
            nodes, blocks = np.concatenate([nodes, rubbing]), np.concatenate([blocks, more])
        if not len(nodes) and self._growing.pattern is self._own:
            return values
        wide = np.zeros((len(nodes), 10, 5, 5))
        wide[:, :, :3, :3] = blocks
        keys = self._keys(nodes)
        return self._growing.sum(values, keys.ravel(), wide.reshape(-1, 5, 5), self._reserve)

    def _keys(self, nodes: Ints) -> Ints:
        """Where the ten blocks of each four crossings are; all blocks are symmetric, (k, 10)."""
        n = np.int64(self._own.n_nodes)
        keys = np.empty((len(nodes), len(_PAIRS)), dtype=np.int64)
        for slot, (a, b) in enumerate(_PAIRS):
            low, high = np.minimum(nodes[:, a], nodes[:, b]), np.maximum(nodes[:, a], nodes[:, b])
            keys[:, slot] = low * n + high
        return keys

    def _reserve(self) -> Ints:
        """The blocks of all pairs that are near."""
        return np.unique(self._keys(self._nodes(np.arange(len(self._pairs)))))

    # -- what is kept ------------------------------------------------------------------------

    def memory(self) -> Any:
        """What the next steps depend on, to ``recall``: to the last digit, the room of matrices."""
        return self._growing.memory()

    def recall(self, memory: Any) -> None:
        """Go back to what ``memory`` gave."""
        self._growing.recall(memory)
        self._x = None

    def state(self) -> dict[str, Ints]:
        """The same for checkpoints."""
        return {"self": np.setdiff1d(self.pattern.keys, self._own.keys)}

    def restore(self, keys: Ints) -> None:
        """Go on from ``state``."""
        self._growing, self._x = GrowingPattern(self._own), None
        if len(keys):
            pattern = self._own.with_keys(keys)
            self._growing.recall((pattern, np.searchsorted(pattern.keys, self._own.keys), 0))


def _corners(along: Ints, end: int) -> Ints:
    """Crossings with their neighbours at one end of both of their yarns, (t, 3)."""
    warp, weft = along[:, WARP, end], along[:, WEFT, end]
    (at,) = np.nonzero((warp >= 0) & (weft >= 0))
    return np.stack([at, warp[at], weft[at]], axis=1)


def _near(links: Ints, n: int, steps: int) -> tuple[Ints, NDArray[np.int32]]:
    """Crossings at most so many links away from each, as rows of a sparse matrix."""
    ones = np.ones(len(links), dtype=bool)
    graph = sparse.csr_array(sparse.coo_array((ones, (links[:, 0], links[:, 1])), shape=(n, n)))
    graph = sparse.csr_array(graph + graph.T)
    counts = np.empty(n, dtype=np.int64)
    none = np.zeros(0, dtype=np.int32)
    kernels.within_steps(graph.indptr, graph.indices, steps, counts, none)
    found = np.empty(int(counts.sum()), dtype=np.int32)
    kernels.within_steps(graph.indptr, graph.indices, steps, counts, found)
    return np.concatenate([[0], np.cumsum(counts)]), found


def _spread(ways: Floats) -> float:
    """The longest of some ways (n, 3) [m], but for their mean."""
    off = ways - ways.mean(axis=0)
    return float(np.sqrt(np.einsum("ni,ni->n", off, off).max(initial=0.0)))
