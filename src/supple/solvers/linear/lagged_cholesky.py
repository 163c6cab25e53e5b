"""Conjugate gradients with the Cholesky factor of an earlier matrix, turned along with the body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supple._kernels.linear_algebra import blocks
from supple._kernels.linear_algebra import node_rotations as turning
from supple.core.parameters import parameter
from supple.core.sparse import BlockPattern, LowRank
from supple.core.types import Bools, Floats
from supple.solvers.interface import BoundSolver, Frames, LinearSolver, NotPositiveDefinite
from supple.solvers.linear import LINEAR_SOLVERS
from supple.solvers.linear.cholesky import Factorization, Woodbury
from supple.solvers.linear.conjugate_gradients import Iterative

_RENEWALS = 4  # after a factorization was of no use for the very next matrix


@LINEAR_SOLVERS.register(formerly=["KeptCholesky"])
@dataclass(frozen=True)
class LaggedCholesky(LinearSolver):
    """Conjugate gradients preconditioned by the Cholesky factor of an earlier matrix.

    While the body changes little from step to step, or merely turns, a few iterations do instead
    of a factorization. A new factorization is made when going on with the old one has become the
    dearer choice: when a solve took more iterations than the mean cost of all since the last one.
    """

    single: bool = parameter(True, "keep the factor in single precision: half the time and memory")
    max_iterations: int = parameter(60, "for one solve, before a new factorization")

    def bind(self, pattern: BlockPattern, free: Bools) -> BoundSolver:
        return _BoundLaggedCholesky(pattern, free, self.single, self.max_iterations)


class _Lagged(NamedTuple):
    """What a solver knows of earlier matrices; nothing of it changes once it is made."""

    values: Floats | None
    """The numbers that were factorized."""
    single: bool
    stale: bool = True
    lagged_factors: tuple[LowRank, Floats] | None = None
    lagged_frames: Floats | None = None
    solves: int = 0
    cost: float = 0.0
    renewals: int = 0


class _BoundLaggedCholesky(Iterative):
    def __init__(self, pattern: BlockPattern, free: Bools, single: bool, limit: int) -> None:
        super().__init__(pattern, free)
        self._single, self._limit = single, limit
        self._start_factorization()
        self._lagged_factors: tuple[LowRank, Floats] | None = None
        self._woodbury: Woodbury | None = None
        self._stale = True
        self._whole = free.all(axis=1)  # nodes that may be turned
        self._frames: Floats | None = None
        self._lagged_frames: Floats | None = None
        self._turns: tuple[Floats, Floats] | None = None
        self._solves, self._cost = 0, 0.0
        self._renewals = 0  # matrices that get a factorization of their own without a try
        self._unrestored: Floats | None = None  # numbers whose factors are to come back

    def memory(self) -> _Lagged:
        kept = None if self._stale else self._factorization.lend()
        if self._unrestored is not None:
            kept = self._unrestored
        lagged = self._lagged_factors, self._lagged_frames
        return _Lagged(
            kept, self._single, self._stale, *lagged, self._solves, self._cost, self._renewals
        )

    def recall(self, memory: _Lagged) -> None:
        if memory.single != self._single:
            self._single = memory.single
            self._start_factorization()
        self._unrestored, self._stale = memory.values, memory.stale
        self._lagged_factors, self._lagged_frames = memory.lagged_factors, memory.lagged_frames
        self._solves, self._cost, self._renewals = memory.solves, memory.cost, memory.renewals

    def take(
        self, values: Floats, low_rank: LowRank | None = None, frames: Frames | None = None
    ) -> None:
        self._values, self._low_rank = values, low_rank
        self._frames = None if frames is None or low_rank is not None else frames()
        if self._renewals or self._stale or (low_rank is None) != (self._lagged_factors is None):
            self._renewals = max(self._renewals - 1, 0)
            self._factorize()
        else:
            self._restore_factor()
            self._rotate_factor()
            if low_rank is not None:
                self._prepare_woodbury(low_rank)

    def _restore_factor(self) -> None:
        """Factorize anew what was factorized when a moment was kept, if that is another matrix."""
        if self._unrestored is not None:
            self._factorization.factorize_again(self._unrestored)
            self._unrestored = None

    def _rotate_factor(self) -> None:
        """Precondition in frames that were turned along with each node since the factorization.

        Elastic forces of a part that merely turns do so too: with Q the turns, the matrix is near
        Qᵀ A Q of the matrix A that was factorized.
        """
        self._turns = None
        if self._frames is not None and self._lagged_frames is not None:
            back = np.empty_like(self._frames)
            turning.back(self._lagged_frames, self._frames, self._whole, back)
            self._turns = back, back.transpose(0, 2, 1).copy()

    def _prepare_woodbury(self, low_rank: LowRank) -> None:
        """Precondition by the kept factorization and the kept factors, coupled as they are now."""
        assert self._lagged_factors is not None
        kept, solved = self._lagged_factors
        self._woodbury = Woodbury(replace(kept, coupling=low_rank.coupling), solved)

    def _start_factorization(self) -> None:
        # Solves are many and factorizations few: a solve is bound by memory, and is slower on two
        # threads than on one.
        self._factorization = Factorization(
            self._pattern, self._free, single=self._single, threads=1
        )

    def _factorize(self) -> None:
        self._stale, self._unrestored = True, None
        self.factorizations += 1
        try:
            self._factorization.factorize(self._values)
        except NotPositiveDefinite:
            if not self._single:
                raise
            self._use_double()
            self._factorization.factorize(self._values)
        self._stale = False
        self._lagged_frames = None if self._frames is None else self._frames.copy()
        self._turns = None
        self._lagged_factors = self._woodbury = None
        if self._low_rank is not None:
            solved = self._factorization.solve(self._low_rank.factors)
            self._lagged_factors = self._low_rank, solved
            self._prepare_woodbury(self._low_rank)
        self._solves, self._cost = 0, self._factorization.solves_per_factorization

    def _use_double(self) -> None:
        """Give up on single precision: this body is too ill-conditioned for it."""
        self._single = False
        self._start_factorization()

    def _precondition(self, x: Floats) -> Floats:
        field = x.reshape(self._free.shape)
        if self._turns is not None:
            back, forth = self._turns
            turned = np.empty_like(field)
            blocks.apply_diagonal_blocks(back, field, turned)
            solved = self._factorization.solve(turned)
            blocks.apply_diagonal_blocks(forth, solved, turned)
            return turned.reshape(-1)
        y = self._factorization.solve(field)
        return (y if self._woodbury is None else self._woodbury.correct(y)).reshape(-1)

    def solve(self, rhs: Floats, tolerance: float = 0.0) -> Floats:
        # A factorization of another matrix gets no more iterations than a new one is worth.
        worth = max(2, round(self._factorization.solves_per_factorization))
        x, done = self._iterate(
            rhs, tolerance, min(worth, self._limit) if self._solves else self._limit
        )
        if not done:
            self._renewals = _RENEWALS if self._solves == 1 else 0
            self._factorize()
            x, done = self._iterate(rhs, tolerance, self._limit)
        if not done and self._single:
            self._use_double()
            self._factorize()
            x, _ = self._iterate(rhs, tolerance, self._limit)
        self._solves += 1
        self._cost += self.iterations
        self._stale = self.iterations > self._cost / self._solves
        return x
