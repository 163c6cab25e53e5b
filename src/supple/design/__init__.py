"""Designing damping: by wish, by unloading tests, and from measured motion."""

from supple.design.bending import bent_example
from supple.design.deformations import shape_between, shape_of_frame, shape_within
from supple.design.inverse import design_damping
from supple.design.linear import best_linear_damping
from supple.design.matching.caveats import MatchingWarning
from supple.design.matching.observations import StaticObservation
from supple.design.matching.rest import RestShape, rest_shape
from supple.design.matching.stiffness import MaterialFit, fit_material, fit_stiffness
from supple.design.matching.unknowns import Unknown
from supple.design.redesign import redesign
from supple.design.report import DesignInterrupted, DesignReport, Fit, TargetResult
from supple.design.ringdown.extrema import RingDownWarning
from supple.design.ringdown.fit import RingDownFit, fit_ring_down
from supple.design.ringdown.recovery_fit import RecoveryFit, fit_damping, fit_recovery
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
    "EachCycle",
    "Envelope",
    "Experiment",
    "Fit",
    "HalfLife",
    "MatchingWarning",
    "MaterialFit",
    "RecoveryFit",
    "RestShape",
    "RingDown",
    "RingDownFit",
    "RingDownMatch",
    "RingDownWarning",
    "SettlingTime",
    "ShareLeft",
    "StaticObservation",
    "TargetResult",
    "Unknown",
    "Unloading",
    "UnloadingTest",
    "Wish",
    "bent_example",
    "best_linear_damping",
    "compare_ring_downs",
    "design_damping",
    "fit_damping",
    "fit_material",
    "fit_recovery",
    "fit_ring_down",
    "fit_stiffness",
    "redesign",
    "rest_shape",
    "shape_between",
    "shape_of_frame",
    "shape_within",
    "wish",
]
