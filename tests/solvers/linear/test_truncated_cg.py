"""Directions where the matrix is not definite: a plate of which some directions have none."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.core.sparse import BlockPattern
from supple.solvers.linear.conjugate_gradients import truncated_cg

N = 12
PATTERN, SLOTS = BlockPattern.of_cells(np.array([(i, i + 1) for i in range(N - 1)]), N)


def matrices(curvature: float) -> tuple[np.ndarray, np.ndarray]:
    """A chain that is stiff along x, and bends along z with ``curvature`` at one node: A and D."""
    spring = np.diag([4.0, 1.0, 0.5])
    A = np.zeros((PATTERN.n_blocks, 3, 3))
    for row in SLOTS:
        for slot, sign in zip(row, (1, -1, 1), strict=True):
            A[slot if slot >= 0 else ~slot] += sign * spring
    A[PATTERN.indptr[:-1]] += 0.3 * np.eye(3)
    D = A.copy()
    A[PATTERN.indptr[5], 2, 2] += curvature
    return A, D


def direction(curvature: float, rhs: np.ndarray, free: np.ndarray, tolerance: float = 1e-10):
    A, D = matrices(curvature)
    definite_solver = sp.Cholesky().bind(PATTERN, free)
    definite_solver.take(D)
    first = definite_solver.solve(rhs)
    return A, first, truncated_cg(PATTERN, free, A, definite_solver, rhs, first, tolerance)


def setting(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    free = np.ones((N, 3), bool)
    free[0] = False
    return np.random.default_rng(seed).normal(size=(N, 3)), free


def test_definite_matrix_is_solved():
    rhs, free = setting()
    A, _, found = direction(-0.2, rhs, free)
    left = np.where(free, PATTERN.multiply(A, found) - rhs, 0)
    assert np.linalg.norm(left) <= 0.1 * np.linalg.norm(rhs[free])
    assert not found[~free].any()


def test_force_beside_the_negative_direction_is_answered():
    """A is not definite, but the force has no part along z, where it is not."""
    rhs, free = setting()
    rhs[:, 2] = 0.0
    A, _, found = direction(-50.0, rhs, free)
    dense = PATTERN.full(A).toarray()[3:, 3:]
    assert np.linalg.eigvalsh(dense)[0] < 0
    exact = np.linalg.solve(dense, rhs.ravel()[3:]).reshape(-1, 3)
    np.testing.assert_allclose(found[1:], exact, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_direction_leads_downhill(seed):
    """Where curvature turns negative on the way, what was found before it is kept."""
    rhs, free = setting(seed)
    _, _, found = direction(-50.0, rhs, free)
    assert np.vdot(rhs[free], found[free]) > 0
    assert np.isfinite(found).all()
    rhs[:] = 0.0
    rhs[5, 2] = 1.0
    _, first, found = direction(-50.0, rhs, free)
    np.testing.assert_array_equal(found, first)
