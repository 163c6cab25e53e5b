"""Small dense matrices in compiled loops, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from supple._kernels.linear_algebra.dense import (
    add_symmetric_product,
    find_eigenvectors,
    multiply_nine,
    padded,
)

rng = np.random.default_rng(0)


@pytest.mark.parametrize("n", [*range(1, 20), 45, 100])
@pytest.mark.parametrize("rows", [1, 9, 72])
def test_symmetric_products_are_those_of_numpy(n: int, rows: int) -> None:
    """Also where rows end within a tile; nothing beyond the arrays is written."""
    A, D = rng.standard_normal((rows, n)), rng.standard_normal((rows, rows))
    wide, D = padded(n), D + D.T
    B = np.full((rows, wide), np.nan)
    B[:, :n] = D @ A
    room = np.zeros(n * wide + 8)
    C = room[: n * wide].reshape(n, wide)
    before = rng.standard_normal((n, n))
    C[:, :n] = before
    add_symmetric_product(A, B, C)
    size = np.abs(A).T @ np.abs(D @ A) + np.abs(before)
    assert np.tril(np.abs(C[:, :n] - before - A.T @ D @ A) / size).max() < 1e-13
    assert not room[n * wide :].any()


@pytest.mark.parametrize("s", [1, 4, 13, 30])
def test_nine_rows_are_multiplied(s: int) -> None:
    D, G = rng.standard_normal((9, 9)), rng.standard_normal((2, 9, s))
    wide = padded(s)
    T = np.zeros((20, wide))
    at, width = np.uint64(9 * s), np.uint64(s)
    multiply_nine(D, G.ravel(), at, width, T.ravel(), np.uint64(wide), np.uint64(wide))
    np.testing.assert_allclose(T[1:10, :s], D @ G[1], atol=1e-13)
    assert not T[0].any()
    assert not T[10:].any()


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12])
@pytest.mark.parametrize("kind", ["any", "singular", "twice the same", "diagonal", "nothing"])
def test_eigenvectors_are_those_of_numpy(n: int, kind: str) -> None:
    values = np.sort(rng.standard_normal(n))
    if kind == "singular":
        values[: n // 2 + 1] = 0.0
    if kind == "twice the same":
        values[:] = np.repeat(values[::2], 2)[:n]
    turns = np.eye(n) if kind == "diagonal" else np.linalg.qr(rng.standard_normal((n, n)))[0]
    A = (turns * values) @ turns.T if kind != "nothing" else np.zeros((n, n))
    found, vectors = np.empty(n), np.empty((n, n))
    find_eigenvectors(0.5 * (A + A.T), found, vectors)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(A), atol=1e-14 * n)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-14 * n)
    np.testing.assert_allclose(A @ vectors, vectors * found, atol=1e-14 * n)
