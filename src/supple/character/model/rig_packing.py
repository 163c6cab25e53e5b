"""Rigs as a JSON-ready header and named arrays, for the project's own files."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.character.rigs.base import PoseRig
from supple.character.rigs.bend import BendRig
from supple.character.rigs.blend_shapes import BlendShapeRig, PoseSpaceDeformation
from supple.character.rigs.dragged import Drag, LatticeBasis, LatticeRig, WireRig
from supple.character.rigs.pairing import JointPairs
from supple.character.rigs.skeleton import Blend, SkeletonRig
from supple.character.skeleton.character import Character
from supple.character.skeleton.clip import Channel, Clip, Interpolation, Track
from supple.character.skeleton.rig import Rig, RigPose
from supple.character.skeleton.skin import Skin
from supple.core.errors import InputError
from supple.mesh.surface import Surface

Header = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]
Described = tuple[dict[str, Any], dict[str, Any]]
_DRAG = ("points", "shares", "slopes")
_LIES = tuple(field.name for field in fields(RigPose))
_SKIN = tuple(field.name for field in fields(Skin))
_PAIRS = tuple(field.name for field in fields(JointPairs))


def describe_rig(rig: PoseRig) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What ``rig_of`` makes the same rig of, or what tells whether a rig is the same."""
    header: dict[str, Any] = {"kind": type(rig).__name__, "held": is_serializable(rig)}
    arrays = {"neutral": rig.neutral, "surface": rig.vertices(rig.neutral)}
    if header["held"]:
        more, further = _KINDS[type(rig)].describe(rig)
        header |= more
        arrays |= {name: np.asarray(array) for name, array in further.items()}
    return header, arrays


def is_serializable(rig: PoseRig) -> bool:
    """Whether a file can hold this rig."""
    within = not isinstance(rig, PoseSpaceDeformation) or is_serializable(rig.rig)
    return type(rig) in _KINDS and within


def rig_of(header: Header, arrays: Arrays) -> PoseRig:
    """The rig that was described; InputError where the file cannot hold it."""
    kinds = {kind.__name__: packing for kind, packing in _KINDS.items()}
    held = header.get("held", header["kind"] == SkeletonRig.__name__)  # as in earlier versions
    if not held or header["kind"] not in kinds:
        raise InputError(
            f"it was made with a {header['kind']}, which the file does not hold; give the same rig "
            "again: load_pose_space_model(path, rig=...)"
        )
    return kinds[header["kind"]].restore(header, arrays)


def within(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    """Those whose names begin so, without that."""
    return {k.removeprefix(prefix): array for k, array in arrays.items() if k.startswith(prefix)}


# -- rigs that shape a surface at rest -------------------------------------------------------


def _describe_shaper(rig: Any) -> Described:
    plain, kept = _SHAPERS[type(rig)]
    header: dict[str, Any] = {name: float(getattr(rig, name)) for name in plain}
    arrays = {f"rest {name}": getattr(rig.rest, name) for name in ("vertices", "triangles")}
    if isinstance(rig, LatticeRig):
        header = {"counts": list(rig.counts), "basis": rig.basis.name}
    if isinstance(rig, LatticeRig | WireRig):
        arrays |= {f"drag {name}": getattr(rig.dragged, name) for name in _DRAG}
    return header, arrays | {name: getattr(rig, name) for name in kept}


def _shaper_of(kind: type[Any], header: Header, arrays: Arrays) -> Any:
    plain, kept = _SHAPERS[kind]
    rest = Surface(*(np.array(arrays[f"rest {name}"]) for name in ("vertices", "triangles")))
    values: dict[str, Any] = {name: header[name] for name in plain}
    values |= {name: np.array(arrays[name], dtype=float) for name in kept}
    if kind is LatticeRig:
        counts = tuple(int(count) for count in header["counts"])
        drag = _drag_of(arrays, rest, math.prod(counts))
        values |= {"counts": counts, "basis": LatticeBasis[header["basis"]], "drag": drag}
    elif kind is WireRig:
        values["drag"] = _drag_of(arrays, rest, len(values["points"]))
    return kind(rest, **values)


def _drag_of(arrays: Arrays, rest: Surface, count: int) -> Drag:
    points = np.array(arrays["drag points"], dtype=np.int64)
    shares, slopes = (np.array(arrays[f"drag {name}"], dtype=float) for name in _DRAG[1:])
    n, k = rest.n_vertices, (*points.shape, 0, 0)[1]
    shapes = (points.shape, shares.shape, slopes.shape[1:])
    if shapes != ((n, k), (n, k), (n, k)) or not 0 <= points.min() <= points.max() < count:
        raise InputError("its control points do not fit its surface")
    return Drag(points, shares, slopes)


# -- corrections -----------------------------------------------------------------------------


def _describe_corrected(rig: PoseSpaceDeformation) -> Described:
    header, arrays = describe_rig(rig.rig)
    inner = {f"within {name}": array for name, array in arrays.items()}
    return {"within": header}, {**inner, "poses": rig.poses, "corrections": rig.corrections}


def _corrected_of(header: Header, arrays: Arrays) -> PoseSpaceDeformation:
    inner = within(arrays, "within ")
    poses, corrections = (np.array(arrays[name], dtype=float) for name in ("poses", "corrections"))
    return PoseSpaceDeformation(rig_of(header["within"], inner), poses, corrections)


# -- skinned characters ----------------------------------------------------------------------


def _describe_skeleton(rig: SkeletonRig) -> Described:
    character, clips = rig.character, []
    arrays: dict[str, Any] = {"parents": character.rig.parents}
    arrays |= {f"rest {name}": getattr(character.rig.rest, name) for name in _LIES}
    arrays |= {f"skin {name}": getattr(character.skin, name) for name in _SKIN}
    arrays |= {f"pairs {name}": np.asarray(getattr(rig.pairs, name)) for name in _PAIRS}
    for k, (name, clip) in enumerate(character.clips.items()):
        tracks = [
            {"joint": track.joint, "channel": track.channel.name, "between": track.between.name}
            for track in clip.tracks
        ]
        clips.append({"key": name, "name": clip.name, "tracks": tracks})
        for j, track in enumerate(clip.tracks):
            arrays |= {f"clip {k} {j} times": track.times, f"clip {k} {j} values": track.values}
    joints = list(character.rig.names)
    return {"blend": rig.blend.name, "joints": joints, "clips": clips}, arrays


def _skeleton_of(header: Header, arrays: Arrays) -> SkeletonRig:
    """The rig that was described; InputError where its parts do not fit together."""
    rest = RigPose(*(np.array(arrays[f"rest {name}"], dtype=float) for name in _LIES))
    rig = Rig(tuple(str(name) for name in header["joints"]), arrays["parents"], rest)
    skin = Skin(**{name: np.array(arrays[f"skin {name}"]) for name in _SKIN})
    if skin.joints.min() < 0 or skin.joints.max() >= rig.n_joints:
        raise InputError("its skin follows joints that its rig does not have")
    clips = {}
    for k, clip in enumerate(header["clips"]):
        tracks = []
        for j, track in enumerate(clip["tracks"]):
            keys = arrays[f"clip {k} {j} times"], arrays[f"clip {k} {j} values"]
            channel, between = Channel[track["channel"]], Interpolation[track["between"]]
            tracks.append(Track(int(track["joint"]), channel, *keys, between))
        clips[str(clip["key"])] = Clip(str(clip["name"]), tracks)
    pairs = _pairs(arrays, rig.n_joints) if "pairs joints" in arrays else None
    return SkeletonRig(Character(rig, skin, clips), Blend[header["blend"]], pairs)


def _pairs(arrays: Arrays, n_joints: int) -> JointPairs:
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


class _Packing(NamedTuple):
    describe: Callable[[Any], Described]
    restore: Callable[[Header, Arrays], PoseRig]


_SHAPERS: dict[type[Any], tuple[tuple[str, ...], tuple[str, ...]]] = {
    BendRig: ((), ("along", "about", "origin", "bounds")),
    WireRig: (("radius",), ("points",)),
    LatticeRig: ((), ("low", "high")),
    BlendShapeRig: (("reach",), ("offsets",)),
}
"""What of these is a number, and what an array."""
_KINDS: dict[type[Any], _Packing] = {
    SkeletonRig: _Packing(_describe_skeleton, _skeleton_of),
    PoseSpaceDeformation: _Packing(_describe_corrected, _corrected_of),
    **{kind: _Packing(_describe_shaper, partial(_shaper_of, kind)) for kind in _SHAPERS},
}
