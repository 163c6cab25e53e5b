"""Tet meshes fitted to poses (pose space paper, Eq. 3)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.character.bodies import ROD, BendingRod
from tests.refusals import refused

import supple as sp
from supple.character.rigs import BlackBoxRig
from supple.character.tissue import fitting
from supple.character.tissue.fitting import _Fit, fit_quality, fitted, sound_cells
from supple.character.tissue.tet_rig import TetRig
from supple.character.tissue.volume import character_volume

POSES = np.array([[0.0], [1.6], [-1.0]])


@pytest.fixture(scope="module")
def bending() -> tuple[TetRig, sp.Embedding]:
    rig = BendingRod()
    volume = character_volume(rig, edge=0.11, method="voxels")  # in between the rod's vertices
    return TetRig.of(rig, volume.mesh), volume.skin


def test_fitting_mends_inverted_tets_and_brings_the_surface_closer(bending):
    plain, skin = bending
    better = fitted(plain, POSES, gamma=0.2, skin=skin)
    before, after = fit_quality(plain, POSES, skin), fit_quality(better, POSES, skin)
    assert before.inverted.max() > 0
    assert not after.inverted.any()
    assert (after.errors[1:] < 0.7 * before.errors[1:]).all()
    assert after.errors.max() < 0.1
    for pose in POSES:  # each pose can be the rest shape of a body
        sp.TetMesh(better.vertices(pose), plain.mesh.cells)


def test_the_neutral_pose_stays_as_it_is(bending):
    plain, skin = bending
    better = fitted(plain, POSES[:2], skin=skin)
    assert better.corrections is not None
    assert not better.corrections[0].any()
    assert better.vertices(POSES[0]) == pytest.approx(plain.mesh.vertices, abs=1e-12)


def test_a_larger_gamma_distorts_tets_less(bending):
    plain, skin = bending
    energies, errors = [], []
    body = sp.Body(plain.mesh, sp.NeoHookean(young=1.0, poisson=0.3))
    for gamma in (0.1, 10.0):
        x = fitted(plain, POSES[2:], gamma=gamma, skin=skin).vertices(POSES[2])
        energies.append(body.energy(x - plain.mesh.vertices))
        errors.append(float(np.linalg.norm(skin.matrix @ x - plain.rig.vertices(POSES[2]))))
    assert energies[1] < energies[0]
    assert errors[1] > errors[0]


def test_a_rigid_turn_is_fitted_exactly():
    """Also by a rig that does not know its frames: the start is poor, and the fit mends it."""

    def turned(x: np.ndarray, angle: float) -> np.ndarray:
        return x @ Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix().T

    rig = BlackBoxRig(lambda p: turned(ROD.vertices, p[0]), ROD.triangles, np.zeros(1))
    mesh = character_volume(rig, vertices=300, method="voxels").mesh
    plain, pose = TetRig.of(rig, mesh), np.array([1.2])
    better = fitted(plain, [[0.0], [1.2]])
    wanted = turned(mesh.vertices, 1.2)
    assert np.abs(plain.vertices(pose) - wanted).max() > 0.05
    assert better.vertices(pose) == pytest.approx(wanted, abs=2e-3)


def test_the_fit_is_the_minimum_of_its_objective(bending):
    plain, skin = bending
    mesh, gamma, pose = plain.mesh, 0.5, np.array([0.4])
    x = fitted(plain, [pose], gamma=gamma, skin=skin).vertices(pose)
    target = plain.rig.vertices(pose)
    body = sp.Body(mesh, sp.NeoHookean(young=1.0, poisson=0.3))
    areas = np.zeros(len(target))
    np.add.at(areas, skin.surface.triangles, np.repeat(skin.surface.areas[:, None] / 3, 3, axis=1))
    edge = mesh.edge_lengths().mean()

    def slope(y: np.ndarray) -> float:
        """‖∇(‖A y − Φ̄‖² + γ E(y))‖"""
        off = (areas / areas.sum())[:, None] * (skin.matrix @ y - target)
        surface = 2 * skin.matrix.T @ off / edge**2
        return float(np.linalg.norm(surface + gamma * body.force(y - mesh.vertices) / mesh.volume))

    assert slope(x) < 1e-3 * slope(plain.vertices(pose))


def test_a_surface_that_folds_into_itself_does_not_turn_tets_inside_out():
    mesh = sp.TetMesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    skin = sp.Embedding(mesh, mesh.boundary())
    pressed = skin.surface.vertices.copy()
    pressed[:, 2] = np.where(pressed[:, 2] > 0.9, 0.3, pressed[:, 2])  # the top below the middle
    assert not sp.TetMesh.inverted(_Fit(mesh, skin, 0.01)(pressed), mesh.cells).any()


def test_sound_cells_are_those_that_keep_their_shape(bending):
    plain, _ = bending
    way = np.linspace(0.0, 1.6, 5)[:, None]
    sound = sound_cells(plain, way, least=0.0)
    inverted = [sp.TetMesh.inverted(plain.vertices(pose), plain.mesh.cells) for pose in way]
    assert np.array_equal(sound, ~np.any(inverted, axis=0))
    assert not sound.all()
    strict = sound_cells(plain, way, least=0.5)
    assert (strict <= sound).all()
    quality = sp.TetMesh(plain.vertices(way[1]), plain.mesh.cells).quality()
    assert (quality >= 0.5 * plain.mesh.quality())[strict].all()


def test_a_pose_that_cannot_be_fitted_is_named(bending, monkeypatch):
    monkeypatch.setattr(fitting, "_MOST_ITERATIONS", 1)
    with pytest.raises(sp.StepFailed, match=r"fitted to pose 1.*larger gamma"):
        fitted(bending[0], POSES, skin=bending[1])


def test_poses_of_another_rig_are_refused(bending):
    refused(r"give \(m, 1\)", fitted, bending[0], np.zeros((2, 3)))
