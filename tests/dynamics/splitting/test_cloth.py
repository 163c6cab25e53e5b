"""Triangles of cloth as local terms: adjoints, local minima, and the same steps as Newton's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.bodies.cloth.sheets import ISOTROPIC, MATERIALS, WOVEN, bowl, crumpled, shaken_grid
from tests.helpers import rotation

import supple as sp
from supple.dynamics.splitting.cloth import ClothTerms
from supple.integrators import BackwardEuler, State

C_V = 50.0
every_material = pytest.mark.parametrize("material", MATERIALS.values(), ids=MATERIALS.keys())


def terms_of(body: sp.Cloth, damping: sp.ClothStrainRate | None = None) -> ClothTerms:
    viscosity = np.zeros((body.n_cells, 3, 3))
    if damping is not None:
        viscosity = damping.bind(body).viscosity
    terms = ClothTerms(body, viscosity, c_v=C_V)
    u, v = 0.02 * np.random.default_rng(9).normal(size=(2, body.n_vertices, 3))
    now = State(0.0, u, v, np.zeros_like(u))
    terms.begin(next(BackwardEuler().stages(now, None, 1 / C_V)), u, v)
    terms.accuracy = 1e-11
    return terms


def places(count: int, spread: float, seed: int = 0) -> np.ndarray:
    """Sheets turned in space with the stretches e^±spread, (count, 3, 2)."""
    rng = np.random.default_rng(seed)
    stretch = np.exp(rng.uniform(-spread, spread, (count, 2)))
    turns = [(rotation(seed + 2 * i), rotation(seed + 2 * i + 1)) for i in range(count)]
    flat = [np.linalg.qr(b[:2, :2])[0] for _, b in turns]
    return np.array([
        a[:, :2] @ np.diag(x) @ q for (a, _), x, q in zip(turns, stretch, flat, strict=True)
    ])  # fmt: skip


def test_matrix_and_forces_are_those_of_the_gradients():
    body = sp.Cloth(shaken_grid(), WOVEN)
    terms = terms_of(body)
    rng = np.random.default_rng(0)
    d, y = rng.normal(size=(body.n_vertices, 3)), rng.normal(size=terms.shape)
    rest, moved = np.empty(terms.shape), np.empty(terms.shape)
    terms.gather(np.zeros_like(d), rest)
    terms.gather(d, moved)
    Dd = moved - rest
    force = np.zeros_like(d)
    terms.scatter(y, force)
    inner = np.einsum("e,eij,eij->", terms.weights, Dd, y)
    assert np.vdot(d, force) == pytest.approx(inner, rel=1e-12)
    values = np.zeros(body.pattern.n_blocks)
    terms.add_matrix(values)
    square = np.einsum("e,eij,eij->", terms.weights, Dd, Dd)
    assert np.vdot(d, body.pattern.multiply(values, d)) == pytest.approx(square, rel=1e-12)


@every_material
@pytest.mark.parametrize("spread", [0.1, 0.5])
def test_local_minimum_is_where_scipy_finds_it(material, spread):
    body = sp.Cloth(shaken_grid(), material)
    terms = terms_of(body)
    s = places(body.n_cells, spread)
    z = np.empty(terms.shape)
    terms.gather(np.zeros_like(body.mesh.vertices), z)
    terms.minimise(s, z)
    w, C = terms.weights / body.mesh.areas, body.tension_stiffness

    def value(F: np.ndarray, e: int) -> float:
        F = F.reshape(3, 2)
        E = 0.5 * (F.T @ F - np.eye(2))
        strain = np.array([E[0, 0], E[1, 1], 2 * E[0, 1]])
        return 0.5 * strain @ C[e] @ strain / w[e] + 0.5 * ((F - s[e]) ** 2).sum()

    for e in range(0, body.n_cells, 5):
        best = min(
            minimize(value, start.ravel(), args=(e,), tol=1e-12).fun for start in (s[e], z[e])
        )
        assert value(z[e], e) <= best + 1e-9


@every_material
@pytest.mark.parametrize(
    "damping", [None, sp.ClothStrainRate(shear=1.0, bulk=2.0, warp=3.0)], ids=["elastic", "damped"]
)
def test_warm_start_leads_back(material, damping):
    body = sp.Cloth(shaken_grid(), material)
    terms = terms_of(body, damping)
    z = places(body.n_cells, 0.1)
    s, found = np.empty_like(z), z + 0.01
    terms.warm_start(z, s)
    terms.minimise(s, found)
    assert np.abs(found - z).max() < 1e-9


def test_weight_is_the_least_stiffness():
    body = sp.Cloth(shaken_grid(), ISOTROPIC)
    terms = terms_of(body)
    assert np.allclose(terms.weights / body.mesh.areas, 2e5 * 1e-3 / 1.3)  # 2 G t
    damped = terms_of(body, sp.ClothStrainRate(shear=1.0))
    assert np.allclose(damped.weights / body.mesh.areas, 2e5 * 1e-3 / 1.3 + 2 * C_V)


SOFT = replace(ISOTROPIC, bending_stiffness=1e-3)
DAMPINGS = {
    "none": [],
    "matched": [sp.ClothStrainRate(matched=0.01)],
    "bending": [sp.ClothStrainRate(shear=0.1, bending=1e-5), sp.ClothStrainRate(warp=0.2)],
    "Rayleigh": [sp.Rayleigh(mass=0.5, stiffness=2e-3)],
}


@pytest.mark.parametrize("damping", DAMPINGS.values(), ids=DAMPINGS.keys())
@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.TRBDF2()], ids=repr)
@pytest.mark.parametrize("kind", ["quadratic", "hinges", "curved", "limited"])
def test_steps_are_those_of_newton(damping, rule, kind):
    mesh = bowl() if kind == "curved" else shaken_grid()
    bending = sp.QuadraticBending() if kind == "quadratic" else sp.HingeBending()
    limit = sp.StrainLimit(stretch=0.01, firmness=3.0) if kind == "limited" else None
    body = sp.Cloth(mesh, SOFT, fixed=[0, 1, 2, 3], bending=bending, strain_limit=limit)
    ends = []
    for solver in (sp.Newton(tolerance=1e-9), sp.ADMM(tolerance=1e-9, max_iterations=5000)):
        sim = sp.Simulation(
            body, damping=damping, integrator=rule, solver=solver, gravity=(0, 0, -9.81), dt=5e-3
        )
        sim.state.v = 5 * crumpled(mesh) * body.free
        sim.run(0.02)
        ends.append(sim.state.u)
    assert np.abs(ends[0] - ends[1]).max() < 1e-7


def test_sheet_is_held_up_by_a_sphere():
    mesh = sp.SheetMesh.grid((1, 1), (8, 8))
    raised = replace(mesh, vertices=mesh.vertices - [0.5, 0.5, -0.32])
    sim = sp.Simulation(
        sp.Cloth(raised, SOFT), damping=DAMPINGS["matched"], integrator=sp.BackwardEuler(),
        solver=sp.ADMM(iterations=40), obstacles=[sp.Sphere(radius=0.3, friction=0.5)],
        gravity=(0, 0, -9.81), dt=0.02,
    )  # fmt: skip
    x = sim.run(0.4).positions[-1]
    assert np.linalg.norm(x, axis=1).min() > 0.3 - 2e-3
    assert x[:, 2].max() > 0.29
    assert x[:, 2].min() < 0.1
