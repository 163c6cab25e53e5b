"""Corrections of a rig in some poses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.character.arms import BAR, arm, some_pose

import supple as sp
from supple.character import Channel, Clip, Track
from supple.character.model.weights import PoseWeights
from supple.character.rigs import BendRig, BlackBoxRig, PoseSpaceDeformation, SkeletonRig
from supple.character.training.preparing import chosen_poses


def sculpted(rig, poses: np.ndarray) -> list[sp.Surface]:
    rng = np.random.default_rng(0)
    shapes = []
    for pose in poses:
        x = rig.vertices(pose)
        shapes.append(sp.Surface(x + 0.02 * rng.standard_normal(x.shape), rig.triangles))
    return shapes


def rigs() -> dict:
    skeleton, bend = SkeletonRig(arm()), BendRig(BAR)
    box = BlackBoxRig(lambda p: BAR.vertices * (1 + p[0]), BAR.triangles, np.zeros(1))
    turned = np.array([skeleton.pose_of(some_pose(skeleton.character, k)) for k in range(3)])
    angles = np.array([[-2.0], [1.0], [2.0]])
    return {"skeleton": (skeleton, turned), "bend": (bend, angles), "black box": (box, angles)}


@pytest.mark.parametrize("name", ["skeleton", "bend", "black box"])
def test_sculpted_shapes_come_back(name: str) -> None:
    rig, poses = rigs()[name]
    shapes = sculpted(rig, poses)
    corrected = PoseSpaceDeformation.from_shapes(rig, poses, shapes)
    for pose, shape in zip(poses, shapes, strict=True):
        assert corrected.vertices(pose) == pytest.approx(shape.vertices, abs=1e-12)
        some = np.array([5, 2, 9])
        assert corrected.vertices(pose, some) == pytest.approx(shape.vertices[some], abs=1e-12)
    plain = rig.vertices(rig.neutral)
    assert corrected.vertices(rig.neutral) == pytest.approx(plain, abs=1e-12)


def test_between_poses_corrections_have_the_weights_of_eq_2() -> None:
    rig, poses = rigs()["black box"]
    corrections = np.random.default_rng(1).standard_normal((3, BAR.n_vertices, 3))
    corrected = PoseSpaceDeformation(rig, poses, corrections)
    weights = PoseWeights.of([[0.0], [-2.0], [1.0], [2.0]])
    p = np.array([0.4])
    expected = rig.vertices(p) + np.tensordot(weights(p)[1:], corrections, axes=1)
    assert corrected.vertices(p) == pytest.approx(expected, abs=1e-12)


def test_corrections_turn_with_the_body() -> None:
    rig, poses = rigs()["skeleton"]
    shapes = sculpted(rig, poses)
    corrected = PoseSpaceDeformation.from_shapes(rig, poses, shapes)
    skeleton = rig.character.rig
    pose = skeleton.turned({"root": (0.5, 1.0, 2.0)}, rig.rig_pose(poses[1]))
    whole = rig.pose_of(pose)
    added = corrected.vertices(whole) - rig.vertices(whole)
    was = shapes[1].vertices - rig.vertices(poses[1])
    assert np.linalg.norm(added, axis=1) == pytest.approx(np.linalg.norm(was, axis=1), abs=1e-12)
    assert not np.allclose(added, was)


def test_a_correction_of_the_neutral_pose_is_kept() -> None:
    rig = BendRig(BAR)
    corrections = np.full((2, BAR.n_vertices, 3), 0.01)
    corrected = PoseSpaceDeformation(rig, [[0.0], [1.0]], corrections)
    assert len(corrected.poses) == 2
    assert corrected.vertices(rig.neutral) == pytest.approx(BAR.vertices + 0.01)


def test_poses_are_chosen_from_the_clips_of_a_corrected_skeleton() -> None:
    bend = Track(1, Channel.ROTATION, (0.0, 1.0), [(0, 0, 0, 1), (0, 0.6, 0, 0.8)])
    rig = SkeletonRig(replace(arm(), clips={"wave": Clip("wave", [bend])}))
    pose = rig.poses_of_clip("wave", [1.0])
    corrected = PoseSpaceDeformation.from_shapes(rig, pose, sculpted(rig, pose))
    twice = PoseSpaceDeformation.from_shapes(corrected, pose, sculpted(corrected, pose))
    for each in (corrected, twice):
        assert np.array_equal(chosen_poses(each, 2), chosen_poses(rig, 2))
        half = each.between(rig.neutral, -pose[0], 0.5)  # the short way round, as the skeleton does
        assert np.array_equal(half, rig.between(rig.neutral, -pose[0], 0.5))


def test_bad_corrections_are_refused() -> None:
    rig = BendRig(BAR)
    with pytest.raises(sp.InputError, match="poses 1 and 2 are the same"):
        PoseSpaceDeformation(rig, [[1.0], [1.0]], np.zeros((2, BAR.n_vertices, 3)))
    with pytest.raises(sp.InputError, match="corrections has shape"):
        PoseSpaceDeformation(rig, [[1.0]], np.zeros((2, BAR.n_vertices, 3)))
    with pytest.raises(sp.InputError, match="1 poses and 2 shapes"):
        PoseSpaceDeformation.from_shapes(rig, [[1.0]], [BAR, BAR])
    with pytest.raises(sp.InputError, match=r"give \(m, 1\)"):
        PoseSpaceDeformation(rig, np.zeros((1, 2)), np.zeros((1, BAR.n_vertices, 3)))
