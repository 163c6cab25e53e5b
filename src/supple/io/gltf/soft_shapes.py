"""Soft motion as a few shapes before the skin, with weights that change in time.

Players skin x + δ instead of x, so that a vertex goes by B δ, where B is the blend of the 3 × 3
matrices of its bones. A displacement u of the world is thus kept as δ = B⁻¹ u, and the δ of all
vertices and frames as d_0 + Σ w_k(t) d_k by principal components.

Many programs take no weight below 0 or above 1: Unity cuts them off, and Blender does where the
first key is not the least. So the d_k are scaled and d_0 is moved until all weights are in 0…1; the
weight of d_0 is 1 in every clip that is soft.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.character import Character
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.runtime.soft_motion import SoftMotion
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.io.gltf.morph import compress


@dataclass(frozen=True, eq=False)
class SoftShapes:
    """Shapes (K, n, 3), in the frame before the skin, and their weights (T, K) in each clip.

    Weights are in 0…1. ``max_error`` [m] is how far a vertex of the world is off at most, in any
    frame.
    """

    shapes: Floats
    weights: tuple[Floats, ...]
    max_error: float


def soft_shapes(
    character: Character,
    motions: Sequence[SoftMotion],
    *,
    tolerance: float | Sequence[float],
    targets: int,
    progress: Progress | None = None,
) -> SoftShapes:
    """The fewest shapes that keep every vertex within ``tolerance`` [m], at most ``targets``.

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
    poses = [
        rig.pose_of(character.clip(motion.clip).poses(character.rig, motion.times))
        for motion in motions
    ]
    frames = [
        (pose, u)
        for path, motion in zip(poses, motions, strict=True)
        for pose, u in zip(path, motion.displacements, strict=True)
    ]
    before = np.zeros((1 + len(frames), n, 3))
    for k, (pose, u) in enumerate(frames):
        before[1 + k] = scale * rig.before_skin(pose, None, u)
        if progress is not None:
            progress(k + 1, len(frames), "frames before the skin")
    counts = [len(motion.times) for motion in motions]
    near = np.repeat(np.broadcast_to(np.asarray(tolerance, dtype=float), len(motions)), counts)
    shapes, weights = _compressed(before, near, targets)
    shapes /= scale
    error = 0.0
    for k, (pose, u) in enumerate(frames):
        kept = np.tensordot(weights[k], shapes, 1)
        off = np.einsum("nij,nj->ni", rig.matrices(pose), kept) - u
        error = max(error, float(np.sqrt((off**2).sum(axis=1).max())))
    parts = np.split(weights, np.cumsum(counts)[:-1])
    return SoftShapes(shapes, tuple(parts), error)


def _compressed(frames: Floats, near: Floats, targets: int) -> tuple[Floats, Floats]:
    """Shapes (K, n, 3) and weights (T, K) of all frames (1 + T, n, 3) but the first, which is 0.

    They are ``near`` (T,) [m] where K allows it; the frames are overwritten.
    """
    count, n = len(frames) - 1, frames.shape[1]
    far = np.sqrt(np.einsum("tni,tni->tn", frames[1:], frames[1:]).max(axis=1, initial=0.0))
    if (far <= near).all():
        return np.zeros((0, n, 3)), np.zeros((count, 0))
    mean = frames[1:].mean(axis=0)
    if targets > 1:
        # Divided by what is near enough, the same error is near enough in every frame.
        frames[1:] = (frames[1:] - mean) / near[:, None, None]
        morph = compress(frames, tolerance=1.0, targets=targets - 1)
        moving, weights = morph.shapes, near[:, None] * morph.weights[1:]
    else:
        moving, weights = np.zeros((0, n, 3)), np.zeros((count, 0))
    least, most = weights.min(axis=0), weights.max(axis=0)
    still = mean + np.einsum("k,kni->ni", least, moving)
    shapes = np.concatenate([still[None], (most - least)[:, None, None] * moving])
    return shapes, np.hstack([np.ones((count, 1)), (weights - least) / (most - least)])
