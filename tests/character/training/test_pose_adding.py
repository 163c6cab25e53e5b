"""Poses that are added where they are missing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.arms import arm

import supple as sp
from supple.character.rigs import BendRig, BlackBoxRig, SkeletonRig
from supple.character.tissue.fitting import fitted
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.basis import basis_in_pose, pose_bases
from supple.character.training.building import pose_space_model
from supple.character.training.pose_choice import missing_pose, needed_poses, only

pytestmark = pytest.mark.processors

MESH = sp.TetMesh.box((1.0, 0.24, 0.16), (10, 3, 2), (0.0, -0.12, -0.08))  # no vibrations alike
SKIN, FIXED = MESH.boundary(), MESH.where(x=0)
BEND = BendRig(SKIN, origin=(0.0, 0.0, 0.0))
RIGS = {"with frames": BEND, "black box": BlackBoxRig(BEND.vertices, SKIN.triangles, np.zeros(1))}
BENDS = np.array([[0.0], [0.4], [0.8], [1.6], [2.4], [-2.4]])
FLESH = sp.StVK(young=1e5, poisson=0.4)
BODY = sp.Body(MESH, FLESH, fixed=FIXED, mass_model=sp.LumpedMass())
OPTIONS = {"modes": 4, "size": 8}


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
    for pose in ([0.3], [1.6], [2.0]):
        np.testing.assert_allclose(
            some.vertices(np.array(pose)), alone.vertices(np.array(pose)), atol=1e-9
        )
    np.testing.assert_allclose(narrow.squares, direct.squares, rtol=1e-6)
    np.testing.assert_array_equal(narrow.alignment.parents, direct.alignment.parents)
    np.testing.assert_allclose(narrow.alignment.angles, direct.alignment.angles, atol=1e-6)
    w = np.array([0.2, 0.5, 0.3])
    one, two = (np.sqrt(np.diagonal(b.at(w)[1] @ b.at(w)[1])) for b in (narrow, direct))
    np.testing.assert_allclose(one, two, rtol=1e-5)


def test_poses_are_added_until_none_is_off_by_more(all_poses):
    tet_rig, bases = all_poses
    options = {"max_angle": np.deg2rad(12.0), "most": 6}
    found = needed_poses(tet_rig, BENDS, bases, **options)
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
    sim = model.simulation()
    sim.step([0.1])
    with pytest.raises(sp.InputError, match="max_angle=90"):
        pose_space_model(BEND, poses=BENDS, max_angle=90, **options)


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
