"""Which poses get a model of their own: chosen by shape, or where others do not tell (§5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import subspace_angles

from supple.character.model.weights import PoseWeights
from supple.character.rigs.base import PoseRig
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.skeleton.character import Character
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.alignment import aligned
from supple.character.training.basis import PoseBases
from supple.core.checks import instance, number, numbers, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Ints, Progress

_SAME = 1e-6  # distance of features below which poses are one
_TIED = 1e-9  # share by which what is equally far may differ


def candidates_of(
    character: Character, clips: Sequence[str] | str | None = None, *, rate: float = 30.0
) -> Floats:
    """Poses (T, d) of the clips of a character, ``rate`` [1/s] a second; of all unless named."""
    instance("character", character, Character, 'read_character("cow.glb")')
    rig, spacing = SkeletonRig(character), 1 / number("rate", rate, above=0, unit="1/s")
    names = list(character.clips) if clips is None else [clips] if isinstance(clips, str) else clips
    found = []
    for name in names:
        length = character.clip(name).duration
        times = np.linspace(0.0, length, max(1, round(length / spacing)) + 1)
        found.append(rig.poses_of_clip(name, times))
    return np.concatenate(found) if found else np.empty((0, len(rig.neutral)))


def choose_poses(
    rig: PoseRig, candidates: ArrayLike, count: int, *, tolerance: float = 0.0
) -> Floats:
    """The neutral pose and up to ``count`` − 1 of the candidates (T, d), as poses (m, d).

    Each is the one whose features are farthest from those chosen before. None is taken that is
    nearer than ``tolerance``, in the units of the features: radians for a skeleton.
    """
    given = rig.checked_poses(candidates, "candidates")
    whole_number("count", count, at_least=1)
    least = max(number("tolerance", tolerance, at_least=0), _SAME)
    at_rest = rig.features(rig.neutral)
    features = np.array([rig.features(pose) for pose in given]).reshape(len(given), len(at_rest))
    chosen = [np.asarray(rig.neutral, dtype=float)]
    distance = np.linalg.norm(features - at_rest, axis=1)
    while len(chosen) < count and len(given):
        far = _first_largest(distance)
        if distance[far] <= least:
            break
        chosen.append(given[far])
        distance = np.minimum(distance, np.linalg.norm(features - features[far], axis=1))
    return np.array(chosen)


def _first_largest(values: Floats) -> int:
    """Where the largest of values ≥ 0 is; mirrored poses are equally far, but for rounding."""
    return int(np.argmax(values >= (1 - _TIED) * values.max()))


@dataclass(frozen=True, eq=False)
class MissingPose:
    """Where interpolated bases are worst."""

    index: int
    """Of the candidate."""
    angle: float
    """Between the interpolated subspace and the own one there, as a mean over the latter [rad]."""
    angles: Floats
    """All principal angles at every candidate, the largest first, (T, r) [rad]."""

    @property
    def means(self) -> Floats:
        """The angle between both subspaces at every candidate, as a mean, (T,) [rad]."""
        return mean_angle(self.angles)


def missing_pose(
    rig: PoseRig,
    poses: ArrayLike,
    bases: ArrayLike,
    candidates: ArrayLike,
    own_basis: Callable[[Floats], ArrayLike],
    masses: ArrayLike,
    *,
    progress: Progress | None = None,
) -> MissingPose:
    """At which of the candidates (T, d) a model of its own is needed most.

    ``bases`` (m, n, 3, r) are those of the known ``poses`` (m, d), aligned, in the neutral frames;
    ``own_basis`` gives the one (n, 3, r) that a pose (d,) would have. At each candidate the
    subspaces of the interpolated basis and of the own one are compared by the angles between them,
    in the metric of the ``masses`` (n,) [kg].
    """
    known, tried = rig.checked_poses(poses), rig.checked_poses(candidates, "candidates")
    U, m = numbers("bases", bases), numbers("masses", masses)
    if U.ndim != 4 or U.shape[:3] != (len(known), len(m), 3):
        raise InputError(f"bases have shape {U.shape}; give ({len(known)}, {len(m)}, 3, r)")
    if not len(tried):
        raise InputError("there are no candidates; give one or more poses (T, d)")
    weights = PoseWeights.of([rig.features(pose) for pose in known])
    root = np.sqrt(m)[:, None, None]
    angles = np.empty((len(tried), U.shape[3]))
    for k, pose in enumerate(tried):
        between = np.tensordot(weights(rig.features(pose)), U, axes=1)  # Eq. 14
        own = numbers("own_basis(pose)", own_basis(pose), (U.shape[1:],))
        one, two = ((root * basis).reshape(3 * len(m), -1) for basis in (between, own))
        angles[k] = subspace_angles(one, two)  # arccos σ, §5.1
        if progress is not None:
            progress(k + 1, len(tried), "comparing poses")
    means = mean_angle(angles)
    worst = _first_largest(means)
    return MissingPose(worst, float(means[worst]), angles)


def mean_angle(angles: ArrayLike) -> Floats:
    """The angle θ with cos² θ = mean cos² θ_k over the last axis [rad].

    The largest angle alone says little: where the last vector of one basis is not in the other, as
    often happens where bases are cut off, it is a right angle.
    """
    cosines = np.cos(np.asarray(angles, dtype=float))
    return np.asarray(np.arccos(np.sqrt((cosines**2).mean(axis=-1))))


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
    features, places, frames = tet_rig.in_poses(poses[which])
    weights = PoseWeights.of(features)
    world = bases.bases[which] if frames is None else frames @ bases.bases[which]
    alignment = aligned(
        world, places, tet_rig.mesh.cells, bases.masses, features, bases.regions, frames
    )
    if tet_rig.corrections is not None:
        tet_rig = tet_rig.corrected(weights, tet_rig.corrections[which])
    return tet_rig, replace(
        bases, weights=weights, alignment=alignment, squares=bases.squares[which]
    )
