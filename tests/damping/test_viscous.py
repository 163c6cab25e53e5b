"""Damping by any constant matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.damping.derivatives import matrix_of
from tests.helpers import EPS, simulate, small_mesh, soft
from tests.refusals import refusals, refused

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.viscous import Viscous

MESH = sp.TetMesh.box((0.4, 0.2, 0.2), (2, 1, 1))
N = MESH.n_vertices
BODY = sp.Body(MESH, soft(sp.StVK), fixed=MESH.where(x=0))
REST = Shape(BODY, np.zeros((N, 3)))


def random_matrix(rank: int, seed: int = 0) -> np.ndarray:
    B = np.random.default_rng(seed).normal(size=(3 * N, rank))
    return B @ B.T


def dashpot(i: int, j: int, c: float) -> sparse.coo_array:
    """Resists every relative motion of two vertices."""
    ends = sparse.coo_array(([1.0, -1.0], ([0, 0], [i, j])), shape=(1, N))
    return sparse.kron(c * ends.T @ ends, sparse.eye_array(3))


@pytest.mark.parametrize(
    "matrix",
    [random_matrix(7), random_matrix(3 * N), dashpot(0, N - 1, 3.0), np.zeros((3 * N, 3 * N))],
    ids=["low rank", "dense", "dashpot", "none"],
)
def test_everything_is_the_matrix(matrix):
    C = matrix.toarray() if sparse.issparse(matrix) else matrix
    bound = Viscous(matrix).bind(BODY)
    size = np.abs(C).max() + 1e-300
    found = matrix_of(BODY, bound, REST, np.zeros((N, 3)))
    np.testing.assert_allclose(found, C, atol=2 * EPS * size)
    V = np.random.default_rng(1).normal(size=(4, N, 3))
    products = bound.multiply(REST, V)
    for v, product in zip(V, products, strict=True):
        R, force = bound.evaluate(REST, v)
        expected = (C @ v.ravel()).reshape(v.shape)
        np.testing.assert_allclose(force, expected, atol=1e3 * EPS * size)
        np.testing.assert_allclose(product, expected, atol=1e3 * EPS * size)
        assert abs(R - 0.5 * np.vdot(v, expected)) <= 1e4 * EPS * size
    assert not bound.depends_on_shape


def test_matrix_on_the_bodys_pattern_needs_no_other():
    K = BODY.stiffness(np.zeros((N, 3)))
    assert Viscous(1e-3 * K).bind(BODY).pattern is None
    assert Viscous(sparse.eye_array(3 * N)).bind(BODY).pattern is None
    rows, cols = BODY.pattern.rows, BODY.pattern.cols
    i, j = next(
        (i, j) for i in range(N) for j in range(i, N) if not ((rows == i) & (cols == j)).any()
    )
    pattern = Viscous(dashpot(j, i, 1.0)).bind(BODY).pattern
    assert pattern.n_blocks == N + 1
    np.testing.assert_array_equal(pattern.cols[pattern.indptr[:-1]], np.arange(N))


@pytest.mark.parametrize("kind", ["csr_array", "coo_matrix", "bsr_array", "dia_array"])
def test_every_kind_of_sparse_matrix_is_taken(kind):
    C = dashpot(1, 5, 2.0) + sparse.eye_array(3 * N)
    given = getattr(sparse, kind)(C)
    np.testing.assert_array_equal(Viscous(given).matrix.toarray(), C.toarray())


def test_matrix_is_kept_as_it_was_given():
    C = random_matrix(5)
    damping = Viscous(C)
    before = damping.matrix.toarray()
    C[:] = 0.0
    np.testing.assert_array_equal(damping.matrix.toarray(), before)
    with pytest.raises(ValueError):
        damping.matrix.data[:] = 0.0


@pytest.mark.parametrize(
    ("far", "count"),
    [([], 8), ([dashpot(0, N - 1, 4.0), dashpot(2, N - 3, 9.0)], 5)],
    ids=["Rayleigh alone", "with dashpots"],
)
def test_dampings_of_different_patterns_move_as_the_sum_of_their_matrices(far, count):
    K = BODY.stiffness(np.zeros((N, 3)))
    rayleigh = sp.Rayleigh(mass=0.4, stiffness=0.01, at=sp.StiffnessAt.REST)
    ways = [
        [*map(Viscous, far[:1]), rayleigh, *map(Viscous, far[1:])],
        Viscous(sum(far, 0.4 * BODY.mass + 0.01 * K)),
    ]
    v = 0.3 * np.random.default_rng(2).normal(size=(N, 3)) * BODY.free
    steps = np.full(count, 5e-3)
    u = [simulate(BODY, sp.Bathe(), steps, v=v, damping=way).state.u for way in ways]
    np.testing.assert_allclose(u[1], u[0], atol=1e-11 * np.abs(u[0]).max())


@pytest.mark.parametrize(
    "solver",
    [sp.Newton(tolerance=1e-11, linear=x) for x in (sp.Cholesky(), sp.ConjugateGradients())],
    ids=["direct", "CG"],
)
def test_dashpot_between_far_vertices(solver):
    """One implicit Euler step of a stiff dashpot: the balance holds, and its ends move as one."""
    ends = int(MESH.where(x=0.4)[0]), int(MESH.where(x=0.2)[-1])
    v = np.zeros((N, 3))
    v[ends[0]] = (0.0, 0.0, 1e-3)
    dt = 1e-4
    for c in (0.0, 5.0, 1e6):
        C = dashpot(*ends, c)
        sim = simulate(BODY, sp.BackwardEuler(), [dt], v=v, damping=Viscous(C), solver=solver)
        after = sim.state.v
        balance = (
            BODY.mass_times((after - v) / dt)
            + (C @ after.ravel()).reshape(N, 3)
            + BODY.force(sim.state.u)
        ) * BODY.free
        inertia = np.abs(BODY.mass_times(v / dt)).max()
        assert np.abs(balance).max() <= 1e-9 * inertia
        apart = np.linalg.norm(after[ends[0]] - after[ends[1]])
        assert (apart < 1e-5) if c == 1e6 else (apart > 1e-4)


def test_examples_over_a_user_matrix():
    """Along the example the force is γ C x, beside it that of C."""
    C = random_matrix(3 * N, seed=3)
    x, y = np.random.default_rng(4).normal(size=(2, N, 3)) * BODY.free
    bound = sp.ExampleDamping(Viscous(C), [sp.Example(x, 7.0)]).bind(BODY)
    Cx, Cy = ((C @ each.ravel()).reshape(N, 3) for each in (x, y))
    np.testing.assert_allclose(
        bound.evaluate(REST, x)[1], 7.0 * Cx, atol=1e-12 * np.abs(Cx).max() * 7
    )
    beside = y - x * (np.vdot(x, Cy) / np.vdot(x, Cx))
    expected = (C @ beside.ravel()).reshape(N, 3)
    np.testing.assert_allclose(
        bound.evaluate(REST, beside)[1], expected, atol=1e-11 * np.abs(expected).max()
    )
    weaker = sp.ExampleDamping(Viscous(0.01 * C), [sp.Example(x, 7.0)])
    motion = simulate(BODY, sp.Bathe(), np.full(3, 1e-2), v=0.1 * x, damping=weaker)
    assert np.isfinite(motion.state.u).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(-8, 8))
def test_semidefinite_matrices_pass_and_indefinite_do_not(seed, rank, exponent):
    """Of any rank and any grading; an eigenvalue of −1e-6 against a diagonal of 1 is found."""
    rng = np.random.default_rng(seed)
    grade = 10.0 ** rng.uniform(-abs(exponent) / 2, abs(exponent) / 2, 9)
    B = rng.normal(size=(9, rank))
    B /= np.linalg.norm(B, axis=1, keepdims=True)
    size = np.outer(grade, grade) * 10.0**exponent
    Viscous((B @ B.T) * size)
    values, vectors = np.linalg.eigh(B @ B.T)
    bad = B @ B.T - (values[0] + 1e-6) * np.outer(vectors[:, 0], vectors[:, 0])
    refused("negative eigenvalue", Viscous, bad * size)


test_bad_matrices_named = refusals(
    (np.eye(4), "shape"),
    (np.zeros((0, 0)), "shape"),
    (np.ones(9), "shape"),
    (np.zeros((3, 6)), "shape"),
    (np.full((3, 3), np.nan), "finite"),
    ([["a"] * 3] * 3, "give numbers"),
    (np.eye(3) * 1j, "give numbers"),
    (np.triu(np.ones((3, 3))), "not symmetric"),
    (-np.eye(3), "negative eigenvalue"),
    (np.ones((3, 3)) - np.eye(3), "negative eigenvalue"),
    (np.diag([1.0, 1.0, -1e-3]), "negative eigenvalue"),
    (np.array([[1, 2, 0], [2, 1, 0], [0, 0, 1]]), "negative eigenvalue"),
    make=lambda matrix: Viscous(matrix),
)


def test_size_is_checked_where_the_body_is_known():
    refused(rf"give \({3 * N}, {3 * N}\)", Viscous(np.eye(9)).bind, BODY)


def test_large_singular_matrix_passes():
    """The stiffness of a free body has six eigenvalues of zero: rounding must not make it bad."""
    mesh = small_mesh("quadratic")
    body = sp.Body(mesh, soft(sp.StVK))
    Viscous(body.stiffness(np.zeros_like(mesh.vertices)))
