"""Rigged characters: joints, skins and clips, as colliders."""

from supple.core.lazy import names_later

__getattr__, __dir__, __all__ = names_later(
    __name__,
    {
        "skeleton.character": "Character Dressing",
        "skeleton.clip": "Between Channel Clip Track",
        "skeleton.rig": "Rig RigPose",
        "skeleton.skin": "Skin",
    },
)
