"""Cubature: exact derivatives, the projected full force, and files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.helpers import remainder_slopes
from tests.reduction.conftest import (
    assert_projected,
    every_cell,
    every_material,
    every_mesh,
    projected,
)
from tests.reduction.cubature.cubature_bodies import block, mixed_body, partial, plank, trained
from tests.refusals import refusals, refused

import supple as sp
from supple.core.files import Kind, pack, unpack
from supple.reduction.cubature import cubature as evaluation
from supple.reduction.cubature.cubature import Cubature
from supple.reduction.cubature.training import train_cubature

pytestmark = pytest.mark.processors


# -- evaluating ------------------------------------------------------------------------


@every_material
@every_mesh
def test_all_cells_with_weight_one_equal_projected_body(material, mesh_name):
    body, vectors = block(material, mesh_name)
    whole = every_cell(body, vectors)
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


def test_regions_of_different_materials():
    body = mixed_body()
    vectors = sp.vibration_modes(body, 5).shapes
    whole = every_cell(body, vectors)
    assert whole.materials == (sp.NeoHookean, sp.StVK)
    assert whole.counts == (body.mesh.n_cells - 9, 9)
    assert_projected(whole, body, vectors, 0.03 * np.arange(1.0, 6.0))
    cubature = train_cubature(body, vectors, poses=40)
    assert cubature.training_error <= 0.01
    assert cubature.materials == (sp.NeoHookean, sp.StVK)  # none of the three regions is left out
    assert all(np.isin(cubature.cells, body.mesh.regions[name]).any() for name in "abc")


@pytest.mark.parametrize("chunk", [1, 100, 10**6])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_copies_equal_single_evaluations(monkeypatch, chunk, order):
    body = mixed_body()
    cubature = partial(body, sp.vibration_modes(body, 5).shapes)
    Q = 0.1 * np.random.default_rng(1).normal(size=(7, 5))
    single = [cubature.evaluate(q) for q in Q]
    monkeypatch.setattr(evaluation, "_CHUNK", chunk)
    for depth, found in enumerate(cubature.evaluate_many(Q, order=order)):
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
        ({"materials": ["Jelly"]}, "'Jelly', which is not known here"),
        ({"materials": ["StVK", "NeoHookean"]}, "counts"),
        ({"counts": [c + 1]}, "counts"),
        ({"counts": None}, "damaged"),
        ({"poses": "many"}, "damaged"),
    ):
        refused(message, Cubature.from_arrays, header | change, arrays)
    refused("damaged", Cubature.from_arrays, {}, arrays)
    for name in arrays:
        rest = {key: array for key, array in arrays.items() if key != name}
        refused(name, Cubature.from_arrays, header, rest)
        for wrong in (arrays[name][:-1], np.float64(1.0), arrays[name][:0]):
            refused("shape", Cubature.from_arrays, header, rest | {name: wrong})
    for name, value in (("weights", 0.0), ("gradients", np.nan), ("lam", np.inf)):
        wrong = arrays[name].copy()
        wrong.reshape(-1)[0] = value
        refused(name, Cubature.from_arrays, header, arrays | {name: wrong})


test_bad_training_options_named = refusals(
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
    make=lambda options: train_cubature(*plank(), **options),
)


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
        refused(message, train_cubature, body, wrong)
    for cells, weights, message in (
        ([0, 0], [1, 1], "different from each other"),
        ([0, 10**6], [1, 1], "different indices"),
        ([-1], [1], "different indices"),
        ([], [], "different indices"),
        ([0.5], [1], "different indices"),
        ([0, 1], [1, 0], "positive"),
        ([0, 1], [1], "weights"),
    ):
        refused(message, Cubature.of_cells, body, vectors, cells, weights)
