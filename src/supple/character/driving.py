"""What the clips of a character do to its flesh: accelerations that a basis should answer."""

from __future__ import annotations

import numpy as np

from supple.character.rigs.skeleton import SkeletonRig
from supple.character.tet_rig import TetRig
from supple.errors import InputError
from supple.types import Floats

_FRAME = 1 / 24  # [s]
_MOST = 24  # accelerations that stand for all
_GRAVITY = np.array([0.0, 0.0, -9.81])


def driving_accelerations(tet_rig: TetRig, masses: Floats) -> Floats:
    """g − ẍ(p) along the clips, in the neutral frames of the vertices [m/s²], (k, n, 3).

    They are principal ones, of ``masses`` (n,) [kg]: the first few are most of what happens.
    """
    rig = tet_rig.rig
    if not isinstance(rig, SkeletonRig) or not rig.character.clips:
        raise InputError(f"a {type(rig).__name__} without clips drives nothing; leave driven out")
    found = []
    for clip in rig.character.clips.values():
        times = np.arange(clip.start, clip.end + 0.5 * _FRAME, _FRAME)
        poses = rig.pose_of(clip.poses(rig.character.rig, times))
        x = np.stack([tet_rig.vertices(pose) for pose in poses])
        felt = _GRAVITY - np.diff(x, n=2, axis=0) / _FRAME**2
        for pose, acceleration in zip(poses[1:-1], felt, strict=True):
            frames = tet_rig.frames(pose)
            assert frames is not None
            found.append(np.einsum("nji,nj->ni", frames, acceleration))
    if not found:
        return np.tile(_GRAVITY, (1, len(masses), 1))
    heavy = np.repeat(np.sqrt(masses), 3)
    _, size, shapes = np.linalg.svd(heavy * np.reshape(found, (len(found), -1)), False)
    principal: Floats = (size[:_MOST, None] * shapes[:_MOST] / heavy).reshape(-1, len(masses), 3)
    return principal
