"""Training a cubature: its errors are true where it was not trained."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
from tests.helpers import shaken, soft
from tests.reduction.conftest import every_cell, every_material, projected
from tests.reduction.cubature.cubature_bodies import mixed_body, plank, trained
from tests.refusals import refused

import supple as sp
from supple.reduction.basis import modal_derivative_basis
from supple.reduction.cubature import training as training
from supple.reduction.cubature.cubature import CubatureWarning
from supple.reduction.cubature.poses import EnergyCoordinates, PoseSampler
from supple.reduction.cubature.training import train_cubature

pytestmark = pytest.mark.processors


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


@pytest.mark.parametrize(("poses", "seed"), [(60, 0), (200, 0), (200, 1), (200, 2)])
def test_frequencies_and_rest_shapes_follow_the_whole_body(poses, seed):
    """Within 1 % at rest, and 1 % of the deflection under loads that bend the plank by 0.2 m."""
    body, vectors = plank()
    cubature = train_cubature(body, vectors, poses=poses, seed=seed)
    K, whole = cubature.evaluate(np.zeros(8))[2], projected(body, vectors, np.zeros(8))[2]
    found, wanted = (np.sqrt(scipy.linalg.eigvalsh(x)) for x in (K, whole))
    assert np.abs(found / wanted - 1).max() <= 0.01
    for gravity in ((0, 0, -1.2), (0, 1.2, 0), (0, -0.8, 0.8)):
        load = vectors.reshape(8, -1) @ body.weight(gravity).reshape(-1)
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
    whole = every_cell(body, shapes)
    assert np.abs(whole.evaluate(np.zeros(12))[2] - np.eye(12)).max() <= 1e-9
    rng = np.random.default_rng(0)
    poses = sampler.draw(10, rng), sampler.draw_resting(20, rng, whole)
    reach = [np.linalg.norm(np.tensordot(z, shapes, 1), axis=2).max(axis=1) for z in poses]
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
    held = np.flatnonzero(mesh.vertices[:, 0] < 0.03)
    body = sp.Body(mesh, soft(sp.StableNeoHookean), fixed=held)
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


def test_poses_do_not_depend_on_what_rounding_decides(monkeypatch):
    """Modes of other signs, and turned where two are equally fast: the same poses, cells, weights.

    Which ones an eigensolver finds differs from processor to processor.
    """
    mesh = sp.HexMesh.box((1.0, 0.2, 0.2), (12, 2, 2))
    body = sp.Body(mesh, soft(sp.StableNeoHookean), fixed=mesh.where(x=0))
    vectors = sp.vibration_modes(body, 8).shapes
    found = EnergyCoordinates.of(body, vectors)
    pairs = np.flatnonzero(np.diff(found.omega) <= 1e-9 * found.omega[1:])
    assert len(pairs) >= 2
    first = train_cubature(body, vectors, poses=40)
    solve = scipy.linalg.eigh

    def turned(*given):
        squares, modes = solve(*given)
        modes = modes * np.array([1, -1, -1, 1, -1, 1, 1, -1])
        for k in pairs:
            modes[:, k : k + 2] = modes[:, k : k + 2] @ [[0.8, -0.6], [0.6, 0.8]]
        return squares, modes

    monkeypatch.setattr(scipy.linalg, "eigh", turned)
    other = EnergyCoordinates.of(body, vectors)
    assert np.abs(found.B - other.B).max() > 0.1 * np.abs(found.B).max()
    u, v = (x.normal(5, np.random.default_rng(1)) @ x.B.T for x in (found, other))
    np.testing.assert_allclose(u, v, atol=1e-8 * np.abs(u).max())
    second = train_cubature(body, vectors, poses=40)
    assert np.array_equal(first.cells, second.cells)
    np.testing.assert_allclose(second.weights, first.weights, rtol=1e-6)


def test_drawn_poses_are_normal_in_every_coordinate():
    body, vectors = plank()
    coordinates = EnergyCoordinates.of(body, vectors)
    z = coordinates.normal(20_000, np.random.default_rng(0))
    np.testing.assert_allclose(z.T @ z / len(z), np.eye(8), atol=0.05)
    np.testing.assert_allclose(coordinates.frame @ coordinates.frame.T, np.eye(8), atol=1e-12)


def test_poses_that_would_invert_are_shrunk():
    body, vectors = plank(sp.NeoHookean)
    cubature = train_cubature(body, vectors, poses=40, amplitude=2.0)
    assert cubature.shrunk_poses > 0
    assert np.isfinite([cubature.training_error, cubature.test_error]).all()
    assert train_cubature(*plank(sp.StableNeoHookean), poses=40, amplitude=2.0).shrunk_poses == 0


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
    pool = training.cell_pool(body, training._POOL // 24, np.random.default_rng(0))
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
    refused("deform no cell", train_cubature, body, vectors[:6])


def test_training_reports_progress():
    calls = []
    body, vectors = plank()
    train_cubature(body, vectors, poses=20, progress=lambda *call: calls.append(call))
    assert {what.split(",")[0] for *_, what in calls} == {"forces of cells", "cells"}
    assert all(0 < done <= total for done, total, _ in calls)
