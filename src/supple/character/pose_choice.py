"""Which poses get a model of their own (pose space paper, §5 and §5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import subspace_angles

from supple.character.character import Character
from supple.character.pose_weights import PoseWeights
from supple.character.rigs.base import PoseRig
from supple.character.rigs.skeleton import SkeletonRig
from supple.checks import instance, number, numbers, whole_number
from supple.errors import InputError
from supple.types import Floats, Progress


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
    given = _poses(rig, "candidates", candidates)
    whole_number("count", count, at_least=1)
    least = max(number("tolerance", tolerance, at_least=0), _SAME)
    features = np.array([rig.features(pose) for pose in given]).reshape(len(given), -1)
    chosen = [np.asarray(rig.neutral, dtype=float)]
    distance = np.linalg.norm(features - rig.features(rig.neutral), axis=1)
    while len(chosen) < count and len(given):
        far = int(np.argmax(distance))
        if distance[far] <= least:
            break
        chosen.append(given[far])
        distance = np.minimum(distance, np.linalg.norm(features - features[far], axis=1))
    return np.array(chosen)


@dataclass(frozen=True, eq=False)
class MissingPose:
    """Where the model between known poses is worst."""

    index: int
    """Of the candidate."""
    angle: float
    """Largest subspace angle there [rad]."""
    angles: Floats
    """The same at every candidate, (T,)."""


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
    """At which of the candidates (T, d) another model is needed most.

    ``bases`` (m, r, n, 3) are those of the known ``poses`` (m, d), aligned, in the neutral frames,
    and ``own_basis`` gives the one (r, n, 3) that a pose (d,) would have. The space between
    interpolated bases and the own one are compared by the largest angle between them, in the metric
    of the ``masses`` (n,) [kg].
    """
    known, tried = _poses(rig, "poses", poses), _poses(rig, "candidates", candidates)
    U, m = numbers("bases", bases), numbers("masses", masses)
    if U.ndim != 4 or U.shape[0] != len(known) or U.shape[2:] != (len(m), 3):
        raise InputError(
            f"bases have shape {U.shape}; give ({len(known)}, r, {len(m)}, 3) for the poses and "
            "masses"
        )
    if not len(tried):
        raise InputError("there are no candidates; give one or more poses (T, d)")
    weights = PoseWeights.of([rig.features(pose) for pose in known])
    root = np.sqrt(m)[:, None]
    angles = np.empty(len(tried))
    for k, pose in enumerate(tried):
        between = np.tensordot(weights(rig.features(pose)), U, axes=1)  # Eq. 14
        own = numbers("own_basis(pose)", own_basis(pose), (U.shape[1:],))
        one, two = ((root * basis).reshape(len(basis), -1).T for basis in (between, own))
        angles[k] = subspace_angles(one, two).max()
        if progress is not None:
            progress(k + 1, len(tried), "comparing poses")
    worst = int(np.argmax(angles))
    return MissingPose(worst, float(angles[worst]), angles)


_SAME = 1e-6


def _poses(rig: PoseRig, name: str, given: ArrayLike) -> Floats:
    poses = numbers(name, given)
    if poses.ndim != 2 or poses.shape[1] != len(rig.neutral):
        raise InputError(f"{name} have shape {poses.shape}; give poses (…, {len(rig.neutral)})")
    return poses
