"""Skinned characters as rigs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.character.arms import arm, reshaped, some_pose, with_targets
from tests.refusals import refused

from supple.character import Skin
from supple.character.rigs import Blend, SkeletonRig
from supple.io.gltf.character import read_character

BOTH = pytest.mark.parametrize("blend", list(Blend), ids=lambda blend: blend.name)


def twisted(rig: SkeletonRig, angle: float) -> np.ndarray:
    """The lower arm turned about the arm [rad]."""
    return rig.pose_of(rig.character.rig.turned({"lower": angle * along(rig)}))


def along(rig: SkeletonRig) -> np.ndarray:
    """From the upper to the lower joint."""
    x = rig.character.rig.world(rig.character.rig.rest)[:, :3, 3]
    way = x[2] - x[1]
    return way / np.linalg.norm(way)


def half_way(rig: SkeletonRig) -> np.ndarray:
    """Vertices that follow both bones alike."""
    found = np.flatnonzero(np.isclose(rig.character.skin.weights, 0.5).all(axis=1))
    assert len(found)
    return found


@BOTH
def test_the_neutral_pose_is_the_one_at_rest(blend: Blend) -> None:
    for scale in (1.0, 100.0):
        character = arm(scale=scale)
        rig = SkeletonRig(character, blend)
        rest = character.surface().vertices
        assert rig.vertices(rig.neutral) == pytest.approx(rest, abs=1e-12)
        turns = np.tile(np.eye(3), (len(rest), 1, 1))
        assert rig.frames(rig.neutral) == pytest.approx(turns, abs=1e-12)
        assert rig.features(rig.neutral) == pytest.approx(0.0, abs=1e-14)


@BOTH
def test_poses_come_back(blend: Blend) -> None:
    character = arm()
    rig, pose = SkeletonRig(character, blend), some_pose(character)
    times = np.array([0.0, 0.3, 0.9])
    poses = rig.poses_of_clip("wave", times)
    assert poses.shape == (3, 30)
    assert rig.pose_of(rig.rig_pose(poses)) == pytest.approx(poses, abs=1e-14)
    if blend is Blend.LINEAR:
        found = np.array([rig.vertices(each) for each in (*poses, rig.pose_of(pose))])
        expected = [*character.vertices_at(times, "wave"), character.posed(pose)]
        assert found == pytest.approx(np.array(expected), abs=1e-13)


def test_the_length_of_quaternions_does_not_matter() -> None:
    rig = SkeletonRig(arm())
    pose = rig.pose_of(some_pose(rig.character))
    longer = pose.reshape(-1, 10).copy()
    longer[:, 3:7] *= [[2.0], [0.3], [-5.0]]
    assert rig.vertices(longer.ravel()) == pytest.approx(rig.vertices(pose), abs=1e-13)


@BOTH
def test_some_vertices_are_those_of_all(blend: Blend) -> None:
    rig = SkeletonRig(arm(), blend)
    pose = rig.pose_of(some_pose(rig.character))
    some = np.array([17, 3, 40, 3])
    assert (rig.vertices(pose, some) == rig.vertices(pose)[some]).all()
    assert (rig.frames(pose, some) == rig.frames(pose)[some]).all()
    d = np.random.default_rng(0).standard_normal((rig.n_vertices, 3))
    assert (rig.before_skin(pose, some, d[some]) == rig.before_skin(pose, None, d)[some]).all()


@BOTH
def test_turned_as_a_whole(blend: Blend) -> None:
    """The surface turns, frames turn along, and features stay."""
    character = arm()
    rig = SkeletonRig(character, blend)
    bent = some_pose(character)
    turn = Rotation.from_rotvec([0.3, -2.0, 1.0])
    p, q = rig.pose_of(bent), rig.pose_of(character.rig.turned({"root": turn}, bent))
    R, origin = turn.as_matrix(), bent.translations[0]
    assert rig.vertices(q) == pytest.approx((rig.vertices(p) - origin) @ R.T + origin, abs=1e-12)
    assert rig.frames(q) == pytest.approx(R @ rig.frames(p), abs=1e-12)
    assert rig.features(q) == pytest.approx(rig.features(p), abs=1e-13)


@BOTH
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_displacements_before_the_skin_give_those_after(blend: Blend, scale: float) -> None:
    character = arm(scale=scale)
    rig = SkeletonRig(character, blend)
    pose = rig.pose_of(some_pose(character, 3))
    after = np.random.default_rng(1).standard_normal((rig.n_vertices, 3))
    before = rig.before_skin(pose, None, after)
    there = SkeletonRig(reshaped(character, character.skin.vertices + before), blend).vertices(pose)
    assert there - rig.vertices(pose) == pytest.approx(after, abs=1e-12)


def test_flattened_surroundings_stay_in_bounds() -> None:
    """By half a turn, linear blends squeeze the middle to a line; what is visible is still met."""
    rig = SkeletonRig(arm())
    pose, middle = twisted(rig, np.pi), half_way(rig)
    A = rig.matrices(pose, middle)
    assert np.linalg.matrix_rank(A[0], tol=1e-6) == 1
    after = np.random.default_rng(1).standard_normal((len(middle), 3))
    before = rig.before_skin(pose, middle, after)
    assert np.linalg.norm(before, axis=1).max() <= np.linalg.norm(after, axis=1).max()
    line = along(rig)
    assert np.einsum("nij,nj->ni", A, before) @ line == pytest.approx(after @ line, abs=1e-12)
    assert np.isfinite(rig.frames(pose)).all()


def test_dual_quaternions_keep_the_volume_of_a_twist() -> None:
    linear, dual = (SkeletonRig(arm(), blend) for blend in Blend)
    full = dual.surface().volume
    for angle in (0.5, 2.0, 3.0):
        pose = twisted(dual, angle)
        assert dual.surface(pose).volume > linear.surface(pose).volume
        assert np.linalg.svd(dual.matrices(pose), compute_uv=False) == pytest.approx(1.0, abs=1e-12)
    assert linear.surface(pose).volume < 0.8 * full
    assert np.linalg.svd(linear.matrices(pose), compute_uv=False).min() < 0.1


def test_twisted_dual_quaternions_turn_by_the_share_of_the_weight() -> None:
    """Half-way between two bones, vertices have turned by half the angle about the joint."""
    rig = SkeletonRig(arm(), Blend.DUAL_QUATERNION)
    angle = 2.6
    pose, middle = twisted(rig, angle), half_way(rig)
    expected = Rotation.from_rotvec(0.5 * angle * along(rig)).as_matrix()
    joint = rig.character.rig.world(rig.character.rig.rest)[2, :3, 3]
    there = (rig.vertices(rig.neutral, middle) - joint) @ expected.T + joint
    assert rig.vertices(pose, middle) == pytest.approx(there, abs=1e-12)
    assert np.abs(rig.frames(pose, middle) - expected).max() < 1e-12


@BOTH
def test_frames_are_the_rotations_nearest_to_finite_differences(blend: Blend) -> None:
    """By how the vertices move where the skin, with the same weights, is a little elsewhere."""
    character = arm()
    pose = some_pose(character, 5)
    X, h = character.skin.vertices, 1e-5

    def at(shift: np.ndarray, p: np.ndarray) -> np.ndarray:
        return SkeletonRig(reshaped(character, X + shift), blend).vertices(p)

    rig = SkeletonRig(character, blend)
    p = rig.pose_of(pose)
    there, rest = (
        np.stack([(at(h * e, q) - at(-h * e, q)) / (2 * h) for e in np.eye(3)], axis=2)
        for q in (p, rig.neutral)
    )
    U, _, Vt = np.linalg.svd(there @ np.linalg.inv(rest))
    assert np.linalg.det(U @ Vt) == pytest.approx(1.0)
    assert rig.frames(p) == pytest.approx(U @ Vt, abs=1e-8)


def test_near_poses_differ_by_angles() -> None:
    character = arm()
    rig = SkeletonRig(character)
    bent = some_pose(character)
    for angle in (1e-3, 0.1):
        turned = character.rig.turned({"lower": (0, angle, 0)}, bent)
        apart = rig.features(rig.pose_of(turned)) - rig.features(rig.pose_of(bent))
        assert np.linalg.norm(apart) == pytest.approx(2 * np.sin(angle / 2), rel=1e-9)


def test_features_know_joints_that_slide_in_some_clip() -> None:
    tight, loose = SkeletonRig(arm()), SkeletonRig(arm(loose=True))
    assert tight.features(tight.neutral).shape == (9,)
    assert loose.features(loose.neutral).shape == (12,)
    start, end = loose.poses_of_clip("slide", [0.0, 1.0])
    size = np.ptp(loose.vertices(loose.neutral), axis=0).max()
    pulled = (loose.features(end) - loose.features(start))[9:]
    assert np.linalg.norm(pulled) == pytest.approx(0.2 / (0.1 * size))


def test_features_know_joints_of_loose_triangles_with_one_bone_each() -> None:
    """Every triangle has vertices of its own, which follow one bone."""
    character = arm()
    skin = character.skin
    corners = skin.triangles.ravel()
    lower = (skin.vertices[skin.triangles].mean(axis=1)[:, 0] > 0.5).astype(int)
    x, triangles = skin.vertices[corners], np.arange(len(corners)).reshape(-1, 3)
    follows = np.repeat(lower, 3)[:, None], np.ones((len(corners), 1))
    loose = Skin(x, triangles, skin.joints, skin.inverse_binds, *follows)
    rig = SkeletonRig(replace(character, skin=loose))
    pose = rig.pose_of(character.rig.turned({"lower": (0, 0.1, 0)}))
    assert np.linalg.norm(rig.features(pose)) == pytest.approx(2 * np.sin(0.05))


@BOTH
def test_features_and_vertices_are_continuous(blend: Blend) -> None:
    """Also where the signs of quaternions change."""
    rig = SkeletonRig(arm(), blend)
    angles = np.linspace(-3.0, 3.0, 400)
    poses = [twisted(rig, angle) for angle in angles]
    for found in (rig.features, rig.vertices):
        steps = np.abs(np.diff([found(pose) for pose in poses], axis=0))
        assert steps.max() < 2 * (angles[1] - angles[0])


def test_perturbed_joints_turn_by_degrees_and_the_root_moves_by_millimetres() -> None:
    rig = SkeletonRig(arm())
    rng = np.random.default_rng(0)
    one = some_pose(rig.character)
    near = rig.rig_pose(np.array([rig.perturbed(rig.pose_of(one), rng, 2.0) for _ in range(200)]))
    back = Rotation.from_quat(one.rotations).inv()
    turned = np.max([(back * Rotation.from_quat(q)).magnitude() for q in near.rotations], axis=0)
    assert turned[1:] == pytest.approx(np.deg2rad(2.0), rel=0.05)
    assert turned[0] < 1e-12
    moved = np.abs(near.translations - one.translations).max(axis=0)
    size = np.ptp(rig.vertices(rig.neutral), axis=0).max()
    assert moved[0] == pytest.approx(2e-3 * size / 2.0, rel=0.05)
    assert moved[1:] == pytest.approx(0.0)


def test_bad_poses_are_refused() -> None:
    rig = SkeletonRig(arm())
    refused(r"shape \(29,\); this rig takes \(30,\)", rig.vertices, np.zeros(29))
    flat = rig.neutral.copy()
    flat[13:17] = 0.0
    refused("no rotation for the joint 'upper'", rig.vertices, flat)
    refused("no rotation for the joint 'upper'", rig.rig_pose, flat)
    refused("give an object such as", SkeletonRig, arm(), "linear")
    refused("which names vertex 1000", rig.vertices, rig.neutral, np.array([0, 1000]))
    wrong = rig.neutral, np.array([0]), np.zeros((2, 3))
    refused(r"displacements has shape \(2, 3\)", rig.before_skin, *wrong)


@pytest.mark.parametrize("name", ["quaternius_Cow", "khronos_Fox", "khronos_CesiumMan"])
def test_characters_of_others(assets, name: str) -> None:
    """Linear blends agree with the reader's; dual quaternions are near them at rest."""
    character = read_character(assets / f"characters/{name}.glb")
    clip = next(iter(character.clips))
    linear, dual = (SkeletonRig(character, blend) for blend in Blend)
    size = np.ptp(linear.vertices(linear.neutral), axis=0).max()
    for pose in linear.poses_of_clip(clip, np.linspace(0, 0.5, 4)):
        expected = character.posed(linear.rig_pose(pose))
        assert np.abs(linear.vertices(pose) - expected).max() < 1e-14 * size
        assert np.abs(dual.vertices(pose) - expected).max() < 0.05 * size
        after = 0.01 * size * np.random.default_rng(0).standard_normal(expected.shape)
        before = linear.before_skin(pose, None, after)
        again = np.einsum("nij,nj->ni", linear.matrices(pose), before)
        assert np.abs(again - after).max() < 1e-13 * size
    assert np.abs(dual.vertices(dual.neutral) - linear.vertices(dual.neutral)).max() < 1e-4 * size


def test_morph_targets_are_part_of_the_pose() -> None:
    character = with_targets(arm(scale=100.0))
    rig = SkeletonRig(character)
    assert rig.neutral.shape == (32,)
    assert rig.features(rig.neutral) == pytest.approx(0.0, abs=1e-14)
    pose = rig.pose_of(some_pose(character))
    pose[30:] = (0.2, -0.7)
    assert rig.vertices(pose) == pytest.approx(character.posed(rig.rig_pose(pose)), abs=1e-12)
    some = np.array([3, 1])
    assert (rig.vertices(pose, some) == rig.vertices(pose)[some]).all()
    changed = pose.copy()
    changed[31] = 0.0
    moved = np.abs(np.linalg.norm(rig.vertices(changed) - rig.vertices(pose), axis=1)).max()
    apart = np.linalg.norm(rig.features(changed) - rig.features(pose))
    size = np.ptp(rig.vertices(rig.neutral), axis=0).max()
    assert apart == pytest.approx(moved / (0.1 * size), rel=0.2)
    three, none = (replace(character.rig.rest, weights=np.zeros(k)) for k in (3, 0))
    refused("3 morph weights; this rig has 2", rig.pose_of, three)
    assert rig.pose_of(none)[30:] == pytest.approx(0.0)
