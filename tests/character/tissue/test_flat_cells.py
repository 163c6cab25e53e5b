"""Cells that a rig presses flat, or turns inside out, on its way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.character.pose_models import beam, model_of
from tests.character.posts import post

import supple as sp
from supple._kernels.character.basis import CLEAR, SMALL, THIN, thicken
from supple.character.rigs import BlackBoxRig, SkeletonRig

RNG = np.random.default_rng(5)


def stretched(stretches) -> np.ndarray:
    """A matrix with these singular values and turned at random."""
    left, right = Rotation.random(2, random_state=RNG).as_matrix()
    return left @ np.diag(stretches) @ right.T


def thickened(J: np.ndarray) -> tuple[np.ndarray, float]:
    inverse = np.empty((3, 3))
    det = thicken(np.ascontiguousarray(J), inverse)
    return inverse, det


@pytest.mark.parametrize("stretches", [(1, 1, 1), (3, 0.5, 0.2), (1, 0.9, 0.1), (0.2, 0.06, 0.04)])
def test_sound_cells_are_as_they_are(stretches):
    J = stretched(stretches)
    inverse, det = thickened(J)
    np.testing.assert_allclose(inverse, np.linalg.inv(J), rtol=1e-10)
    assert det == pytest.approx(np.prod(stretches))


def test_cells_that_are_not_looked_at_are_sound():
    """The quick test, det J > CLEAR |J|³, lets none pass that would be thickened."""
    for _ in range(3000):
        s = np.sort(10.0 ** RNG.uniform(-2.5, 0.5, 3))[::-1]
        if np.prod(s) > CLEAR * np.sum(s**2) ** 1.5 and np.sum(s**2) > 3 * SMALL**2:
            assert s[0] >= SMALL
            assert s[2] >= THIN * np.sqrt(s[0] * s[1])
            assert s[1] >= THIN * s[0]


@pytest.mark.parametrize(
    "stretches",
    [(1, 1, 0.0), (1, 1, -0.7), (2, 1e-9, -1e-9), (1, 0, 0), (5, 3, -2), (1, 0.02, 0.01)],
)
def test_flat_cells_have_a_thickness(stretches):
    inverse, det = thickened(stretched(stretches))
    assert det > 0
    assert np.linalg.det(inverse) == pytest.approx(1 / det)
    s = 1 / np.linalg.svd(inverse, compute_uv=False)[::-1]
    assert s[0] == pytest.approx(stretches[0])
    assert s[1] >= THIN / 2 * s[0]
    assert s[2] >= THIN / 2 * np.sqrt(s[0] * s[1]) * (1 - 1e-9)


def test_cells_that_shrink_keep_their_form():
    for size in (0.0, 1e-200, 1e-3, 0.1):
        inverse, det = thickened(size * np.eye(3))
        assert np.cbrt(det) == pytest.approx(1 / inverse[0, 0])
        assert SMALL / 2 <= np.cbrt(det) < SMALL
        np.testing.assert_allclose(inverse, inverse[0, 0] * np.eye(3), atol=1e-12)


def test_thickness_goes_on_smoothly():
    """Through flat and on to inside out, the inverse and its slope have no jump."""
    one, two = Rotation.random(2, random_state=RNG).as_matrix()
    t = np.linspace(0.4, -0.6, 2001)
    found = np.array([thickened(one @ np.diag((1.2, 0.8, each)) @ two.T)[0] for each in t])
    steps = np.diff(found, axis=0)
    assert np.abs(steps).max() < 0.1
    assert np.abs(np.diff(steps, axis=0)).max() < 0.02 * np.abs(steps).max()


# -- in motion -----------------------------------------------------------------------------

MESH = beam()
SKIN = MESH.boundary()
HANGING = {"gravity": (0, 0, -9.81), "damping": sp.Rayleigh(mass=1.0, stiffness=1e-3)}


def pressed(pose: np.ndarray) -> np.ndarray:
    """The outer half of the bar, flatter and flatter: flat at 1, inside out beyond."""
    x = SKIN.vertices.copy()
    share = 1 - pose[0] * np.clip((x[:, 0] - 0.4) / 0.2, 0, 1)
    x[:, 2] = 0.15 + (x[:, 2] - 0.15) * share
    return x


@pytest.mark.parametrize("material", [sp.StVK, sp.StableNeoHookean], ids=lambda m: m.__name__)
def test_flesh_goes_through_a_flat_pose(material):
    rig = BlackBoxRig(pressed, SKIN.triangles, np.zeros(1), 0.02)
    soft = material(young=2e4, poisson=0.4)
    model = model_of(rig, MESH, np.array([[0.0], [0.5]]), 8, material=soft)
    sim = sp.PoseSimulation(model, **HANGING)
    moved = []
    for k in range(121):
        sim.step([k / 60])  # no StepFailed
        moved.append(sim.displacements())
    assert np.abs(moved).max() < 1.0
    assert np.abs(np.diff(moved, 2, axis=0)).max() < 0.05  # no jerk


@pytest.mark.filterwarnings("ignore::supple.reduction.cubature.cubature.CubatureWarning")
@pytest.mark.parametrize("axes", [(7, 8, 9), (7,)], ids=["to nothing", "to its mirror image"])
def test_a_joint_may_be_scaled_away(tmp_path, axes):
    """Files hide parts of a character so."""
    rig = SkeletonRig(sp.read_character(post(tmp_path)))
    mesh = sp.HexMesh.voxelize(rig.surface(), 9).tetrahedra()
    low = np.flatnonzero(mesh.vertices[:, 2] < 0.2)
    options = {"size": 5, "modes": 3, "samples": 10}
    sim = sp.pose_space_model(rig, volume=mesh, fixed=low, poses=2, **options).simulation(**HANGING)
    pose, moved = rig.neutral.copy(), []
    joint = pose[: 10 * rig.character.rig.n_joints].reshape(-1, 10)[-1]
    for k in range(50):
        joint[list(axes)] = max(1 - k / 20, 0.0 if len(axes) == 3 else -1.0)
        sim.step(pose)
        moved.append(np.abs(sim.surface_displacements()).max())
    assert max(moved) < 0.3
