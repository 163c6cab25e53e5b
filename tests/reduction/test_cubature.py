"""Cubature: exact derivatives, the projected full force, and a training whose errors are true."""

from __future__ import annotations

import dataclasses
import json
import warnings
from functools import lru_cache

import numpy as np
import pytest
import scipy.linalg

import supple as sp
from supple.files import Kind, pack, unpack
from supple.materials import MATERIALS
from supple.reduction import cubature as evaluation
from supple.reduction import cubature_training as training
from supple.reduction.basis import modal_derivative_basis
from supple.reduction.cubature import Cubature, CubatureWarning
from supple.reduction.cubature_poses import EnergyCoordinates, PoseSampler
from supple.reduction.cubature_training import train_cubature

from ..helpers import MESH_NAMES, remainder_slopes, shaken, small_mesh, soft

every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
every_mesh = pytest.mark.parametrize("mesh_name", MESH_NAMES)


@lru_cache
def block(material: type[sp.Material], mesh_name: str = "tet") -> tuple[sp.Body, np.ndarray]:
    """A small held body of any kind of cell, and six modes whose largest displacement is 1."""
    mesh = small_mesh(mesh_name)
    body = sp.Body(mesh, soft(material), fixed=np.argsort(mesh.vertices[:, 0])[:5])
    shapes = sp.vibration_modes(body, 6).shapes
    return body, shapes / np.abs(shapes).max(axis=(1, 2), keepdims=True)


@lru_cache
def plank(material: type[sp.Material] = sp.StableNeoHookean) -> tuple[sp.Body, np.ndarray]:
    """A cantilever of 360 tetrahedra, and eight modes."""
    mesh = sp.HexMesh.box((1.0, 0.24, 0.2), (18, 2, 2)).tetrahedra()
    body = sp.Body(mesh, soft(material), fixed=mesh.where(x=0))
    return body, sp.vibration_modes(body, 8).shapes


@lru_cache
def trained(material: type[sp.Material] = sp.StableNeoHookean) -> Cubature:
    return train_cubature(*plank(material), poses=60)


def projected(
    body: sp.Body, vectors: np.ndarray, q: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Energy, force and stiffness of the whole body in the coordinates of the basis."""
    u = np.tensordot(q, vectors, axes=1)
    flat = vectors.reshape(len(vectors), -1)
    return body.energy(u), flat @ body.force(u).reshape(-1), flat @ (body.stiffness(u) @ flat.T)


def partial(body: sp.Body, vectors: np.ndarray, seed: int = 3) -> Cubature:
    """A third of the cells with random weights: right nowhere, but consistent everywhere."""
    rng = np.random.default_rng(seed)
    cells = rng.permutation(body.mesh.n_cells)[: max(3, body.mesh.n_cells // 3)]
    return Cubature.of_cells(body, vectors, cells, rng.uniform(0.5, 5, len(cells)))


# -- evaluating ------------------------------------------------------------------------


@every_material
@every_mesh
def test_all_cells_with_weight_one_equal_projected_body(material, mesh_name):
    body, vectors = block(material, mesh_name)
    n = body.mesh.n_cells
    whole = Cubature.of_cells(body, vectors, np.arange(n), np.ones(n))
    for q in (np.zeros(6), np.array([0.06, -0.04, 0.03, 0.02, -0.02, 0.01])):
        energy, force, stiffness = projected(body, vectors, q)
        found = whole.evaluate(q)
        assert abs(found[0] - energy) <= 1e-12 * abs(energy)
        scale = np.abs(stiffness).max()
        assert np.abs(found[1] - force).max() <= 1e-12 * max(scale * 0.06, np.abs(force).max())
        assert np.abs(found[2] - stiffness).max() <= 1e-12 * scale


@every_material
@every_mesh
def test_force_and_stiffness_are_derivatives_of_energy(material, mesh_name):
    cubature = partial(*block(material, mesh_name))
    rng = np.random.default_rng(0)
    q, d = 0.02 * rng.normal(size=6), 0.2 * rng.normal(size=6)
    energy, force, stiffness = cubature.evaluate(q)
    steps = 2.0 ** -np.arange(3, 8)

    def second(h):
        return abs(cubature.evaluate(q + h * d, order=0)[0] - energy - h * force @ d)

    def third(h):
        taylor = energy + h * force @ d + h**2 / 2 * d @ stiffness @ d
        return abs(cubature.evaluate(q + h * d, order=0)[0] - taylor)

    def of_force(h):
        return np.linalg.norm(cubature.evaluate(q + h * d, order=1)[1] - force - h * stiffness @ d)

    assert remainder_slopes(second, steps)[-1] == pytest.approx(2, abs=0.2)
    assert remainder_slopes(third, steps)[-1] > 3 - 0.2
    assert remainder_slopes(of_force, steps)[-1] > 2 - 0.2
    assert np.abs(stiffness - stiffness.T).max() <= 1e-13 * np.abs(stiffness).max()


def mixed_body() -> sp.Body:
    """Three regions, two of the same model, one with constants of its own in every cell."""
    mesh = small_mesh("tet")
    n = mesh.n_cells
    order = np.random.default_rng(5).permutation(n)
    regions = {"a": order[: n // 2], "b": order[n // 2 : n // 2 + 9], "c": order[n // 2 + 9 :]}
    mesh = dataclasses.replace(mesh, regions=regions)
    materials = {
        "a": sp.NeoHookean(young=np.linspace(1e4, 5e4, n), poisson=np.linspace(0.1, 0.4, n)),
        "b": sp.StVK(young=3e4, poisson=0.3),
        "c": sp.NeoHookean(young=2e4, poisson=0.45),
    }
    return sp.Body(mesh, materials, fixed=np.argsort(mesh.vertices[:, 0])[:5])


def test_regions_of_different_materials():
    body = mixed_body()
    vectors = sp.vibration_modes(body, 5).shapes
    n = body.mesh.n_cells
    whole = Cubature.of_cells(body, vectors, np.arange(n), np.ones(n))
    assert whole.materials == (sp.NeoHookean, sp.StVK)
    assert whole.counts == (n - 9, 9)
    q = 0.03 * np.arange(1.0, 6.0)
    for found, wanted in zip(whole.evaluate(q), projected(body, vectors, q), strict=True):
        assert np.abs(found - wanted).max() <= 1e-12 * np.abs(wanted).max()
    cubature = train_cubature(body, vectors, poses=40)
    assert cubature.training_error <= 0.01
    assert cubature.materials == (sp.NeoHookean, sp.StVK)  # none of the three regions is left out
    assert {
        int((np.isin(cubature.cells, body.mesh.regions[name])).sum()) > 0 for name in "abc"
    } == {True}


@pytest.mark.parametrize("chunk", [1, 100, 10**6])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_copies_equal_single_evaluations(monkeypatch, chunk, order):
    body = mixed_body()
    cubature = partial(body, sp.vibration_modes(body, 5).shapes)
    Q = 0.1 * np.random.default_rng(1).normal(size=(7, 5))
    single = [cubature.evaluate(q) for q in Q]
    monkeypatch.setattr(evaluation, "_CHUNK", chunk)
    together = cubature.evaluate_many(Q, order=order)
    for depth, found in enumerate(together):
        if depth > order:
            assert not found.size
            continue
        wanted = np.array([one[depth] for one in single])
        assert found.shape == wanted.shape
        assert np.abs(found - wanted).max() <= 1e-13 * np.abs(wanted).max()


def test_inverted_cells_have_infinite_energy():
    """Where the material has a barrier, and finite energy where it has none."""
    for material, finite in ((sp.NeoHookean, False), (sp.StableNeoHookean, True)):
        body = block(material)[0]
        flattening = body.mesh.vertices[None] * [-1.0, 0.0, 0.0]
        cubature = partial(body, flattening)  # F = diag(1 − q, 1, 1) in every cell
        assert np.isfinite(cubature.evaluate(np.array([0.9]))[0])
        energy, force, stiffness = cubature.evaluate(np.array([2.0]))
        assert energy > 0
        for value in (energy, force, stiffness):
            assert np.isfinite(value).all() == finite


# -- training --------------------------------------------------------------------------


@every_material
def test_trained_cubature_is_good_where_it_was_not_trained(material):
    """The reported errors hold, and equal what fresh poses of our own show."""
    body, vectors = plank(material)
    cubature = trained(material)
    assert cubature.training_error <= 0.01
    assert cubature.training_error <= cubature.test_error <= 0.03
    assert cubature.size <= 10 * len(vectors) < body.mesh.n_cells
    assert (cubature.weights > 0).all()
    assert len(np.unique(cubature.cells)) == cubature.size
    assert (cubature.poses, cubature.shrunk_poses) == (60, 0)
    K = projected(body, vectors, np.zeros(8))[2]
    rng = np.random.default_rng(77)
    omega, modes = scipy.linalg.eigh(K)
    errors = []
    for _ in range(30):
        q = modes @ (rng.normal(size=8) / np.sqrt(omega))
        q *= 0.1 / np.linalg.norm(np.tensordot(q, vectors, axes=1), axis=1).max()
        force = projected(body, vectors, q)[1]
        missed = cubature.evaluate(q, order=1)[1] - force
        errors.append((missed @ np.linalg.solve(K, missed)) / (force @ np.linalg.solve(K, force)))
    assert np.sqrt(np.mean(errors)) <= 0.02


def test_frequencies_and_rest_shapes_follow_the_whole_body():
    """Within 1 % at rest, and 1 % of the deflection under a load that bends the plank by 0.2 m."""
    body, vectors = plank()
    cubature = trained()
    K, whole = cubature.evaluate(np.zeros(8))[2], projected(body, vectors, np.zeros(8))[2]
    found, wanted = (np.sqrt(scipy.linalg.eigvalsh(x)) for x in (K, whole))
    assert np.abs(found / wanted - 1).max() <= 0.01
    load = vectors.reshape(8, -1) @ body.weight((0, 0, -1.2)).reshape(-1)
    answers = []
    for evaluate in (lambda q: projected(body, vectors, q), cubature.evaluate):
        q = np.zeros(8)
        for share in np.repeat([0.25, 0.5, 0.75, 1.0], 8):  # Newton's method, load by load
            _, force, stiffness = evaluate(q)
            q = q + np.linalg.solve(stiffness, share * load - force)
        assert np.linalg.norm(evaluate(q)[1] - load) <= 1e-9 * np.linalg.norm(load)
        answers.append(np.tensordot(q, vectors, axes=1))
    deflection = np.linalg.norm(answers[0], axis=1).max()
    assert deflection > 0.2
    assert np.linalg.norm(answers[1] - answers[0], axis=1).max() <= 0.01 * deflection


def test_shapes_at_rest_in_a_basis_with_derivatives():
    """A bend of up to 0.28 m, whose stretch the basis takes back: forces in it nearly cancel.

    Training with poses drawn at random alone, without shapes at rest, leaves 1.6 to 2.6 % here.
    """
    body, _ = plank()
    vectors = modal_derivative_basis(body, modes=5, size=12).vectors
    cubature = train_cubature(body, vectors)
    K = projected(body, vectors, np.zeros(12))[2]
    q = np.zeros(12)
    errors = []
    for gravity in np.linspace(0.013, 0.13, 10):
        load = vectors.reshape(12, -1) @ body.weight((0, 0, -gravity)).reshape(-1)
        for _ in range(8):
            _, force, stiffness = projected(body, vectors, q)
            q = q + np.linalg.solve(stiffness, load - force)
        force = projected(body, vectors, q)[1]
        assert np.linalg.norm(force - load) <= 1e-9 * np.linalg.norm(load)
        missed = cubature.evaluate(q)[1] - force
        errors.append((missed @ np.linalg.solve(K, missed)) / (force @ np.linalg.solve(K, force)))
    assert np.sqrt(np.mean(errors)) <= 0.0125
    assert np.abs(np.tensordot(q, vectors, axes=1)).max() > 0.28


def test_poses_reach_as_far_as_the_amplitude_says():
    """Drawn ones by exact shares of it, those at rest no farther, wherever their load leads."""
    body, _ = plank()
    vectors = modal_derivative_basis(body, modes=5, size=12).vectors
    sampler = PoseSampler(body, EnergyCoordinates.of(body, vectors), amplitude=0.4)
    shapes = sampler.coordinates.shapes
    n = body.mesh.n_cells
    whole = Cubature.of_cells(body, shapes, np.arange(n), np.ones(n))
    assert np.abs(whole.evaluate(np.zeros(12))[2] - np.eye(12)).max() <= 1e-9
    rng = np.random.default_rng(0)
    drawn, resting = sampler.draw(10, rng), sampler.draw_resting(20, rng, whole)
    reach = [
        np.linalg.norm(np.tensordot(z, shapes, axes=1), axis=2).max(axis=1)
        for z in (drawn, resting)
    ]
    np.testing.assert_allclose(reach[0], 0.4 * np.tile(np.geomspace(0.05, 1, 5), 2))
    assert reach[1].max() <= 0.4
    assert reach[1].max() > 0.3


def test_more_cells_are_better():
    body, vectors = plank()
    errors = []
    for size in (20, 30, 60):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CubatureWarning)
            cubature = train_cubature(body, vectors, poses=30, size=size)
        assert cubature.size <= size
        errors.append(cubature.training_error)
    assert errors[0] > 1.5 * errors[1] > 3 * errors[2]
    early = train_cubature(body, vectors, poses=30, size=60, tolerance=0.02)
    assert errors[2] < early.training_error <= 0.02
    assert early.size < 60


def test_same_seed_same_cubature_other_seed_as_good():
    body, vectors = plank()
    first, again, *others = (train_cubature(body, vectors, poses=40, seed=s) for s in (0, 0, 1, 2))
    assert np.array_equal(first.cells, again.cells)
    assert np.array_equal(first.weights, again.weights)
    q = np.array([0.3, 0.2, -0.1, 0.05, 0, 0, 0.02, 0])
    force = projected(body, vectors, q)[1]
    for other in others:
        assert not np.array_equal(np.sort(other.cells), np.sort(first.cells))
        assert other.training_error <= 0.01
        assert other.size == pytest.approx(first.size, rel=0.3)
        missed = other.evaluate(q, order=1)[1] - force
        assert np.linalg.norm(missed) <= 0.03 * np.linalg.norm(force)


def test_given_poses_and_a_change_of_basis():
    """Another basis of the same space, and the same poses in it: the same cells and weights."""
    mesh = shaken(plank()[0].mesh, 0.01)  # no two cells are alike
    body = sp.Body(
        mesh, soft(sp.StableNeoHookean), fixed=np.flatnonzero(mesh.vertices[:, 0] < 0.03)
    )
    vectors = sp.vibration_modes(body, 8).shapes
    rng = np.random.default_rng(4)
    poses = 0.1 * rng.normal(size=(40, 8))
    mix = rng.normal(size=(8, 8))
    first = train_cubature(body, vectors, poses=poses, tolerance=0.01)
    other = np.tensordot(mix, vectors, axes=1)
    second = train_cubature(body, other, poses=np.linalg.solve(mix.T, poses.T).T, tolerance=0.01)
    assert first.poses == 32  # the other eight are for the test
    assert np.array_equal(first.cells, second.cells)
    np.testing.assert_allclose(second.weights, first.weights, rtol=1e-6)
    np.testing.assert_allclose(second.test_error, first.test_error, rtol=1e-6)


def test_poses_that_would_invert_are_shrunk():
    body, vectors = plank(sp.NeoHookean)
    cubature = train_cubature(body, vectors, poses=40, amplitude=2.0)
    assert cubature.shrunk_poses > 0
    assert np.isfinite([cubature.training_error, cubature.test_error]).all()
    tame = train_cubature(*plank(sp.StableNeoHookean), poses=40, amplitude=2.0)
    assert tame.shrunk_poses == 0


def test_few_cells_warn():
    body, vectors = plank()
    with pytest.warns(CubatureWarning, match=r"misses the reduced force by .* % .*size=") as caught:
        cubature = train_cubature(body, vectors, poses=20, size=5)
    assert cubature.size <= 5
    assert cubature.training_error > 0.03
    assert f"{100 * cubature.training_error:.3g} %" in str(caught[0].message)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train_cubature(body, vectors, poses=40)


def test_large_bodies_choose_from_a_sample(monkeypatch):
    """The memory for the cells' forces is bounded; what is left out shows in no error."""
    body, vectors = plank()
    monkeypatch.setattr(training, "_POOL", 120 * 40 * len(vectors))
    sampled = train_cubature(body, vectors, poses=40)
    assert sampled.training_error <= 0.01
    assert sampled.test_error <= 0.03
    body = mixed_body()
    pool = training._pool(body, training._POOL // 24, np.random.default_rng(0))
    assert len(np.unique(pool)) == 24
    for part in body.parts:
        assert np.isin(pool, part.cells).sum() == 8  # as many of each


def test_free_body_with_rigid_motions_in_its_basis():
    body = sp.Body(plank()[0].mesh, soft(sp.StableNeoHookean))
    vectors = sp.vibration_modes(body, 12).shapes
    cubature = train_cubature(body, vectors, poses=60)
    assert cubature.training_error <= 0.01
    _, force, _ = cubature.evaluate(np.eye(12)[0] * 0.1)
    assert np.abs(force).max() <= 1e-9 * np.abs(cubature.evaluate(0.1 * np.eye(12)[7])[1]).max()
    with pytest.raises(sp.InputError, match="deform no cell"):
        train_cubature(body, vectors[:6])


def test_training_reports_progress():
    calls = []
    body, vectors = plank()
    train_cubature(body, vectors, poses=20, progress=lambda *call: calls.append(call))
    assert {what.split(",")[0] for *_, what in calls} == {"forces of cells", "cells"}
    assert all(0 < done <= total for done, total, _ in calls)


# -- keeping ---------------------------------------------------------------------------


@pytest.mark.parametrize("measured", [False, True])
def test_round_trip_through_a_file(tmp_path, measured):
    body = mixed_body()
    cubature = trained() if measured else partial(body, sp.vibration_modes(body, 5).shapes)
    kind = Kind(b"cubature", "cubature", 1)
    path = tmp_path / "kept"
    path.write_bytes(pack(kind, cubature.header(), cubature.arrays()))
    with open(path, "rb", buffering=0) as file:
        kept = unpack(file, path, kind)
    again = Cubature.from_arrays(kept.header, kept.arrays)
    for name, array in cubature.arrays().items():
        assert np.array_equal(array, again.arrays()[name])
    assert again.header() == cubature.header()
    assert np.isfinite(again.test_error) == measured
    q = 0.05 * np.arange(1.0, cubature.n_coordinates + 1)
    for one, two in zip(cubature.evaluate(q), again.evaluate(q), strict=True):
        assert np.array_equal(one, two)


def test_damaged_arrays_refused():
    cubature = partial(*block(sp.StVK))
    header, arrays = json.loads(json.dumps(cubature.header())), cubature.arrays()
    c = cubature.size
    for change, message in (
        ({"materials": ["Jelly"]}, "'Jelly', which is not a material known here: StVK"),
        ({"materials": ["StVK", "NeoHookean"]}, "counts"),
        ({"counts": [c + 1]}, "counts"),
        ({"counts": None}, "damaged"),
        ({"poses": "many"}, "damaged"),
    ):
        with pytest.raises(sp.InputError, match=message):
            Cubature.from_arrays(header | change, arrays)
    with pytest.raises(sp.InputError, match="damaged"):
        Cubature.from_arrays({}, arrays)
    for name in arrays:
        rest = {key: array for key, array in arrays.items() if key != name}
        with pytest.raises(sp.InputError, match=name):
            Cubature.from_arrays(header, rest)
        for wrong in (arrays[name][:-1], np.float64(1.0), arrays[name][:0]):
            with pytest.raises(sp.InputError, match="shape"):
                Cubature.from_arrays(header, rest | {name: wrong})
    for name, value in (("weights", 0.0), ("gradients", np.nan), ("lam", np.inf)):
        wrong = arrays[name].copy()
        wrong.reshape(-1)[0] = value
        with pytest.raises(sp.InputError, match=name):
            Cubature.from_arrays(header, arrays | {name: wrong})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"poses": 3}, "poses=3"),
        ({"poses": 2.5}, "poses"),
        ({"poses": np.ones((9, 3))}, r"poses has shape \(9, 3\)"),
        ({"poses": np.zeros((9, 8))}, "none of them the rest shape"),
        ({"size": 0}, "size=0"),
        ({"tolerance": -0.1}, "tolerance"),
        ({"tolerance": 1.0}, "tolerance"),
        ({"amplitude": 0.0}, "amplitude"),
        ({"amplitude": np.nan}, "amplitude"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_training_options_named(options, message):
    with pytest.raises(sp.InputError, match=message):
        train_cubature(*plank(), **options)


def test_bad_bases_and_cells_named():
    body, vectors = plank()
    for wrong, message in (
        (vectors[0], "shape"),
        (vectors[:0], "shape"),
        (vectors[:, :5], "shape"),
        (vectors * np.nan, "finite"),
        (vectors[[0, 1, 0]], "not independent"),
        (vectors * np.arange(8.0)[:, None, None], "not independent"),
    ):
        with pytest.raises(sp.InputError, match=message):
            train_cubature(body, wrong)
    for cells, weights, message in (
        ([0, 0], [1, 1], "different indices"),
        ([0, 10**6], [1, 1], "different indices"),
        ([-1], [1], "different indices"),
        ([], [], "different indices"),
        ([0.5], [1], "different indices"),
        ([0, 1], [1, 0], "positive"),
        ([0, 1], [1], "weights"),
    ):
        with pytest.raises(sp.InputError, match=message):
            Cubature.of_cells(body, vectors, cells, weights)
