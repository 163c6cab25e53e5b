"""Cubatures of single quadrature points."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from tests.helpers import soft
from tests.refusals import refused

import supple as sp
from supple.reduction.cubature.cubature import Cubature
from supple.reduction.cubature.selection import DenseSamples, PointSamples

pytestmark = pytest.mark.processors


@lru_cache
def bricks(material: type[sp.Material] = sp.StVK) -> tuple[sp.Body, np.ndarray]:
    """A cantilever of 48 bricks with eight points each, and six modes."""
    mesh = sp.HexMesh.box((1.0, 0.24, 0.2), (12, 2, 2))
    body = sp.Body(mesh, soft(material), fixed=mesh.where(x=0))
    return body, sp.vibration_modes(body, 6).shapes


def test_all_points_with_weight_one_are_all_cells():
    body, vectors = bricks(sp.StableNeoHookean)
    n = body.mesh.n_cells
    cells, points = np.repeat(np.arange(n), 8), np.tile(np.arange(8), n)
    single = Cubature.of_cells(body, vectors, cells, np.ones(8 * n), points=points)
    whole = Cubature.of_cells(body, vectors, np.arange(n), np.ones(n))
    q = 0.03 * np.random.default_rng(0).normal(size=6)
    for found, expected in zip(single.evaluate(q), whole.evaluate(q), strict=True):
        assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


def test_points_of_bricks_do_as_well_as_cells_with_fewer_evaluations():
    body, vectors = bricks()
    single = sp.train_cubature(body, vectors, poses=40)
    whole = sp.train_cubature(body, vectors, poses=40, by_point=False)
    assert single.kind == "points"
    assert whole.kind == "cells"
    assert single.test_error <= 0.02
    assert single.volumes.size < 0.6 * whole.volumes.size
    model = sp.reduce(body, sp.picked_basis(body, vectors), cubature=True, compare=False)
    assert model.quartic is None
    assert model.cubature.kind == "points"


def test_points_survive_files_and_belong_to_their_body(tmp_path):
    body, vectors = bricks()
    basis = sp.picked_basis(body, vectors)
    cubature = sp.train_cubature(body, basis.vectors, poses=20)
    model = sp.reduce(body, basis, cubature=cubature, compare=False)
    model.save(tmp_path / "points.supple")
    again = sp.load_model(tmp_path / "points.supple")
    assert np.array_equal(again.cubature.points, cubature.points)
    q = 0.01 * np.ones(model.size)
    assert again.evaluate(q)[0] == model.evaluate(q)[0]
    stiffer = sp.Body(body.mesh, sp.StVK(young=7e5, poisson=0.2), fixed=body.mesh.where(x=0))
    refused("trained for another body", sp.reduce, stiffer, basis, cubature=cubature)


def test_samples_of_points_are_those_of_their_forces():
    rng = np.random.default_rng(0)
    P, G = rng.normal(size=(300, 5, 9)), rng.normal(size=(300, 9, 4))
    whole = rng.normal(size=20)
    one = PointSamples(5, P, G, whole)
    other = DenseSamples(5, (P @ G).reshape(300, -1), whole)
    some = np.array([3, 280, 7])
    assert np.allclose(one.correlations(whole), other.correlations(whole), rtol=1e-12)
    assert np.allclose(one.squares(), other.squares(), rtol=1e-12)
    assert np.allclose(one.columns(some), other.columns(some), rtol=1e-12)


def test_points_are_checked():
    body, vectors = bricks()
    make = Cubature.of_cells
    refused("indices from 0 to 7", make, body, vectors, [0, 1], [1.0, 1.0], points=[0, 8])
    refused("twice", make, body, vectors, [1, 1], [1.0, 1.0], points=[2, 2])
