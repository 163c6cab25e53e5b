"""Rigs: whatever gives vertices for a pose."""

from .base import BlackBoxRig, PoseRig
from .bend import BendRig
from .blend_shapes import BlendShapeRig
from .dragged import LatticeBasis, LatticeRig, WireRig
from .pose_space_deformation import PoseSpaceDeformation
from .skeleton import Blend, SkeletonRig

__all__ = [
    "BendRig",
    "BlackBoxRig",
    "Blend",
    "BlendShapeRig",
    "LatticeBasis",
    "LatticeRig",
    "PoseRig",
    "PoseSpaceDeformation",
    "SkeletonRig",
    "WireRig",
]
