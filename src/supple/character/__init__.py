"""Rigged characters: joints, skins and clips, as colliders."""

from ..later import names_later

__getattr__, __dir__, __all__ = names_later(
    __name__,
    {
        "character": "Character Dressing",
        "clip": "Between Channel Clip Track",
        "gltf": "read_character",
        "rig": "Rig RigPose",
        "skin": "Skin",
    },
)
