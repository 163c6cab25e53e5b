"""Strain rate damping of cloth: its functions, what it leaves alone, what it matches."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from tests.bodies.cloth.sheets import ISOTROPIC, WOVEN, bowl, crumpled, shaken_grid
from tests.damping.derivatives import assembled, assert_series_ends
from tests.helpers import EPS, remainder_slopes, rotation, simulate

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.base import DampingTangent
from supple.integrators import INTEGRATORS

every_rule = pytest.mark.parametrize("rule", [r() for r in INTEGRATORS], ids=repr)
NAMES = tuple(each.name for each in fields(sp.ClothStrainRate))
MODELS = {name: sp.ClothStrainRate(**{name: 0.01}) for name in NAMES}
MODELS["by triangle"] = sp.ClothStrainRate(shear=np.linspace(0, 1, 24), bending=0.01)
MODELS["all"] = sp.ClothStrainRate(
    shear=1.0, bulk=2.0, warp=3.0, weft=0.5, trellis=0.7, matched=0.01, matched_bending=0.02
)
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def bound_at(model: sp.Damping, body: sp.Cloth | None = None):
    body = sp.Cloth(shaken_grid(), WOVEN, bending=sp.HingeBending()) if body is None else body
    return body, Shape(body, crumpled(body.mesh)), model.bind(body)


def velocity(body: sp.Cloth, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=body.mesh.vertices.shape)


@every_model
def test_derivatives_by_velocity(model):
    body, shape, bound = bound_at(model)
    v, d = velocity(body), velocity(body, 1)
    assert_series_ends(body, bound, shape, v, d)


@every_model
def test_takes_power_from_every_motion(model):
    body, shape, bound = bound_at(model)
    for seed in range(10):
        v = velocity(body, seed)
        R, force = bound.evaluate(shape, v)
        assert R > 0
        assert np.vdot(v, force) == pytest.approx(2 * R, rel=1e-12)
    values = np.linalg.eigvalsh(assembled(body, bound.add_matrix, shape, v, definite=True))
    assert values[0] >= -50 * EPS * values[-1]


@every_model
def test_rigid_velocities_feel_nothing(model):
    """And Rayleigh damping of the same strength brakes them."""
    body, shape, bound = bound_at(model)
    x = body.mesh.vertices + shape.u
    deforming = np.abs(bound.evaluate(shape, 30.0 * velocity(body))[1]).max()
    for seed in range(3):
        spin = rotation(seed)[0] * 30.0
        v = np.cross(spin, x) + rotation(seed)[1]
        assert np.abs(bound.evaluate(shape, v)[1]).max() <= 1e3 * EPS * deforming
        braked = sp.Rayleigh(stiffness=0.01).bind(body).evaluate(shape, v)[1]
        assert np.abs(braked).max() > 1e-3 * deforming


@every_model
def test_momentum(model):
    body, shape, bound = bound_at(model)
    _, force = bound.evaluate(shape, velocity(body))
    size = np.abs(force).max()
    assert np.abs(force.sum(axis=0)).max() <= 1e3 * EPS * size
    moment = np.cross(body.mesh.vertices + shape.u, force).sum(axis=0)
    assert np.abs(moment).max() <= 1e3 * EPS * size


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


@every_model
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


@every_rule
def test_order_of_accuracy(rule):
    """Damping that follows the shape takes no order from any rule."""
    body = sp.Cloth(shaken_grid(), ISOTROPIC)
    v = 0.3 * velocity(body, 5)
    damping = sp.ClothStrainRate(matched=1e-3, bending=1e-3)
    options = {"v": v, "damping": damping}
    exact = simulate(body, sp.RK4(), np.full(400, 2.5e-5), **options).state.u
    errors = [
        np.linalg.norm(simulate(body, rule, np.full(n, 0.01 / n), **options).state.u - exact)
        for n in (40, 80)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(rule.order, abs=0.25)


def test_free_flight_keeps_both_momenta_and_accounts_for_energy():
    body = sp.Cloth(bowl(), ISOTROPIC)
    x = body.mesh.vertices
    v = np.cross([1.0, 2.0, -1.0], x) + 0.3 * velocity(body, 6)
    damping = sp.ClothStrainRate(shear=0.05, bending=1e-3)
    sim = sp.Simulation(body, damping=damping, integrator=sp.SymplecticEuler(), dt=2e-5)
    sim.state.v = v
    motion = sim.run(0.01)
    for name in ("linear_momentum", "angular_momentum"):
        kept = getattr(motion, name)
        assert np.abs(kept - kept[0]).max() <= 1e-11 * np.abs(kept[0]).max()
    lost = motion.total_energy[0] - motion.total_energy[-1]
    assert motion.dissipated[-1] == pytest.approx(lost, rel=0.02)
    assert lost > 0.01 * motion.kinetic[0]


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


def test_coefficients_by_region_and_by_triangle():
    body = sp.Cloth(shaken_grid().with_region("some", [1, 4, 5]), WOVEN)
    shape, v = Shape(body, crumpled(body.mesh)), velocity(body)
    for name in NAMES:
        single = np.zeros(body.n_cells)
        single[[1, 4, 5]] = 2.0
        forces = [
            sp.ClothStrainRate(**{name: given}).bind(body).evaluate(shape, v)[1]
            for given in ({"some": 2.0}, single)
        ]
        assert np.array_equal(*forces)
        assert forces[0].any()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sp.ClothStrainRate(shear=-1.0), "shear=-1.0: a damping coefficient"),
        (lambda: sp.ClothStrainRate(matched=np.nan), "finite"),
        (lambda: sp.ClothStrainRate(bending=np.ones((2, 2))), "bending"),
        (lambda: bound_at(sp.ClothStrainRate(warp=[1.0, 2.0])), "warp has shape"),
        (lambda: bound_at(sp.ClothStrainRate(weft={"no": 1.0})), "no region 'no'"),
        (lambda: sp.ClothStrainRate().bind(solid()), "damps a Cloth, and the body is a Body"),
        (lambda: bound_at(sp.ClothStrainRate(bending=1.0), limp()), "give its material a bending"),
        (lambda: sp.StrainRate(shear=1.0).bind(limp()), "damps a Body, and the body is a Cloth"),
    ],
)
def test_bad_input_is_refused(make, words):
    with pytest.raises(sp.InputError, match=words):
        make()


def limp() -> sp.Cloth:
    return sp.Cloth(shaken_grid(), replace(ISOTROPIC, bending_stiffness=0.0))


def solid() -> sp.Body:
    return sp.Body(sp.TetMesh.box((1, 1, 1), (1, 1, 1)), sp.StVK(young=1e6, poisson=0.3))
