"""Linear solvers: all of them against dense algebra, with anything held, good matrices and bad."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from tests.helpers import EPS, MESH_NAMES, small_mesh, soft
from tests.refusals import refusals

import supple as sp
from supple.core.sparse import BlockPattern
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear import pardiso
from supple.solvers.linear.cholesky import Factorization
from supple.solvers.linear.conjugate_gradients import truncated_cg

SOLVERS = [
    sp.Cholesky(),
    sp.LaggedCholesky(),
    sp.LaggedCholesky(single=False),
    sp.ConjugateGradients(),
    sp.AutomaticSolver(),
    sp.AutomaticSolver(direct_limit=1),
    sp.Multigrid(coarsest=4),
]
every_solver = pytest.mark.parametrize("solver", SOLVERS, ids=repr)


@pytest.fixture(params=["MKL", "SuperLU"])
def backend(request, monkeypatch):
    """Both ways to factorize: MKL's PARDISO, and SciPy's where MKL is missing."""
    if request.param == "SuperLU":
        monkeypatch.setattr(pardiso, "library", lambda: None)
    elif pardiso.library() is None:
        pytest.skip("MKL is not installed")
    return request.param


def held_masks(n: int) -> dict[str, np.ndarray]:
    some = np.ones((n, 3), bool)
    some[[0, 4]] = False
    partly = some.copy()
    partly[7, 1] = partly[9, ::2] = False
    return {"nothing": np.ones((n, 3), bool), "vertices": some, "components": partly}


@lru_cache
def system(mesh_name: str, strain: float = 0.1) -> tuple[BlockPattern, np.ndarray]:
    """Pattern and blocks of M/h² + K at a deformed shape."""
    body = sp.Body(small_mesh(mesh_name), soft(sp.StVK))
    u = strain * np.random.default_rng(0).normal(size=body.mesh.vertices.shape) * 0.1
    values = body.evaluate(u, order=2).stiffness.copy()
    values += 1e3 * body.mass_values[:, None, None] * np.eye(3)
    return body.pattern, values


def solution(solver, pattern, values, rhs):
    """x with everything free; a solver may find out in either call that the matrix is bad."""
    bound = solver.bind(pattern, np.ones(rhs.shape, bool))
    bound.take(values)
    return bound.solve(rhs)


@lru_cache
def dense_inverse(mesh_name: str, held: str, strain: float = 0.1) -> tuple[np.ndarray, float]:
    """The inverse on free components, zero elsewhere, and the condition number."""
    pattern, values = system(mesh_name, strain)
    kept = np.flatnonzero(held_masks(pattern.n_nodes)[held])
    A = pattern.full(values).toarray()
    inverse = np.zeros_like(A)
    eigenvalues, Q = np.linalg.eigh(A[np.ix_(kept, kept)])
    inverse[np.ix_(kept, kept)] = (Q / eigenvalues) @ Q.T
    return inverse, eigenvalues[-1] / eigenvalues[0]


@every_solver
@pytest.mark.parametrize("mesh_name", MESH_NAMES)
@pytest.mark.parametrize("held", ["nothing", "vertices", "components"])
def test_solver_equals_dense(solver, mesh_name, held, backend):
    pattern, values = system(mesh_name)
    free = held_masks(pattern.n_nodes)[held]
    bound = solver.bind(pattern, free)
    bound.take(values)
    rhs = np.random.default_rng(1).normal(size=free.shape)
    found = bound.solve(rhs)
    inverse, condition = dense_inverse(mesh_name, held)
    expected = (inverse @ rhs.ravel()).reshape(rhs.shape)
    # Direct: condition · eps. Iterative ones stop at a relative residual of 1e-12.
    direct = isinstance(solver, sp.Cholesky)
    tolerance = 100 * condition * EPS if direct else condition * 1e-12
    assert np.linalg.norm(found - expected) <= tolerance * np.linalg.norm(expected)
    assert not found[~free].any()


@every_solver
def test_solver_tolerance_kept(solver):
    """The residual left is at most what was asked for."""
    pattern, values = system("tet")
    free = held_masks(pattern.n_nodes)["vertices"]
    bound = solver.bind(pattern, free)
    bound.take(values)
    rhs = np.random.default_rng(2).normal(size=free.shape) * free
    for tolerance in (1e-1, 1e-4, 1e-8):
        residual = (rhs - pattern.multiply(values, bound.solve(rhs, tolerance))) * free
        assert np.linalg.norm(residual) <= 1.01 * tolerance * np.linalg.norm(rhs)


@every_solver
def test_solver_takes_one_matrix_after_another(solver, backend):
    """A kept factor, pattern or analysis never leaks the old matrix into the new solution."""
    pattern, _ = system("tet")
    free = held_masks(pattern.n_nodes)["components"]
    bound = solver.bind(pattern, free)
    rhs = np.random.default_rng(3).normal(size=free.shape)
    for strain in (0.0, 0.1, 0.3, 0.0):
        _, values = system("tet", strain)
        factor = 1 + 10 * strain
        bound.take(factor * values)
        inverse, condition = dense_inverse("tet", "components", strain)
        expected = (inverse @ rhs.ravel()).reshape(rhs.shape) / factor
        difference = np.linalg.norm(bound.solve(rhs) - expected)
        assert difference <= condition * 1e-12 * np.linalg.norm(expected)


@every_solver
@pytest.mark.parametrize(
    "rhs", [[1, 0, 0, 0, 0, 0], [1, 0, 0, 2, 0, 0], [1, 1, 1, 1, 1, 1]], ids=str
)
def test_solver_rejects_indefinite(solver, rhs, backend):
    """Negative curvature in the matrix, hidden in a block with a positive determinant."""
    pattern, _ = BlockPattern.of_cells(np.array([[0, 1]]), 2)
    values = np.zeros((3, 3, 3))
    values[0], values[2] = np.diag([-1.0, -1.0, 1.0]), np.eye(3)
    with pytest.raises(NotPositiveDefinite):
        solution(solver, pattern, values, np.reshape(np.array(rhs, dtype=float), (2, 3)))


@every_solver
def test_solver_rejects_indefinite_coupling(solver, backend):
    """All diagonal blocks are positive; only the whole is not."""
    pattern, _ = BlockPattern.of_cells(np.array([[0, 1]]), 2)
    values = np.stack([np.eye(3), 2 * np.eye(3), np.eye(3)])
    with pytest.raises(NotPositiveDefinite):
        solution(solver, pattern, values, np.array([[1.0, 2, 3], [-2.0, 0, 1]]))


def test_factorization_many_right_hand_sides(backend):
    pattern, values = system("quadratic")
    free = held_masks(pattern.n_nodes)["components"]
    factor = Factorization(pattern, free)
    factor.factorize(values)
    rhs = np.random.default_rng(4).normal(size=(5, *free.shape))
    together = factor.solve(rhs)
    assert together.shape == rhs.shape
    for one, x in zip(rhs, together, strict=True):
        inverse, condition = dense_inverse("quadratic", "components")
        expected = (inverse @ one.ravel()).reshape(one.shape)
        scale = np.linalg.norm(expected)
        assert np.linalg.norm(x - expected) <= 100 * condition * EPS * scale
        assert np.linalg.norm(factor.solve(one) - x) <= 100 * condition * EPS * scale


def test_factorizations_independent(backend):
    """Two factorizations alive at once do not share memory."""
    pattern, values = system("tet")
    free = held_masks(pattern.n_nodes)["vertices"]
    rhs = np.random.default_rng(5).normal(size=free.shape)
    one, two = Factorization(pattern, free), Factorization(pattern, free)
    one.factorize(values)
    two.factorize(2 * values)
    np.testing.assert_allclose(one.solve(rhs), 2 * two.solve(rhs), rtol=1e-9, atol=1e-15)


@every_solver
def test_solver_with_nothing_free(solver, backend):
    """A body that is held everywhere has nothing to solve for."""
    pattern, values = system("tet")
    bound = solver.bind(pattern, np.zeros((pattern.n_nodes, 3), bool))
    bound.take(values)
    assert not bound.solve(np.ones((pattern.n_nodes, 3))).any()


@every_solver
@pytest.mark.parametrize("case", ["nearly incompressible", "thin cells"])
def test_solver_badly_conditioned(solver, case, backend):
    """Condition numbers beyond single precision: the residual is still as small as asked for."""
    if case == "thin cells":
        mesh = sp.TetMesh.box((1, 0.2, 0.002), (8, 2, 1))
        body = sp.Body(mesh, sp.StVK(young=2e11, poisson=0.3, density=7800), fixed=mesh.where(x=0))
    else:
        mesh = sp.TetMesh.box((1, 0.2, 0.2), (8, 2, 2))
        body = sp.Body(mesh, soft(sp.StVK, young=1e7, poisson=0.4999), fixed=mesh.where(x=0))
    values = body.evaluate(np.zeros_like(mesh.vertices), order=2).stiffness.copy()
    values += 1e4 * body.mass_values[:, None, None] * np.eye(3)
    bound = solver.bind(body.pattern, body.free)
    bound.take(values)
    rhs = body.weight((0, 0, -9.81)) * body.free
    residual = (rhs - body.pattern.multiply(values, bound.solve(rhs, 1e-3))) * body.free
    assert np.linalg.norm(residual) <= 1e-3 * np.linalg.norm(rhs)


test_bad_solver_options_named = refusals(
    (lambda: sp.ConjugateGradients(max_iterations=0), "max_iterations"),
    (lambda: sp.LaggedCholesky(max_iterations=0), "max_iterations"),
)


# -- truncated conjugate gradients -----------------------------------------------------------------


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
