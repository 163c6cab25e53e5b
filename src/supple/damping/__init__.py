"""Damping models: one file each, all dissipation functions R(x, v)."""

from .base import BoundDamping, BoundViscousDamping, Damping
from .curve import Curve, Joining
from .example import Example, ExampleDamping, Measure
from .rayleigh import Rayleigh, StiffnessAt

DAMPINGS: tuple[type[Damping], ...] = (Rayleigh, ExampleDamping)
"""Every damping model."""

__all__ = [
    "DAMPINGS",
    "BoundDamping",
    "BoundViscousDamping",
    "Curve",
    "Damping",
    "Example",
    "ExampleDamping",
    "Joining",
    "Measure",
    "Rayleigh",
    "StiffnessAt",
]
