"""Designing damping: by wish, by unloading tests, and from measured motion."""

from supple.design.conflicts import DesignWarning
from supple.design.deformations import shape_between, shape_of_frame, shape_within
from supple.design.inverse import design_damping
from supple.design.linear import best_linear_damping
from supple.design.redesign import redesign
from supple.design.report import DesignInterrupted, DesignReport, Fit, TargetResult
from supple.design.ringdown.extrema import RingDownWarning
from supple.design.ringdown.fit import RingDownFit, fit_ring_down
from supple.design.ringdown.ringdown import RingDown, RingDownMatch, compare_ring_downs
from supple.design.ringdown.trial import Experiment
from supple.design.targets import Unloading
from supple.design.unloading import UnloadingTest
from supple.design.wishes import (
    DampingRatio,
    EachCycle,
    Envelope,
    HalfLife,
    SettlingTime,
    ShareLeft,
    Wish,
)
from supple.design.words import wish

__all__ = [
    "DampingRatio",
    "DesignInterrupted",
    "DesignReport",
    "DesignWarning",
    "EachCycle",
    "Envelope",
    "Experiment",
    "Fit",
    "HalfLife",
    "RingDown",
    "RingDownFit",
    "RingDownMatch",
    "RingDownWarning",
    "SettlingTime",
    "ShareLeft",
    "TargetResult",
    "Unloading",
    "UnloadingTest",
    "Wish",
    "best_linear_damping",
    "compare_ring_downs",
    "design_damping",
    "fit_ring_down",
    "redesign",
    "shape_between",
    "shape_of_frame",
    "shape_within",
    "wish",
]
