"""Skinned characters as a JSON-ready header and named arrays, for the project's own files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.character.rigs.joint_pairs import JointPairs
from supple.character.rigs.skeleton import Blend, SkeletonRig
from supple.character.skeleton.character import Character
from supple.character.skeleton.clip import Channel, Clip, Interpolation, Track
from supple.character.skeleton.rig import Rig, RigPose
from supple.character.skeleton.skin import Skin
from supple.core.errors import InputError

_LIES = tuple(field.name for field in fields(RigPose))
_SKIN = tuple(field.name for field in fields(Skin))
_PAIRS = tuple(field.name for field in fields(JointPairs))


def describe_skeleton(rig: SkeletonRig) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What ``skeleton_of`` makes the same rig of."""
    character = rig.character
    header: dict[str, Any] = {
        "blend": rig.blend.name,
        "joints": list(character.rig.names),
        "clips": [],
    }
    arrays: dict[str, NDArray[Any]] = {"parents": character.rig.parents}
    arrays |= {f"rest {name}": getattr(character.rig.rest, name) for name in _LIES}
    arrays |= {f"skin {name}": getattr(character.skin, name) for name in _SKIN}
    arrays |= {f"pairs {name}": np.asarray(getattr(rig.pairs, name)) for name in _PAIRS}
    for k, (name, clip) in enumerate(character.clips.items()):
        tracks = [
            {"joint": track.joint, "channel": track.channel.name, "between": track.between.name}
            for track in clip.tracks
        ]
        header["clips"].append({"key": name, "name": clip.name, "tracks": tracks})
        for j, track in enumerate(clip.tracks):
            arrays[f"clip {k} {j} times"] = track.times
            arrays[f"clip {k} {j} values"] = track.values
    return header, arrays


def skeleton_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> SkeletonRig:
    """The rig that was described; InputError where its parts do not fit together."""
    rest = RigPose(*(np.array(arrays[f"rest {name}"], dtype=float) for name in _LIES))
    rig = Rig(tuple(str(name) for name in header["joints"]), arrays["parents"], rest)
    skin = Skin(**{name: np.array(arrays[f"skin {name}"]) for name in _SKIN})
    if skin.joints.min() < 0 or skin.joints.max() >= rig.n_joints:
        raise InputError("its skin follows joints that its rig does not have")
    clips = {
        str(clip["key"]): Clip(
            str(clip["name"]),
            [
                Track(
                    int(track["joint"]),
                    Channel[track["channel"]],
                    arrays[f"clip {k} {j} times"],
                    arrays[f"clip {k} {j} values"],
                    Interpolation[track["between"]],
                )
                for j, track in enumerate(clip["tracks"])
            ],
        )
        for k, clip in enumerate(header["clips"])
    }
    pairs = _pairs(arrays, rig.n_joints) if "pairs joints" in arrays else None
    return SkeletonRig(Character(rig, skin, clips), Blend[header["blend"]], pairs)


def _pairs(arrays: Mapping[str, NDArray[Any]], n_joints: int) -> JointPairs:
    """Files of earlier versions do not have them."""
    joints = np.array(arrays["pairs joints"], dtype=np.int64)
    places = np.array(arrays["pairs places"], dtype=float)
    slide = np.array(arrays["pairs slide"], dtype=bool)
    length = np.array(arrays["pairs length"], dtype=float)
    count = len(joints)
    shapes = [joints.shape, places.shape, slide.shape, length.shape]
    if shapes != [(count, 2), (count, 2, 3), (count,), ()] or not length > 0:
        raise InputError("the pairs of joints that share flesh do not fit together")
    if count and not 0 <= joints.min() <= joints.max() < n_joints:
        raise InputError("flesh is shared by joints that its rig does not have")
    return JointPairs(joints, places, slide, float(length))
