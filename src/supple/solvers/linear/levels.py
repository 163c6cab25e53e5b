"""The levels of a multigrid method, from fine to coarse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from supple._kernels.linear_algebra import multigrid
from supple.core.sparse import BlockPattern
from supple.core.threads import run_all, thread_count
from supple.core.types import Bools, Floats, Ints
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear.cholesky import Factorization

_WORTH_A_THREAD = 2000  # rows

Reals = NDArray[np.floating[Any]]


class Level:
    """A matrix with both triangles, and Gauss–Seidel sweeps on it.

    Rows are shared among threads in ranges. Those that couple with an earlier range are late: they
    wait until all others are done.
    """

    def __init__(self, graph: sparse.csr_array, free: Bools, dtype: type) -> None:
        n, b = free.shape
        parts = max(1, min(thread_count(), n // _WORTH_A_THREAD))
        self.free = free
        self._bounds = np.linspace(0, n, parts + 1).astype(np.int64)
        part = (np.searchsorted(self._bounds, np.arange(n), side="right") - 1).astype(np.int32)
        self.indptr = graph.indptr.astype(np.int64)
        self.cols = graph.indices.astype(np.int32)
        rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(self.indptr))
        late = np.zeros(n, dtype=bool)
        late[rows[part[self.cols] < part[rows]]] = True
        self._sources = graph.data.astype(np.int32)
        self._diagonal = np.flatnonzero(rows == self.cols)
        early = [np.flatnonzero((part == p) & ~late) for p in range(parts)]
        self._turns = [early, [np.flatnonzero(late)]] if late.any() else [early]
        self.values: Reals = np.zeros((len(self.cols), b, b), dtype=dtype)
        self._inverses: Reals = np.zeros((n, b, b), dtype=dtype)

    def in_ranges(self, work: Callable[[int, int], None]) -> None:
        """Call ``work`` with the first and last of each range of rows, in threads."""
        pairs = pairwise(self._bounds)
        run_all([partial(work, int(first), int(last)) for first, last in pairs])

    def gather(self, values: Floats) -> None:
        """Take the blocks of the upper triangle, where ``graph`` has told their places."""
        self.in_ranges(
            lambda first, last: multigrid.gather_rows(
                self.indptr, self.cols, self._sources, values, self.free, first, last, self.values
            )
        )

    def prepare(self) -> None:
        """Get ready for sweeps."""

        def invert(first: int, last: int) -> None:
            D = self.values[self._diagonal[first:last]].astype(float)
            np.einsum("nii->ni", D)[~self.free[first:last]] = 1.0
            try:
                np.linalg.cholesky(D)
            except np.linalg.LinAlgError as error:
                raise NotPositiveDefinite("a diagonal block is not positive definite") from error
            self._inverses[first:last] = np.linalg.inv(D)

        self.in_ranges(invert)

    def smooth_from_zero(self, rhs: Reals) -> tuple[Reals, Reals]:
        """x after a sweep that starts at 0, and b − A x."""
        x, left = np.zeros_like(rhs), np.empty_like(rhs)
        for turn in self._turns:
            run_all([partial(self._sweep, multigrid.forward, rows, rhs, x) for rows in turn])
        self.in_ranges(
            lambda first, last: multigrid.what_is_left(
                self.indptr, self.cols, self.values, first, last, rhs, x, left
            )
        )
        return x, left

    def smooth_back(self, rhs: Reals, x: Reals) -> None:
        """A sweep in the opposite order, in place."""
        for turn in self._turns[::-1]:
            run_all([partial(self._sweep, multigrid.backward, rows, rhs, x) for rows in turn])

    def _sweep(self, loop: Callable[..., None], rows: Ints, rhs: Reals, x: Reals) -> None:
        loop(self.indptr, self.cols, self.values, self._inverses, rows, rhs, x)

    def upper(self) -> tuple[BlockPattern, Ints]:
        """The upper triangle, and where its blocks are."""
        n = len(self.free)
        place = np.arange(1, len(self.cols) + 1)
        all_places = sparse.csr_array((place, self.cols, self.indptr), shape=(n, n))
        upper = sparse.csr_array(sparse.triu(all_places))
        upper.sort_indices()
        pattern = BlockPattern(upper.indptr.astype(np.int64), upper.indices.astype(np.int64))
        return pattern, upper.data - 1


class Levels:
    """A V-cycle for matrices on one pattern: a symmetric preconditioner.

    ``interpolations`` lead from each level to the finer one before it, (nodes, coarser nodes), the
    same for all components. Coarser matrices are Pᵀ A P, and the coarsest is factorized.
    """

    def __init__(
        self,
        pattern: BlockPattern,
        free: Bools,
        interpolations: Sequence[sparse.csr_array],
        dtype: type,
    ) -> None:
        self._dtype = dtype
        self._up = [sparse.csr_array(P.astype(dtype)) for P in interpolations]
        self._down = [sparse.csr_array(P.T) for P in self._up]
        self._levels = [Level(_both_triangles(pattern), free, dtype)]
        for P, R in zip(self._up, self._down, strict=True):
            fine = self._levels[-1]
            coupled = sparse.csr_array(
                (np.ones(len(fine.cols), np.float32), fine.cols, fine.indptr),
                shape=(len(fine.free),) * 2,
            )
            graph = sparse.csr_array(abs(R) @ (coupled @ abs(P)))
            graph.sort_indices()
            self._levels.append(Level(graph, (abs(R) @ fine.free) > 0, dtype))
        coarsest = self._levels[-1]
        upper, self._coarsest_places = coarsest.upper()
        self._factorization = Factorization(
            upper, coarsest.free, single=dtype is np.float32, threads=1
        )

    def take(self, values: Floats) -> None:
        """Precondition for the matrix with these blocks of the upper triangle."""
        levels = self._levels
        levels[0].gather(values)
        for fine, coarse, P, R in zip(levels, levels[1:], self._up, self._down, strict=False):
            fine.prepare()
            _project(fine, coarse, P, R)
        self._factorization.factorize(levels[-1].values[self._coarsest_places].astype(float))

    def apply(self, rhs: Floats) -> Floats:
        """About A⁻¹ b for b (n, b)."""
        return self._cycle(0, rhs.astype(self._dtype)).astype(float)

    def _cycle(self, k: int, rhs: Reals) -> Reals:
        if k == len(self._up):
            return self._factorization.solve(rhs.astype(float)).astype(self._dtype)
        level = self._levels[k]
        x, left = level.smooth_from_zero(rhs)
        x += self._up[k] @ self._cycle(k + 1, self._down[k] @ left)
        if k == 0:
            x *= level.free
        level.smooth_back(rhs, x)
        return x


def _both_triangles(pattern: BlockPattern) -> sparse.csr_array:
    """Where the blocks of all rows come from: s + 1, or −(s + 1) where transposed."""
    n = pattern.n_nodes
    place = np.arange(1, pattern.n_blocks + 1, dtype=np.int32)
    upper = sparse.csr_array((place, pattern.cols, pattern.indptr), shape=(n, n))
    return sparse.csr_array(upper - sparse.triu(upper, 1).T)


def _project(fine: Level, coarse: Level, P: sparse.csr_array, R: sparse.csr_array) -> None:
    """A = Pᵀ A P on the coarser level (Galerkin)."""

    def rows(first: int, last: int) -> None:
        multigrid.galerkin(
            (fine.indptr, fine.cols, fine.values),
            (P.indptr, P.indices, P.data),
            (R.indptr, R.indices, R.data),
            coarse.indptr,
            coarse.cols,
            first,
            last,
            np.empty(len(coarse.free), dtype=np.int64),
            coarse.values,
        )

    coarse.in_ranges(rows)
