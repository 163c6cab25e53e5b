"""Weights of poses, and tet meshes that follow a rig."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.character.bodies import FramedRig
from tests.character.pose_models import beam
from tests.refusals import refused

from supple.character.model.weights import PoseWeights
from supple.character.rigs import BlackBoxRig
from supple.character.tissue.tet_rig import TetRig

MESH = beam()
SKIN = MESH.boundary()


def sheared(pose: np.ndarray) -> np.ndarray:
    x = SKIN.vertices.copy()
    x[:, 2] += pose[0] * x[:, 0]
    return x


SHEARING = BlackBoxRig(sheared, SKIN.triangles, np.zeros(1))


class TurningRig(FramedRig):
    """Turns as a whole, and knows it."""

    triangles, neutral = SKIN.triangles, np.zeros(3)

    def shaped(self, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turn = Rotation.from_rotvec(pose).as_matrix()
        return SKIN.vertices @ turn.T, np.tile(turn, (SKIN.n_vertices, 1, 1))


def test_weights_are_one_at_their_pose_and_add_up_to_one() -> None:
    rng = np.random.default_rng(0)
    features = rng.standard_normal((5, 3))
    weights = PoseWeights.of(features)
    for k, known in enumerate(features):
        assert weights(known) == pytest.approx(np.eye(5)[k], abs=1e-12)
    for other in rng.standard_normal((20, 3)):
        assert weights(other).sum() == pytest.approx(1.0, abs=1e-12)
    assert PoseWeights.of(features[:1])(features[3]) == pytest.approx([1.0])


def test_far_from_all_poses_weights_become_constant() -> None:
    weights = PoseWeights.of([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    one, two = weights(np.array([1e6, 0.0])), weights(np.array([0.0, -1e6]))
    assert one == pytest.approx(two, abs=1e-5)
    assert (one > 0).all()


def test_a_tet_mesh_follows_a_black_box() -> None:
    tet_rig = TetRig.of(SHEARING, MESH)
    assert tet_rig.vertices(np.zeros(1)) == pytest.approx(MESH.vertices, abs=1e-12)
    x = tet_rig.vertices(np.array([0.2]))
    on_surface = np.unique(MESH.boundary_facets())
    wanted = MESH.vertices + 0.2 * MESH.vertices[:, :1] * [0, 0, 1]
    assert x[on_surface] == pytest.approx(wanted[on_surface], abs=1e-6)
    assert tet_rig.frames(np.array([0.2])) is None
    some = np.array([5, 2, 30])
    assert tet_rig.vertices(np.array([0.2]), some) == pytest.approx(x[some], abs=1e-14)


def test_frames_turn_the_inside_along() -> None:
    tet_rig = TetRig.of(TurningRig(), MESH)
    pose = np.array([0.5, 2.0, -1.0])
    turn = Rotation.from_rotvec(pose).as_matrix()
    assert tet_rig.vertices(pose) == pytest.approx(MESH.vertices @ turn.T, abs=1e-12)
    frames = tet_rig.frames(pose)
    assert frames is not None
    assert frames == pytest.approx(np.tile(turn, (len(MESH.vertices), 1, 1)), abs=1e-12)


def test_corrections_are_met_at_their_poses() -> None:
    rng = np.random.default_rng(1)
    poses = np.array([[0.0, 0, 0], [0.0, 0, 2.0]])
    corrections = 0.01 * rng.standard_normal((2, len(MESH.vertices), 3))
    plain = TetRig.of(TurningRig(), MESH)
    tet_rig = plain.corrected(PoseWeights.of(poses), corrections)
    for pose, given in zip(poses, corrections, strict=True):
        moved = tet_rig.vertices(pose) - plain.vertices(pose)
        assert moved == pytest.approx(given @ Rotation.from_rotvec(pose).as_matrix().T, abs=1e-12)


def test_a_rig_that_gives_nonsense_is_refused() -> None:
    nothing = np.full((4, 3), np.nan)
    refused("must give finite", BlackBoxRig, lambda _: nothing, SKIN.triangles, np.zeros(1))
    refused("this rig takes", SHEARING.vertices, np.zeros(2))
