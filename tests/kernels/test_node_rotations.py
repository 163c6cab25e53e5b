"""A kept factor that turns along with the body."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple as sp
from supple._kernels.linear_algebra import node_rotations as turning
from supple.bodies.shape import Shape
from supple.solvers.linear.lagged_cholesky import LaggedCholesky

MESHES = [
    sp.HexMesh.box(size=(1.0, 0.3, 0.3), cells=(6, 2, 2)).tetrahedra(),
    sp.SheetMesh.grid((1.0, 0.6), (7, 5)),
]


def body_of(mesh: sp.Mesh, fixed: np.ndarray | None = None) -> sp.ElasticBody:
    if isinstance(mesh, sp.SheetMesh):
        film = sp.IsotropicCloth(
            young=2e5, poisson=0.3, thickness=5e-4, areal_density=0.2, bending_stiffness=1e-5
        )
        return sp.Cloth(mesh, film, fixed=fixed)
    return sp.Body(mesh, sp.StVK(young=1e5, poisson=0.4, density=1000.0), fixed=fixed)


def followed(body: sp.ElasticBody, x: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    R = np.tile(np.eye(3), (len(x), 1, 1)) if start is None else start.copy()
    turning.update_rotations(body.pattern.indptr, body.pattern.cols, body.mesh.vertices, x, R)
    return R


@pytest.mark.parametrize("mesh", MESHES, ids=["solid", "sheet"])
def test_a_body_that_turns_has_turned_everywhere(mesh: sp.Mesh) -> None:
    turn = Rotation.from_rotvec([0.4, -1.2, 0.7]).as_matrix()
    R = followed(body_of(mesh), mesh.vertices @ turn.T)
    assert np.abs(R - turn).max() < 1e-5
    assert np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max() < 1e-12


def test_frames_are_the_rotations_nearest_to_how_surroundings_lie() -> None:
    body, rng = body_of(MESHES[0]), np.random.default_rng(3)
    X = body.mesh.vertices
    x = X @ np.diag([1.2, 0.9, 1.0]) @ Rotation.from_rotvec([0, 0, 0.9]).as_matrix().T
    x = x + 0.02 * rng.standard_normal(X.shape)
    R = followed(body, x)
    rows, cols = body.pattern.rows, body.pattern.cols
    for i in range(0, len(X), 5):
        near = np.unique(np.concatenate([cols[rows == i], rows[cols == i]]))
        D, d = X[near] - X[i], x[near] - x[i]
        weight = 1 / np.maximum((D**2).sum(axis=1), 1e-30)
        U, _, Vt = np.linalg.svd(np.einsum("k,ki,kj->ij", weight, d, D))
        assert np.abs(R[i] - U @ np.diag([1, 1, np.linalg.det(U @ Vt)]) @ Vt).max() < 1e-5


@pytest.mark.parametrize("mesh", MESHES, ids=["solid", "sheet"])
def test_a_factor_stays_good_while_the_body_turns(mesh: sp.Mesh) -> None:
    body = body_of(mesh)
    turn = Rotation.from_rotvec([0.4, -1.2, 0.7]).as_matrix()
    mass = body.mass_values[:, None, None] * np.eye(3) * 1e4

    def matrix(x: np.ndarray) -> np.ndarray:
        return mass + Shape(body, x - mesh.vertices, order=2).stiffness

    turned = mesh.vertices @ turn.T
    rhs = np.random.default_rng(0).standard_normal(mesh.vertices.shape)
    spent = {}
    for along in (True, False):
        solver = LaggedCholesky(single=False).bind(body.pattern, body.free)
        for x in (mesh.vertices, turned):
            frames = followed(body, x)
            solver.take(matrix(x), None, (lambda known=frames: known) if along else None)
            found = solver.solve(rhs, 1e-6)
        spent[along] = solver.factorizations
        left = body.pattern.multiply(matrix(turned), found) - rhs
        assert np.linalg.norm(left) < 1e-5 * np.linalg.norm(rhs)
    assert spent == {True: 1, False: 2}


def test_nodes_held_in_part_are_not_turned() -> None:
    mesh = MESHES[0]
    fixed = np.zeros(mesh.vertices.shape, dtype=bool)
    fixed[mesh.where(x=0)] = True
    fixed[mesh.where(x=1), 2] = True
    body = body_of(mesh, fixed)
    solver = LaggedCholesky().bind(body.pattern, body.free)
    rhs = np.random.default_rng(1).standard_normal(mesh.vertices.shape)
    for place in (mesh.vertices, mesh.vertices + 0.1 * mesh.vertices[:, [1, 0, 2]] * [1, -1, 0]):
        frames = followed(body, place)
        values = Shape(body, place - mesh.vertices, order=2).definite_stiffness
        solver.take(values, None, lambda known=frames: known)
        found = solver.solve(rhs, 1e-10)
    assert not found[fixed].any()
    left = np.where(fixed, 0.0, body.pattern.multiply(values, found) - rhs)
    assert np.linalg.norm(left) < 1e-8 * np.linalg.norm(rhs)
