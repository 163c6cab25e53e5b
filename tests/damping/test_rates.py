"""What strain rate damping of springs and of cloth both promise: power, rigid motion, momenta."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from tests.bodies.cloth.sheets import ISOTROPIC, WOVEN, bowl, crumpled, shaken_grid
from tests.bodies.test_springs import bent, tangle
from tests.damping.derivatives import assembled, assert_no_momentum, assert_series_ends
from tests.helpers import EPS, refused, rotation, simulate

import supple as sp
from supple.bodies.shape import Shape
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
    """And Rayleigh damping of the same strength brakes them."""
    body, shape, bound = bound_at(model)
    x, digits = body.mesh.vertices + shape.u, 20 if isinstance(model, Springs) else 1e3
    deforming = np.abs(bound.evaluate(shape, 30.0 * velocity(body))[1]).max()
    for seed in range(3):
        v = np.cross(rotation(seed)[0] * 30.0, x) + rotation(seed)[1]
        assert np.abs(bound.evaluate(shape, v)[1]).max() <= digits * EPS * deforming
        braked = sp.Rayleigh(stiffness=0.01).bind(body).evaluate(shape, v)[1]
        assert np.abs(braked).max() > 1e-3 * deforming


@every_model
def test_momentum(model):
    body, shape, bound = bound_at(model)
    assert_no_momentum(body, shape, bound.evaluate(shape, velocity(body))[1])


IN_MOTION = {
    "springs": (tangle(), Springs(matched=0.02), 1.0, 0.2, 20, 0.15),
    "cloth": (
        sp.Cloth(shaken_grid(), ISOTROPIC),
        Sheet(matched=1e-3, bending=1e-3),
        0.3,
        0.01,
        40,
        0.25,
    ),
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
        (
            sp.Cloth(bowl(), ISOTROPIC),
            Sheet(shear=0.05, bending=1e-3),
            0.3,
            2e-5,
            0.01,
            1e-11,
            0.02,
            0.01,
        ),
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

test_bad_input_is_refused = refused(
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
