"""What is enriched: the file that is read, and which of its vertices, clips and frames."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from supple.character import Character
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.runtime.soft_motion import SoftMotion
from supple.character.skeleton.clip_frames import frame_times
from supple.core.errors import InputError, Message, Parameter
from supple.core.types import Bools, Floats
from supple.io.gltf.character import RiggedFile, read_rigged
from supple.io.gltf.soft import soft_target_count

_CENTIMETRES = 30.0  # [m]: a character with a longer side is taken to be in centimetres
_TINY = 0.05  # [m]: one whose longest side is shorter is taken to be in an unknown unit,
_LEAST = 0.5  # [m]: that power of ten with which its longest side has 0.5 m to 5 m
_STILL = 1e-6  # of the body: what moves by less does not


def read_to_enrich(
    source: str | os.PathLike[str] | RiggedFile, length: float | None
) -> tuple[RiggedFile, list[str]]:
    """The file, in metres, and what to say of it; one that was read is taken as it is."""
    rigged = source if isinstance(source, RiggedFile) else read_rigged(source)
    file = rigged.source.file
    if not rigged.character.clips:
        raise InputError(
            f"{file} has a skin but no clip that moves its joints; flesh follows motion, so "
            "export the character with an animation"
        )
    if soft_target_count(rigged.source):
        raise InputError(
            f"{file} has flesh already, from an earlier run; enrich the file that it was made of"
        )
    long = float(body_sides(rigged).max())
    if not long > 0:
        raise InputError(f"{file}: all vertices of the skin are at one place")
    if length is not None:
        return rigged.scaled(length / long), []
    # Smaller ones would be thrown about by gravity, by which flesh sags by centimetres.
    if long > _CENTIMETRES:
        scale, taken = 0.01, "centimetres"
    elif long < _TINY:
        scale = 10.0 ** math.ceil(math.log10(_LEAST / long))
        taken = f"{scale * long:.3g} m"
    else:
        return rigged, []
    note = Message(
        f"the character is {long:.3g} long, which is taken for {taken}; ",
        Parameter("length", ""),
        " sets it",
    )
    return rigged.scaled(scale), [note]


def body_vertices(rigged: RiggedFile) -> Bools:
    """Which vertices have a skin and lie where a triangle has a corner, (n,).

    Scenery has no skin, and strays have no triangle. Primitives may share vertices of which each
    uses some: those lie where others have corners.
    """
    skin = rigged.character.skin
    with_skin = np.concatenate([np.full(part.count, part.skinned) for part in rigged.parts])
    places = np.unique(skin.vertices + 0.0, axis=0, return_inverse=True)[1].ravel()
    return with_skin & np.isin(places, places[skin.triangles[with_skin[skin.triangles[:, 0]]]])


def body_sides(rigged: RiggedFile) -> Floats:
    """Sides of the box about the body at rest [m], (3,)."""
    x = rigged.character.surface().vertices[body_vertices(rigged)]
    return np.asarray(np.ptp(x, axis=0)) if len(x) else np.zeros(3)


def chosen_clips(character: Character, parameter: str, wanted: Sequence[str] | None) -> list[str]:
    """Clips by name, by pattern such as ``*Walk*`` or by part of a name; all unless given."""
    clips = list(character.clips)
    if wanted is None:
        return clips
    found: list[str] = []
    for name in wanted:
        fits = [name] if name in clips else [clip for clip in clips if fnmatchcase(clip, name)]
        fits = fits or [clip for clip in clips if name and name.lower() in clip.lower()]
        if not fits:
            there = f"there is no clip {name!r}; there is {', '.join(clips)}"
            raise InputError(there, parameter=parameter)
        found += fits
    return list(dict.fromkeys(found))


def only(character: Character, kept: Bools, clips: Sequence[str]) -> Character:
    """The character of the vertices that are kept, with some of its clips."""
    skin = character.skin
    number_ = np.cumsum(kept) - 1
    mine = kept[skin.triangles].all(axis=1)
    skin = replace(
        skin,
        vertices=skin.vertices[kept],
        triangles=number_[skin.triangles[mine]],
        bones=skin.bones[kept],
        weights=skin.weights[kept],
        targets=None if skin.targets is None else skin.targets[:, kept],
    )
    return replace(character, skin=skin, clips={name: character.clips[name] for name in clips})


def is_still(rig: SkeletonRig, name: str) -> bool:
    """Whether a clip leaves the skin where it is at rest all the time."""
    clip, x = rig.character.clip(name), rig.vertices(rig.neutral)
    poses = rig.pose_of(clip.poses(rig.character.rig, frame_times(clip)))
    near = _STILL * float(np.ptp(x, axis=0).max())
    return all(np.abs(rig.vertices(pose) - x).max() <= near for pose in poses)


def spread(motion: SoftMotion, kept: Bools) -> SoftMotion:
    """The motion of the vertices that are kept as one of all."""
    if kept.all():
        return motion
    wide = np.zeros((len(motion.times), len(kept), 3))
    wide[:, kept] = motion.displacements
    return replace(motion, displacements=wide)


def unmoved(character: Character, name: str, rate: float | None) -> SoftMotion:
    """A clip without flesh that moves."""
    times = frame_times(character.clip(name), rate)
    return SoftMotion(name, times, np.zeros((len(times), len(character.skin.vertices), 3)))
