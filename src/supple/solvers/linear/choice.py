"""The solver that a plain install uses."""

from __future__ import annotations

from dataclasses import dataclass

from supple.core.parameters import parameter
from supple.core.sparse import BlockPattern
from supple.core.types import Bools
from supple.solvers.interface import BoundSolver, LinearSolver
from supple.solvers.linear import LINEAR_SOLVERS, pardiso
from supple.solvers.linear.conjugate_gradients import ConjugateGradients
from supple.solvers.linear.iterative_or_direct import IterativeOrDirect
from supple.solvers.linear.lagged_cholesky import LaggedCholesky
from supple.solvers.linear.multigrid import Multigrid

_COARSEST_WITHOUT_MKL = 1000  # nodes that are soon factorized
_MANY_PASSING = 0.2  # share of the blocks that come and go from which on iterations get a try,
_SOON_FACTORIZED = 500  # unless there are so few nodes


@LINEAR_SOLVERS.register
@dataclass(frozen=True)
class AutomaticSolver(LinearSolver):
    """A lagged Cholesky factorization where MKL is installed, conjugate gradients elsewhere.

    Where much of a matrix is there for pairs that come and go, conjugate gradients have the first
    word. Beyond ``direct_limit`` vertices a factor takes too much memory, and ``Multigrid`` takes
    over on any machine. For woven cloth it is as fast as a factor from ``multigrid_from`` crossings
    on.
    """

    direct_limit: int = parameter(150_000, "vertices beyond which a factor takes too much memory")
    multigrid_from: int = parameter(
        50_000, "crossings of woven cloth from which on it is Multigrid"
    )

    def bind(self, pattern: BlockPattern, free: Bools) -> BoundSolver:
        n = pattern.n_nodes
        fast = pardiso.library() is not None
        large = n > self.direct_limit
        chosen: LinearSolver
        if large or (pattern.coarsening is not None and (n >= self.multigrid_from or not fast)):
            chosen = Multigrid() if fast else Multigrid(coarsest=_COARSEST_WITHOUT_MKL)
        else:
            chosen = LaggedCholesky() if fast else ConjugateGradients()
        crowded = pattern.passing >= _MANY_PASSING * pattern.n_blocks
        iterates = isinstance(chosen, ConjugateGradients) or pattern.coarsening is not None
        if crowded and not iterates and n > _SOON_FACTORIZED:
            return IterativeOrDirect(pattern, free, chosen.bind)
        return chosen.bind(pattern, free)
