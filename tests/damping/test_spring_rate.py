"""Strain rate damping of springs: its functions, what it leaves alone, what it does to a spin."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bodies.test_springs import bent, tangle
from tests.damping.derivatives import assembled, assert_series_ends
from tests.helpers import EPS, remainder_slopes, rotation, simulate

import supple as sp
from supple.bodies.shape import Shape
from supple.integrators import INTEGRATORS

every_rule = pytest.mark.parametrize("rule", [r() for r in INTEGRATORS], ids=repr)
MODELS = {
    "viscosity": sp.SpringStrainRate(viscosity=3.0),
    "matched": sp.SpringStrainRate(matched=0.02),
    "by spring": sp.SpringStrainRate(viscosity=np.linspace(0.0, 2.0, tangle().n_cells)),
    "both": sp.SpringStrainRate(viscosity=1.0, matched=0.01),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def bound_at(model: sp.Damping, u: np.ndarray | None = None):
    body = tangle()
    return body, Shape(body, bent(body) if u is None else u), model.bind(body)


@every_model
def test_derivatives_by_velocity(model):
    body, shape, bound = bound_at(model)
    v, d = np.random.default_rng(0).normal(size=(2, 7, 3))
    assert_series_ends(body, bound, shape, v, d)


@every_model
def test_takes_power_from_every_motion(model):
    body, shape, bound = bound_at(model)
    for v in np.random.default_rng(1).normal(size=(20, 7, 3)):
        R, force = bound.evaluate(shape, v)
        assert R > 0
        assert np.vdot(v, force) == pytest.approx(2 * R, rel=1e-12)
    values = np.linalg.eigvalsh(assembled(body, bound.add_matrix, shape, v, definite=True))
    assert values[0] >= -20 * EPS * values[-1]


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


def test_matched_is_rayleigh_at_rest():
    """Where no spring pulls, Eq. 12 and Rayleigh damping are the same."""
    tense = tangle().mesh
    mesh = sp.SpringMesh(tense.vertices, tense.cells)
    body = sp.SpringNetwork(mesh, stiffness=70.0, mass=1.0)
    shape = Shape(body, np.zeros((7, 3)))
    v = np.random.default_rng(2).normal(size=(7, 3))
    ours = sp.SpringStrainRate(matched=0.02).bind(body).evaluate(shape, v)[1]
    theirs = sp.Rayleigh(stiffness=0.02).bind(body).evaluate(shape, v)[1]
    assert np.abs(ours - theirs).max() <= 1e-14 * 100


@every_model
def test_rigid_velocities_feel_nothing(model):
    """And Rayleigh damping of the same strength brakes them."""
    body, shape, bound = bound_at(model)
    x = body.mesh.vertices + shape.u
    C = assembled(body, bound.add_matrix, shape, x, definite=False)
    for seed in range(3):
        spin = rotation(seed)[0] * 30.0
        v = np.cross(spin, x) + rotation(seed)[1]
        rounding = 20 * EPS * np.abs(C).max() * np.abs(v).max()
        assert np.abs(bound.evaluate(shape, v)[1]).max() <= rounding
        braked = sp.Rayleigh(stiffness=0.02).bind(body).evaluate(shape, v)[1]
        assert np.abs(braked).max() > 1e6 * rounding


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


# -- in motion -------------------------------------------------------------------------------


@every_rule
def test_order_of_accuracy(rule):
    """Damping that follows the shape takes no order from any rule."""
    body = tangle()
    v = np.random.default_rng(5).normal(size=(7, 3))
    options = {"v": v, "damping": sp.SpringStrainRate(matched=0.02)}
    exact = simulate(body, sp.RK4(), np.full(200, 1e-3), **options).state.u
    errors = [
        np.linalg.norm(simulate(body, rule, np.full(n, 0.2 / n), **options).state.u - exact)
        for n in (20, 40)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(rule.order, abs=0.15)


def test_free_flight_keeps_both_momenta_and_accounts_for_energy():
    body = tangle()
    x = body.mesh.vertices
    v = np.cross([1.0, 2.0, -1.0], x) + np.random.default_rng(6).normal(size=x.shape)
    sim = sp.Simulation(body, damping=MODELS["both"], integrator=sp.SymplecticEuler(), dt=5e-4)
    sim.state.v = v
    motion = sim.run(0.2)
    for name in ("linear_momentum", "angular_momentum"):
        kept = getattr(motion, name)
        assert np.abs(kept - kept[0]).max() <= 1e-12 * np.abs(kept[0]).max()
    lost = motion.total_energy[0] - motion.total_energy[-1]
    assert motion.dissipated[-1] == pytest.approx(lost, rel=0.01)
    assert lost > 0.1 * motion.kinetic[0]


def test_coefficients_by_region_and_by_spring():
    body = tangle()
    named = sp.SpringNetwork(body.mesh.with_region("some", [1, 4]), stiffness=50.0, mass=1.0)
    shape, v = Shape(named, bent(body)), np.random.default_rng(7).normal(size=(7, 3))
    single = np.zeros(body.n_cells)
    single[[1, 4]] = 2.0
    forces = [
        sp.SpringStrainRate(viscosity=given).bind(named).evaluate(shape, v)[1]
        for given in ({"some": 2.0}, single)
    ]
    assert np.array_equal(*forces)
    assert forces[0].any()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sp.SpringStrainRate(viscosity=-1.0), "viscosity=-1.0: a damping coefficient"),
        (lambda: sp.SpringStrainRate(matched=np.nan), "finite"),
        (lambda: sp.SpringStrainRate(matched=np.ones((2, 2))), "matched"),
        (lambda: sp.SpringStrainRate(viscosity=[1.0, 2.0]).bind(tangle()), "viscosity has shape"),
        (lambda: sp.SpringStrainRate(viscosity={"no": 1.0}).bind(tangle()), "no region 'no'"),
        (lambda: sp.SpringStrainRate().bind(solid()), "damps a SpringNetwork, and the body is a B"),
    ],
)
def test_bad_input_is_refused(make, words):
    with pytest.raises(sp.InputError, match=words):
        make()


def solid() -> sp.Body:
    return sp.Body(sp.TetMesh.box((1, 1, 1), (1, 1, 1)), sp.StVK(young=1e6, poisson=0.3))
