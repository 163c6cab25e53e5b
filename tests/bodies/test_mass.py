"""Mass matrices: totals, centres and inertia, over every kind of cell and both mass models."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from tests.helpers import EPS, MESH_NAMES, small_mesh, soft
from tests.refusals import refused

import supple as sp

every_mesh = pytest.mark.parametrize("mesh_name", MESH_NAMES)
every_model = pytest.mark.parametrize(
    "model", [sp.ConsistentMass(), sp.LumpedMass()], ids=lambda m: type(m).__name__
)


def heavy_and_light(mesh: sp.VolumeMesh) -> np.ndarray:
    return np.random.default_rng(0).uniform(100.0, 3000.0, mesh.n_cells)


def uneven(mesh_name: str, **options) -> sp.Body:
    mesh = small_mesh(mesh_name)
    return sp.Body(mesh, soft(sp.StVK, density=heavy_and_light(mesh)), **options)


@lru_cache
def exact_moments(mesh_name: str) -> tuple[float, np.ndarray, np.ndarray]:
    """∫ρ, ∫ρX and ∫ρXXᵀ by four Gauss points a direction, exact for every cell here.

    A tet is a brick whose top is one point and whose bottom has a double corner, so one trilinear
    map serves all; the integrands are of degree five at most.
    """
    mesh = small_mesh(mesh_name)
    line, weight = np.polynomial.legendre.leggauss(4)
    places = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    weights = np.einsum("i,j,k->ijk", weight, weight, weight).ravel()
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    signs = np.array([(x, y, z) for z in (-1, 1) for x, y in square])
    factors = 1 + signs * places[:, None, :]
    values = np.prod(factors, axis=2) / 8
    slopes = np.stack(
        [signs[:, a] * np.prod(np.delete(factors, a, 2), axis=2) / 8 for a in range(3)], axis=1
    )
    corners = list(range(8)) if isinstance(mesh, sp.HexMesh) else [0, 1, 2, 2, 3, 3, 3, 3]
    X = mesh.vertices[mesh.cells[:, corners]]
    x = np.einsum("qa,eai->eqi", values, X)
    measure = np.abs(np.linalg.det(np.einsum("qda,eai->eqdi", slopes, X))) * weights
    measure *= heavy_and_light(mesh)[:, None]
    first = np.einsum("eq,eqi->i", measure, x)
    return measure.sum(), first, np.einsum("eq,eqi,eqj->ij", measure, x, x)


@every_mesh
@every_model
def test_mass_total_exact(mesh_name, model):
    body = uneven(mesh_name, mass_model=model)
    total, _, _ = exact_moments(mesh_name)
    assert abs(body.total_mass - total) <= 1e3 * EPS * total
    assert abs(body.mass.sum() - 3 * total) <= 1e4 * EPS * total


@every_mesh
def test_consistent_mass_centre_and_inertia_exact(mesh_name):
    """uᵀ M w = ∫ρ u·w for affine fields: momentum and inertia of rigid motions are exact."""
    body = uneven(mesh_name)
    total, first, second = exact_moments(mesh_name)
    X = body.mesh.vertices
    A, B = np.random.default_rng(1).normal(size=(2, 3, 3))
    a, b = np.random.default_rng(2).normal(size=(2, 3))
    found = np.vdot(X @ A.T + a, body.mass_times(X @ B.T + b))
    expected = np.trace(A @ second @ B.T) + a @ b * total + a @ B @ first + b @ A @ first
    assert abs(found - expected) <= 1e4 * EPS * total
    spin = np.array([0.3, -0.2, 0.7])
    momentum = body.mass_times(np.cross(spin, X))
    inertia = np.trace(second) * np.eye(3) - second
    found = np.cross(X, momentum).sum(axis=0)
    assert np.abs(found - inertia @ spin).max() <= 1e4 * EPS * total
    assert np.abs(momentum.sum(axis=0) - np.cross(spin, first)).max() <= 1e4 * EPS * total


@every_mesh
def test_lumped_mass_positive_and_diagonal(mesh_name):
    body = sp.Body(small_mesh(mesh_name), soft(sp.StVK), mass_model=sp.LumpedMass())
    M = body.mass.toarray()
    assert (np.diagonal(M) > 0).all()
    np.testing.assert_array_equal(M, np.diag(np.diagonal(M)))


@every_mesh
@every_model
def test_mass_positive_definite_and_consistent_with_multiplication(mesh_name, model):
    body = sp.Body(small_mesh(mesh_name), soft(sp.StVK), mass_model=model)
    M = body.mass.toarray()
    assert np.linalg.eigvalsh(M)[0] > 0
    a = np.random.default_rng(3).normal(size=(body.n_vertices, 3))
    assert np.abs(body.mass_times(a).ravel() - M @ a.ravel()).max() <= 1e3 * EPS * np.abs(M).max()


@every_mesh
@every_model
def test_weight_total_is_mass_times_gravity(mesh_name, model):
    body = sp.Body(small_mesh(mesh_name), soft(sp.StVK), mass_model=model)
    g = np.array([1.0, -2.0, -9.81])
    weight = body.weight(g)
    assert np.abs(weight.sum(axis=0) - body.total_mass * g).max() <= 1e4 * EPS * body.total_mass
    for bad in ((0, 9.81), (0, 0, np.nan), 9.81, "down"):
        refused("gravity", body.weight, bad)


@every_mesh
def test_consistent_weight_has_no_moment_about_the_centre(mesh_name):
    body = uneven(mesh_name)
    total, first, _ = exact_moments(mesh_name)
    moment = np.cross(body.mesh.vertices - first / total, body.weight((1, 2, 3))).sum(axis=0)
    assert np.abs(moment).max() <= 1e4 * EPS * total


def test_scaled_mass_adds_up():
    mesh = small_mesh("quadratic")
    body = sp.Body(mesh, soft(sp.StVK))
    share = np.random.default_rng(4).random(mesh.n_cells)
    both = body.scaled_mass(share) + body.scaled_mass(1 - share)
    assert np.abs(both - body.mass_values).max() <= 10 * EPS * np.abs(body.mass_values).max()
