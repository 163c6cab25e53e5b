"""Strain rate damping of cloth: its functions, what it leaves alone, what it matches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bodies.cloth.sheets import ISOTROPIC, WOVEN, bowl, shaken_grid
from tests.damping.test_rates import MODELS, bound_at, velocity
from tests.helpers import EPS, remainder_slopes

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.base import DampingTangent

# -- formulas -----------------------------------------------------------------------------------


def strain_rate(name: str, grow: np.ndarray) -> float:
    """R of a square metre, warp along y, that grows in its plane at the rate ``grow`` (2, 2)."""
    mesh = sp.SheetMesh.grid((1, 1), (2, 2))
    body = sp.Cloth(mesh, replace(WOVEN, warp=(0, 1)))
    turned = np.array([(0, -1, 0), (1, 0, 0), (0, 0, 1)])  # x to y, y to −x
    u = mesh.vertices @ turned.T - mesh.vertices
    v = mesh.pattern @ grow.T
    moved = np.column_stack([v, 0 * v[:, 0]]) @ turned.T
    R, _ = sp.ClothStrainRate(**{name: 3.0}).bind(body).evaluate(Shape(body, u), moved)
    return R


def test_is_what_the_formulas_say():
    grow = np.array([(0.5, 0.2), (0.4, -0.3)])
    E = 0.5 * (grow + grow.T)
    weft, warp, between = E[0, 0], E[1, 1], E[0, 1]
    expected = {
        "shear": 3.0 * (E**2).sum(),
        "bulk": 1.5 * np.trace(E) ** 2,
        "warp": 1.5 * warp**2,
        "weft": 1.5 * weft**2,
        "trellis": 1.5 * (2 * between) ** 2,
    }
    for name, R in expected.items():
        assert strain_rate(name, grow) == pytest.approx(R, rel=1e-12), name


def test_bending_is_what_the_formula_says():
    """Two triangles of a unit square that fold along its diagonal, ‖e‖² = 2."""
    mesh = sp.SheetMesh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    body = sp.Cloth(mesh, ISOTROPIC)
    v = np.array([(0, 0, 0.0), (0, 0, 1.0), (0, 0, 0), (0, 0, 0)])  # 1/height = √2 rad a second
    shape = Shape(body, np.zeros((4, 3)))
    R, _ = sp.ClothStrainRate(bending=3.0).bind(body).evaluate(shape, v)
    assert pytest.approx(0.5 * 3.0 * 2.0 * 2.0, rel=1e-12) == R
    R, _ = sp.ClothStrainRate(matched_bending=0.1).bind(body).evaluate(shape, v)
    assert pytest.approx(0.5 * 0.1 * 0.5 * 2.0 * 2.0, rel=1e-12) == R


@pytest.mark.parametrize("mesh", [shaken_grid(), bowl()], ids=["flat", "curved"])
def test_matched_is_rayleigh_at_rest(mesh):
    """Where nothing is strained or bent, Eq. 12 and Rayleigh damping are the same."""
    body = sp.Cloth(mesh, ISOTROPIC, bending=sp.HingeBending())
    shape, v = Shape(body, np.zeros_like(mesh.vertices)), velocity(body)
    both = sp.ClothStrainRate(matched=0.02, matched_bending=0.02)
    ours = both.bind(body).evaluate(shape, v)[1]
    theirs = sp.Rayleigh(stiffness=0.02).bind(body).evaluate(shape, v)[1]
    assert np.abs(ours - theirs).max() <= 1e-12 * np.abs(ours).max()


# -- how it follows the shape ---------------------------------------------------------------------


def tangent(body, bound, shape, v, c_v=0.0) -> np.ndarray:
    values = np.zeros((body.pattern.n_blocks, 3, 3))
    bound.add_tangent(shape, v, DampingTangent(c_v, definite=True), values)
    return body.pattern.full(values).toarray()


def test_tangent_where_the_sheet_grows():
    """With no stress to clamp, what is kept of ∂f/∂x is Σ w ∂²ε/∂x² S_d: f at the shape d, S_d."""
    body, shape, bound = bound_at(sp.ClothStrainRate(shear=2.0, bulk=1.0))
    v = 2.0 * (body.mesh.vertices + shape.u)
    kept = tangent(body, bound, shape, v)
    d = velocity(body, 3)
    # ∇₂R = Σ w ∇ε(x) S_d(x, v): the change of the first alone, by a difference in plain NumPy
    F, rates = body.deformation(shape.u), body.rates(d)
    Fv = body.rates(v)
    E = np.einsum("eij,eik->ejk", F, Fv)
    E = 0.5 * (E + E.transpose(0, 2, 1))
    S = 4.0 * E + 1.0 * np.trace(E, axis1=1, axis2=2)[:, None, None] * np.eye(2)
    P = body.mesh.areas[:, None, None] * (rates @ S)
    expected = np.zeros_like(d)
    np.add.at(expected, body.mesh.cells, np.einsum("eij,eaj->eai", P, body.rest.gradients))
    found = (kept @ d.ravel()).reshape(d.shape)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("model", [m for m in MODELS.values() if isinstance(m, sp.ClothStrainRate)])
def test_tangent_is_never_negative(model):
    body, shape, bound = bound_at(model)
    for v in (velocity(body), -(body.mesh.vertices + shape.u)):
        values = np.linalg.eigvalsh(tangent(body, bound, shape, v, c_v=3.0))
        assert values[0] >= -50 * EPS * values[-1]
        assert values[-1] > 0


def test_force_follows_the_shape_smoothly():
    body, shape, bound = bound_at(MODELS["all"])
    v, d = velocity(body), velocity(body, 1)

    def force(h: float) -> np.ndarray:
        return bound.evaluate(Shape(body, shape.u + h * d), v)[1]

    def left(h: float) -> float:
        return float(np.linalg.norm(force(h) + force(-h) - 2 * force(0.0)))

    assert remainder_slopes(left, 1e-3 * 0.5 ** np.arange(4))[-1] == pytest.approx(2, abs=0.1)


# -- in motion --------------------------------------------------------------------------------


def test_bending_alone_leaves_the_membrane_and_the_other_way_round():
    """Plane stretch meets no bending damping, a gentle lift no membrane damping."""
    body = sp.Cloth(shaken_grid(), ISOTROPIC)
    shape = Shape(body, np.zeros_like(body.mesh.vertices))
    stretch = body.mesh.vertices * [1.0, 0.5, 0.0]
    lift = velocity(body) * [0, 0, 1]
    membrane = sp.ClothStrainRate(shear=1.0, bulk=1.0, matched=0.1).bind(body)
    bending = sp.ClothStrainRate(bending=1.0).bind(body)
    assert membrane.evaluate(shape, lift)[0] == 0.0
    assert bending.evaluate(shape, stretch)[0] == 0.0
    assert membrane.evaluate(shape, stretch)[0] > 0
    assert bending.evaluate(shape, lift)[0] > 0


def test_one_newton_iteration_is_close_to_many():
    """Strain rate, §3.4: a slight difference in kinetic energy."""
    mesh = sp.SheetMesh.grid((1, 1), (8, 8))
    body = sp.Cloth(mesh, replace(ISOTROPIC, bending_stiffness=1e-4), fixed=mesh.where(x=0))
    kinetic = []
    for solver in (sp.Newton(), sp.Newton(iterations=1)):
        sim = sp.Simulation(
            body,
            damping=sp.ClothStrainRate(matched=0.01),
            integrator=sp.BackwardEuler(),
            solver=solver,
            gravity=(0, 0, -9.81),
            dt=2e-3,
        )
        kinetic.append(sim.run(0.2).kinetic)
    assert np.abs(kinetic[0] - kinetic[1]).max() < 0.02 * kinetic[0].max()
