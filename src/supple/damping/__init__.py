"""Damping models: one file each, all dissipation functions R(x, v)."""

from .base import BoundDamping, Damping
from .rayleigh import Rayleigh, StiffnessAt

DAMPINGS: tuple[type[Damping], ...] = (Rayleigh,)
"""Every damping model."""

__all__ = ["DAMPINGS", "BoundDamping", "Damping", "Rayleigh", "StiffnessAt"]
