"""Bends, wires, lattices and blend shapes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.character.arms import BAR, arm, some_pose
from tests.refusals import refused

import supple as sp
from supple.character.model.weights import PoseWeights
from supple.character.rigs import (
    BendRig,
    BlackBoxRig,
    BlendShapeRig,
    LatticeBasis,
    LatticeRig,
    PoseRig,
    PoseSpaceDeformation,
    SkeletonRig,
    WireRig,
)
from supple.character.training.preparing import chosen_poses

LINE = np.array([(0.0, 0.1, 0.1), (0.4, 0.1, 0.1), (0.7, 0.1, 0.1), (1.0, 0.1, 0.1)])
SOME = np.array([17, 3, 40, 3])


def smile() -> np.ndarray:
    """Two shapes: longer, and with the ends lifted."""
    shapes = np.zeros((2, BAR.n_vertices, 3))
    shapes[0, :, 0] = BAR.vertices[:, 0]
    shapes[1, :, 2] = (BAR.vertices[:, 0] - 0.5) ** 2
    return shapes


RIGS: dict[str, PoseRig] = {
    "bend": BendRig(BAR),
    "bend of a part": BendRig(BAR, about=(0, 1, 1), origin=(0.1, 0, 0), bounds=(0.2, 0.6)),
    "wire": WireRig(BAR, LINE, radius=0.3),
    "lattice": LatticeRig(BAR),
    "trilinear lattice": LatticeRig(BAR, (4, 2, 2), LatticeBasis.TRILINEAR),
    "blend shapes": BlendShapeRig(BAR, smile()),
}
ALL = pytest.mark.parametrize("name", list(RIGS))


def at_random(rig: PoseRig, seed: int = 0, size: float = 0.1) -> np.ndarray:
    return size * np.random.default_rng(seed).standard_normal(len(rig.neutral))


def elsewhere(rig: PoseRig, surface: sp.Surface) -> PoseRig:
    """The same deformer on another surface that it was not fitted to."""
    if isinstance(rig, BendRig):
        return BendRig(surface, rig.along, rig.about, rig.origin, rig.bounds)
    assert isinstance(rig, LatticeRig)
    return LatticeRig(surface, rig.counts, rig.basis, rig.low, rig.high)


@ALL
def test_the_neutral_pose_is_the_surface(name: str) -> None:
    rig = RIGS[name]
    assert rig.vertices(rig.neutral) == pytest.approx(BAR.vertices, abs=1e-15)
    frames = rig.frames(rig.neutral)
    if frames is not None:
        assert frames == pytest.approx(np.tile(np.eye(3), (BAR.n_vertices, 1, 1)), abs=1e-12)
    assert (rig.triangles == BAR.triangles).all()


@ALL
def test_some_vertices_are_those_of_all(name: str) -> None:
    rig = RIGS[name]
    pose = at_random(rig)
    assert rig.vertices(pose, SOME) == pytest.approx(rig.vertices(pose)[SOME], abs=1e-15)
    frames = rig.frames(pose)
    if frames is not None:
        assert rig.frames(pose, SOME) == pytest.approx(frames[SOME], abs=1e-12)


@ALL
def test_perturbed_poses_are_near(name: str) -> None:
    rig = RIGS[name]
    p, rng = at_random(rig), np.random.default_rng(0)
    near, nearer = (np.abs([rig.perturbed(p, rng, s) - p for _ in range(50)]) for s in (2.0, 1.0))
    assert near.max() == pytest.approx(2 * nearer.max(), rel=0.1)
    assert (near.max(axis=0) > 0).all()


@ALL
def test_poses_of_another_size_are_refused(name: str) -> None:
    rig = RIGS[name]
    refused("this rig takes", rig.vertices, np.zeros(len(rig.neutral) + 1))


@pytest.mark.parametrize("name", ["bend", "bend of a part", "lattice"])
def test_frames_are_the_rotations_nearest_to_finite_differences(name: str) -> None:
    rng, h = np.random.default_rng(2), 1e-6
    places = rng.uniform(BAR.bounds[0] + 0.01, BAR.bounds[1] - 0.01, (40, 3))
    triangles = np.arange(39).reshape(-1, 3)
    pose = at_random(RIGS[name], 1, 2.0 if "bend" in name else 0.1)

    def moved(shift: np.ndarray) -> np.ndarray:
        return elsewhere(RIGS[name], sp.Surface(places + shift, triangles)).vertices(pose)

    F = np.stack([(moved(h * e) - moved(-h * e)) / (2 * h) for e in np.eye(3)], axis=2)
    U, _, Vt = np.linalg.svd(F)
    assert np.linalg.det(U @ Vt) == pytest.approx(1.0)
    frames = elsewhere(RIGS[name], sp.Surface(places, triangles)).frames(pose)
    assert frames == pytest.approx(U @ Vt, abs=1e-7)


def test_a_bent_bar_is_part_of_a_ring() -> None:
    """A quarter of a ring about y whose middle line keeps its length."""
    bar = sp.Surface(BAR.vertices - [0.0, 0.1, 0.1], BAR.triangles)
    rig = BendRig(bar, along=(1, 0, 0), about=(0, -1, 0), origin=(0, 0, 0))
    x = rig.vertices(np.array([np.pi / 2]))
    radius = 2 / np.pi
    far = np.hypot(x[:, 0], x[:, 2] - radius)
    assert far == pytest.approx(radius - bar.vertices[:, 2], abs=1e-12)
    assert x[:, 1] == pytest.approx(bar.vertices[:, 1], abs=1e-15)
    end = np.argmax(bar.vertices[:, 0])
    turn = Rotation.from_rotvec([0, -np.pi / 2, 0]).as_matrix()
    assert rig.frames(np.array([np.pi / 2]), np.array([end]))[0] == pytest.approx(turn, abs=1e-12)


def test_beyond_its_bounds_a_bar_stays_straight() -> None:
    rig = BendRig(BAR, about=(0, -1, 0), origin=(0, 0.1, 0.1), bounds=(0.3, 0.6))
    x = rig.vertices(np.array([1.0]))
    near, far = BAR.vertices[:, 0] < 0.29, BAR.vertices[:, 0] > 0.61
    assert x[near] == pytest.approx(BAR.vertices[near], abs=1e-14)
    moved = Rotation.from_rotvec([0, -1.0, 0]).apply(BAR.vertices[far])
    assert np.ptp(x[far] - moved, axis=0) == pytest.approx(0.0, abs=1e-12)


def test_a_wire_drags_what_is_on_it_and_leaves_what_is_far() -> None:
    plane = sp.Surface([(0.5, 0, 0), (0.5, 0.1, 0), (0.5, 0.4, 0)], [[0, 1, 2]])
    line = np.array([(x, 0.0, 0.0) for x in np.linspace(0, 1, 5)])
    heights = WireRig(plane, line, radius=0.2).vertices(np.tile([0.0, 0, 0.3], 5))[:, 2]
    assert heights == pytest.approx([0.3, 0.3 * 0.75**2, 0.0], abs=1e-4)
    above = LINE + np.array([0, 0, 0.9])
    refused(r"reaches no vertex; the nearest is 0\.8 m", WireRig, BAR, above, radius=0.1)


@pytest.mark.parametrize("basis", list(LatticeBasis))
def test_affine_moves_of_a_lattice_are_those_of_the_body(basis: LatticeBasis) -> None:
    rig = LatticeRig(BAR, (4, 3, 2), basis, low=(-0.1, 0, 0), high=(1.0, 0.2, 0.5))
    points = rig.control_points()
    assert points.shape == (24, 3)
    turn = Rotation.from_rotvec([0.4, -1.0, 2.0]).as_matrix()
    A, t = turn @ np.diag([1.2, 0.9, 1.0]), np.array([0.1, -0.3, 0.2])
    pose = (points @ A.T + t - points).ravel()
    assert rig.vertices(pose) == pytest.approx(BAR.vertices @ A.T + t, abs=1e-12)
    assert rig.frames(pose) == pytest.approx(np.tile(turn, (BAR.n_vertices, 1, 1)), abs=1e-12)


def test_trilinear_lattices_are_local_and_bernstein_ones_are_not() -> None:
    corner = np.zeros((5 * 2 * 2, 3))
    corner[0] = 0.1
    far = BAR.vertices[:, 0] > 0.26
    rigs = (LatticeRig(BAR, (5, 2, 2), basis) for basis in LatticeBasis)
    moved = [np.abs(rig.vertices(corner.ravel()) - BAR.vertices)[far].max() for rig in rigs]
    assert moved[0] > 1e-3
    assert moved[1] == 0


def test_blend_shapes_come_back() -> None:
    shapes = [sp.Surface(BAR.vertices + offset, BAR.triangles) for offset in smile()]
    rig = BlendShapeRig.from_shapes(BAR, shapes)
    assert rig.vertices(np.array([1.0, 0.0])) == pytest.approx(shapes[0].vertices, abs=1e-15)
    half = BAR.vertices + 0.5 * smile()[1]
    assert rig.vertices(np.array([0.0, 0.5])) == pytest.approx(half, abs=1e-15)


def test_bad_deformers_are_refused() -> None:
    refused("at right angles", BendRig, BAR, about=(1, 1, 0))
    refused("has none", BendRig, BAR, about=(0, 0, 0))
    refused("in order", BendRig, BAR, bounds=(0.2, 0.1))
    refused("two or more", WireRig, BAR, LINE[:1], radius=0.1)
    refused("is not within the lattice", LatticeRig, BAR, low=(0.1, 0, 0))
    refused("counts=1", LatticeRig, BAR, (3, 1, 3))
    refused(r"give \(shapes, \d+, 3\)", BlendShapeRig, BAR, np.zeros((2, 3, 3)))
    three = r"shapes\[1\] has vertices of shape \(3, 3\)"
    refused(three, BlendShapeRig.from_shapes, BAR, [BAR, np.eye(3)])
    refused("give an object such as", BendRig, BAR.vertices)


def sculpted(rig, poses: np.ndarray) -> list[sp.Surface]:
    noise = 0.02 * np.random.default_rng(0).standard_normal((len(poses), rig.n_vertices, 3))
    places = [rig.vertices(pose) for pose in poses] + noise
    return [sp.Surface(x, rig.triangles) for x in places]


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
    assert corrected.vertices(rig.neutral) == pytest.approx(rig.vertices(rig.neutral), abs=1e-12)


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
    whole = rig.pose_of(rig.character.rig.turned({"root": (0.5, 1.0, 2.0)}, rig.rig_pose(poses[1])))
    added = corrected.vertices(whole) - rig.vertices(whole)
    was = shapes[1].vertices - rig.vertices(poses[1])
    assert np.linalg.norm(added, axis=1) == pytest.approx(np.linalg.norm(was, axis=1), abs=1e-12)
    assert not np.allclose(added, was)


def test_a_correction_of_the_neutral_pose_is_kept() -> None:
    rig = BendRig(BAR)
    corrected = PoseSpaceDeformation(rig, [[0.0], [1.0]], np.full((2, BAR.n_vertices, 3), 0.01))
    assert len(corrected.poses) == 2
    assert corrected.vertices(rig.neutral) == pytest.approx(BAR.vertices + 0.01)


def test_poses_are_chosen_from_the_clips_of_a_corrected_skeleton() -> None:
    rig = SkeletonRig(arm())
    pose = rig.poses_of_clip("wave", [1.0])
    corrected = PoseSpaceDeformation.from_shapes(rig, pose, sculpted(rig, pose))
    twice = PoseSpaceDeformation.from_shapes(corrected, pose, sculpted(corrected, pose))
    for each in (corrected, twice):
        assert np.array_equal(chosen_poses(each, 2), chosen_poses(rig, 2))
        half = each.between(rig.neutral, -pose[0], 0.5)  # the short way round, as the skeleton does
        assert np.array_equal(half, rig.between(rig.neutral, -pose[0], 0.5))


def test_bad_corrections_are_refused() -> None:
    rig, none = BendRig(BAR), np.zeros((2, BAR.n_vertices, 3))
    refused("poses 1 and 2 are the same", PoseSpaceDeformation, rig, [[1.0], [1.0]], none)
    refused("corrections has shape", PoseSpaceDeformation, rig, [[1.0]], none)
    refused(r"give \(m, 1\)", PoseSpaceDeformation, rig, np.zeros((1, 2)), none[:1])
    refused("1 poses and 2 shapes", PoseSpaceDeformation.from_shapes, rig, [[1.0]], [BAR, BAR])
