"""Rigged characters: joints, skins and clips, as colliders."""

from .character import Character, Dressing
from .clip import Between, Channel, Clip, Track
from .gltf import read_character
from .rig import Rig, RigPose
from .skin import Skin

__all__ = [
    "Between",
    "Channel",
    "Character",
    "Clip",
    "Dressing",
    "Rig",
    "RigPose",
    "Skin",
    "Track",
    "read_character",
]
