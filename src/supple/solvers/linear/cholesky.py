"""Direct solution by sparse Cholesky factorization.

PARDISO analyses the pattern once and factorizes often; SuperLU does both each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from supple._kernels.linear_algebra import blocks
from supple.core.sparse import BlockPattern, LowRank
from supple.core.types import Bools, Floats, Ints
from supple.solvers.interface import BoundSolver, Frames, LinearSolver, NotPositiveDefinite
from supple.solvers.linear import LINEAR_SOLVERS, pardiso


@LINEAR_SOLVERS.register
@dataclass(frozen=True)
class Cholesky(LinearSolver):
    """Factorize every matrix: MKL PARDISO where it is installed, SciPy's SuperLU elsewhere."""

    def bind(self, pattern: BlockPattern, free: Bools) -> BoundSolver:
        return _BoundCholesky(Factorization(pattern, free))


class _BoundCholesky(BoundSolver):
    def __init__(self, factorization: Factorization) -> None:
        self._factorization = factorization
        self._low_rank: LowRank | None = None

    def take(
        self, values: Floats, low_rank: LowRank | None = None, frames: Frames | None = None
    ) -> None:
        self.factorizations += 1
        self._factorization.factorize(values)
        self._low_rank = low_rank

    def solve(self, rhs: Floats, tolerance: float = 0.0) -> Floats:
        if self._low_rank is None:
            return self._factorization.solve(rhs)
        # all k + 1 right-hand sides at once
        x, *solved = self._factorization.solve(np.stack([rhs, *self._low_rank.factors]))
        return Woodbury(self._low_rank, np.array(solved)).correct(x)


class Woodbury:
    """(A + w F W Fᵀ)⁻¹ from A⁻¹ (example damping, Eq. 26).

    ``solved`` are A⁻¹ F, one row a factor: (k, n, b).
    """

    def __init__(self, low_rank: LowRank, solved: Floats) -> None:
        k = len(solved)
        self._solved = solved.reshape(k, -1)
        self._factors = low_rank.factors.reshape(k, -1)
        wW = low_rank.weight * low_rank.coupling
        # (W⁻¹ + Fᵀ A⁻¹ F)⁻¹ without W⁻¹: W is singular where an example is left as it is
        matrix = np.eye(k) + wW @ (self._factors @ self._solved.T)
        self._small: Floats = np.asarray(np.linalg.solve(matrix, wW), dtype=float)

    def correct(self, x: Floats) -> Floats:
        """(A + w F W Fᵀ)⁻¹ b from x = A⁻¹ b (n, b)."""
        share = self._small @ (self._factors @ x.ravel())
        return x - (share @ self._solved).reshape(x.shape)


class Factorization:
    """Cholesky factors of block matrices on one pattern, restricted to free components."""

    def __init__(
        self,
        pattern: BlockPattern,
        free: Bools,
        *,
        single: bool = False,
        threads: int | None = None,
    ) -> None:
        self._index = np.flatnonzero(free)
        # The free components are numbered in order, the others −1.
        number = np.where(free, (np.cumsum(free.ravel()) - 1).reshape(free.shape), -1)
        indptr, columns, self._sources = blocks.scalar_upper_pattern(
            pattern.indptr, pattern.cols, free, number
        )
        self._upper = np.empty(len(self._sources))
        self._lent = False  # whether somebody keeps that array
        self._backend: _PardisoBackend | _SuperLU | _Nothing
        if not len(self._index):
            self._backend = _Nothing()
        elif pardiso.library() is None:
            self._backend = _SuperLU(indptr, columns)
        else:
            # An order of the nodes that fills in little, whose graph is a ninth of the matrix's.
            ordered = number[pardiso.Pardiso(pattern.indptr, pattern.cols).order].ravel()
            order = ordered[ordered >= 0]
            self._backend = _PardisoBackend(
                indptr, columns, order=order, single=single, threads=threads
            )

    def factorize(self, values: Floats) -> None:
        if self._lent:
            self._upper, self._lent = np.empty_like(self._upper), False
        blocks.gather(values.reshape(-1), self._sources, self._upper)
        self._backend.factorize(self._upper)

    def lend(self) -> Floats:
        """The numbers that were last factorized, which stay as they are."""
        self._lent = True
        return self._upper

    def factorize_again(self, lent: Floats) -> None:
        """Factorize numbers that ``lend`` gave, unless it is they that were last factorized."""
        if lent is not self._upper:
            self._upper, self._lent = lent, True
            self._backend.factorize(lent)

    def solve(self, rhs: Floats) -> Floats:
        """x (n, b), or (k, n, b) for as many right-hand sides."""
        flat = rhs.reshape(*rhs.shape[:-2], -1)
        x = np.zeros_like(flat)
        x[..., self._index] = self._backend.solve(flat.take(self._index, axis=-1).T).T
        return x.reshape(rhs.shape)

    @property
    def solves_per_factorization(self) -> float:
        """How many solves cost as much as one factorization, about."""
        return self._backend.solves_per_factorization


class MatrixFactorization:
    """Cholesky factors of one symmetric positive definite SciPy matrix."""

    def __init__(self, matrix: sparse.csr_array) -> None:
        upper = sparse.csr_array(sparse.triu(matrix, format="csr"))
        upper.sort_indices()
        indptr, columns = (a.astype(np.int64) for a in (upper.indptr, upper.indices))
        missing = pardiso.library() is None
        self._backend: _PardisoBackend | _SuperLU
        self._backend = (_SuperLU if missing else _PardisoBackend)(indptr, columns)
        self._backend.factorize(upper.data)

    def solve(self, rhs: Floats) -> Floats:
        """x (n,) or (n, k)."""
        return self._backend.solve(rhs)


class _PardisoBackend(pardiso.Pardiso):
    # A factorization runs at the speed of dense algebra, a solve at that of memory: per core of a
    # current server about 25 Gflop/s against 2.5 Gflop/s.
    _SPEED_RATIO = 10.0

    @property
    def solves_per_factorization(self) -> float:
        solve = 4.0 * self.factor_nonzeros
        return max(2.0, self.factor_operations / self._SPEED_RATIO / solve)


class _Nothing:
    """The factorization of a matrix without rows: every component is held."""

    solves_per_factorization = 1.0

    def factorize(self, values: Floats) -> None:
        """Nothing to do."""

    def solve(self, rhs: Floats) -> Floats:
        return rhs


class _SuperLU:
    """SciPy's LU without pivoting, which for a positive definite matrix is its Cholesky twin."""

    solves_per_factorization = 50.0

    def __init__(self, indptr: Ints, columns: Ints) -> None:
        self._upper = sparse.csr_array(
            (np.zeros(len(columns)), columns, indptr), shape=(len(indptr) - 1, len(indptr) - 1)
        )

    def factorize(self, values: Floats) -> None:
        self._upper.data = values
        full = self._upper + sparse.triu(self._upper, 1).T
        try:
            self._lu = splu(
                full.tocsc(),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError as error:  # "Factor is exactly singular"
            raise NotPositiveDefinite(str(error)) from error
        if not (self._lu.U.diagonal() > 0).all():
            raise NotPositiveDefinite("SuperLU met a pivot that is not positive")

    def solve(self, rhs: Floats) -> Floats:
        x: Floats = self._lu.solve(rhs)
        return x
