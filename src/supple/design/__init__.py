"""Designing damping: by wish, by unloading tests, and from measured motion."""

from .inverse import design_damping
from .linear import best_linear_damping
from .report import DesignReport, Fit, TargetResult
from .targets import DampingRatio, HalfLife, ShareLeft, Unloading, Wish, wish
from .unloading import UnloadingTest

__all__ = [
    "DampingRatio",
    "DesignReport",
    "Fit",
    "HalfLife",
    "ShareLeft",
    "TargetResult",
    "Unloading",
    "UnloadingTest",
    "Wish",
    "best_linear_damping",
    "design_damping",
    "wish",
]
