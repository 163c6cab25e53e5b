"""Strain rate damping of springs and of cloth: power, rigid motion, momenta, formulas."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from tests.bodies.cloth.sheets import ISOTROPIC, WOVEN, bowl, crumpled, shaken_grid
from tests.bodies.test_springs import bent, tangle
from tests.damping.derivatives import assembled, assert_no_momentum, assert_series_ends
from tests.helpers import EPS, remainder_slopes, rotation, simulate
from tests.refusals import refusals

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.base import DampingTangent
from supple.damping.sums import summands
from supple.integrators import INTEGRATORS

Springs, Sheet = sp.SpringStrainRate, sp.ClothStrainRate
OF_SHEETS = tuple(each.name for each in fields(Sheet))
MODELS = {
    "viscosity": Springs(viscosity=3.0),
    "matched springs": Springs(matched=0.02),
    "by spring": Springs(viscosity=np.linspace(0.0, 2.0, tangle().n_cells)),
    "both": Springs(viscosity=1.0, matched=0.01),
    **{name: Sheet(**{name: 0.01}) for name in OF_SHEETS},
    "by triangle": Sheet(shear=np.linspace(0, 1, 24), bending=0.01),
    "all": Sheet(
        shear=1.0, bulk=2.0, warp=3.0, weft=0.5, trellis=0.7, matched=0.01, matched_bending=0.02
    ),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
every_rule = pytest.mark.parametrize("rule", [r() for r in INTEGRATORS], ids=repr)


def bound_at(model: sp.Damping):
    """A body of its kind, bent, and the damping at work on it."""
    if isinstance(model, Springs):
        body = tangle()
        return body, Shape(body, bent(body)), model.bind(body)
    body = sp.Cloth(shaken_grid(), WOVEN, bending=sp.HingeBending())
    return body, Shape(body, crumpled(body.mesh)), model.bind(body)


def velocity(body: sp.ElasticBody, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=body.mesh.vertices.shape)


@every_model
def test_derivatives_by_velocity(model):
    body, shape, bound = bound_at(model)
    assert_series_ends(body, bound, shape, velocity(body), velocity(body, 1))


@every_model
def test_takes_power_from_every_motion(model):
    body, shape, bound = bound_at(model)
    for seed in range(20):
        v = velocity(body, seed)
        R, force = bound.evaluate(shape, v)
        assert R > 0
        assert np.vdot(v, force) == pytest.approx(2 * R, rel=1e-12)
    values = np.linalg.eigvalsh(assembled(body, bound.add_matrix, shape, v, definite=True))
    assert values[0] >= -(20 if isinstance(model, Springs) else 50) * EPS * values[-1]


@every_model
def test_rigid_velocities_feel_nothing(model):
    """And Rayleigh damping with the stiffness at rest brakes them."""
    body, shape, bound = bound_at(model)
    x, digits = body.mesh.vertices + shape.u, 20 if isinstance(model, Springs) else 1e3
    deforming = np.abs(bound.evaluate(shape, 30.0 * velocity(body))[1]).max()
    for seed in range(3):
        v = np.cross(rotation(seed)[0] * 30.0, x) + rotation(seed)[1]
        assert np.abs(bound.evaluate(shape, v)[1]).max() <= digits * EPS * deforming
        braked = (
            sp.Rayleigh(stiffness=0.01, at=sp.StiffnessAt.REST).bind(body).evaluate(shape, v)[1]
        )
        assert np.abs(braked).max() > 1e-3 * deforming


@every_model
def test_momentum(model):
    body, shape, bound = bound_at(model)
    assert_no_momentum(body, shape, bound.evaluate(shape, velocity(body))[1])


FLAT, BOWL = sp.Cloth(shaken_grid(), ISOTROPIC), sp.Cloth(bowl(), ISOTROPIC)
IN_MOTION = {
    "springs": (tangle(), Springs(matched=0.02), 1.0, 0.2, 20, 0.15),
    "cloth": (FLAT, Sheet(matched=1e-3, bending=1e-3), 0.3, 0.01, 40, 0.25),
}


@every_rule
@pytest.mark.parametrize("kind", IN_MOTION)
def test_order_of_accuracy(rule, kind):
    """Damping that follows the shape takes no order from any rule."""
    body, damping, size, time, count, off = IN_MOTION[kind]
    options = {"v": size * velocity(body, 5), "damping": damping}
    exact = simulate(body, sp.RK4(), np.full(10 * count, time / (10 * count)), **options).state.u
    errors = [
        np.linalg.norm(simulate(body, rule, np.full(n, time / n), **options).state.u - exact)
        for n in (count, 2 * count)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(rule.order, abs=off)


@pytest.mark.parametrize(
    ("body", "damping", "size", "dt", "time", "exact", "close", "much"),
    [
        (tangle(), MODELS["both"], 1.0, 5e-4, 0.2, 1e-12, 0.01, 0.1),
        (BOWL, Sheet(shear=0.05, bending=1e-3), 0.3, 2e-5, 0.01, 1e-11, 0.02, 0.01),
    ],
    ids=["springs", "cloth"],
)
def test_free_flight_keeps_both_momenta_and_accounts_for_energy(
    body, damping, size, dt, time, exact, close, much
):
    sim = sp.Simulation(body, damping=damping, integrator=sp.SymplecticEuler(), dt=dt)
    sim.state.v = np.cross([1.0, 2.0, -1.0], body.mesh.vertices) + size * velocity(body, 6)
    motion = sim.run(time)
    for name in ("linear_momentum", "angular_momentum"):
        kept = getattr(motion, name)
        assert np.abs(kept - kept[0]).max() <= exact * np.abs(kept[0]).max()
    lost = motion.total_energy[0] - motion.total_energy[-1]
    assert motion.dissipated[-1] == pytest.approx(lost, rel=close)
    assert lost > much * motion.kinetic[0]


@pytest.mark.parametrize("name", ["viscosity", *OF_SHEETS])
def test_coefficients_by_region_and_by_cell(name):
    some = [1, 4, 5]
    if name == "viscosity":
        model, mesh = Springs, tangle().mesh.with_region("some", some)
        body, u = sp.SpringNetwork(mesh, stiffness=50.0, mass=1.0), bent(tangle())
    else:
        model, body = Sheet, sp.Cloth(shaken_grid().with_region("some", some), WOVEN)
        u = crumpled(body.mesh)
    single = np.zeros(body.n_cells)
    single[some] = 2.0
    forces = [
        model(**{name: given}).bind(body).evaluate(Shape(body, u), velocity(body))[1]
        for given in ({"some": 2.0}, single)
    ]
    assert np.array_equal(*forces)
    assert forces[0].any()


SOLID = sp.Body(sp.TetMesh.box((1, 1, 1), (1, 1, 1)), sp.StVK(young=1e6, poisson=0.3))
LIMP = sp.Cloth(shaken_grid(), replace(ISOTROPIC, bending_stiffness=0.0))

test_bad_input_is_refused = refusals(
    (lambda: Springs(viscosity=-1.0), "viscosity=-1.0: a damping coefficient"),
    (lambda: Springs(matched=np.nan), "finite"),
    (lambda: Springs(matched=np.ones((2, 2))), "matched"),
    (lambda: Springs(viscosity=[1.0, 2.0]).bind(tangle()), "viscosity has shape"),
    (lambda: Springs(viscosity={"no": 1.0}).bind(tangle()), "no region 'no'"),
    (lambda: Springs().bind(SOLID), "damps a SpringNetwork, and the body is a B"),
    (lambda: Sheet(shear=-1.0), "shear=-1.0: a damping coefficient"),
    (lambda: Sheet(matched=np.nan), "finite"),
    (lambda: Sheet(bending=np.ones((2, 2))), "bending"),
    (lambda: bound_at(Sheet(warp=[1.0, 2.0])), "warp has shape"),
    (lambda: bound_at(Sheet(weft={"no": 1.0})), "no region 'no'"),
    (lambda: Sheet().bind(SOLID), "damps a Cloth, and the body is a Body"),
    (lambda: Sheet(bending=1.0).bind(LIMP), "give its material a bending"),
    (lambda: sp.StrainRate(shear=1.0).bind(LIMP), "damps a Body, and the body is a Cloth"),
)


# -- springs ---------------------------------------------------------------------------------------


def test_is_what_the_formula_says():
    """R = ½ L η ε̇² and the force η ε̇ n of a spring whose end moves away."""
    L, eta = 2.0, 3.0
    mesh = sp.SpringMesh.chain((0, 0, 0), (L, 0, 0), 1)
    body = sp.SpringNetwork(mesh, stiffness=100.0, mass=1.0)
    shape = Shape(body, np.array([(0.0, 0.0, 0.0), (-2.0, 5.0, 0.0)]))  # turned, 5 m long
    v = np.array([(0.0, 1.0, 0.0), (7.0, 5.0, 0.0)])
    rate = 4.0 / L
    R, force = sp.SpringStrainRate(viscosity=eta).bind(body).evaluate(shape, v)
    assert pytest.approx(0.5 * L * eta * rate**2, rel=1e-14) == R
    assert np.allclose(force, [(0, -eta * rate, 0), (0, eta * rate, 0)], atol=1e-14)
    matched = sp.SpringStrainRate(matched=0.03).bind(body).evaluate(shape, v)[1]
    assert np.allclose(matched, force, atol=1e-13)  # β k = 0.03 · 100


def test_matched_is_the_stiffness_at_rest():
    """Where no spring pulls, Eq. 12 is β K, which Rayleigh damping has at any shape."""
    tense = tangle().mesh
    mesh = sp.SpringMesh(tense.vertices, tense.cells)
    body = sp.SpringNetwork(mesh, stiffness=70.0, mass=1.0)
    shape = Shape(body, np.zeros((7, 3)))
    v = np.random.default_rng(2).normal(size=(7, 3))
    ours = sp.SpringStrainRate(matched=0.02).bind(body).evaluate(shape, v)[1]
    theirs = 0.02 * body.pattern.multiply(shape.stiffness, v)
    assert np.abs(ours - theirs).max() <= 1e-14 * 100
    there = Shape(body, bent(body))
    same = sp.Rayleigh(stiffness=0.02), sp.MatchedStrainRate(stiffness=0.02)
    expected = sp.SpringStrainRate(matched=0.02).bind(body).evaluate(there, v)[1]
    for damping in same:
        np.testing.assert_array_equal(damping.bind(body).evaluate(there, v)[1], expected)


# -- how it follows the shape ----------------------------------------------------------------


def dropped(body: sp.SpringNetwork, eta: float, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Σ L ∇ε η ∇ε̇ᵀ (Eq. 9), the part that is left out, spring by spring in plain NumPy."""
    total = np.zeros((21, 21))
    for (i, j), L in zip(body.mesh.cells, body.mesh.rest_lengths, strict=True):
        x = (body.mesh.vertices + u)[j] - (body.mesh.vertices + u)[i]
        r = np.linalg.norm(x)
        n = x / r
        by_x = (np.eye(3) - np.outer(n, n)) @ (v[j] - v[i]) / (L * r)  # ∇ε̇
        block = eta * np.outer(n, by_x)
        for a, sign in ((i, -1), (j, 1)):
            for b, other in ((i, -1), (j, 1)):
                total[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * other * block
    return total


def test_derivative_by_shape_where_springs_lengthen():
    """With no stress to clamp, what is added and what is dropped are together the derivative."""
    eta = 3.0
    body, shape, bound = bound_at(sp.SpringStrainRate(viscosity=eta))
    x = body.mesh.vertices + shape.u
    v = 2.0 * x + np.cross([1.0, -2.0, 0.5], x)  # grows and turns
    kept = assembled(body, bound.add_shape_derivative, shape, v)
    assert np.array_equal(kept, kept.T)
    d = np.random.default_rng(3).normal(size=v.shape)
    change = ((kept + dropped(body, eta, shape.u, v)) @ d.ravel()).reshape(d.shape)
    force = bound.evaluate(shape, v)[1]

    def left(h: float) -> float:
        there = bound.evaluate(Shape(body, shape.u + h * d), v)[1]
        return float(np.linalg.norm(there - force - h * change))

    assert remainder_slopes(left, 1e-3 * 0.5 ** np.arange(4))[-1] == pytest.approx(2, abs=0.1)


def test_derivative_by_shape_is_never_negative():
    body, shape, bound = bound_at(MODELS["viscosity"])
    x = body.mesh.vertices + shape.u
    assert not assembled(body, bound.add_shape_derivative, shape, -x).any()  # all shorten
    v = np.random.default_rng(4).normal(size=x.shape)
    values = np.linalg.eigvalsh(assembled(body, bound.add_shape_derivative, shape, v))
    assert values[0] >= -20 * EPS * values[-1]
    assert values[-1] > 0


# -- cloth -----------------------------------------------------------------------------------------


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


SHEETS = {
    "flat hinges": sp.Cloth(shaken_grid(), ISOTROPIC, bending=sp.HingeBending()),
    "curved": sp.Cloth(bowl(), ISOTROPIC, bending=sp.HingeBending()),
    "quadratic": sp.Cloth(shaken_grid(), ISOTROPIC, bending=sp.QuadraticBending()),
    "limited": sp.Cloth(shaken_grid(), WOVEN, strain_limit=sp.StrainLimit(stretch=0.02)),
    "limp": sp.Cloth(shaken_grid(), replace(ISOTROPIC, bending_stiffness=0.0)),
}
every_sheet = pytest.mark.parametrize("body", SHEETS.values(), ids=SHEETS.keys())
SAME = [sp.Rayleigh(stiffness=0.02), sp.MatchedStrainRate(stiffness=0.02)]


@every_sheet
@pytest.mark.parametrize("damping", SAME, ids=["Rayleigh", "matched"])
def test_rayleigh_is_the_stiffness_of_cloth_at_rest(body, damping):
    """Where nothing is strained or bent, the material part is all there is of K."""
    shape, v = Shape(body, np.zeros_like(body.mesh.vertices)), velocity(body)
    ours = damping.bind(body).evaluate(shape, v)[1]
    theirs = 0.02 * body.pattern.multiply(shape.stiffness, v)
    assert np.abs(ours - theirs).max() <= 1e-12 * np.abs(ours).max()


@every_sheet
def test_rayleigh_of_cloth(body):
    """Derivatives, power, rigid motion and momenta, as those of strain rates have them."""
    shape, v, bound = Shape(body, crumpled(body.mesh)), velocity(body), SAME[0].bind(body)
    assert_series_ends(body, bound, shape, v, velocity(body, 1))
    R, force = bound.evaluate(shape, v)
    assert R > 0
    assert_no_momentum(body, shape, force)
    x = body.mesh.vertices + shape.u
    rigid = np.cross([20.0, -10.0, 30.0], x) + 1.0
    assert np.abs(bound.evaluate(shape, rigid)[1]).max() <= 1e4 * EPS * np.abs(30 * force).max()
    values = np.linalg.eigvalsh(assembled(body, bound.add_matrix, shape, v, definite=True))
    assert values[0] >= -100 * EPS * values[-1]


def test_rayleigh_of_cloth_is_strain_rate():
    """matched= and matched_bending= are its two parts, where hinges have angles."""
    body = SHEETS["curved"]
    shape, v = Shape(body, crumpled(body.mesh)), velocity(body)
    both = sp.ClothStrainRate(matched=0.02, matched_bending=0.02)
    ours = both.bind(body).evaluate(shape, v)[1]
    theirs = SAME[0].bind(body).evaluate(shape, v)[1]
    assert np.abs(ours - theirs).max() <= 1e-14 * np.abs(ours).max()


def test_strain_limits_are_not_damped():
    """A limit is a constraint, not a stiffness: damping that is matched to that leaves it out."""
    body = replace(SHEETS["limited"], strain_limit=sp.StrainLimit(stretch=0.02, onset=0.1))
    free = replace(body, strain_limit=None)
    v, u = body.mesh.vertices * [1.0, 0.5, 0.0], 0.019 * body.mesh.vertices
    R = [SAME[0].bind(each).evaluate(Shape(each, u), v)[0] for each in (body, free)]
    assert R[0] == R[1] > 0
    assert body.energy(u) > 2 * free.energy(u)


@pytest.mark.parametrize("name", ["quadratic", "limited"])
def test_rayleigh_of_cloth_in_parts(name):
    """What ADMM takes apart is all of it, by region too."""
    mesh = SHEETS[name].mesh.with_region("some", [1, 4, 5])
    body = replace(SHEETS[name], mesh=mesh)
    bound = sp.Rayleigh(mass=0.3, stiffness={"some": 0.02}).bind(body)
    shape, v = Shape(body, crumpled(mesh)), velocity(body)
    whole = bound.evaluate(shape, v)[1]
    assert bound.in_cells() is None
    parts = summands(bound.outside_cells())
    assert len(parts) == 2
    total = sum(part.evaluate(shape, v)[1] for part in parts)
    assert np.abs(total - whole).max() <= 1e-14 * np.abs(whole).max()


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
    shape = Shape(FLAT, np.zeros_like(FLAT.mesh.vertices))
    stretch = FLAT.mesh.vertices * [1.0, 0.5, 0.0]
    lift = velocity(FLAT) * [0, 0, 1]
    membrane = sp.ClothStrainRate(shear=1.0, bulk=1.0, matched=0.1).bind(FLAT)
    bending = sp.ClothStrainRate(bending=1.0).bind(FLAT)
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
            body, damping=sp.ClothStrainRate(matched=0.01), integrator=sp.BackwardEuler(),
            solver=solver, gravity=(0, 0, -9.81), dt=2e-3,
        )  # fmt: skip
        kinetic.append(sim.run(0.2).kinetic)
    assert np.abs(kinetic[0] - kinetic[1]).max() < 0.02 * kinetic[0].max()
