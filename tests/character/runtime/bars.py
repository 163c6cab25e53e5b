"""Bars that bend, for tests of flesh in motion."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from tests.character.pose_models import FramedBend, beam, bend_rig, model_of

from supple.character.model.pose_space_model import PoseSpaceModel

MESH = beam((5, 2, 2))
SKIN = MESH.boundary()


def poses_at(curvatures: list[float], width: int) -> np.ndarray:
    """Poses (k, width) that bend by curvatures [1/m] and do nothing else."""
    poses = np.zeros((len(curvatures), width))
    poses[:, 0] = curvatures
    return poses


@lru_cache
def bending_bar() -> PoseSpaceModel:
    """One region, 6 coordinates. Pose: curvature [1/m] and a shift [m]."""
    return model_of(bend_rig(SKIN), MESH, poses_at([0.0, 1.5, -1.5], 4), 6)


@lru_cache
def framed_bar() -> PoseSpaceModel:
    """Two regions, on a rig that knows its frames. Pose: the same, and a turn [rad]."""
    return model_of(FramedBend(SKIN), MESH, poses_at([0.0, 1.2, -1.2], 7), 6, regions=2)
