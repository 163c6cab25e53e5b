"""Rigs as a JSON-ready header and named arrays, for the project's own files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.character.character import Character
from supple.character.clip import Between, Channel, Clip, Track
from supple.character.rig import Rig, RigPose
from supple.character.rigs.base import PoseRig
from supple.character.rigs.skeleton import Blend, SkeletonRig
from supple.character.skin import Skin
from supple.errors import InputError

_LIES = tuple(field.name for field in fields(RigPose))
_SKIN = tuple(field.name for field in fields(Skin))


def describe_rig(rig: PoseRig) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What ``rig_of`` makes the same rig of, or what tells whether a rig is the same."""
    header: dict[str, Any] = {"kind": type(rig).__name__}
    arrays: dict[str, NDArray[Any]] = {
        "neutral": rig.neutral,
        "surface": rig.vertices(rig.neutral),
    }
    if type(rig) is not SkeletonRig:
        return header, arrays
    character = rig.character
    header |= {"blend": rig.blend.name, "joints": list(character.rig.names), "clips": []}
    arrays["parents"] = character.rig.parents
    arrays |= {f"rest {name}": getattr(character.rig.rest, name) for name in _LIES}
    arrays |= {f"skin {name}": getattr(character.skin, name) for name in _SKIN}
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


def rig_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> PoseRig:
    """The rig that was described; InputError where the file cannot hold it."""
    if header["kind"] != SkeletonRig.__name__:
        raise InputError(
            f"it was made with a {header['kind']}, which a file does not hold; give the same rig "
            "again: load_pose_space_model(path, rig=...)"
        )
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
                    Between[track["between"]],
                )
                for j, track in enumerate(clip["tracks"])
            ],
        )
        for k, clip in enumerate(header["clips"])
    }
    return SkeletonRig(Character(rig, skin, clips), Blend[header["blend"]])
