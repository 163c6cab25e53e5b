"""Rigged characters: joints, skins and clips, as colliders."""

from supple.core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "skeleton.character": "Character Dressing",
        "skeleton.clip": "Interpolation Channel Clip Track",
        "skeleton.rig": "Rig RigPose",
        "skeleton.skin": "Skin",
    },
    renamed={"Between": "Interpolation"},
)
