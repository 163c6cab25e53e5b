"""Soft motion as a few shapes before the skin, with weights that change in time.

Players skin x + δ instead of x, so that a vertex goes by B δ, where B is the blend of the 3 × 3
matrices of its bones. A displacement u of the world is thus kept as δ = B⁻¹ u, and the δ of all
vertices and frames as d_0 + Σ w_k(t) d_k by principal components, with all weights in 0…1. That of
d_0 is 1 in every clip that is soft.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.character import Character
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.runtime.soft_motion import SoftMotion
from supple.character.skeleton.clip_frames import at_jumps
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.io.shapes import compress, interpolated

_ATTEMPTS = 3  # at a tolerance that is kept after the skin, too
_SAFE = 0.8  # of what would do, if errors went with the tolerance


@dataclass(frozen=True, eq=False)
class SoftShapes:
    """Shapes (K, n, 3), in the frame before the skin, and their weights (T, K) in each clip.

    Weights are in 0…1. ``max_errors`` [m] is how far a vertex of the world is off at most in each
    clip, at its frames and halfway between them as a player has it, and ``rms_error`` [m] the root
    of the mean square over the vertices that are soft; ``met``: whether each clip keeps its
    tolerance.
    """

    shapes: Floats
    weights: tuple[Floats, ...]
    max_errors: tuple[float, ...]
    rms_error: float
    met: bool


def soft_shapes(
    character: Character,
    motions: Sequence[SoftMotion],
    *,
    tolerance: float | Sequence[float],
    targets: int | None = None,
    progress: Progress | None = None,
) -> SoftShapes:
    """Few shapes that keep every vertex within ``tolerance`` [m], at most ``targets`` if given.

    It is that of all motions, or of each: so that a quiet one is kept beside a wild one.
    """
    rig = SkeletonRig(character)
    n = rig.n_vertices
    for motion in motions:
        if motion.displacements.shape[1] != n:
            raise InputError(
                f"the motion of {motion.clip} has {motion.displacements.shape[1]} vertices; the "
                f"character has {n}"
            )
    # Lengths before the skin are whatever the file has; so scaled they are those of the world.
    scale = np.cbrt(np.abs(np.linalg.det(rig.matrices(rig.neutral))))[:, None]
    scale = np.where(scale > 0, scale, 1.0)
    before = _before_skin(rig, motions, progress)
    counts = [len(motion.times) for motion in motions]
    ends = np.cumsum(counts)[:-1]
    asked = np.broadcast_to(np.asarray(tolerance, dtype=float), len(motions))
    near = asked
    for attempt in range(_ATTEMPTS):
        morph = compress(
            scale * before,
            tolerance=np.repeat(near, counts),
            targets=targets,
            base=np.zeros((n, 3)),
        )
        shapes = (morph.shapes / scale).astype(np.float32).astype(float)
        weights = tuple(np.split(morph.weights, ends))
        errors = [
            _errors(rig, *each, shapes)
            for each in zip(motions, np.split(before, ends), weights, strict=True)
        ]
        largest = np.array([each.largest for each in errors])
        met = bool((largest <= asked).all())
        if met or len(shapes) == targets or attempt == _ATTEMPTS - 1:
            break
        # Joints may stretch what is before the skin.
        near = near * np.minimum(1.0, _SAFE * asked / np.maximum(largest, np.finfo(float).tiny))
    squares, count = sum(each.squares for each in errors), sum(each.looked for each in errors)
    rms = float(np.sqrt(squares / max(1, count)))
    return SoftShapes(shapes, weights, tuple(largest.tolist()), rms, met)


def _before_skin(
    rig: SkeletonRig, motions: Sequence[SoftMotion], progress: Progress | None
) -> Floats:
    """δ of all frames of all motions, (T, n, 3)."""
    character = rig.character
    total = sum(len(motion.times) for motion in motions)
    found, done = np.zeros((total, rig.n_vertices, 3)), 0
    for motion in motions:
        path = rig.pose_of(character.clip(motion.clip).poses(character.rig, motion.times))
        for pose, u in zip(path, motion.displacements, strict=True):
            found[done] = rig.before_skin(pose, None, u)
            done += 1
            if progress is not None:
                progress(done, total, "frames before the skin")
    return found


class _Errors(NamedTuple):
    """Of a clip: the largest [m], the sum of squares [m²], and of how many."""

    largest: float
    squares: float
    looked: int


def _errors(
    rig: SkeletonRig, motion: SoftMotion, before: Floats, weights: Floats, shapes: Floats
) -> _Errors:
    """At frames, and halfway between them, where flesh goes along with its bones.

    Jumps are left out: they last no time.
    """
    clip, times = rig.character.clip(motion.clip), motion.times
    keys = times.astype(np.float32).astype(float)
    between = np.flatnonzero(~at_jumps(clip, times))
    looked = np.concatenate([times, (times[between] + times[between + 1]) / 2])
    played = interpolated(looked, keys, weights)
    soft = motion.displacements.any(axis=(0, 2))
    largest = squares = 0.0
    poses = rig.pose_of(clip.poses(rig.character.rig, looked))
    for k, (pose, now) in enumerate(zip(poses, played, strict=True)):
        B, kept = rig.matrices(pose), np.tensordot(now, shapes, 1)
        if k < len(times):
            off = np.einsum("nij,nj->ni", B, kept) - motion.displacements[k]
        else:
            first = between[k - len(times)]
            kept -= (before[first] + before[first + 1]) / 2
            off = np.einsum("nij,nj->ni", B, kept)
        distances = (off**2).sum(axis=1)
        largest = max(largest, float(distances.max(initial=0.0)))
        squares += float(distances[soft].sum())
    return _Errors(float(np.sqrt(largest)), squares, len(looked) * int(soft.sum()))
