"""Reduced models and what they are built from."""

from .modes import Modes, vibration_modes

__all__ = ["Modes", "vibration_modes"]
