"""Designing damping: by wish, by unloading tests, and from measured motion."""

from .inverse import design_damping
from .linear import best_linear_damping
from .report import DesignReport, Fit, TargetResult
from .ringdown import RingDown, RingDownMatch, compare_ring_downs
from .ringdown_fit import RingDownFit, fit_ring_down
from .ringdown_trial import Experiment
from .ringdown_turns import RingDownWarning
from .targets import DampingRatio, HalfLife, ShareLeft, Unloading, Wish, wish
from .unloading import UnloadingTest

__all__ = [
    "DampingRatio",
    "DesignReport",
    "Experiment",
    "Fit",
    "HalfLife",
    "RingDown",
    "RingDownFit",
    "RingDownMatch",
    "RingDownWarning",
    "ShareLeft",
    "TargetResult",
    "Unloading",
    "UnloadingTest",
    "Wish",
    "best_linear_damping",
    "compare_ring_downs",
    "design_damping",
    "fit_ring_down",
    "wish",
]
