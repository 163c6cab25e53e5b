"""Many characters that share a model."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.runtime.bars import framed_bar

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.crowd import PoseCrowd
from supple.character.runtime.simulation import PoseSimulation


@pytest.fixture(scope="module")
def framed() -> PoseSpaceModel:
    return framed_bar()


def test_a_crowd_is_its_members_one_by_one(framed: PoseSpaceModel) -> None:
    options = {"damping": sp.Rayleigh(stiffness=1e-3), "integrator": sp.TRBDF2()}
    crowd = PoseCrowd(framed, copies=3, **options)
    singles = [PoseSimulation(framed, **options) for _ in range(3)]
    for k in range(15):
        poses = np.zeros((3, 7))
        poses[:, 0] = np.sin(0.2 * k * np.arange(3))
        crowd.step(poses)
        for single, pose in zip(singles, poses, strict=True):
            single.step(pose)
    assert crowd.q == pytest.approx(np.array([s.q for s in singles]), abs=1e-13)
    assert crowd.vertices() == pytest.approx(np.array([s.vertices() for s in singles]), abs=1e-13)
    with pytest.raises(sp.InputError, match="3 copies need"):
        crowd.step(np.zeros((2, 7)))


def test_a_member_that_fails_is_named_and_the_others_move_on(framed: PoseSpaceModel) -> None:
    crowd = PoseCrowd(framed, copies=3)
    forces = np.ones((3, framed.n_coordinates))
    forces[1] = 1e300
    with pytest.raises(sp.StepFailed, match=r"members\[1\]: .*not finite.* substeps"):
        crowd.step(np.zeros((3, 7)), forces=forces)
    assert crowd.q.any(axis=1).tolist() == [True, False, True]
    times = [each.time for each in crowd.members]
    assert times[0] == times[2] > times[1] == 0
