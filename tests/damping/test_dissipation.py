"""What every damping model promises, over the instances of all of them in ``cases``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.damping.cases import CASES, held, the_body, the_state
from tests.damping.derivatives import assert_no_momentum, matrix_of
from tests.helpers import EPS, deformation_gradients, remainder_slopes, rotation, soft
from tests.refusals import refused

import supple as sp
from supple.bodies.shape import Shape
from supple.damping import DAMPINGS

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def cases_that(applies):
    """The test over those of the models to which it applies."""
    chosen = {name: case for name, case in CASES.items() if applies(case)}
    return pytest.mark.parametrize("case", chosen.values(), ids=chosen.keys())


def is_sum_over_cells(case) -> bool:
    body = the_body(sp.StVK)
    bound = case.make(body, 1.0).bind(body)
    return bound.in_cells() is not None and bound.outside_cells() is None


every_material = pytest.mark.parametrize(
    "material", [sp.StVK, sp.NeoHookean], ids=lambda m: m.__name__
)


def at_work(case, material, **options):
    """A body, a shape of it, a velocity, a change of one of these, and the damping bound."""
    body = the_body(material)
    u, v, d = the_state(body, **options)
    return body, Shape(body, u), v, d, case.make(body, 1.0).bind(body)


def test_every_model_is_in_the_table():
    body = the_body(sp.StVK)
    made = {type(case.make(body, 1.0)) for case in CASES.values()}
    # Springs and cloth have tests of their own.
    assert made == set(DAMPINGS) - {sp.SpringStrainRate, sp.ClothStrainRate, sp.ClothDrag}


# -- derivatives -----------------------------------------------------------------------------

STEPS = 1e-3 * 0.5 ** np.arange(5)  # short of where largest factors change hands


@every_material
@every_case
def test_force_is_the_gradient(case, material):
    _, shape, v, d, bound = at_work(case, material)
    R, force = bound.evaluate(shape, v)
    slopes = remainder_slopes(
        lambda h: abs(bound.evaluate(shape, v + h * d)[0] - R - h * np.vdot(force, d)), STEPS
    )
    assert (np.abs(slopes - 2) < 0.05).all()


@every_material
@every_case
def test_matrix_is_the_second_derivative(case, material):
    """Where R is quadratic, the series ends with it; else what it leaves falls as h³."""
    body, shape, v, d, bound = at_work(case, material)
    R, force = bound.evaluate(shape, v)
    change = (matrix_of(body, bound, shape, v) @ d.ravel()).reshape(d.shape)
    curvature = np.vdot(d, change)

    def remainder(h: float) -> float:
        series = R + h * np.vdot(force, d) + 0.5 * h**2 * curvature
        return abs(bound.evaluate(shape, v + h * d)[0] - series)

    if bound.is_linear:
        assert remainder(1.0) <= 1e3 * EPS * (abs(R) + abs(curvature))
        there = bound.evaluate(shape, v + d)[1]
        np.testing.assert_allclose(there - force, change, atol=1e3 * EPS * np.abs(there).max())
    else:
        assert (np.abs(remainder_slopes(remainder, 4 * STEPS) - 3) < 0.1).all()


@every_material
@every_case
def test_definite_matrix(case, material):
    """The definite matrix has no negative eigenvalue, and no product of it depends on order."""
    body, shape, v, _, bound = at_work(case, material, inverted=material.survives_inversion)
    C = matrix_of(body, bound, shape, v, definite=True)
    size = np.abs(C).max()
    np.testing.assert_allclose(C, C.T, atol=1e3 * EPS * size)
    assert np.linalg.eigvalsh(0.5 * (C + C.T))[0] >= -1e3 * EPS * size


@every_material
@cases_that(is_sum_over_cells)
def test_shape_gradient(case, material):
    body, shape, v, d, bound = at_work(case, material, seed=1)
    cells = bound.in_cells()
    R, G = cells.evaluate(shape, v)[0], cells.shape_gradient(shape, v)
    slopes = remainder_slopes(
        lambda h: abs(cells.evaluate(Shape(body, shape.u + h * d), v)[0] - R - h * np.vdot(G, d)),
        0.1 * STEPS,
    )
    assert (np.abs(slopes - 2) < 0.1).all()


# -- power -----------------------------------------------------------------------------------


@every_material
@every_case
def test_dissipation_is_never_negative(case, material):
    """R ≥ 0 and v·∇₂R ≥ 0 at large deformations, turned inside out where the material can be."""
    body = the_body(material)
    bound = case.make(body, 1.0).bind(body)
    for seed in range(8):
        u, v, d = the_state(body, seed=seed)
        if material.survives_inversion and seed >= 4:
            u = u + 0.8 * np.random.default_rng(seed).normal(size=u.shape)
            assert np.linalg.det(deformation_gradients(body.mesh, u)).min() < 0
        for velocity in (v, 30 * d):
            R, force = bound.evaluate(Shape(body, u), velocity)
            assert R > 0
            assert np.vdot(force, velocity) > 0


@every_material
@every_case
def test_rest_takes_no_power(case, material):
    _, shape, v, _, bound = at_work(case, material)
    R, force = bound.evaluate(shape, 0 * v)
    assert R == 0
    assert not force.any()


@every_material
@every_case
def test_rigid_motion(case, material):
    """A spin about any point and travel: no force from those that promise it, some from others."""
    body, shape, v, _, bound = at_work(case, material, seed=2)
    rigid = np.cross([1.0, -2.0, 0.5], body.mesh.vertices + shape.u) + np.array([3.0, 0, 1])
    _, moved = bound.evaluate(shape, v)
    _, force = bound.evaluate(shape, rigid)
    if case.spares_rigid:
        assert np.abs(force).max() <= 1e3 * EPS * np.abs(moved).max()
    else:
        assert np.abs(force).max() > 1e-3 * np.abs(moved).max()


@every_material
@cases_that(lambda case: case.spares_rigid)
def test_momentum(case, material):
    """Forces that spare rigid motion have neither a resultant nor a moment."""
    body, shape, v, _, bound = at_work(case, material, seed=3)
    assert_no_momentum(body, shape, bound.evaluate(shape, v)[1])


@every_material
@every_case
def test_energy_never_grows(case, material):
    """A body let go from a large stretch, held at one side: Newton finds every step."""
    body = held(the_body(material))
    damping = case.make(body, 1.0)
    sim = sp.Simulation(body, damping=damping, integrator=sp.BackwardEuler(), dt=0.02)
    sim.state.u = body.mesh.vertices * [0.3, -0.1, -0.1]
    motion = sim.run(0.12)
    energy = motion.kinetic + motion.elastic
    assert (np.diff(energy) <= 1e-9 * energy[0]).all()
    assert motion.dissipated[-1] > 0


# -- invariance ------------------------------------------------------------------------------


@every_material
@cases_that(lambda case: case.turns)
def test_turned_body(case, material):
    body, shape, v, _, bound = at_work(case, material)
    Q, X = rotation(4), body.mesh.vertices
    R, force = bound.evaluate(shape, v)
    turned, turned_force = bound.evaluate(Shape(body, (X + shape.u) @ Q.T - X), v @ Q.T)
    assert turned == pytest.approx(R, rel=1e-11)
    np.testing.assert_allclose(turned_force, force @ Q.T, atol=1e-11 * np.abs(force).max())


@every_material
@every_case
def test_units(case, material):
    """Millimetres instead of metres: R in kg mm²/s³, forces in kg mm/s²."""
    unit = 1000.0
    _, shape, v, _, bound = at_work(case, material)
    small = the_body(material, unit)
    R, force = bound.evaluate(shape, v)
    fine = case.make(small, unit).bind(small)
    R_small, force_small = fine.evaluate(Shape(small, shape.u * unit), v * unit)
    assert R_small == pytest.approx(R * unit**2, rel=1e-10)
    np.testing.assert_allclose(force_small / unit, force, atol=1e-10 * np.abs(force).max())


@cases_that(lambda case: case.coefficients)
def test_coefficients_by_cell_and_region(case):
    body = the_body(sp.NeoHookean)
    some = np.array([0, 2, 3])
    mesh = body.mesh.with_region("some", some)
    body = sp.Body(mesh, soft(sp.NeoHookean))
    u, v, _ = the_state(body)
    inside = np.isin(np.arange(mesh.n_cells), some)
    model = case.make(body, 1.0)
    values = {name: getattr(model, name) for name in case.coefficients}
    ways = [
        replace(model, **{name: {"some": x} for name, x in values.items()}),
        replace(model, **{name: x * inside for name, x in values.items()}),
    ]
    forces = [way.bind(body).evaluate(Shape(body, u), v)[1] for way in ways]
    np.testing.assert_array_equal(*forces)
    rest = replace(model, **{name: x * ~inside for name, x in values.items()})
    together = forces[0] + rest.bind(body).evaluate(Shape(body, u), v)[1]
    whole = model.bind(body).evaluate(Shape(body, u), v)[1]
    np.testing.assert_allclose(together, whole, atol=1e3 * EPS * np.abs(whole).max())


@pytest.mark.parametrize(
    ("model", "name"),
    [(type(case.make(the_body(sp.StVK), 1.0)), name) for case in CASES.values()
     for name in case.coefficients],
)  # fmt: skip
def test_bad_coefficients(model, name):
    more = {"fibre": {"direction": (1, 0, 0)}, "strength": {"exponent": 0}}.get(name, {})
    for bad in (-1.0, np.nan, [[1.0]], "much", {"left": -1.0}):
        refused(name, model, **{name: bad}, **more)
    body = the_body(sp.StVK)
    for bad in ([1.0, 2.0], {"nowhere": 1.0}):
        with pytest.raises(sp.InputError):
            model(**{name: bad}, **more).bind(body)
