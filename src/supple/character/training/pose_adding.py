"""Poses, added one after the other where the others do not tell how flesh moves (§5.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.character.model.bases import PoseBases
from supple.character.model.weights import PoseWeights
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.alignment import aligned
from supple.character.training.pose_choice import missing_pose
from supple.core.types import Floats, Ints, Progress


@dataclass(frozen=True, eq=False)
class NeededPoses:
    """Which of some poses need a model."""

    which: Ints
    """The neutral one, the first, and the others in the order in which they were added, (m,)."""
    angles: Floats
    """How far the subspace of the worst of the others is from the interpolated one, with the first
    of them, with the first two, …, (m,) [rad]; 0 where there are no others."""


def needed_poses(
    tet_rig: TetRig,
    poses: Floats,
    bases: PoseBases,
    *,
    max_angle: float,
    most: int,
    progress: Progress | None = None,
) -> NeededPoses:
    """Which of the poses (m, d) are needed so that no other is off by more than an angle [rad].

    From the neutral one on, the worst of the others is added, until none is off by more than
    ``max_angle``, or there are ``most``. ``bases`` are those of all of them.
    """
    own = {pose.tobytes(): basis for pose, basis in zip(poses, bases.bases, strict=True)}
    chosen, angles = [0], []
    while True:
        others = np.setdiff1d(np.arange(len(poses)), chosen)
        if not len(others):
            angles.append(0.0)
            break
        known = np.array(chosen)
        missing = missing_pose(
            tet_rig.rig,
            poses[known],
            only(tet_rig, poses, bases, known)[1].bases,
            poses[others],
            lambda pose: own[pose.tobytes()],
            bases.masses,
            progress=progress,
        )
        angles.append(missing.angle)
        if missing.angle <= max_angle or len(chosen) >= most:
            break
        chosen.append(int(others[missing.index]))
    return NeededPoses(np.array(chosen), np.array(angles))


def only(tet_rig: TetRig, poses: Floats, bases: PoseBases, which: Ints) -> tuple[TetRig, PoseBases]:
    """The tet rig and the bases of some of the poses (m, d), as if there were no others."""
    rig = tet_rig.rig
    features = np.array([rig.features(poses[k]) for k in which])
    weights = PoseWeights.of(features)
    places = np.array([tet_rig.vertices(poses[k]) for k in which])
    found = [tet_rig.frames(poses[k]) for k in which]
    frames = None if found[0] is None else np.array(found)
    world = bases.bases[which] if frames is None else frames @ bases.bases[which]
    alignment = aligned(
        world, places, tet_rig.mesh.cells, bases.masses, features, bases.regions, frames
    )
    if tet_rig.corrections is not None:
        tet_rig = tet_rig.corrected(weights, tet_rig.corrections[which])
    return tet_rig, replace(
        bases, weights=weights, alignment=alignment, squares=bases.squares[which]
    )
