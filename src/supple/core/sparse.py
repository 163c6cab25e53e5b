"""Symmetric block-sparse matrices with a pattern built once and values that change.

A pattern is the upper triangle of a node graph: block (i, j), i ≤ j, couples nodes i and j, and the
diagonal block comes first in its row. Values are an array (blocks, b, b), so adding two matrices on
one pattern is adding two arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from supple._kernels.linear_algebra import blocks
from supple._kernels.linear_algebra.blocks import add_at
from supple.core.threads import run_all
from supple.core.types import Floats, Ints

if TYPE_CHECKING:
    import scipy.sparse as sparse

_BLOCKS_OF_A_PART = 30_000  # of a product, which has parts whatever the number of threads,
_MOST_PARTS = 8  # and as few as that
_RESERVE = 1.5  # times the blocks that are needed, up to which room for others is kept,
_SPARE = 1.25  # and where that is much
_WASTEFUL = 2.0  # times the blocks that are needed, from which on room is given back
_LARGE = 50_000  # blocks from which on factors of what is not needed cost more than analyses
_FEW = 0.25  # share of the lasting blocks that others may be for room beside them to be small

Coarsening = Callable[[int], "Sequence[sparse.csr_array]"]
"""Gives interpolations to nodes from fewer nodes, level by level, until so many are left.

Each is (nodes, coarser nodes), the same for all components of a node.
"""


@dataclass(frozen=True, eq=False)
class BlockPattern:
    """Upper triangle of a symmetric matrix of b × b blocks on a graph of nodes."""

    indptr: Ints
    """(nodes + 1,): where each row of blocks starts."""
    cols: Ints
    """(blocks,): column of each block, ascending in a row, the diagonal first."""
    coarsening: Coarsening | None = None
    """How to do with fewer nodes, where the body knows; for multigrid methods."""
    passing: int = 0
    """How many of the blocks are there for pairs of nodes that come and go."""

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_blocks(self) -> int:
        return len(self.cols)

    @cached_property
    def rows(self) -> Ints:
        """(blocks,): row of each block."""
        return np.repeat(np.arange(self.n_nodes), np.diff(self.indptr))

    @classmethod
    def of_cells(cls, cells: Ints, n_nodes: int) -> tuple[BlockPattern, Ints]:
        """The pattern in which the nodes of a cell are coupled, and the slots of each cell's pairs.

        ``slots`` is (cells, pairs) over a ≤ b: the block of a pair, or its bitwise complement
        where the block is stored transposed.
        """
        pattern, (slots,) = cls.of_kinds_of_cells([cells], n_nodes)
        return pattern, slots

    @classmethod
    def of_kinds_of_cells(
        cls, kinds: Sequence[Ints], n_nodes: int
    ) -> tuple[BlockPattern, list[Ints]]:
        """The same for cells of several kinds together, each an array (cells, nodes)."""
        import scipy.sparse as sparse  # slow to import

        graph = sparse.csr_array(sparse.eye_array(n_nodes, dtype=bool, format="csr"))
        for cells in kinds:  # pair by pair, which takes little memory
            for a, b in zip(*np.triu_indices(cells.shape[1], 1), strict=True):
                low, high = np.sort(cells[:, [a, b]].astype(np.int32), axis=1).T
                pairs = sparse.coo_array((np.ones(len(cells), bool), (low, high)), graph.shape)
                graph = graph + sparse.csr_array(pairs)
        graph.sort_indices()
        pattern = cls(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
        found = []
        for cells in kinds:
            first, second = np.triu_indices(cells.shape[1])
            slots = np.empty((len(cells), len(first)), dtype=np.int64)
            for k, (a, b) in enumerate(zip(first, second, strict=True)):
                low, high = np.sort(cells[:, [a, b]], axis=1).T
                slots[:, k] = np.searchsorted(pattern.keys, low * np.int64(n_nodes) + high)
                turned = cells[:, a] > cells[:, b]
                slots[turned, k] = ~slots[turned, k]
            found.append(slots)
        return pattern, found

    def union(self, other: BlockPattern) -> tuple[BlockPattern, Ints, Ints]:
        """The pattern with the blocks of both, and where the blocks of each are in it."""
        pattern = self.with_keys(other.keys)
        mine, theirs = (np.searchsorted(pattern.keys, part.keys) for part in (self, other))
        return pattern, mine, theirs

    @cached_property
    def _parts(self) -> Ints:
        """Where parts of about as many blocks begin, and the last one ends, in rows."""
        parts = max(1, min(_MOST_PARTS, self.n_blocks // _BLOCKS_OF_A_PART))
        even = np.linspace(0, self.n_blocks, parts + 1).astype(np.int64)
        return np.searchsorted(self.indptr, even)

    @cached_property
    def keys(self) -> Ints:
        """(blocks,): row · nodes + column of each block, ascending."""
        return np.asarray(self.rows * np.int64(self.n_nodes) + self.cols)

    def with_keys(self, more: Ints) -> BlockPattern:
        """The pattern with blocks at further keys, of row ≤ column, too."""
        keys, n = np.union1d(self.keys, more), self.n_nodes
        indptr = np.searchsorted(keys // n, np.arange(n + 1))
        return BlockPattern(indptr.astype(np.int64), (keys % n).astype(np.int64), self.coarsening)

    def graph(self) -> sparse.csr_array:
        """Which nodes are coupled, upper triangle, (nodes, nodes)."""
        import scipy.sparse as sparse  # slow to import

        ones = np.ones(self.n_blocks, dtype=np.int8)
        return sparse.csr_array((ones, self.cols, self.indptr), shape=(self.n_nodes,) * 2)

    def full(self, values: Floats) -> sparse.csr_array:
        """Both triangles as a SciPy matrix, (b·nodes, b·nodes)."""
        import scipy.sparse as sparse  # slow to import

        size = values.shape[1]
        above = self.rows != self.cols
        rows = np.concatenate([self.rows, self.cols[above]])
        cols = np.concatenate([self.cols, self.rows[above]])
        data = np.concatenate([values, values[above].transpose(0, 2, 1)])
        order = np.lexsort((cols, rows))
        indptr = np.searchsorted(rows[order], np.arange(self.n_nodes + 1))
        shape = (size * self.n_nodes, size * self.n_nodes)
        return sparse.csr_array(sparse.bsr_array((data[order], cols[order], indptr), shape=shape))

    def multiply(self, values: Floats, x: Floats) -> Floats:
        """A x for x of shape (nodes, b); values (blocks, b, b), or (blocks,) for multiples of I."""
        y = np.empty_like(x)
        if values.ndim == 1:
            blocks.multiply_scalar(self.indptr, self.cols, values, x, y)
            return y
        ends = self._parts
        shares = [y, *(np.empty_like(x) for _ in ends[2:])]
        run_all(
            [
                partial(blocks.multiply, self.indptr, self.cols, values, first, last, x, share)
                for (first, last), share in zip(pairwise(ends), shares, strict=True)
            ]
        )
        for first, share in zip(ends[1:], shares[1:], strict=False):
            y[first:] += share[first:]
        return y

    def multiply_many(
        self, values: Floats, x: Floats, *, factor: float = 1.0, scalars: Floats | None = None
    ) -> Floats:
        """(factor · A + S) x for each of x (k, nodes, 3), interleaved or not.

        ``values`` are (blocks, 3, 3), ``scalars`` (blocks,) multiples of the identity.
        """
        beside = np.zeros(0) if scalars is None else scalars
        mixed = np.ascontiguousarray(x.transpose(1, 2, 0))
        y = np.zeros_like(mixed)
        blocks.multiply_many(self.indptr, self.cols, values, factor, beside, mixed, y)
        return y.transpose(2, 0, 1)


class GrowingPattern:
    """A pattern of blocks that are always there, with room for others that come and go.

    Room is made for many at once and kept while it is used, so that linear solvers seldom have to
    analyse a new ``pattern``.
    """

    def __init__(self, own: BlockPattern) -> None:
        self._own = self.pattern = own
        self._places = np.arange(own.n_blocks)
        self._asked = 0  # keys that room was last made for

    def sum(
        self, values: Floats, keys: Ints, blocks: Floats, reserve: Callable[[], Ints]
    ) -> Floats:
        """Values on the blocks that are always there, and ``blocks`` (k, b, b) at their keys (k,).

        Where there is no room for one of these, room is made for all of them and for the keys that
        ``reserve()`` gives.
        """
        places = np.searchsorted(self.pattern.keys, keys)
        there = self.pattern.keys[np.minimum(places, self.pattern.n_blocks - 1)] == keys
        most = _WASTEFUL * max(self._own.n_blocks + len(keys), _LARGE)
        wasteful = self.pattern.n_blocks > most and _WASTEFUL * len(keys) < self._asked
        if not there.all() or wasteful:
            self._make_room(keys, reserve)
            places = np.searchsorted(self.pattern.keys, keys)
        total = self.widened(values)
        add_at(total, places, blocks)
        return total

    def _make_room(self, keys: Ints, reserve: Callable[[], Ints]) -> None:
        """A pattern for keys, with as much room beside them as is worth it."""
        own, before = self._own, self.pattern
        needed = own.with_keys(keys)
        more = needed.n_blocks - own.n_blocks
        cheap = needed.n_blocks < _LARGE or more <= _FEW * own.n_blocks
        if cheap:
            needed = needed.with_keys(reserve())
        both = needed.with_keys(before.keys)
        if both.n_blocks <= (_RESERVE if cheap else _SPARE) * needed.n_blocks:
            needed = both
        self.pattern = replace(needed, passing=needed.n_blocks - own.n_blocks)
        self._places = np.searchsorted(self.pattern.keys, own.keys)
        self._asked = len(keys)

    def memory(self) -> tuple[BlockPattern, Ints, int]:
        """The room that there is, to ``recall``."""
        return self.pattern, self._places, self._asked

    def recall(self, memory: tuple[BlockPattern, Ints, int]) -> None:
        """Go back to what ``memory`` gave."""
        self.pattern, self._places, self._asked = memory

    def widened(self, values: Floats) -> Floats:
        """Values on the blocks that are always there, as values on ``pattern``."""
        total = np.zeros((self.pattern.n_blocks, *values.shape[1:]))
        total[self._places] = values
        return total


def interleaved(fields: Floats) -> Floats:
    """Fields (k, nodes, b), with the k values of a component side by side in memory."""
    return np.ascontiguousarray(fields.transpose(1, 2, 0)).transpose(2, 0, 1)


@dataclass(frozen=True, eq=False)
class LowRank:
    """A matrix w Σ_ij W_ij f_i ⊗ f_j of few factors f, beside a sparse one.

    It is symmetric where W is.
    """

    factors: Floats
    """f, (k, nodes, b)."""
    coupling: Floats
    """W, (k, k)."""
    weight: float = 1.0
    """w."""

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether W is symmetric, to rounding."""
        size = np.abs(self.coupling).max(initial=0.0)
        return bool(np.abs(self.coupling - self.coupling.T).max(initial=0.0) <= 1e-12 * size)

    def multiply(self, x: Floats) -> Floats:
        """The matrix times x (nodes, b)."""
        flat = self.factors.reshape(len(self.factors), -1)
        product: Floats = (self.weight * (self.coupling @ (flat @ x.ravel()))) @ flat
        return product.reshape(x.shape)


def joined(parts: Sequence[LowRank | None], weight: float = 1.0) -> LowRank | None:
    """``weight`` times the sum of low-rank matrices, those that there are."""
    there = [part for part in parts if part is not None]
    if not there:
        return None
    if len(there) == 1:
        return replace(there[0], weight=weight * there[0].weight)
    from scipy.linalg import block_diag  # slow to import

    return LowRank(
        np.concatenate([part.factors for part in there]),
        block_diag(*(part.weight * part.coupling for part in there)),
        weight,
    )
