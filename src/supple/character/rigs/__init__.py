"""Rigs: whatever gives vertices for a pose."""

from .base import BlackBoxRig, PoseRig
from .skeleton import Blend, SkeletonRig

__all__ = ["BlackBoxRig", "Blend", "PoseRig", "SkeletonRig"]
