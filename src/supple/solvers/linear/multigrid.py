"""Conjugate gradients preconditioned by multigrid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sparse

from supple._kernels.linear_algebra import multigrid as kernels
from supple.core.parameters import parameter
from supple.core.sparse import BlockPattern, LowRank
from supple.core.types import Bools, Floats
from supple.solvers.interface import BoundSolver, Frames, LinearSolver, NotPositiveDefinite
from supple.solvers.linear import LINEAR_SOLVERS
from supple.solvers.linear.conjugate_gradients import Iterative
from supple.solvers.linear.levels import Levels

_WORTHWHILE = 0.8  # of the nodes may be left after a round
_ITERATIONS_PER_RENEWAL = 6.0  # that cost about as much as taking a new matrix
_RENEWALS = 8  # after the levels of another matrix were of no use


@LINEAR_SOLVERS.register
@dataclass(frozen=True)
class Multigrid(LinearSolver):
    """Conjugate gradients preconditioned by a V-cycle over ever fewer nodes.

    Memory grows in proportion to the body, and time little faster. A cycle is a Gauss–Seidel sweep
    on each level down, one in the opposite order on each level up, and a Cholesky factor of the
    coarsest, in single precision. It is made anew when going on with that of an earlier matrix has
    become the dearer choice.
    """

    coarsest: int = parameter(20_000, "nodes that the coarsest level may have")
    max_iterations: int = parameter(200, "for one solve")

    def bind(self, pattern: BlockPattern, free: Bools) -> BoundSolver:
        coarsening = pattern.coarsening or partial(interpolations, pattern)
        return _BoundMultigrid(pattern, free, coarsening(self.coarsest), self.max_iterations)


class _BoundMultigrid(Iterative):
    def __init__(
        self,
        pattern: BlockPattern,
        free: Bools,
        interpolations: Sequence[sparse.csr_array],
        limit: int,
    ) -> None:
        super().__init__(pattern, free)
        self._interpolations, self._limit = interpolations, limit
        self._single = True
        self._build()
        self._stale = True
        self._solves, self._cost = 0, 0.0
        self._worth = limit  # iterations that the levels of an earlier matrix get
        self._renewals = 0  # matrices that get levels of their own without a try

    def _build(self) -> None:
        dtype = np.float32 if self._single else np.float64
        self._levels = Levels(self._pattern, self._free, self._interpolations, dtype)

    def memory(self) -> bool:
        """The levels are made anew for the next matrix, here and where this is recalled."""
        self._stale, self._renewals = True, 0
        return self._single

    def recall(self, memory: bool) -> None:
        if memory != self._single:
            self._single = memory
            self._build()
        self._stale, self._renewals = True, 0

    def take(
        self, values: Floats, low_rank: LowRank | None = None, frames: Frames | None = None
    ) -> None:
        self._values, self._low_rank = values, low_rank
        if self._stale or self._renewals:
            self._renewals = max(self._renewals - 1, 0)
            self._renew()

    def _renew(self) -> None:
        self._stale = True
        try:
            self._levels.take(self._values)
        except NotPositiveDefinite:
            if not self._single:
                raise
            self._use_double()
        self._stale = False
        self._solves, self._cost = 0, _ITERATIONS_PER_RENEWAL

    def _use_double(self) -> None:
        """Give up on single precision if it is what fails: this body is too ill-conditioned."""
        single, self._single = self._levels, False
        self._build()
        try:
            self._levels.take(self._values)
        except NotPositiveDefinite:  # it is the matrix that fails, whatever its precision
            self._levels, self._single = single, True
            raise

    def _precondition(self, x: Floats) -> Floats:
        y = self._levels.apply(x.reshape(self._free.shape)).reshape(-1)
        if not float(np.vdot(x, y)) > 0.0:
            raise NotPositiveDefinite("a V-cycle met negative curvature")
        return y

    def solve(self, rhs: Floats, tolerance: float = 0.0) -> Floats:
        # Levels of another matrix get no more iterations than with new ones it would have taken.
        lagged, spent = self._solves > 0, 0
        limit = min(self._worth, self._limit) if lagged else self._limit
        x, done = self._iterate(rhs, tolerance, limit)
        if not done and lagged:
            spent += self.iterations
            self._renewals = _RENEWALS
            self._renew()
            x, done = self._iterate(rhs, tolerance, self._limit, x)
        if not done and self._single:
            spent += self.iterations
            self._use_double()
            x, _ = self._iterate(rhs, tolerance, self._limit, x)
        if not self._solves:
            self._worth = self.iterations + round(_ITERATIONS_PER_RENEWAL)
        self._solves += 1
        self._cost += self.iterations
        self._stale = self.iterations > self._cost / self._solves
        self.iterations += spent
        return x


def interpolations(pattern: BlockPattern, most: int) -> list[sparse.csr_array]:
    """How values at ever fewer nodes are interpolated at those before.

    Kept are nodes with at least three links between any two of them. The others are within two
    links of some, and weigh these by the number of ways that lead there.
    """
    upper = pattern.graph().astype(np.float32)
    coupled = sparse.csr_array(upper + upper.T)
    found: list[sparse.csr_array] = []
    while coupled.shape[0] > most:
        coupled.data[:] = 1.0
        ways = sparse.csr_array(coupled @ coupled)
        kept = kernels.independent(ways.indptr, ways.indices)
        if len(kept) > _WORTHWHILE * coupled.shape[0]:
            break
        near = sparse.csr_array(ways[:, kept])
        P = sparse.csr_array(sparse.diags_array(1 / near.sum(axis=1)) @ near)
        found.append(P)
        coupled = sparse.csr_array(P.T @ (coupled @ P))
    return found
