"""Solvers of a stage (Newton) and of linear systems."""

from .choice import AutomaticSolver
from .cholesky import Cholesky
from .conjugate_gradients import ConjugateGradients, KeptCholesky
from .interface import LinearSolver
from .newton import Newton

__all__ = [
    "AutomaticSolver",
    "Cholesky",
    "ConjugateGradients",
    "KeptCholesky",
    "LinearSolver",
    "Newton",
]
