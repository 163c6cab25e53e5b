"""What the clips of a character do to its flesh: accelerations that a basis should answer."""

from __future__ import annotations

import numpy as np

from supple.character.rigs.pose_space_deformation import skeleton_within
from supple.character.tissue.tet_rig import TetRig
from supple.core.errors import InputError
from supple.core.types import Floats

_FRAME = 1 / 24  # [s]
_SAMPLES = 48  # of all clips together
_MOST = 24  # accelerations that stand for all
_GRAVITY = np.array([0.0, 0.0, -9.81])


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
            frames = tet_rig.frames(now)
            assert frames is not None
            found.append(np.einsum("nji,nj->ni", frames, acceleration))
    if not found:
        return np.tile(_GRAVITY, (1, len(masses), 1))
    heavy = np.repeat(np.sqrt(masses), 3)
    _, size, shapes = np.linalg.svd(heavy * np.reshape(found, (len(found), -1)), False)
    principal: Floats = (size[:_MOST, None] * shapes[:_MOST] / heavy).reshape(-1, len(masses), 3)
    return principal
