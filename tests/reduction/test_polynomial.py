"""The exact reduced energy of StVK bodies, against the full body and its own derivatives."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from tests.reduction.conftest import assert_projected

import supple as sp
from supple.reduction import polynomial, strain_polynomials
from supple.reduction.groups import lame
from supple.reduction.polynomial import Quartic, coefficient_count
from supple.reduction.strain_polynomials import shared_rows, unit_polynomials

YOUNG, POISSON = 1e5, 0.4
_bricks = sp.HexMesh.box(size=(1.0, 0.2, 0.3), cells=(3, 2, 2))
MESHES = {
    "tetrahedra": sp.TetMesh.box(size=(1.0, 0.2, 0.3), cells=(3, 2, 2)),
    "bricks": _bricks,
    "bent bricks": sp.HexMesh(
        _bricks.vertices + 0.02 * np.sin(9.0 * _bricks.vertices @ (1 - np.eye(3))), _bricks.cells
    ),
    "quadratic tetrahedra": sp.TetMesh.box(size=(1.0, 0.2, 0.3), cells=(2, 1, 1)).quadratic(),
}


def random_quartic(r: int, seed: int = 0) -> Quartic:
    return Quartic(r, np.random.default_rng(seed).normal(size=coefficient_count(r)))


def plain_energy(quartic: Quartic, q: np.ndarray) -> float:
    """The polynomial term by term, in lexicographic order."""
    terms = []
    for degree in (2, 3, 4):
        rising = combinations_with_replacement(range(quartic.size), degree)
        terms += [q[list(falling)].prod() for falling in sorted(each[::-1] for each in rising)]
    return float(quartic.coefficients @ np.array(terms))


@pytest.fixture(params=["paired", "nested"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both layouts of the coefficients, whatever the number of coordinates."""
    monkeypatch.setattr(polynomial, "PAIRED_SIZE", 1000 if request.param == "paired" else 0)
    return str(request.param)


@pytest.mark.parametrize("r", [1, 2, 5, 9])
def test_energy_is_the_polynomial(r, layout):
    quartic = random_quartic(r)
    q = np.random.default_rng(1).normal(size=r)
    assert quartic.evaluate(q)[0] == pytest.approx(plain_energy(quartic, q), rel=1e-12)


@pytest.mark.parametrize("r", [1, 2, 5, 9, 21])
def test_force_and_stiffness_are_derivatives(r, layout):
    quartic = random_quartic(r)
    rng = np.random.default_rng(2)
    q, p = rng.normal(size=r), rng.normal(size=r)
    _, R, K = quartic.evaluate(q)
    assert np.array_equal(K, K.T)
    energies, forces = [], []
    for h in (1e-2, 5e-3):
        plus, minus = quartic.evaluate(q + h * p), quartic.evaluate(q - h * p)
        energies.append((plus[0] - minus[0]) / (2 * h) - R @ p)
        forces.append(np.linalg.norm((plus[1] - minus[1]) / (2 * h) - K @ p))
    for errors in (np.abs(energies), np.array(forces)):
        slope = np.log2(errors[0] / errors[1])
        assert slope == pytest.approx(2.0, abs=0.01)  # cubic remainders, exactly


@pytest.mark.parametrize("r", [3, 20])
def test_layouts_agree(r, monkeypatch):
    q = np.random.default_rng(3).normal(size=r)
    results = []
    for limit in (0, 1000):
        monkeypatch.setattr(polynomial, "PAIRED_SIZE", limit)
        results.append(random_quartic(r).evaluate(q))
    for one, other in zip(*results, strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(one).max())


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("r", [2, 7, 20])
def test_equals_the_projected_full_body(name, r):
    mesh = MESHES[name]
    body = sp.Body(mesh, sp.StVK(young=YOUNG, poisson=POISSON), fixed=mesh.where(x=0))
    rng = np.random.default_rng(r)
    U = rng.normal(size=(r, body.n_vertices, 3)) * 0.1 * body.free
    lam, mu = lame(YOUNG, POISSON)
    of_lam, of_mu = unit_polynomials(mesh, U, np.arange(mesh.n_cells))
    assert_projected(Quartic(r, lam * of_lam + mu * of_mu), body, U, rng.normal(size=r))


def test_factors_of_cells_enter_linearly():
    mesh = MESHES["bricks"]
    rng = np.random.default_rng(0)
    U = rng.normal(size=(4, len(mesh.vertices), 3))
    cells = np.arange(mesh.n_cells)
    lam, mu = rng.uniform(1, 2, mesh.n_cells), rng.uniform(1, 2, mesh.n_cells)
    weighted = unit_polynomials(mesh, U, cells, (lam, mu))
    one_by_one = [unit_polynomials(mesh, U, cells[k : k + 1]) for k in cells]
    for kind, factors in enumerate((lam, mu)):
        total = sum(f * units[kind] for f, units in zip(factors, one_by_one, strict=True))
        assert np.allclose(weighted[kind], total, rtol=1e-12, atol=1e-12 * np.abs(total).max())


def test_chunks_do_not_change_the_sums(monkeypatch):
    mesh = MESHES["tetrahedra"]
    U = np.random.default_rng(0).normal(size=(5, len(mesh.vertices), 3))
    every = np.arange(mesh.n_cells)
    whole = unit_polynomials(mesh, U, every)
    monkeypatch.setattr(strain_polynomials, "_CHUNK_BYTES", 1.0)
    done: list[int] = []
    pieces = unit_polynomials(mesh, U, every, progress=lambda k, *_: done.append(k))
    assert done == list(range(1, mesh.n_cells + 1))
    for one, other in zip(whole, pieces, strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(one).max())


@pytest.mark.parametrize("size", [1, 4, 9])
def test_truncated_polynomial_is_the_polynomial_at_zero(size):
    quartic = random_quartic(9)
    q = np.random.default_rng(4).normal(size=size)
    padded = np.concatenate([q, np.zeros(9 - size)])
    energy, force, stiffness = quartic.truncated(size).evaluate(q)
    whole = quartic.evaluate(padded)
    assert energy == pytest.approx(whole[0], rel=1e-12)
    assert np.allclose(force, whole[1][:size], rtol=1e-12)
    assert np.allclose(stiffness, whole[2][:size, :size], rtol=1e-12)


def test_each_monomial_is_stored_once():
    assert [coefficient_count(r) for r in (1, 2, 3)] == [3, 3 + 4 + 5, 6 + 10 + 15]


@pytest.mark.parametrize(
    ("name", "rows"),
    # Of eight points each E_kk of a box takes four values, and each shear all eight.
    [
        ("tetrahedra", 6),
        ("bricks", 3 * 4 + 3 * 8),
        ("bent bricks", 48),
        ("quadratic tetrahedra", 24),
    ],
)
def test_points_share_the_strains_that_they_have_in_common(name, rows):
    assert shared_rows(MESHES[name].quadrature().gradients).per_cell == rows
