"""Which poses get a model of their own."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.arms import BAR, arm

import supple as sp
from supple.character.rigs import BendRig, SkeletonRig
from supple.character.training.pose_choice import (
    candidates_of,
    choose_poses,
    mean_angle,
    missing_pose,
)

pytestmark = pytest.mark.processors

RIG = BendRig(BAR)


def test_candidates_are_poses_of_the_clips() -> None:
    character = arm(loose=True)
    rig = SkeletonRig(character)
    found = candidates_of(character, rate=10.0)
    assert found.shape == (22, 30)
    assert found[:11] == pytest.approx(rig.poses_of_clip("wave", np.linspace(0, 1, 11)))
    assert candidates_of(character, "slide", rate=10.0) == pytest.approx(found[11:])
    with pytest.raises(sp.InputError, match="there is no clip 'jump'"):
        candidates_of(character, ["jump"])


def test_the_farthest_pose_is_next() -> None:
    candidates = np.array([[0.1], [1.0], [-0.4], [0.6], [0.0]])
    assert choose_poses(RIG, candidates, 4).ravel() == pytest.approx([0.0, 1.0, -0.4, 0.6])
    assert choose_poses(RIG, candidates, 4, tolerance=0.4).ravel() == pytest.approx([0.0, 1.0])
    assert choose_poses(RIG, candidates, 1).ravel() == pytest.approx([0.0])


def test_of_mirrored_poses_the_first_is_taken() -> None:
    """However they are rounded."""
    for nudge in (-1e-14, 0.0, 1e-14):
        candidates = np.array([[0.2], [-0.7 * (1 - nudge)], [0.7 * (1 + nudge)]])
        assert choose_poses(RIG, candidates, 2).ravel() == pytest.approx([0.0, -0.7])


def test_no_pose_is_taken_twice() -> None:
    assert len(choose_poses(RIG, np.array([[1.0], [1.0], [0.0]]), 5)) == 2
    assert len(choose_poses(RIG, np.empty((0, 1)), 5)) == 1


def test_every_candidate_is_near_a_chosen_pose() -> None:
    """The choice covers the clip: farther than the last choice, nothing is left."""
    rig = SkeletonRig(arm())
    candidates = candidates_of(rig.character, rate=60.0)
    chosen = choose_poses(rig, candidates, 10, tolerance=0.2)
    features = np.array([rig.features(pose) for pose in candidates])
    known = np.array([rig.features(pose) for pose in chosen])
    gaps = np.linalg.norm(features[:, None] - known[None], axis=2).min(axis=1)
    assert gaps.max() <= 0.2
    apart = np.linalg.norm(known[:, None] - known[None], axis=2) + 9 * np.eye(len(known))
    assert apart.min() > 0.2
    assert 3 <= len(chosen) < 10


def turning_basis(pose: np.ndarray) -> np.ndarray:
    """Two vectors of which the second turns twice from bend to bend; (n, 3, 2)."""
    shapes = np.zeros((BAR.n_vertices, 3, 2))
    shapes[:, 0, 0] = 1.0
    angle = 0.5 * np.pi * np.sin(0.5 * np.pi * pose[0]) ** 2
    shapes[:, 1, 1], shapes[:, 2, 1] = np.cos(angle), np.sin(angle)
    return shapes


def test_a_pose_is_missing_where_the_space_is_another() -> None:
    """Bases agree at 0 and 2 and differ in between, as the angle there tells."""
    poses = np.array([[0.0], [2.0]])
    bases = np.array([turning_basis(pose) for pose in poses])
    candidates = np.linspace(0, 2, 9)[:, None]
    masses = np.random.default_rng(0).uniform(1, 2, BAR.n_vertices)
    calls = []
    found = missing_pose(
        RIG, poses, bases, candidates, turning_basis, masses, progress=lambda *a: calls.append(a)
    )
    assert found.index == 4
    assert found.angles.shape == (9, 2)
    assert found.angles[:, 0] == pytest.approx(
        0.5 * np.pi * np.sin(0.5 * np.pi * candidates[:, 0]) ** 2, abs=1e-7
    )
    assert found.angles[:, 1] == pytest.approx(0.0, abs=1e-7)
    assert found.angle == found.means[4] == pytest.approx(np.pi / 4)
    assert calls[-1][:2] == (9, 9)


def test_poses_are_added_until_angles_are_small() -> None:
    poses = np.array([[0.0]])
    candidates = np.linspace(0, 2, 17)[:, None]
    masses = np.ones(BAR.n_vertices)
    angle = np.inf
    while angle > 0.15:
        assert len(poses) < 10
        bases = np.array([turning_basis(pose) for pose in poses])
        found = missing_pose(RIG, poses, bases, candidates, turning_basis, masses)
        angle = found.angle
        if angle > 0.15:
            poses = np.concatenate([poses, candidates[[found.index]]])
    assert 3 <= len(poses) <= 8


def test_mean_angles() -> None:
    assert mean_angle([0.3, 0.3]) == pytest.approx(0.3)
    assert mean_angle([[np.pi / 2, 0.0], [0.0, 0.0]]) == pytest.approx([np.pi / 4, 0.0])


def test_bad_poses_and_bases_are_refused() -> None:
    with pytest.raises(sp.InputError, match=r"candidates have shape \(2,\)"):
        choose_poses(RIG, [0.0, 1.0], 2)
    with pytest.raises(sp.InputError, match="count=0"):
        choose_poses(RIG, [[0.0]], 0)
    with pytest.raises(sp.InputError, match=r"give \(1, 2, 3, r\)"):
        missing_pose(RIG, [[0.0]], np.zeros((1, 3, 3, 2)), [[0.0]], turning_basis, np.ones(2))
    with pytest.raises(sp.InputError, match="no candidates"):
        missing_pose(
            RIG, [[0.0]], np.zeros((1, 2, 3, 2)), np.empty((0, 1)), turning_basis, np.ones(2)
        )
