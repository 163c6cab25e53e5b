"""The whole way from a rig to a model, and the model's file."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from tests.character.arms import playing
from tests.character.bent_beam import FIXED, MESH, SKIN, SOFT, BeamRig, bent
from tests.character.bodies import rod, rod_mesh, still
from tests.refusals import refusals, refused

import supple as sp
from supple.character import Channel, Track
from supple.character.model.file import is_pose_space_file, load_pose_space_model
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.rigs import BlackBoxRig, PoseRig, SkeletonRig
from supple.character.training.basis import posed_body
from supple.character.training.building import pose_space_model
from supple.core import files
from supple.materials import MATERIALS
from supple.reduction.cubature.cubature import CubatureWarning

pytestmark = pytest.mark.processors

BENT = np.array([[0.8]])
every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)


def made(rig: PoseRig | None = None, **changes) -> PoseSpaceModel:
    """Of the beam, straight and bent."""
    options = {"volume": MESH, "fixed": FIXED, "poses": BENT, "size": 6, "modes": 4, **changes}
    return pose_space_model(BeamRig() if rig is None else rig, **options)


@lru_cache
def beam_model(material: type[sp.Material] = sp.StVK) -> PoseSpaceModel:
    return made(material=material(young=1e5, poisson=0.4), size=8, modes=5)


@lru_cache
def arm_model() -> PoseSpaceModel:
    """A rod on two bones that bends in a clip."""
    bend = Track(2, Channel.ROTATION, (0.0, 1.0), [(0, 0, 0, 1), (0, 0.4, 0, 0.9)])
    rig, mesh = playing(rod(), bend, name="wave"), rod_mesh((12, 4, 4))
    fixed = np.abs(mesh.vertices[:, 1:]).max(axis=1) < 0.15
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CubatureWarning)  # by symmetry hardly anything moves it
        return pose_space_model(rig, volume=mesh, fixed=fixed, poses=2, size=6, modes=4)


# -- building --------------------------------------------------------------------------


@every_material
def test_errors_are_below_three_per_cent(material):
    model = beam_model(material)
    elastic, inertial = model.measured["elastic"], model.measured["inertial"]
    assert max(np.max(elastic[name]) for name in ("training", "test", "between")) < 0.03
    kinds = ("training", "trembling", "moving", "turning", "between")
    assert max(np.max(inertial[name]) for name in kinds) < 0.03
    assert model.material is material
    assert len(model.cells) <= 60
    assert len(model.inertial_vertices) <= 60
    assert set(model.measured["seconds"]) >= {"bases", "elastic cubature", "inertial cubature"}


def test_the_neutral_pose_comes_first_once():
    np.testing.assert_array_equal(beam_model().poses, [[0.0], [0.8]])


def test_flesh_without_a_material_swings_as_asked():
    model = made(frequency=2.5, samples=10)
    assert np.sqrt(model.squares[0, 0]) / (2 * np.pi) == pytest.approx(2.5)
    other = made(material=sp.StableNeoHookean(young=1e5, poisson=0.45), samples=10)
    softer = model.squares[0, 0] / other.squares[0, 0]
    alike = np.tile(other.lame[0, 0], (*model.lame.shape[:2], 1))
    assert model.lame == pytest.approx(softer * alike)


def test_stiffer_flesh_answers_with_stronger_forces():
    model = beam_model()
    q = np.random.default_rng(0).normal(scale=1e-3, size=model.n_coordinates)
    energies = []
    for each in (model, model.stiffened(3.0)):
        simulation = each.simulation()
        simulation.q = q
        energies.append(simulation.elastic)
    assert energies[1] == pytest.approx(3 * energies[0], rel=1e-12)
    assert model.stiffened(3.0).squares == pytest.approx(3 * model.squares)
    refused("factor", model.stiffened, 0.0)


def test_stiffness_may_change_from_pose_to_pose():
    factors = np.ones((2, MESH.n_cells))
    factors[1, MESH.centroids[:, 0] > 0.5] = 3.0
    model = made(material=SOFT, stiffness=factors)
    far = MESH.centroids[model.cells, 0] > 0.5
    np.testing.assert_allclose(model.lame[1, far], 3 * model.lame[0, far])
    np.testing.assert_allclose(model.lame[1, ~far], model.lame[0, ~far])
    half = model.at([0.4])
    np.testing.assert_allclose(half.lame, np.tensordot(half.w, model.lame, axes=1))


def test_regions_have_their_own_columns():
    x = MESH.vertices[:, 0]
    model = made(material=SOFT, size=16, regions=np.clip([1.3 - 2 * x, 2 * x - 0.7], 0.0, 1.0))
    assert np.bincount(model.regions).tolist() == [8, 8]
    for region, members in enumerate(model.members):
        assert not model.bases[:, ~members][..., model.regions == region].any()


def test_few_cells_are_warned_about():
    with pytest.warns(CubatureWarning, match="miss the reduced elastic force"):
        made(size=8, modes=5, cells=2, samples=10)


def test_progress_tells_of_every_part():
    told = set()
    made(samples=10, progress=lambda done, total, what: told.add(what.split(",")[0]))
    assert {"bases of poses", "poses", "cells", "vertices"} <= told


test_what_is_missing_is_asked_for = refusals(
    ({"volume": None}, "does not tell where its bones are"),
    ({"fixed": None}, "needs fixed="),
    ({"poses": 3}, "no clips to choose from"),
    ({"poses": [[0.0, 1.0]]}, r"give \(m, 1\)"),
    ({"regions": 2}, "has no limbs"),
    ({"stiffness": np.zeros(MESH.n_cells)}, "above 0"),
    ({"material": 1e5}, "material is"),
    ({"cells": 0}, "cells=0"),
    ({"vertices": 0}, "vertices=0"),
    ({"fixed": [0]}, "too little is fixed"),
    ({"poses": [[0.8], [0.8]]}, "poses 1 and 2 are the same"),
    make=lambda changes: made(**changes),
)


def test_a_rig_that_ignores_its_pose_is_refused():
    options = {"rig": still(SKIN), "size": 4, "modes": 3, "samples": 10}
    refused("same shape in all of the 2 poses", made, **options)
    tensed = np.outer([1.0, 2.0], np.ones(MESH.n_cells))  # poses that differ in nothing else
    model = made(**options, stiffness=tensed)
    assert model.squares[1, 0] == pytest.approx(2 * model.squares[0, 0])


# -- the model in a pose ---------------------------------------------------------------


def test_bases_are_reproduced_in_their_poses():
    """u, mass and cell weights at a pose are those of its own model, to rounding."""
    model = beam_model()
    for k, pose in enumerate(model.poses):
        posed = model.at(pose)
        frames = model.tet_rig.frames(pose)
        np.testing.assert_allclose(posed.shapes(), frames @ model.bases[k], atol=1e-12)
        np.testing.assert_allclose(posed.mass, model.gram[k, k], atol=1e-12)
        np.testing.assert_allclose(posed.cell_weights, model.cell_weights[k], atol=1e-10)


@every_material
def test_stiffness_is_reproduced_in_the_poses(material):
    """At rest in a pose it is that of all cells in the pose's own basis, cubature or not."""
    model = beam_model(material)
    body = sp.Body(MESH, material(young=1e5, poisson=0.4), fixed=FIXED, mass_model=sp.LumpedMass())
    for k, pose in enumerate(model.poses):
        posed = model.at(pose)
        U = posed.shapes().reshape(3 * MESH.n_vertices, -1)
        K = U.T @ (posed_body(body, posed.rest).stiffness(np.zeros_like(posed.rest)) @ U)
        found = model.simulation(pose=pose).stiffness
        np.testing.assert_allclose(found, K, atol=1e-9 * np.abs(K).max())
        np.testing.assert_allclose(posed.lame, model.lame[k], rtol=1e-10)
        features = model.tet_rig.rig.features(pose)
        (gap,) = model.gaps.values[(model.gaps.weights.features == features).all(axis=1)]
        scale = np.outer(posed.upsilon, posed.upsilon)
        np.testing.assert_allclose(posed.gap, scale * gap, atol=1e-9 * np.abs(K).max())


def test_mass_is_that_of_the_interpolated_basis():
    model = beam_model()
    posed = model.at([0.37])
    U = posed.shapes()
    mass = np.einsum("nik,n,nil->kl", U, model.masses, U)
    np.testing.assert_allclose(posed.mass, mass, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(posed.mass), 1.0)


def test_the_skin_follows_and_a_pull_does_the_work_it_should():
    model = beam_model()
    posed, q = model.at([0.5]), np.random.default_rng(0).normal(size=model.n_coordinates)
    moved = posed.skin_displacements(q)
    np.testing.assert_allclose(posed.skin(q) - moved, bent(SKIN.vertices, 0.5), atol=1e-12)
    force = np.array([1.0, -2.0, 0.5])
    assert posed.pull(17, force) @ q == pytest.approx(force @ moved[17])
    some = np.array([3, 40, 8])
    np.testing.assert_allclose(posed.shapes(some), posed.shapes()[some], atol=1e-13)


def test_arrays_that_do_not_fit_are_refused():
    model = beam_model()
    refused("lame of the model has shape", replace, model, lame=model.lame[:, :-1])
    refused("cells of the model must be from 0", replace, model, cells=model.cells + MESH.n_cells)
    refused("must not be negative", replace, model, cell_weights=-model.cell_weights)
    refused("finite", replace, model, squares=np.full_like(model.squares, np.nan))


# -- files -----------------------------------------------------------------------------


def test_a_file_of_a_black_box_needs_its_rig(tmp_path):
    model, path = beam_model(), tmp_path / "beam.supple"
    model.save(path)
    assert is_pose_space_file(path)
    refused("give the same rig again", load_pose_space_model, path)
    other = BlackBoxRig(lambda pose: 2 * SKIN.vertices, SKIN.triangles, np.zeros(1))
    refused("the model was made with a BeamRig", load_pose_space_model, path, rig=other)
    further, same = (
        BlackBoxRig(lambda pose, by=by: bent(SKIN.vertices, by * pose[0]), SKIN.triangles, [0.0])
        for by in (1.01, 1.0)
    )
    refused(r"another shape in pose 1, \[0.8\]", load_pose_space_model, path, rig=further)
    assert load_pose_space_model(path, rig=same).n_poses == 2
    _same(model, load_pose_space_model(path, rig=BeamRig()), [0.3])


def test_a_file_of_a_character_holds_its_rig(tmp_path):
    model, path = arm_model(), tmp_path / "arm.supple"
    model.save(path)
    again = load_pose_space_model(path)
    assert isinstance(again.tet_rig.rig, SkeletonRig)
    pose, same = (each.tet_rig.rig.poses_of_clip("wave", [0.4])[0] for each in (model, again))
    np.testing.assert_array_equal(same, pose)
    _same(model, again, pose)


def _same(model: PoseSpaceModel, again: PoseSpaceModel, pose: np.ndarray) -> None:
    for name in ("bases", "gram", "cells", "cell_weights", "lame", "members", "squares"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.material is model.material
    assert again.measured == model.measured
    q = np.random.default_rng(0).normal(size=model.n_coordinates)
    np.testing.assert_allclose(again.at(pose).skin(q), model.at(pose).skin(q), atol=1e-12)


def test_a_file_of_the_first_version_is_read(tmp_path, monkeypatch):
    """It knows nothing of gaps, its cells stand for all of the stiffness, nor of rigs in poses."""
    model, path = beam_model(), tmp_path / "beam.supple"
    pack = files.pack

    def as_before(kind, header, arrays):
        later = [name for name in arrays if name.startswith(("gap", "seen"))]
        known = {name: array for name, array in arrays.items() if name not in later}
        return pack(replace(kind, version=1), header, known)

    monkeypatch.setattr(files, "pack", as_before)
    model.save(path)
    again = load_pose_space_model(path, rig=BeamRig())
    _same(model, again, [0.3])
    assert not again.gaps.values.any()
    again.simulation().step([0.1])


def test_materials_from_outside_are_refused_at_save(tmp_path):
    """A file names its material, so whoever reads it has to know that name."""

    class Outside(sp.StVK):
        pass

    model, path = replace(beam_model(), material=Outside), tmp_path / "beam.supple"
    refused("Outside is not a registered material.*@MATERIALS.register", model.save, path)
    assert not path.exists()
    MATERIALS.register(Outside)
    try:
        model.save(path)
        assert load_pose_space_model(path, rig=BeamRig()).material is Outside
    finally:
        MATERIALS.unregister(Outside)
    told = "'Outside', which is not known here.*--plugin"
    refused(told, load_pose_space_model, path, rig=BeamRig())


@pytest.mark.parametrize(
    "material",
    [
        sp.OrthotropicStVK(young=(1e5, 1e4, 1e4), poisson=0.3),
        sp.SplineMaterial(stretch=[(0.5, -1e4), (1, 0), (2, 2e4)]),
    ],
    ids=["fibres", "curves"],
)
def test_materials_with_more_than_two_constants_are_refused(material):
    refused("keeps two constants a cell", made, material=material)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "beam.supple"
    beam_model().save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    refused("checksum", load_pose_space_model, path, rig=BeamRig())
    path.write_bytes(data[: len(data) // 2])
    refused("cut short", load_pose_space_model, path, rig=BeamRig())
    path.write_text("something else")
    refused("is not a Supple pose-space model", load_pose_space_model, path, rig=BeamRig())
    refused("there is no file", load_pose_space_model, tmp_path / "none.supple")
