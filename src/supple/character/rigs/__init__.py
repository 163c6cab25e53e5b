"""Rigs: whatever gives vertices for a pose."""

from supple.character.rigs.base import BlackBoxRig, PoseRig
from supple.character.rigs.bend import BendRig
from supple.character.rigs.blend_shapes import BlendShapeRig, PoseSpaceDeformation
from supple.character.rigs.dragged import LatticeBasis, LatticeRig, WireRig
from supple.character.rigs.skeleton import Blend, SkeletonRig

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
