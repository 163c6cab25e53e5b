"""Damping models: one file each, all dissipation functions R(x, v)."""

from .base import BoundDamping, Damping
from .rayleigh import Rayleigh, StiffnessAt

__all__ = ["BoundDamping", "Damping", "Rayleigh", "StiffnessAt"]
