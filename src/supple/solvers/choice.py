"""The solver that a plain install uses."""

from __future__ import annotations

from dataclasses import dataclass

from ..sparse import BlockPattern
from ..types import Bools
from . import pardiso
from .conjugate_gradients import ConjugateGradients, KeptCholesky
from .interface import BoundSolver, LinearSolver


@dataclass(frozen=True)
class AutomaticSolver(LinearSolver):
    """A kept Cholesky factor where MKL is installed, conjugate gradients elsewhere.

    Beyond ``direct_limit`` vertices a factor takes too much memory, and conjugate gradients take
    over on any machine.
    """

    direct_limit: int = 150_000

    def bind(self, pattern: BlockPattern, free: Bools) -> BoundSolver:
        direct = pardiso.library() is not None and pattern.n_nodes <= self.direct_limit
        chosen: LinearSolver = KeptCholesky() if direct else ConjugateGradients()
        return chosen.bind(pattern, free)
