"""Compiled loops against plain NumPy."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation
from tests.helpers import EPS, MESH_NAMES, entries, small_mesh

from supple._kernels.linear_algebra import blocks
from supple._kernels.linear_algebra.svd3 import (
    SCRATCH,
    TOGETHER,
    eigh3,
    keep_positive,
    svd3,
    svd3_together,
)
from supple.core.sparse import BlockPattern


def decomposed(F):
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    svd3(np.ascontiguousarray(F, dtype=float), U, sigma, V)
    return U, sigma, V


SPECIAL = [
    np.zeros((3, 3)),
    np.eye(3),
    -np.eye(3),
    np.diag([1.0, 0.0, 0.0]),
    np.diag([0.0, 0.0, -2.0]),
    np.diag([3.0, 3.0, -3.0]),
    np.outer([1.0, 2.0, 2.0], [2.0, -1.0, 0.0]),
    np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    1e-60 * np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 10]]),
    1e60 * np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 10]]),
    np.eye(3) + 1e-9 * np.array([[0.0, 1, 2], [3, 0, 1], [1, 1, 0]]),
]
matrices = arrays(float, (3, 3), elements=entries(3))


def assert_decomposes(F, U, sigma, V):
    """F = U diag(σ) Vᵀ, U and V rotations, |σ| falling, the sign of det F in σ₂ alone."""
    size = np.abs(sigma).max() + 1e-100  # F = 0 is allowed
    assert np.abs(U * sigma @ V.T - F).max() <= 450 * EPS * size  # columns of 1e-14 may be lost
    for R in (U, V):
        assert np.abs(R.T @ R - np.eye(3)).max() <= 30 * EPS
        assert np.linalg.det(R) > 0
    assert sigma[0] >= sigma[1] >= 0
    assert sigma[1] >= abs(sigma[2]) - 30 * EPS * size
    assert np.abs(np.abs(sigma) - np.linalg.svd(F, compute_uv=False)).max() <= 30 * EPS * size


@pytest.mark.parametrize("F", SPECIAL, ids=range(len(SPECIAL)))
def test_svd_of_special_matrices(F):
    assert_decomposes(F, *decomposed(F))


@given(matrices)
@settings(max_examples=300, deadline=None)
def test_svd_of_any_matrix(F):
    assert_decomposes(F, *decomposed(F))


@given(spread=st.floats(1e-14, 1e-2), turn=arrays(float, (2, 3), elements=st.floats(-3, 3)))
@settings(max_examples=100, deadline=None)
def test_svd_small_singular_value_relative_accuracy(spread, turn):
    """One-sided Jacobi finds σ₂ = spread to the rounding of F itself."""
    U, V = Rotation.from_rotvec(turn).as_matrix()
    _, sigma, _ = decomposed(U * [1.0, 0.5, spread] @ V.T)
    assert abs(sigma[2] - spread) <= 20 * EPS


@pytest.mark.parametrize("known", [False, True], ids=["from anywhere", "from nearby"])
def test_svd_of_many_matrices_together(known):
    """Whatever V they start from, with matrices of all kinds side by side, and fewer than fit."""
    rng = np.random.default_rng(8)
    for count in (TOGETHER, 23):
        F = rng.normal(size=(count, 3, 3)) * 10.0 ** rng.integers(-20, 20, (count, 1, 1))
        F[: len(SPECIAL)] = SPECIAL
        U, sigma, V = np.empty((count, 3, 3)), np.empty((count, 3)), np.empty((count, 3, 3))
        V[:] = Rotation.random(count, rng=rng).as_matrix()
        if known:
            V[:] = [decomposed(f)[2] for f in F]
            V = V @ Rotation.from_rotvec(1e-4 * rng.normal(size=(count, 3))).as_matrix()
        svd3_together(F, U, sigma, V, 1e-12, np.empty(SCRATCH))
        for k in range(count):
            assert_decomposes(F[k], U[k], sigma[k], V[k])


def test_svd_goes_on_after_what_is_no_number():
    F, U, sigma, V = np.ones((3, 3, 3)), np.empty((3, 3, 3)), np.empty((3, 3)), np.ones((3, 3, 3))
    F[:], V[:] = np.diag([3.0, 2.0, 1.0]), np.eye(3)
    F[1, 0, 0], F[2, 1, 1] = np.nan, np.inf
    svd3_together(F, U, sigma, V, 1e-12, np.empty(SCRATCH))
    np.testing.assert_array_equal(V, np.tile(np.eye(3), (3, 1, 1)))
    np.testing.assert_allclose(sigma[0], [3.0, 2.0, 1.0])


@given(matrices)
@settings(max_examples=200, deadline=None)
def test_eigenvalues_of_any_symmetric_matrix(M):
    H = M + M.T
    D, W = H.copy(), np.empty((3, 3))
    eigh3(D, W)
    values = np.diagonal(D)
    scale = max(np.abs(values).max(), 1e-300)
    assert np.abs(W.T @ W - np.eye(3)).max() <= 30 * EPS
    assert np.abs(W * values @ W.T - H).max() <= 30 * EPS * scale
    assert np.abs(np.sort(values) - np.linalg.eigvalsh(H)).max() <= 30 * EPS * scale


@pytest.fixture(params=MESH_NAMES)
def pattern(request):
    mesh = small_mesh(request.param)
    return BlockPattern.of_cells(mesh.cells, mesh.n_vertices)[0]


def random_blocks(pattern, size):
    """Symmetric values on the pattern: diagonal blocks must be symmetric themselves."""
    values = np.random.default_rng(0).normal(size=(pattern.n_blocks, size, size))
    diagonal = pattern.rows == pattern.cols
    values[diagonal] += values[diagonal].transpose(0, 2, 1)
    return values


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("size", [1, 3, 4, 5])
def test_block_multiply_equals_dense(pattern, size, parts, monkeypatch):
    monkeypatch.setattr("supple.core.sparse._BLOCKS_OF_A_PART", pattern.n_blocks // parts)
    values = random_blocks(pattern, size)
    x = np.random.default_rng(1).normal(size=(pattern.n_nodes, size))
    dense = pattern.full(values).toarray()
    np.testing.assert_array_equal(dense, dense.T)
    bound = EPS * dense.shape[0] * np.abs(dense).sum(axis=1).max() * np.abs(x).max()
    assert np.abs(pattern.multiply(values, x).ravel() - dense @ x.ravel()).max() <= bound


def test_scalar_multiply_equals_identity_blocks(pattern):
    scalars = np.random.default_rng(2).normal(size=pattern.n_blocks)
    x = np.random.default_rng(3).normal(size=(pattern.n_nodes, 3))
    blocked = pattern.multiply(scalars[:, None, None] * np.eye(3), x)
    bound = EPS * pattern.n_nodes * np.abs(scalars).max() * np.abs(x).max() * 30
    assert np.abs(pattern.multiply(scalars, x) - blocked).max() <= bound


def test_pattern_diagonal_first_and_columns_ascending(pattern):
    for i in range(pattern.n_nodes):
        cols = pattern.cols[pattern.indptr[i] : pattern.indptr[i + 1]]
        assert cols[0] == i
        assert (np.diff(cols) > 0).all()


def test_free_upper_triangle_equals_dense(pattern):
    """A factorization sees the dense upper triangle without the held rows."""
    values = random_blocks(pattern, 3)
    free = np.random.default_rng(4).random((pattern.n_nodes, 3)) > 0.3
    number = np.where(free, (np.cumsum(free) - 1).reshape(free.shape), -1)
    rows, columns, sources = blocks.scalar_upper_pattern(pattern.indptr, pattern.cols, free, number)
    kept = np.flatnonzero(free)
    dense = np.triu(pattern.full(values).toarray()[np.ix_(kept, kept)])
    found = np.zeros_like(dense)
    for row in range(len(kept)):
        at = slice(rows[row], rows[row + 1])
        assert (np.diff(columns[at]) > 0).all()
        assert columns[at][0] == row, "diagonals must all be there"
        found[row, columns[at]] = values.reshape(-1)[sources[at]]
    np.testing.assert_array_equal(found, dense)


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_positive_part(scale):
    """Of every signature, with eigenvalues apart, together, close to zero and zero."""
    rng = np.random.default_rng(3)
    values = [-2.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 1.0 + 1e-9, 3.0]
    for eigenvalues in itertools.product(values, repeat=3):
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        S = scale * (Q * eigenvalues) @ Q.T
        S = (S + S.T) / 2
        expected = (Q * np.maximum(scale * np.array(eigenvalues), 0.0)) @ Q.T
        keep_positive(S, np.empty((3, 3)))
        np.testing.assert_allclose(S, expected, atol=1e-8 * scale)
        np.testing.assert_allclose(S, S.T, atol=1e-15 * scale)
