"""Which poses get a model of their own: chosen, or added where they are needed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from tests.character.arms import BAR, arm
from tests.refusals import refused

import supple as sp
from supple.character.rigs import BendRig, BlackBoxRig, SkeletonRig
from supple.character.tissue.fitting import fitted
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.basis import basis_in_pose, pose_bases
from supple.character.training.building import pose_space_model
from supple.character.training.pose_choice import (
    candidates_of,
    choose_poses,
    mean_angle,
    missing_pose,
    needed_poses,
    only,
)

pytestmark = pytest.mark.processors

RIG = BendRig(BAR)
MESH = sp.TetMesh.box((1.0, 0.24, 0.16), (10, 3, 2), (0.0, -0.12, -0.08))  # no vibrations alike
SKIN, FIXED = MESH.boundary(), MESH.where(x=0)
BEND = BendRig(SKIN, origin=(0.0, 0.0, 0.0))
RIGS = {"with frames": BEND, "black box": BlackBoxRig(BEND.vertices, SKIN.triangles, np.zeros(1))}
BENDS = np.array([[0.0], [0.4], [0.8], [1.6], [2.4], [-2.4]])
FLESH = sp.StVK(young=1e5, poisson=0.4)
BODY = sp.Body(MESH, FLESH, fixed=FIXED, mass_model=sp.LumpedMass())
OPTIONS = {"modes": 4, "size": 8}


def test_candidates_are_poses_of_the_clips() -> None:
    character = arm(loose=True)
    rig = SkeletonRig(character)
    found = candidates_of(character, rate=10.0)
    assert found.shape == (22, 30)
    assert found[:11] == pytest.approx(rig.poses_of_clip("wave", np.linspace(0, 1, 11)))
    assert candidates_of(character, "slide", rate=10.0) == pytest.approx(found[11:])
    refused("there is no clip 'jump'", candidates_of, character, ["jump"])


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
    features, known = ([rig.features(pose) for pose in poses] for poses in (candidates, chosen))
    assert cdist(features, known).min(axis=1).max() <= 0.2
    assert pdist(known).min() > 0.2
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
    turned = 0.5 * np.pi * np.sin(0.5 * np.pi * candidates) ** 2
    assert found.angles == pytest.approx(turned * [1.0, 0.0], abs=1e-7)
    assert found.angle == found.means[4] == pytest.approx(np.pi / 4)
    assert calls[-1][:2] == (9, 9)


def test_mean_angles() -> None:
    assert mean_angle([0.3, 0.3]) == pytest.approx(0.3)
    assert mean_angle([[np.pi / 2, 0.0], [0.0, 0.0]]) == pytest.approx([np.pi / 4, 0.0])


def test_bad_poses_and_bases_are_refused() -> None:
    refused(r"candidates have shape \(2,\)", choose_poses, RIG, [0.0, 1.0], 2)
    refused("count=0", choose_poses, RIG, [[0.0]], 0)
    for message, n, candidates in (
        (r"give \(1, 2, 3, r\)", 3, [[0.0]]),
        ("no candidates", 2, np.empty((0, 1))),
    ):
        known = RIG, [[0.0]], np.zeros((1, n, 3, 2))
        refused(message, missing_pose, *known, candidates, turning_basis, np.ones(2))


@pytest.fixture(scope="module", params=list(RIGS))
def all_poses(request):
    tet_rig = fitted(TetRig.of(RIGS[request.param], MESH), BENDS)
    return tet_rig, pose_bases(BODY, tet_rig, BENDS, **OPTIONS)


def test_some_of_the_poses_are_as_if_there_were_no_others(all_poses):
    tet_rig, bases = all_poses
    which = np.array([0, 4, 2])
    some, narrow = only(tet_rig, BENDS, bases, which)
    alone = fitted(TetRig.of(tet_rig.rig, MESH), BENDS[which])
    direct = pose_bases(BODY, alone, BENDS[which], **OPTIONS)
    for pose in np.array([[0.3], [1.6], [2.0]]):
        np.testing.assert_allclose(some.vertices(pose), alone.vertices(pose), atol=1e-9)
    np.testing.assert_allclose(narrow.squares, direct.squares, rtol=1e-6)
    np.testing.assert_array_equal(narrow.alignment.parents, direct.alignment.parents)
    np.testing.assert_allclose(narrow.alignment.angles, direct.alignment.angles, atol=1e-6)
    w = np.array([0.2, 0.5, 0.3])
    one, two = (np.sqrt(np.diagonal(b.at(w)[1] @ b.at(w)[1])) for b in (narrow, direct))
    np.testing.assert_allclose(one, two, rtol=1e-5)


def test_poses_are_added_until_none_is_off_by_more(all_poses):
    tet_rig, bases = all_poses
    found = needed_poses(tet_rig, BENDS, bases, max_angle=np.deg2rad(12.0), most=6)
    assert found.which[0] == 0
    assert 1 < len(found.which) < 6
    assert len(found.angles) == len(found.which)
    assert found.angles[-1] <= np.deg2rad(12.0) < found.angles[-2]
    # said independently, with bases that the other poses have by themselves
    some, narrow = only(tet_rig, BENDS, bases, found.which)
    left = np.setdiff1d(np.arange(6), found.which)

    def own(pose):
        return basis_in_pose(BODY, tet_rig, pose, modes=4, size=[8])

    asked = missing_pose(some.rig, BENDS[found.which], narrow.bases, BENDS[left], own, bases.masses)
    assert asked.angle == pytest.approx(found.angles[-1], abs=1e-6)


def test_no_more_than_asked_for_and_all_at_most(all_poses):
    tet_rig, bases = all_poses
    few = needed_poses(tet_rig, BENDS, bases, max_angle=1e-9, most=3)
    assert len(few.which) == 3
    assert few.angles[-1] > 0
    every = needed_poses(tet_rig, BENDS, bases, max_angle=1e-9, most=99)
    assert sorted(every.which) == list(range(6))
    assert every.angles[-1] == 0.0
    assert needed_poses(tet_rig, BENDS, bases, max_angle=1.5, most=9).which.tolist() == [0]


def test_model_with_the_poses_that_it_needs():
    options = {"volume": MESH, "fixed": FIXED, "material": FLESH}
    model = pose_space_model(BEND, poses=BENDS, max_angle=12, samples=10, **options, **OPTIONS)
    missing = model.measured["missing"]
    assert missing[-1] <= 12 < missing[-2]
    assert len(missing) == model.n_poses < 6
    same = pose_space_model(BEND, poses=model.poses, samples=10, **options, **OPTIONS)
    np.testing.assert_array_equal(same.poses, model.poses)
    np.testing.assert_allclose(same.squares, model.squares, rtol=1e-6)
    assert same.measured["missing"] == []
    model.simulation().step([0.1])
    refused("max_angle=90", pose_space_model, BEND, poses=BENDS, max_angle=90, **options)


@pytest.mark.filterwarnings("ignore::supple.reduction.cubature.cubature.CubatureWarning")
def test_a_number_is_the_most_that_clips_give():
    rig = SkeletonRig(arm())
    mesh = sp.HexMesh.voxelize(rig.surface(), 12).tetrahedra()
    fixed = np.linalg.norm(mesh.vertices - mesh.vertices.mean(axis=0), axis=1) < 0.3
    model = pose_space_model(
        rig, volume=mesh, fixed=fixed, poses=2, max_angle=0.1, samples=10, **OPTIONS
    )
    assert model.n_poses == 2
    assert len(model.measured["missing"]) == 2
