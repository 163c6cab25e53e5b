"""Solvers of a stage (Newton) and of linear systems."""

from .admm import ADMM
from .choice import AutomaticSolver
from .cholesky import Cholesky
from .conjugate_gradients import ConjugateGradients
from .interface import LinearSolver
from .kept_cholesky import KeptCholesky
from .multigrid import Multigrid
from .newton import Newton
from .splitting import Dissipation

__all__ = [
    "ADMM",
    "AutomaticSolver",
    "Cholesky",
    "ConjugateGradients",
    "Dissipation",
    "KeptCholesky",
    "LinearSolver",
    "Multigrid",
    "Newton",
]
