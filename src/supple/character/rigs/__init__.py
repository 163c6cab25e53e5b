"""Rigs: whatever gives vertices for a pose."""

from .base import BlackBoxRig, PoseRig

__all__ = ["BlackBoxRig", "PoseRig"]
