"""What a pose-space model is made of where it is not given: volume, bones, poses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.mass import LumpedMass
from supple.bodies.solid import Body
from supple.character.rigs.base import PoseRig, turned_back
from supple.character.rigs.blend_shapes import skeleton_within
from supple.character.skeleton.whole_skeleton import held_by_skeleton
from supple.character.tissue.regions import Regions, local_regions, regions_from_skeleton
from supple.character.tissue.tet_rig import TetRig
from supple.character.tissue.volume import Volume, character_volume
from supple.character.training.cached_parts import cached_volume
from supple.character.training.pose_choice import candidates_of, choose_poses
from supple.core.checkpoint import Checkpoint
from supple.core.checks import instance, numbers, vertex_indices, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.materials import Material
from supple.mesh import Embedding, TetMesh

_SAME = 1e-6  # of the features: a pose so close to the neutral one is that pose
_FRAME = 1 / 24  # [s]
_SAMPLES = 48  # of all clips together
_MOST = 24  # accelerations that stand for all
_GRAVITY = np.array([0.0, 0.0, -9.81])


def soft_volume(
    rig: PoseRig,
    given: Volume | TetMesh | None,
    fixed: ArrayLike | None,
    material: Material,
    parts: Checkpoint,
    progress: Progress | None,
) -> tuple[Body, Volume]:
    """The body in its neutral pose, held where it is fixed."""
    instance("material", material, Material, "StableNeoHookean(young=1e4, poisson=0.45)")
    if material.extra(np.arange(1)):
        raise InputError(
            f"a character keeps two constants a cell, Young's modulus and the Poisson ratio, but "
            f"this {type(material).__name__} has more; give another material, such as "
            "StableNeoHookean(young=1e4, poisson=0.45)"
        )
    if given is None:
        skeleton = skeleton_within(rig)
        if skeleton is None:
            raise InputError(
                f"a {type(rig).__name__} does not tell where its bones are; give "
                "volume=character_volume(rig).held(segments), or a tet mesh and fixed="
            )
        made = cached_volume(parts, rig, {}, lambda: character_volume(rig, progress=progress))
        volume = held_by_skeleton(made, skeleton.character, fixed=fixed)
    elif isinstance(given, TetMesh):
        if fixed is None:
            raise InputError("a tet mesh needs fixed=, its vertices that follow the rig")
        volume = Volume(given, Embedding(given, rig.surface()), np.zeros(given.n_vertices, bool))
        volume = volume.held(fixed=fixed)
    else:
        instance("volume", given, Volume, "character_volume(rig).held(bones_of(character))")
        volume = given
        if fixed is not None:
            held = given.fixed.copy()
            held[vertex_indices("fixed", fixed, len(held))] = True
            volume = given.held(fixed=held)
        if not volume.fixed.any():
            raise InputError("nothing of the volume is fixed; use volume.held(bones) first")
    body = Body(volume.mesh, material, fixed=volume.fixed, mass_model=LumpedMass())
    return body, volume


def chosen_poses(rig: PoseRig, given: ArrayLike | int, *, among: int = 0) -> Floats:
    """Poses (m, d), the neutral one first.

    Of clips there are as many as asked for, or ``among`` where that is more.
    """
    if isinstance(given, int | np.integer):
        count = whole_number("poses", given, at_least=1)
        skeleton = skeleton_within(rig)
        if skeleton is None or not skeleton.character.clips:
            raise InputError(
                f"poses={given}: there are no clips to choose from; give poses (m, "
                f"{len(rig.neutral)})"
            )
        return choose_poses(rig, candidates_of(skeleton.character), max(count, among))
    poses = rig.checked_poses(np.atleast_2d(numbers("poses", given)))
    neutral = rig.features(rig.neutral)
    apart = np.array([np.linalg.norm(rig.features(pose) - neutral) for pose in poses])
    return np.concatenate([rig.neutral[None], poses[apart > _SAME]])


def check_that_poses_differ(rig: PoseRig, poses: Floats) -> None:
    """Stops where a rig has one shape in all of the poses (m, d)."""
    first = rig.vertices(poses[0])
    close = _SAME * np.ptp(first, axis=0).max()
    if len(poses) > 1 and all(np.abs(rig.vertices(p) - first).max() <= close for p in poses[1:]):
        raise InputError(
            f"the rig has the same shape in all of the {len(poses)} poses; let it follow its pose, "
            "or give poses=[rig.neutral] for a model of that alone"
        )


def region_functions_of(
    rig: PoseRig, mesh: TetMesh, given: Regions | ArrayLike | int | None
) -> Floats | None:
    """Functions (k, n) of regions, or None for one of all."""
    if given is None:
        return None
    if isinstance(given, Regions):
        return given.functions
    if not isinstance(given, int | np.integer):
        return np.atleast_2d(numbers("regions", given))
    skeleton = skeleton_within(rig)
    if skeleton is None:
        raise InputError(
            f"regions={given}: a {type(rig).__name__} has no limbs; give local_regions"
        )
    return local_regions(mesh, regions_from_skeleton(skeleton.character, int(given))).functions


def clip_accelerations(tet_rig: TetRig, masses: Floats) -> Floats:
    """g − ẍ(p) along the clips, in the neutral frames of the vertices [m/s²], (k, n, 3).

    They are principal ones, of ``masses`` (n,) [kg]: the first few are most of what happens.
    """
    rig = skeleton_within(tet_rig.rig)
    if rig is None or not rig.character.clips:
        kind = type(tet_rig.rig).__name__
        raise InputError(f"a {kind} without clips drives nothing; leave driven out")
    clips = list(rig.character.clips.values())
    total, found = sum(clip.duration for clip in clips), []
    for clip in clips:
        room = clip.duration - 2 * _FRAME
        count = max(1, round(_SAMPLES * clip.duration / total)) if room > 0 else 0
        for time in clip.start + _FRAME + room * (np.arange(count) + 0.5) / max(count, 1):
            times = time + _FRAME * np.array([-1.0, 0.0, 1.0])
            before, now, after = rig.pose_of(clip.poses(rig.character.rig, times))
            x = [tet_rig.vertices(pose) for pose in (before, now, after)]
            acceleration = _GRAVITY - (x[0] - 2 * x[1] + x[2]) / _FRAME**2
            found.append(turned_back(tet_rig.frames(now), acceleration))
    if not found:
        return np.tile(_GRAVITY, (1, len(masses), 1))
    heavy = np.repeat(np.sqrt(masses), 3)
    _, size, shapes = np.linalg.svd(heavy * np.reshape(found, (len(found), -1)), False)
    return np.asarray((size[:_MOST, None] * shapes[:_MOST] / heavy).reshape(-1, len(masses), 3))
