"""Joints that hang on each other, and skins that follow them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp
from tests.character.bodies import character_of, rig_of
from tests.refusals import refused

import supple as sp
from supple.character import Rig, RigPose, Skin
from supple.character.skeleton.rig import quaternion_matrices, slerp

rng = np.random.default_rng(0)


def chain(count: int = 3) -> Rig:
    """Joints a metre apart along x, each hanging on the one before."""
    names, places = tuple("abcdef"[:count]), [(k, 0, 0) for k in range(count)]
    return rig_of(names, list(range(-1, count - 1)), places)


def some_pose(seed: int = 0, count: int = 3) -> RigPose:
    random = np.random.default_rng(seed)
    turns = Rotation.from_rotvec(random.normal(size=(count, 3))).as_quat()
    scales = random.uniform(0.5, 2, (count, 3))
    return RigPose(random.normal(size=(count, 3)), turns, scales)


def test_world_is_the_product_of_what_is_above():
    rig, pose = chain(), some_pose()
    local, world = pose.matrices(), rig.world(pose)
    np.testing.assert_allclose(world[0], local[0])
    np.testing.assert_allclose(world[2], local[0] @ local[1] @ local[2])


def test_joints_scale_first_then_turn_then_move():
    quarter = Rotation.from_rotvec([[0, 0, np.pi / 2]]).as_quat()
    pose = RigPose(np.array([[1.0, 2, 3]]), quarter, np.array([[2.0, 5, 7]]))
    np.testing.assert_allclose(pose.matrices()[0] @ [1, 0, 0, 1], [1, 4, 3, 1], atol=1e-12)
    np.testing.assert_allclose(pose.matrices()[0] @ [0, 1, 0, 1], [-4, 2, 3, 1], atol=1e-12)


def test_blending_goes_from_one_pose_to_the_other():
    one, other = some_pose(), some_pose(1)
    alone = [one.blended(other, share).matrices() for share in (0.0, 0.25, 1.0)]
    np.testing.assert_allclose(alone[::2], [one.matrices(), other.matrices()], atol=1e-12)
    many = one.blended(other, [0.0, 0.25, 1.0])
    assert many.rotations.shape == (3, 3, 4)
    np.testing.assert_allclose(many.matrices(), alone, atol=1e-12)


def test_turns_are_about_axes_of_the_world():
    """Whatever the pose, what hangs on the joint turns about it as a rigid body."""
    rig = chain(4)
    start = replace(some_pose(2, 4), scales=np.ones((4, 3)))
    turn = np.array([0.3, -0.8, 0.5])
    before, after = rig.world(start), rig.world(rig.turned({"c": turn}, start))
    R = Rotation.from_rotvec(turn).as_matrix()
    np.testing.assert_allclose(after[:2], before[:2])
    np.testing.assert_allclose(after[2, :3, 3], before[2, :3, 3], atol=1e-12)
    np.testing.assert_allclose(after[2:, :3, :3], R @ before[2:, :3, :3], atol=1e-12)
    arm = before[3, :3, 3] - before[2, :3, 3]
    np.testing.assert_allclose(after[3, :3, 3] - after[2, :3, 3], R @ arm, atol=1e-12)


def test_turns_at_several_times():
    rig, one, other = chain(), some_pose(), some_pose(1)
    both = one.blended(other, [0.0, 1.0])
    turns = {"b": (0.3, 0, 0), "c": (0, 0, 1.0)}
    alone = [rig.turned(turns, pose).matrices() for pose in (one, other)]
    np.testing.assert_allclose(rig.turned(turns, both).matrices(), alone, atol=1e-12)


def test_one_bone_carries_its_skin_rigidly():
    rig, pose = chain(1), some_pose(3, 1)
    ball = sp.Sphere(centre=(0.3, 0, 0), radius=0.2).surface()
    skin = character_of(ball, rig, np.ones((ball.n_vertices, 1))).skin
    move = pose.matrices()[0]
    expected = ball.vertices @ move[:3, :3].T + move[:3, 3]
    np.testing.assert_allclose(skin.placed(rig.world(pose)), expected, atol=1e-12)


def test_slim_skins_lie_nearer_to_their_bones():
    """A tube around two bones keeps its length, and has the share of its radius."""
    rig = chain()
    angle, along = np.meshgrid(np.linspace(0, 2 * np.pi, 12)[:-1], np.linspace(0, 2, 9))
    tube = np.stack([along, 0.3 * np.cos(angle), 0.3 * np.sin(angle)], axis=-1).reshape(-1, 3)
    weights = np.eye(3)[np.clip(tube[:, 0].astype(int), 0, 1)]
    skin = character_of(sp.Surface(tube, [[0, 1, 12]]), rig, weights).skin
    thin = skin.slimmed(0.25, rig.parents)
    np.testing.assert_allclose(thin.vertices, tube * [1, 0.25, 0.25], atol=1e-12)
    np.testing.assert_allclose(skin.slimmed(1.0, rig.parents).vertices, tube, atol=1e-12)


def test_bad_rigs():
    refused("before their children", Rig, ("a", "b"), np.array([1, -1]), chain(2).rest)
    refused(r"need \(2,\)", Rig, ("a", "b"), np.array([-1]), chain(2).rest)
    refused(r"give \(2, 4\)", Rig, ("a", "b"), np.array([-1, 0]), chain(3).rest)
    refused("no joint 'd'; there is a, b, c", chain().joint, "d")


@pytest.mark.parametrize(
    ("bones", "weights", "words"),
    [
        ([[0], [0]], [[1.0]] * 3, r"need \(3, k\)"),
        ([[0], [2], [0]], [[1.0]] * 3, "follows bone 2, but there are 1"),
        ([[0]] * 3, [[1.0], [0.0], [1.0]], "vertex 1 has the weights"),
        ([[0]] * 3, [[1.0], [1.0], [-1.0]], "vertex 2 has the weights"),
    ],
)
def test_bad_skins(bones, weights, words):
    refused(words, Skin, np.eye(3), [[0, 1, 2]], np.array([0]), np.eye(4)[None], bones, weights)


def at_random(*shape: int) -> np.ndarray:
    return rng.standard_normal((*shape, 4))


def test_matrices_of_turns_of_any_length() -> None:
    turns = at_random(3, 5)
    expected = Rotation.from_quat(turns.reshape(-1, 4)).as_matrix().reshape(3, 5, 3, 3)
    np.testing.assert_allclose(quaternion_matrices(turns), expected, atol=1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 1e-3, 1.0, 3.0, np.pi - 1e-6, 4.0])
def test_turns_between_two_go_the_short_way_at_an_even_rate(angle: float) -> None:
    start = Rotation.from_quat(at_random())
    end = start * Rotation.from_rotvec(angle * np.array([0.6, 0.0, 0.8]))
    share = np.linspace(0.0, 1.0, 11)
    expected = Slerp([0.0, 1.0], Rotation.concatenate([start, end]))(share)
    found = slerp(start.as_quat(), -2 * end.as_quat(), share)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(quaternion_matrices(found), expected.as_matrix(), atol=1e-9)


def test_ends_are_met() -> None:
    start, end = at_random(7), at_random(7)
    for share, there in ((0.0, start), (1.0, end)):
        found = slerp(start, end, np.full(7, share))
        np.testing.assert_allclose(*map(quaternion_matrices, (found, there)), atol=1e-15)
