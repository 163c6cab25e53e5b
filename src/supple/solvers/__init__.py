"""Solvers of a stage (Newton) and of linear systems."""

from supple.solvers.admm import ADMM
from supple.solvers.interface import LinearSolver
from supple.solvers.linear.choice import AutomaticSolver
from supple.solvers.linear.cholesky import Cholesky
from supple.solvers.linear.conjugate_gradients import ConjugateGradients
from supple.solvers.linear.lagged_cholesky import LaggedCholesky
from supple.solvers.linear.multigrid import Multigrid
from supple.solvers.newton import Newton
from supple.solvers.splitting import Dissipation

__all__ = [
    "ADMM",
    "AutomaticSolver",
    "Cholesky",
    "ConjugateGradients",
    "Dissipation",
    "LaggedCholesky",
    "LinearSolver",
    "Multigrid",
    "Newton",
]
