"""Power-law damping: its functions for every exponent, what it conserves, how motion dies."""

from __future__ import annotations

import numpy as np
import pytest
from tests.damping.derivatives import (
    assert_no_net_force_or_torque,
    assert_semidefinite,
    assert_shape_derivative,
    assert_velocity_derivatives,
    matrix_of,
    rigid_velocity,
    setting,
)
from tests.helpers import EPS, MESH_NAMES, affine, deformation_gradients, rotation, small_mesh, soft
from tests.refusals import refusals

import supple as sp
from supple.bodies.group import BodyGroup
from supple.bodies.shape import Shape
from supple.damping.base import DampingTangent
from supple.damping.part import PartDamping
from supple.damping.power_law import BoundStretchPower

EXPONENTS = (0.0, 0.5, 1.0, 2.0, 3.0)
every_exponent = pytest.mark.parametrize("p", EXPONENTS)
every_mesh = pytest.mark.parametrize("mesh_name", MESH_NAMES)
LAWS = {
    "stretch": lambda p, **kw: sp.PowerLaw(exponent=p, strength=40.0, **kw),
    "strain rate": lambda p, **kw: sp.PowerLaw(
        exponent=p, of=sp.StrainRate(shear=5.0, bulk=2.0), scale=30.0, **kw
    ),
    "rayleigh": lambda p, **kw: sp.PowerLaw(
        exponent=p, of=sp.Rayleigh(stiffness=0.01), scale=30.0, **kw
    ),
}
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())


def stretch_rates(body: sp.Body, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Ṡ of S = √(FᵀF) by differences, in plain NumPy, (cells, points, 3, 3)."""

    def stretches(u):
        _, sizes, Vt = np.linalg.svd(deformation_gradients(body.mesh, u))
        return np.einsum("eqai,eqa,eqaj->eqij", Vt, sizes, Vt)

    return (stretches(u + 1e-5 * v) - stretches(u - 1e-5 * v)) / 2e-5


@every_exponent
@pytest.mark.parametrize("inverted", [False, True], ids=["upright", "inverted"])
def test_density_is_that_of_the_polar_decomposition(p, inverted):
    body, u, v = setting(inverted=inverted)
    square = (stretch_rates(body, u, v) ** 2).sum(axis=(2, 3))
    e = 0.2**2 if p < 1 else 0.0
    q = (p + 1) / 2
    expected = (body.mesh.quadrature().weights * 40.0 * ((square + e) ** q - e**q)).sum()
    R, _ = LAWS["stretch"](p, width=0.2).bind(body).evaluate(Shape(body, u), v)
    assert pytest.approx(expected, rel=1e-7) == R


@every_law
@every_exponent
def test_derivatives_of_every_law(law, p):
    body, u, v = setting()
    bound = law(p, width=0.5).bind(body)
    assert_velocity_derivatives(body, bound, u, v)
    assert_shape_derivative(body, bound.in_cells(), u, v)


@every_mesh
def test_derivatives_on_every_mesh(mesh_name):
    body, u, v = setting(mesh_name)
    bound = LAWS["stretch"](0.5, width=0.5).bind(body)
    assert_velocity_derivatives(body, bound, u, v)
    assert_shape_derivative(body, bound, u, v)


def test_derivatives_turned_inside_out():
    body, u, v = setting(inverted=True)
    assert_velocity_derivatives(body, LAWS["stretch"](2.0).bind(body), u, v)


@every_exponent
def test_takes_power_and_is_convex(p):
    for inverted in (False, True):
        body, u, v = setting(inverted=inverted)
        bound, shape = LAWS["stretch"](p).bind(body), Shape(body, u)
        R, force = bound.evaluate(shape, v)
        assert R > 0
        assert np.vdot(v, force) >= R  # convex, and nothing at rest
        for speed in (1.0, 1e-3, 1e-9, 0.0):
            assert_semidefinite(matrix_of(body, bound, shape, speed * v))
            assert_semidefinite(matrix_of(body, bound, shape, speed * v, definite=True))


@every_exponent
def test_tangent_stays_definite(p):
    """The part of ∂∇₂R/∂u that Newton's method is given only adds to the matrix."""
    body, u, v = setting()
    bound, shape = LAWS["stretch"](p).bind(body), Shape(body, u)
    values = np.zeros((2, body.pattern.n_blocks, 3, 3))
    bound.add_tangent(shape, v, DampingTangent(3.0, definite=True), values[0])
    bound.add_matrix(shape, v, 3.0, values[1], definite=True)
    extra = body.pattern.full(values[0] - values[1]).toarray()
    assert np.abs(extra).max() > 0
    assert_semidefinite(extra)


@every_exponent
def test_grows_with_its_power(p):
    """R(s v) = s^(p+1) R(v), exactly where p ≥ 1, and far above the width elsewhere."""
    body, u, v = setting()
    bound, shape = LAWS["stretch"](p, width=1e-9).bind(body), Shape(body, u)
    low, high = (bound.evaluate(shape, s * v)[0] for s in (1.0, 8.0))
    assert high / low == pytest.approx(8.0 ** (p + 1), rel=1e-7)


def test_linear_law_is_the_quadratic_one():
    """p = 1 with of= is that damping itself, whatever the scale."""
    body, u, v = setting()
    shape = Shape(body, u)
    for base in (sp.StrainRate(shear=5.0, bulk=2.0), sp.Rayleigh(stiffness=0.01)):
        law = sp.PowerLaw(exponent=1, of=base, scale=7.0)
        R, force = law.bind(body).evaluate(shape, v)
        plain_R, plain = base.bind(body).evaluate(shape, v)
        assert pytest.approx(plain_R, rel=1e-12) == R
        np.testing.assert_allclose(force, plain, atol=1e-12 * np.abs(plain).max())


def test_stretch_law_at_rest_is_strain_rate():
    """Where F = I, Ṡ = Ė: β ‖Ṡ‖² is strain rate dissipation of ψ = β."""
    body, u, v = setting()
    shape = Shape(body, 0 * u)
    both = [law.bind(body) for law in (LAWS["stretch"](1.0), sp.StrainRate(shear=40.0))]
    for found in (lambda at: at.evaluate(shape, v)[1], lambda at: matrix_of(body, at, shape, v)):
        np.testing.assert_allclose(*map(found, both), rtol=0, atol=1e-10)


def test_same_as_its_base_at_the_scale():
    """Where the base has the density A, so has the law: a uniform stretch makes it so all over."""
    body, _, _ = setting()
    shape = Shape(body, affine(body.mesh, rotation(4)))
    v = body.mesh.vertices @ np.diag([1.0, 2.0, -1.0]) @ rotation(4).T
    base = sp.StrainRate(shear=5.0, bulk=2.0)
    R, _ = base.bind(body).evaluate(shape, v)
    for p in (0.0, 2.0):
        law = sp.PowerLaw(exponent=p, of=base, scale=R / body.mesh.volume, width=1e-6)
        assert law.bind(body).evaluate(shape, v)[0] == pytest.approx(R, rel=1e-5)


@every_exponent
@pytest.mark.parametrize("inverted", [False, True], ids=["upright", "inverted"])
def test_rigid_motion_is_free(p, inverted):
    body, u, v = setting(inverted=inverted)
    bound, shape = LAWS["stretch"](p).bind(body), Shape(body, u)
    x = body.mesh.vertices + u
    force = bound.evaluate(shape, v)[1]
    assert_no_net_force_or_torque(x, force)
    added = bound.evaluate(shape, v + rigid_velocity(x))[1]
    np.testing.assert_allclose(added, force, rtol=0, atol=1e-10 * np.abs(force).max())
    R, _ = bound.evaluate(shape, rigid_velocity(x))
    assert abs(R) <= 1e-10


@every_exponent
@pytest.mark.parametrize("stretches", [(1, 1, 0), (1, 1e-8, 0), (1, 1, -1), (0, 0, 0)], ids=str)
def test_collapsed_cells_stay_finite(p, stretches):
    body, _, v = setting()
    u = affine(body.mesh, rotation(1) @ np.diag(stretches).astype(float) @ rotation(2))
    bound, shape = LAWS["stretch"](p).bind(body), Shape(body, u)
    R, force = bound.evaluate(shape, v)
    assert np.isfinite(R)
    assert R > 0
    assert np.isfinite(force).all()
    assert np.isfinite(bound.shape_gradient(shape, v)).all()
    assert_semidefinite(matrix_of(body, bound, shape, v))
    rates = np.einsum("eai,eqaj->eqij", v[body.mesh.cells], body.mesh.quadrature().gradients)
    most = 40.0 * (2 * (rates**2).sum(axis=(2, 3)) + 1e-4) ** ((p + 1) / 2)  # ‖Ṡ‖² ≤ 2 ‖Ḟ‖²
    assert (body.mesh.quadrature().weights * most).sum() >= R


def test_strength_by_region():
    mesh = small_mesh("tet")
    left = mesh.cells_where(x=(None, 0.5))
    body = sp.Body(mesh.with_region("left", left), soft(sp.StVK))
    bound = sp.PowerLaw(exponent=0.5, strength={"left": 3.0}).bind(body)
    assert isinstance(bound, BoundStretchPower)
    assert bound.exponent == 0.5
    np.testing.assert_array_equal(bound.strength, 3.0 * np.isin(np.arange(mesh.n_cells), left))
    _, u, v = setting()
    force = bound.evaluate(Shape(body, u), v)[1]
    assert not force[np.setdiff1d(np.arange(body.n_vertices), mesh.cells[left])].any()


def decay(p: float, strength: float) -> np.ndarray:
    """Largest speed in each of six spans of a released bending beam."""
    mesh = sp.TetMesh.box((1.0, 0.2, 0.2), (5, 1, 1))
    body = sp.Body(mesh, soft(sp.Corotational, young=1e5), fixed=mesh.where(x=0))
    mode = sp.vibration_modes(body, 1)
    sim = sp.Simulation(
        body, damping=sp.PowerLaw(exponent=p, strength=strength), integrator=sp.TRBDF2(),
        dt=1 / mode.frequencies[0] / 24,
    )  # fmt: skip
    sim.state.u = 0.05 * mode.shapes[0] / np.abs(mode.shapes[0]).max()
    speeds = np.sqrt(2 * sim.run(144 * sim.dt).kinetic[1:])
    return speeds.reshape(6, 24).max(axis=1)


def test_decay_faster_equal_and_slower_than_exponential():
    """Dissipative optimization, Fig. 3: ratios of successive swings fall, stay and rise."""
    ratios = {p: np.diff(np.log(decay(p, beta))) for p, beta in ((0, 80), (1, 1000), (2, 10000))}
    assert all((of < -0.1).all() for of in ratios.values())
    assert (np.diff(ratios[0]) < 0).all()
    assert ratios[0][-1] < 2 * ratios[0][0]
    assert np.ptp(ratios[1]) < 0.02 * np.abs(ratios[1]).mean()
    assert (np.diff(ratios[2]) > 0).all()
    assert ratios[2][-1] > 0.6 * ratios[2][0]


@pytest.mark.parametrize("strength", [1e3, 2e4])
@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.TRBDF2()], ids=["Euler", "TR-BDF2"])
def test_newton_gets_through_dry_damping(strength, rule):
    """Clay under its own weight, p = 0 with a width of 1e-3 [1/s], loses energy at every step."""
    mesh = sp.TetMesh.box((1.0, 0.25, 0.25), (4, 1, 1))
    material = soft(sp.StableNeoHookean, young=1e5, poisson=0.4)
    body = sp.Body(mesh, material, fixed=mesh.where(x=0))
    law = sp.PowerLaw(exponent=0, strength=strength, width=1e-3)
    sim = sp.Simulation(body, damping=law, integrator=rule, gravity=(0, 0, -9.81))
    motion = sim.run(0.3)
    total = motion.kinetic + motion.elastic + motion.gravitational
    assert (np.diff(total) < 1e-6 * np.ptp(motion.gravitational)).all()
    assert motion.dissipated[-1] > 0


def test_strong_dry_damping_stands_still():
    """What the load cannot overcome creeps by about the width, and no faster."""
    mesh = sp.TetMesh.box((1.0, 0.25, 0.25), (4, 1, 1))
    body = sp.Body(mesh, soft(sp.StableNeoHookean, young=1e5), fixed=mesh.where(x=0))
    speeds = []
    for width in (1e-2, 1e-3):
        law = sp.PowerLaw(exponent=0, strength=1e6, width=width)
        sim = sp.Simulation(body, damping=law, integrator=sp.BackwardEuler(), gravity=(0, 0, -9.81))
        sim.run(0.1)
        speeds.append(np.abs(sim.state.v).max())
    assert 0 < speeds[0] < 1e-2
    assert speeds[0] / speeds[1] == pytest.approx(10, rel=0.1)


test_bad_laws_named = refusals(
    (lambda: sp.PowerLaw(exponent=-0.1, strength=1), "exponent"),
    (lambda: sp.PowerLaw(exponent=np.nan, strength=1), "exponent"),
    (lambda: sp.PowerLaw(exponent=0, strength=-1), "strength"),
    (lambda: sp.PowerLaw(exponent=0), "strength"),
    (lambda: sp.PowerLaw(exponent=0, strength=1, width=0), "width"),
    (lambda: sp.PowerLaw(exponent=0, strength=1, scale=1), "scale"),
    (lambda: sp.PowerLaw(exponent=0, of=sp.StrainRate(shear=1)), "scale"),
    (lambda: sp.PowerLaw(exponent=0, of=sp.StrainRate(shear=1), scale=0), "scale"),
    (lambda: sp.PowerLaw(exponent=0, of=3, scale=1), "of is 3"),
    (lambda: sp.PowerLaw(exponent=0, of=sp.StrainRate, scale=1), "of is the class"),
    (lambda: sp.PowerLaw(exponent=0, of=sp.StrainRate(), scale=1, strength=2), "not both"),
)


test_bases_that_are_not_quadratic_or_not_in_cells_named = refusals(
    (sp.Rayleigh(mass=1.0), "acts in cells alone"),
    (sp.Rayleigh(mass=1.0, stiffness=1.0), "acts in cells alone"),
    (sp.Rayleigh(stiffness=1.0, at=sp.StiffnessAt.REST), "acts in cells alone"),
    (sp.PowerLaw(exponent=0, strength=1), "quadratic"),
    make=lambda of: sp.PowerLaw(exponent=0, of=of, scale=1).bind(setting()[0]),
)


def test_law_of_a_linear_law_is_that_law():
    """Laws nest: each has arrays of its own."""
    body, u, v = setting()
    shape = Shape(body, u)
    outer = sp.PowerLaw(exponent=3, of=sp.PowerLaw(exponent=1, strength=40.0), scale=40.0)
    one = outer.bind(body).evaluate(shape, v)
    two = LAWS["stretch"](3.0).bind(body).evaluate(shape, v)
    assert one[0] == pytest.approx(two[0], rel=1e-12)
    np.testing.assert_allclose(one[1], two[1], atol=1e3 * EPS * np.abs(two[1]).max())


# -- how Newton's method sees dry damping ------------------------------------------------------


def test_directions_of_flow_are_updated():
    """To first order they are Ṡ/√(‖Ṡ‖² + ε²) at the end of a step, from where they were that."""
    body, u, v = setting()
    step = 0.1 * np.random.default_rng(5).normal(size=v.shape)
    shape = Shape(body, u)

    def directions(v):
        rate = stretch_rates(body, u, v)
        size = np.sqrt((rate**2).sum(axis=(2, 3)) + 0.2**2)
        return rate / size[:, :, None, None]

    errors = []
    for h in (1e-2, 5e-3):
        law = sp.PowerLaw(exponent=0, strength=40.0, width=0.2).bind(body)
        law.update_duals(shape, v, 0 * v, 1.0)
        law.update_duals(shape, v, h * step, 1.0)
        errors.append(np.abs(law.flow[0] - directions(v + h * step)).max())
        np.testing.assert_allclose(law.flow[0], law.flow[0].transpose(0, 1, 3, 2))
        assert (np.linalg.norm(law.flow[0], axis=(2, 3)) <= 1 + 4 * EPS).all()
    assert errors[0] < 1e-3
    assert errors[1] < 0.3 * errors[0]  # the rest is of second order


def test_tangent_is_the_derivative_once_directions_are_right():
    """The remembered directions change nothing where they are those of the flow."""
    body, u, v = setting()
    shape = Shape(body, u)
    law = sp.PowerLaw(exponent=0, strength=40.0, width=0.2).bind(body)
    exact = np.zeros((body.pattern.n_blocks, 3, 3))
    law.add_matrix(shape, v, 1.0, exact, definite=False)
    law.update_duals(shape, v, 0 * v, 1.0)
    tangent, straight, plain = np.zeros((3, *exact.shape))
    law.add_tangent(shape, v, DampingTangent(1.0), tangent)
    other = sp.PowerLaw(exponent=0, strength=40.0, width=0.2).bind(body)
    other.add_tangent(shape, v, DampingTangent(1.0, definite=True), straight)
    other.add_matrix(shape, v, 1.0, plain, definite=True)
    stress = straight - plain  # what the tangent has of ∂∇₂R/∂u
    np.testing.assert_allclose(tangent - stress, exact, atol=1e-9 * abs(exact).max())


@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_few_iterations_however_sharp_the_corner(width):
    """A beam of clay that bends under its weight and comes to rest."""
    mesh = sp.TetMesh.box((0.6, 0.2, 0.2), (6, 2, 2))
    body = sp.Body(
        mesh, sp.NeoHookean(young=2e4, poisson=0.4, density=1000), fixed=mesh.vertices[:, 0] == 0
    )
    damping = sp.PowerLaw(exponent=0, strength=500.0, width=width)
    sim = sp.Simulation(body, damping=damping, dt=0.02, gravity=(0, 0, -9.81))
    spent = []
    for _ in range(15):
        sim.step()
        spent.append(sim.stats.iterations / sim.stats.stages)
    assert np.mean(spent) <= 12
    assert max(spent) <= 20


@every_law
@every_exponent
def test_thinning_is_told_where_viscosity_falls_as_rates_grow(p, law):
    """As the force at twice the velocity shows; contacts do not count what is so at rest alone."""
    body, u, v = setting()
    model = law(p).bind(body)
    once, twice = (model.evaluate(Shape(body, u), factor * v)[1] for factor in (1.0, 2.0))
    grown = np.linalg.norm(twice) / np.linalg.norm(once)
    assert model.is_thinning == (grown < 2 * (1 - 1e-6))


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0])
def test_thinning_is_told_of_cloth_and_of_parts(p):
    sheet = sp.SheetMesh.grid(size=(0.4, 0.4), cells=(2, 2))
    felt = sp.IsotropicCloth(young=2e4, poisson=0.3, thickness=5e-4, areal_density=0.2)
    cloth, other = sp.Cloth(sheet, felt), sp.Cloth(sheet, felt)
    damping = sp.PowerLaw(exponent=p, strength=1.0)
    assert damping.bind(cloth).is_thinning == (p < 1)
    group = BodyGroup([other, cloth])
    assert PartDamping(group, 1, damping).is_thinning == (p < 1)
