"""The global step of ADMM: one matrix, factorized once and kept until it changes."""

from __future__ import annotations

import numpy as np

from supple.core.sparse import BlockPattern
from supple.core.types import Bools, Floats, Ints
from supple.solvers.linear.cholesky import Factorization, Woodbury
from supple.solvers.splitting import Splitting

_WORTH_THREADS = 50_000  # nodes: below, threads take longer to meet than to solve


class GlobalStep:
    """Solves with c_a M + c_v C_outside + Σ w DᵀD.

    Where that is a multiple of the identity block by block, an n × n matrix serves all three
    coordinates (or one for each, where supports hold some coordinates of a vertex only).
    """

    def __init__(self, pattern: BlockPattern, free: Bools) -> None:
        self._pattern, self._free = pattern, free
        self.factorizations = 0
        """How many there have been."""
        self._key: tuple[object, ...] | None = None
        self._masks = [np.ascontiguousarray(free[:, k : k + 1]) for k in range(3)]
        self._by_mask: dict[bytes, Factorization] = {}
        self._whole: Factorization | None = None
        self._woodbury: Woodbury | None = None
        self._rows: dict[int, int] = {}
        self._columns: Floats = np.empty((0, 0, 1, 1))
        self._asked: tuple[Ints, Floats] | None = None  # the last answer

    def take(self, split: Splitting) -> None:
        """Use the matrix of ``split`` from now on."""
        if split.matrix_key == self._key:
            return
        self.factorizations += 1
        self._rows, self._columns, self._asked = {}, np.empty((0, 0, 1, 1)), None
        own = split.scalars.copy()
        for term in split.terms:
            term.add_matrix(own)
        scalars = np.zeros(self._pattern.n_blocks)
        scalars[split.places] = own
        self._woodbury = None
        if split.blocks is None and split.low_rank is None:
            self._whole = None
            for mask in self._masks:
                if mask.tobytes() not in self._by_mask:
                    threads = 1 if self._pattern.n_nodes < _WORTH_THREADS else None
                    self._by_mask[mask.tobytes()] = Factorization(
                        self._pattern, mask, threads=threads
                    )
            for factorization in self._by_mask.values():
                factorization.factorize(scalars[:, None, None])
        else:
            if self._whole is None:
                self._whole = Factorization(self._pattern, self._free)
            blocks = scalars[:, None, None] * np.eye(3)
            if split.blocks is not None:
                blocks += split.blocks
            self._whole.factorize(blocks)
            if split.low_rank is not None:
                solved = self._whole.solve(split.low_rank.factors)
                self._woodbury = Woodbury(split.low_rank, solved)
        self._key = split.matrix_key

    def solve(self, rhs: Floats) -> Floats:
        """x (n, 3), zero where components are held."""
        if self._whole is not None:
            x = self._whole.solve(rhs)
            return x if self._woodbury is None else self._woodbury.correct(x)
        x = np.empty_like(rhs)
        for column, mask in enumerate(self._masks):
            side = np.ascontiguousarray(rhs[:, column : column + 1])
            x[:, column] = self._by_mask[mask.tobytes()].solve(side)[:, 0]
        return x

    def responses(self, vertices: Ints, candidates: Ints) -> Floats:
        """How some vertices move by unit forces on each of them, (k, k, p, m) [m/N].

        Of the inverse, 3 × 3 blocks or their diagonals (m = 1), of which there may be one number
        for all coordinates (p = 1). ``vertices`` are among ``candidates``, sorted and always the
        same, whose rows are kept until the matrix changes.
        """
        new = [v for v in dict.fromkeys(vertices.tolist()) if v not in self._rows]
        if new:  # one by one: to the last bit, whoever else asks
            found = [self._column(v)[candidates] for v in new]
            known = len(self._rows)
            if known + len(new) > len(self._columns):
                room = np.empty((2 * known + len(new), *found[0].shape))
                if known:
                    room[:known] = self._columns[:known]
                self._columns = room
            self._columns[known : known + len(new)] = found
            self._rows |= {v: known + row for row, v in enumerate(new)}
        if self._asked is None or not np.array_equal(self._asked[0], vertices):
            rows = np.array([self._rows[v] for v in vertices.tolist()], dtype=np.int64)
            picked = self._columns[rows[:, None], np.searchsorted(candidates, vertices)]
            self._asked = vertices, picked
        return self._asked[1]

    def _column(self, vertex: int) -> Floats:
        n = self._pattern.n_nodes
        if self._whole is not None:
            column = np.empty((n, 3, 3))
            for k in range(3):
                rhs = np.zeros((n, 3))
                rhs[vertex, k] = 1.0
                column[:, :, k] = self.solve(rhs)
            return column
        masks = self._masks[:1] if len(self._by_mask) == 1 else self._masks
        rhs = np.zeros((n, 1))
        rhs[vertex] = 1.0
        return np.stack([self._by_mask[mask.tobytes()].solve(rhs) for mask in masks], axis=1)
