"""Bases of poses: aligned, interpolated, with frames and without."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.character.bent_beam import beam, bent, flat
from tests.character.bodies import FramedRig
from tests.refusals import refused

import supple as sp
from supple.bodies.mass import LumpedMass
from supple.character.rigs import BlackBoxRig
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.alignment import aligned, pose_tree, procrustes, vertex_rotations
from supple.character.training.basis import (
    PoseBases,
    basis_in_pose,
    pose_bases,
    pose_basis,
    posed_body,
)
from supple.character.training.contact import self_contact
from supple.character.training.pose_choice import mean_angle, missing_pose

pytestmark = pytest.mark.processors

BODY = beam()
MESH = BODY.mesh
X = MESH.vertices
N = len(X)
SKIN = MESH.boundary()
MASSES = np.asarray(BODY.mass.diagonal())[::3]
REGIONS = np.stack([np.clip(1.6 - 2 * X[:, 0], 0, 1), np.clip(2 * X[:, 0] - 0.4, 0, 1)])
ANGLES = np.array([[0.0], [1.5], [3.0]])


def bending(pose: np.ndarray) -> np.ndarray:
    return bent(SKIN.vertices, pose[0], up=1)


class TurningRig(FramedRig):
    """Bends, turns as a whole, and knows the turn."""

    triangles, neutral = SKIN.triangles, np.zeros(2)

    def shaped(self, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turn = Rotation.from_rotvec([0.3 * pose[1], 0, pose[1]]).as_matrix()
        return bending(pose) @ turn.T, np.tile(turn, (SKIN.n_vertices, 1, 1))

    def features(self, pose: np.ndarray) -> np.ndarray:
        return pose[:1]


TURNING = TetRig.of(TurningRig(), MESH)
BENDING = TetRig.of(BlackBoxRig(bending, SKIN.triangles, np.zeros(1)), MESH)


@pytest.fixture(scope="module")
def black_box() -> PoseBases:
    return pose_bases(BODY, BENDING, ANGLES, modes=5, size=(8, 6), regions=REGIONS)


def test_tree_joins_the_nearest_poses() -> None:
    assert list(pose_tree(np.array([[0.0], [3.0], [1.0], [2.0], [-1.5]]))) == [-1, 3, 0, 2, 0]
    assert list(pose_tree(np.zeros((1, 2)))) == [-1]


def test_rotations_of_vertices() -> None:
    turn = Rotation.from_rotvec([0.4, 2.0, -1.0]).as_matrix()
    R = vertex_rotations(MESH.cells, X, X @ turn.T + [1.0, 2.0, 3.0])
    assert np.abs(R - turn).max() < 1e-12
    R = vertex_rotations(MESH.cells, X, X * [1.3, 0.8, 1.0])
    assert np.abs(R - np.eye(3)).max() < 1e-12
    # A beam bent by half a turn: around x its cross section has turned by π x.
    R = vertex_rotations(MESH.cells, X, bent(X, np.pi, up=1))
    turned = Rotation.from_matrix(R).as_rotvec()
    assert turned[:, 2] == pytest.approx(np.pi * X[:, 0], abs=0.25)
    assert np.abs(turned[:, :2]).max() < 0.2


def test_rotations_near_half_a_turn_do_not_cancel() -> None:
    """Quaternions q and −q are one rotation; around π their signs differ from cell to cell."""
    noise = 0.02 * np.random.default_rng(0).standard_normal(X.shape) * 0.05
    for axis in np.eye(3):
        turn = Rotation.from_rotvec(np.pi * axis).as_matrix()
        R = vertex_rotations(MESH.cells, X, (X + noise) @ turn.T)
        assert np.linalg.norm(R - turn, axis=(1, 2)).max() < 0.1


def test_procrustes_undoes_any_mixing() -> None:
    U = pose_basis(BODY, modes=4, size=6).vectors.transpose(1, 2, 0)
    mixing = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    Q, angles = procrustes(U @ mixing, U, MASSES)
    assert U @ mixing @ Q == pytest.approx(U, abs=1e-9)
    assert np.abs(angles).max() < 1e-6


def test_alignment_before_procrustes_finds_the_turned_basis() -> None:
    """Fig. 7: the same body turned by 90° has the same modes, turned."""
    turn = Rotation.from_rotvec([0, 0, np.pi / 2]).as_matrix()
    places = np.stack([X, X @ turn.T])
    U = pose_basis(BODY, modes=5, size=8).vectors.transpose(1, 2, 0)
    mixing = np.linalg.qr(np.random.default_rng(2).standard_normal((8, 8)))[0]
    bases = np.stack([U, turn @ U @ mixing])
    features, one = np.array([[0.0], [1.0]]), np.zeros(8, dtype=np.int64)
    found = aligned(bases, places, MESH.cells, MASSES, features, one)
    assert found.bases[1] == pytest.approx(turn @ U, abs=1e-9)
    assert found.angles.max() < 1e-6
    assert procrustes(bases[1], bases[0], MASSES)[1].max() > 1.0  # [rad]


def test_frames_are_taken_off() -> None:
    """A rig that turns as a whole and knows it has the same basis in all poses."""
    found = pose_bases(BODY, TURNING, np.array([[0.0, 0.0], [1e-9, 2.5]]), modes=4, size=6)
    assert found.bases[1] == pytest.approx(found.bases[0], abs=1e-5)
    assert mean_angle(found.alignment.angles).max() < 1e-6


def test_frames_and_black_box_span_the_same() -> None:
    pose = np.array([1.2, 0.8])
    framed = pose_bases(BODY, TURNING, np.stack([np.zeros(2), pose]), modes=4, size=6)
    world = TURNING.frames(pose) @ framed.bases[1]
    direct = pose_basis(posed_body(BODY, TURNING.vertices(pose)), modes=4, size=6).vectors
    cosines = flat(direct).T @ (np.repeat(MASSES, 3)[:, None] * world.reshape(3 * N, 6))
    assert np.linalg.svd(cosines, compute_uv=False) == pytest.approx(1.0, abs=1e-9)


def test_interpolation_is_exact_at_the_poses(black_box: PoseBases) -> None:
    for k, pose in enumerate(ANGLES):
        w = black_box.weights(pose)
        assert black_box.shapes(w) == pytest.approx(black_box.bases[k], abs=1e-11)
        upsilon, mass = black_box.at(w)
        assert upsilon == pytest.approx(1.0, abs=1e-12)
        assert mass == pytest.approx(black_box.gram[k, k], abs=1e-12)


def test_reduced_mass_is_that_of_the_interpolated_basis(black_box: PoseBases) -> None:
    for angle in np.linspace(-0.5, 3.5, 9):
        w = black_box.weights(np.array([angle]))
        U = black_box.shapes(w)
        _, mass = black_box.at(w)
        assert np.einsum("nak,n,nal->kl", U, MASSES, U) == pytest.approx(mass, abs=1e-12)
        assert np.diagonal(mass) == pytest.approx(1.0, abs=1e-12)
    some = np.array([3, 1, 7])
    assert black_box.shapes(w, some) == pytest.approx(U[some], abs=1e-14)


def test_bases_are_continuous_along_a_path_through_all_poses(black_box: PoseBases) -> None:
    """Halving the step halves the largest change, poses included: no jump."""

    def largest(steps: int) -> float:
        path = np.linspace(-0.3, 3.3, steps + 1)[:, None]
        U = [black_box.shapes(black_box.weights(p)) for p in path]
        moves = [np.sqrt(np.einsum("nar,n,nar->r", d, MASSES, d)) for d in np.diff(U, axis=0)]
        return float(np.max(moves))

    assert largest(80) == pytest.approx(0.5 * largest(40), rel=0.1)


def test_columns_stay_in_their_regions(black_box: PoseBases) -> None:
    assert black_box.regions.tolist() == [0] * 8 + [1] * 6
    for region, member in enumerate(black_box.members):
        assert not black_box.bases[..., black_box.regions == region][:, ~member].any()
    own = black_box.bases[1][..., :8].reshape(3 * N, 8)
    assert own.T @ (np.repeat(MASSES, 3)[:, None] * own) == pytest.approx(np.eye(8), abs=1e-9)


def test_aligned_bases_keep_their_norm_half_way() -> None:
    """Far poses are joined through those between; half-way columns keep most of their norm."""
    bases = pose_bases(BODY, BENDING, ANGLES, modes=5, size=8)
    assert bases.alignment.parents.tolist() == [-1, 0, 1]
    assert (bases.at(bases.weights(np.array([0.75])))[0] < 1.6).all()


def test_a_pose_is_missed_most_far_from_the_known_ones() -> None:
    """The test of §5.1 with own bases at poses between and beyond: the farthest is the worst."""
    known = np.array([[0.0, 0.0], [1.5, 1.0]])
    bases = pose_bases(BODY, TURNING, known, modes=5, size=8)
    tried = np.array([[0.0, 0.3], [0.75, 0.5], [3.0, 0.5], [1.5, -1.0]])
    own = partial(basis_in_pose, BODY, TURNING, modes=5, size=8)
    found = missing_pose(TURNING.rig, known, bases.bases, tried, own, bases.masses)
    assert found.index == 2
    assert found.means[[0, 3]].max() < 1e-6  # known ones, turned as a whole
    assert 0.0 < found.means[1] < found.means[2]


def test_contact_of_a_pose_is_kept_by_its_basis() -> None:
    """A beam bent to a ring: its free end slides on the fixed one, found or given."""
    poses = np.array([[0.0], [2 * np.pi - 0.05]])
    touching = self_contact(sp.TetMesh(BENDING.vertices(poses[1]), MESH.cells), MESH)
    assert set(touching.vertices) in (set(MESH.where(x=0)), set(MESH.where(x=1)))
    found = pose_bases(BODY, BENDING, poses, modes=5, size=8, contact=True)
    given = pose_bases(BODY, BENDING, poses, modes=5, size=8, contact=[None, touching])
    assert found.bases == pytest.approx(given.bases, abs=1e-12)
    U = found.bases.reshape(2, 3 * N, 8)
    straight, ring = (np.abs(touching.rows(N) @ u).max() for u in U)
    assert ring <= 1e-10 * np.abs(U[1]).max()
    assert straight > 0.01 * np.abs(U[0]).max()


def test_stiffness_may_change_with_the_pose() -> None:
    young = np.outer([1e5, 3e5], np.ones(BODY.n_cells))
    plain = pose_bases(BODY, BENDING, ANGLES[:2], modes=4, size=6)
    stiffer = pose_bases(BODY, BENDING, ANGLES[:2], modes=4, size=6, young=young)
    assert stiffer.squares == pytest.approx(plain.squares * [[1.0], [3.0]], rel=1e-6)


def test_what_cannot_be_used_is_refused() -> None:
    heavy = sp.Body(MESH, BODY.material, fixed=BODY.fixed)
    refused("lumped mass", pose_bases, heavy, BENDING, ANGLES)
    refused("contact has 1 entries for 3 poses", pose_bases, BODY, BENDING, ANGLES, contact=[None])
    refused(r"pose 1: \d+ cells are inside out", pose_bases, BODY, BENDING, [[0.0], [12.0]], size=4)
    bricks = sp.Body(sp.HexMesh.box((1, 1, 1), (2, 2, 2)), BODY.material, mass_model=LumpedMass())
    refused("a body of tets", pose_bases, bricks, BENDING, ANGLES)
