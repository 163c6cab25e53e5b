"""Iterative solution by preconditioned conjugate gradients, whole or cut short."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, bicgstab, cg

from supple._kernels.linear_algebra import blocks
from supple.core.blas import SERIAL_BLAS
from supple.core.parameters import parameter
from supple.core.sparse import BlockPattern, LowRank
from supple.core.types import Bools, Floats
from supple.solvers.interface import BoundSolver, Frames, LinearSolver, NotPositiveDefinite
from supple.solvers.linear import LINEAR_SOLVERS

_TIGHTEST = 1e-12  # relative residual that double precision reaches on any sane matrix
_MOST = 10  # iterations
_CLOSE = 0.1  # relative residual, below which the next step of Newton's method gains more
_WELL_SOLVED = 1e-3  # relative residual that the stand-in may leave: nearly the same each time


@LINEAR_SOLVERS.register
@dataclass(frozen=True)
class ConjugateGradients(LinearSolver):
    """Conjugate gradients with the inverse of the diagonal blocks as preconditioner.

    Needs little memory; the choice for large bodies in motion.
    """

    max_iterations: int = parameter(2000, "for one solve")

    def bind(self, pattern: BlockPattern, free: Bools) -> BoundSolver:
        return BlockJacobi(pattern, free, self.max_iterations)


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

    def _iterate(
        self, rhs: Floats, tolerance: float, limit: int, first: Floats | None = None
    ) -> tuple[Floats, bool]:
        """The solution so far, from ``first`` or 0 on, and whether it is good enough."""
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
        with SERIAL_BLAS:  # threads would take longer to begin than products of two fields take
            x, failed = (cg if symmetric else bicgstab)(
                operator, b, x0=None if first is None else first.reshape(-1),
                rtol=max(tolerance, _TIGHTEST), atol=0.0, maxiter=limit, M=inverse, callback=count,
            )  # fmt: skip
        if not np.isfinite(x).all():
            raise NotPositiveDefinite("conjugate gradients broke down")
        return x.reshape(rhs.shape), failed == 0


class BlockJacobi(Iterative):
    """Conjugate gradients with the inverse of the diagonal blocks as preconditioner."""

    def __init__(self, pattern: BlockPattern, free: Bools, limit: int) -> None:
        super().__init__(pattern, free)
        self._limit = limit

    def take(
        self, values: Floats, low_rank: LowRank | None = None, frames: Frames | None = None
    ) -> None:
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
        return self.try_solve(rhs, tolerance)[0]

    def try_solve(self, rhs: Floats, tolerance: float) -> tuple[Floats, bool]:
        """The solution after so many iterations, and whether it is good enough."""
        return self._iterate(rhs, tolerance, self._limit)


def truncated_cg(
    pattern: BlockPattern,
    free: Bools,
    values: Floats,
    definite_solver: BoundSolver,
    rhs: Floats,
    first: Floats,
    tolerance: float,
) -> Floats:
    """x with A x ≈ rhs (n, b) for the blocks of A, as far as curvature along the way is positive.

    A body that buckles has directions of negative curvature, but the force rarely points along
    them alone. In the space that the force spans the matrix may be definite, and then Newton's step
    is found all the same; where it is not, iterations stop.
    ``definite_solver`` solves with a definite matrix near A; ``first`` is its answer to ``rhs``,
    and is returned where curvature is negative from the start.
    """
    found, asked = first, False

    def multiply(x: Floats) -> Floats:
        field = np.ascontiguousarray(x).reshape(free.shape)
        product = np.where(free, pattern.multiply(values, field), 0.0)
        if not float(np.vdot(field, product)) > 0.0:  # x is a search direction
            raise NotPositiveDefinite("the end of the way")
        return product.reshape(-1)

    def precondition(x: Floats) -> Floats:
        nonlocal asked
        if not asked:
            asked = True
            return first.reshape(-1)
        return definite_solver.solve(x.reshape(free.shape), _WELL_SOLVED).reshape(-1)

    def keep(x: Floats) -> None:
        nonlocal found
        found = x.reshape(free.shape).copy()

    size = (free.size, free.size)
    with suppress(NotPositiveDefinite):  # what was found up to there is the answer
        cg(
            LinearOperator(size, matvec=multiply, dtype=float),
            np.where(free, rhs, 0.0).reshape(-1),
            rtol=max(tolerance, _CLOSE),
            atol=0.0,
            maxiter=_MOST,
            M=LinearOperator(size, matvec=precondition, dtype=float),
            callback=keep,
        )
    return found
