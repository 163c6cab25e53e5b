"""The global step of ADMM: one matrix, factorized once and kept until it changes."""

from __future__ import annotations

import numpy as np

from supple.core.sparse import BlockPattern
from supple.core.types import Bools, Floats
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

    def take(self, split: Splitting) -> None:
        """Use the matrix of ``split`` from now on."""
        if split.matrix_key == self._key:
            return
        self.factorizations += 1
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
