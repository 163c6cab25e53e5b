"""Newton's direction where the matrix is not definite: conjugate gradients, cut short.

A body that buckles has directions of negative curvature, but the force rarely points along them
alone. Conjugate gradients work in the space that the force spans. There the matrix may be definite,
and then they find Newton's step all the same; where it is not, they stop.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from supple.core.sparse import BlockPattern
from supple.core.types import Bools, Floats
from supple.solvers.interface import BoundSolver, NotPositiveDefinite

_MOST = 10  # iterations
_CLOSE = 0.1  # relative residual, below which the next step of Newton's method gains more
_WELL_SOLVED = 1e-3  # relative residual that the stand-in may leave: nearly the same each time


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
