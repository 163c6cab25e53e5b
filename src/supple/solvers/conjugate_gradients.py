"""Iterative solution by preconditioned conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import LinearOperator, bicgstab, cg

from .._kernels import blocks
from ..checks import whole_number
from ..sparse import BlockPattern, LowRank
from ..types import Bools, Floats
from .cholesky import Factorization
from .interface import BoundSolver, LinearSolver, NotPositiveDefinite
from .woodbury import Woodbury

_RENEWALS = 4  # after a factorization was of no use for the very next matrix
_TIGHTEST = 1e-12  # relative residual that double precision reaches on any sane matrix


@dataclass(frozen=True)
class ConjugateGradients(LinearSolver):
    """Conjugate gradients with the inverse of the diagonal blocks as preconditioner.

    Needs little memory; the choice for large bodies in motion.
    """

    max_iterations: int = 2000

    def __post_init__(self) -> None:
        whole_number("max_iterations", self.max_iterations, at_least=1)

    def bind(self, pattern: BlockPattern, free: Bools) -> BoundSolver:
        return _BlockJacobi(pattern, free, self.max_iterations)


@dataclass(frozen=True)
class KeptCholesky(LinearSolver):
    """Conjugate gradients preconditioned by the Cholesky factor of an earlier matrix.

    While the body changes little from step to step, a few iterations do instead of a
    factorization. A new factorization is made when going on with the old one has become the
    dearer choice: when a solve took more iterations than the mean cost of all since the last one.
    """

    single: bool = True
    """Keep the factor in single precision: half the time and memory."""
    max_iterations: int = 60

    def __post_init__(self) -> None:
        whole_number("max_iterations", self.max_iterations, at_least=1)

    def bind(self, pattern: BlockPattern, free: Bools) -> BoundSolver:
        return _Kept(pattern, free, self.single, self.max_iterations)


class Iterative(BoundSolver):
    """The masked operator of a block matrix, and conjugate gradients on it."""

    def __init__(self, pattern: BlockPattern, free: Bools) -> None:
        self._pattern, self._free = pattern, free
        self._size = free.size
        self._held = np.flatnonzero(~free)
        self._values = np.zeros((0, 1, 1))
        self._low_rank: LowRank | None = None
        self.iterations = 0
        """Iterations of the last solve."""

    def _multiply(self, x: Floats) -> Floats:
        field = np.ascontiguousarray(x).reshape(self._free.shape)
        y = self._pattern.multiply(self._values, field)
        if self._low_rank is not None:
            y += self._low_rank.multiply(field)
        flat = y.reshape(-1)
        flat[self._held] = 0.0
        if not float(np.vdot(x, flat)) > 0.0:  # x is a search direction
            raise NotPositiveDefinite("conjugate gradients met negative curvature")
        return flat

    def _precondition(self, x: Floats) -> Floats:
        raise TypeError("a preconditioner is set by the subclass")

    def _iterate(self, rhs: Floats, tolerance: float, limit: int) -> tuple[Floats, bool]:
        """The solution so far, and whether it is good enough."""
        b = rhs.reshape(-1).copy()
        b[self._held] = 0.0
        shape = (self._size, self._size)
        operator = LinearOperator(shape, matvec=self._multiply, dtype=float)
        inverse = LinearOperator(shape, matvec=self._precondition, dtype=float)
        self.iterations = 0

        def count(_: Floats) -> None:
            self.iterations += 1

        # A low-rank part that is not symmetric is a small disturbance, but beyond what cg bears.
        symmetric = self._low_rank is None or self._low_rank.is_symmetric
        x, failed = (cg if symmetric else bicgstab)(
            operator, b, rtol=max(tolerance, _TIGHTEST), atol=0.0, maxiter=limit, M=inverse,
            callback=count,
        )  # fmt: skip
        if not np.isfinite(x).all():
            raise NotPositiveDefinite("conjugate gradients broke down")
        return x.reshape(rhs.shape), failed == 0


class _BlockJacobi(Iterative):
    def __init__(self, pattern: BlockPattern, free: Bools, limit: int) -> None:
        super().__init__(pattern, free)
        self._limit = limit

    def take(self, values: Floats, low_rank: LowRank | None = None) -> None:
        self._values, self._low_rank = values, low_rank
        if values.ndim == 1:  # multiples of the identity
            scalars = values[self._pattern.indptr[:-1]]
            self._inverses = np.eye(self._free.shape[1]) / scalars[:, None, None]
            return
        diagonal = np.empty((*self._free.shape, self._free.shape[1]))
        blocks.diagonal_blocks(self._pattern.indptr, values, self._free, diagonal)
        try:
            np.linalg.cholesky(diagonal)
        except np.linalg.LinAlgError as error:
            raise NotPositiveDefinite("a diagonal block is not positive definite") from error
        self._inverses = np.linalg.inv(diagonal)

    def _precondition(self, x: Floats) -> Floats:
        y = np.empty(self._free.shape)
        blocks.apply_diagonal_blocks(self._inverses, x.reshape(self._free.shape), y)
        return y.reshape(-1)

    def solve(self, rhs: Floats, tolerance: float = 0.0) -> Floats:
        return self._iterate(rhs, tolerance, self._limit)[0]


class _Kept(Iterative):
    def __init__(self, pattern: BlockPattern, free: Bools, single: bool, limit: int) -> None:
        super().__init__(pattern, free)
        self._single, self._limit = single, limit
        self._start_factorization()
        self._kept_factors: tuple[LowRank, Floats] | None = None
        self._woodbury: Woodbury | None = None
        self._stale = True
        self._solves, self._cost = 0, 0.0
        self._renewals = 0  # matrices that get a factorization of their own without a try

    def take(self, values: Floats, low_rank: LowRank | None = None) -> None:
        self._values, self._low_rank = values, low_rank
        if self._renewals or self._stale or (low_rank is None) != (self._kept_factors is None):
            self._renewals = max(self._renewals - 1, 0)
            self._factorize()
        elif low_rank is not None:
            self._prepare_woodbury(low_rank)

    def _prepare_woodbury(self, low_rank: LowRank) -> None:
        """Precondition by the kept factorization and the kept factors, coupled as they are now."""
        assert self._kept_factors is not None
        kept, solved = self._kept_factors
        self._woodbury = Woodbury(replace(kept, coupling=low_rank.coupling), solved)

    def _start_factorization(self) -> None:
        # Solves are many and factorizations few: a solve is bound by memory, and is slower on two
        # threads than on one.
        self._factorization = Factorization(
            self._pattern, self._free, single=self._single, threads=1
        )

    def _factorize(self) -> None:
        self._stale = True
        try:
            self._factorization.factorize(self._values)
        except NotPositiveDefinite:
            if not self._single:
                raise
            self._use_double()
            self._factorization.factorize(self._values)
        self._stale = False
        self._kept_factors = self._woodbury = None
        if self._low_rank is not None:
            solved = self._factorization.solve(self._low_rank.factors)
            self._kept_factors = self._low_rank, solved
            self._prepare_woodbury(self._low_rank)
        self._solves, self._cost = 0, self._factorization.solves_per_factorization

    def _use_double(self) -> None:
        """Give up on single precision: this body is too ill-conditioned for it."""
        self._single = False
        self._start_factorization()

    def _precondition(self, x: Floats) -> Floats:
        y = self._factorization.solve(x.reshape(self._free.shape))
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
