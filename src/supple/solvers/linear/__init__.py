"""Solvers of linear systems: one file each."""

from supple.core.registry import Registry
from supple.solvers.interface import LinearSolver

LINEAR_SOLVERS: Registry[type[LinearSolver]] = Registry(
    "linear solver", "supple.linear_solvers", base=LinearSolver, key="name"
)
"""Every linear solver that a scene may name."""
