"""Power laws, curves and principal strains on cloth and springs."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bodies.cloth.sheets import ISOTROPIC, WOVEN, crumpled, shaken_grid
from tests.bodies.test_springs import bent, tangle
from tests.damping.cases import FASTER, GROWING, RATE, SLOWER
from tests.damping.derivatives import assembled, assert_no_momentum
from tests.helpers import EPS, remainder_slopes, rotation

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.base import DampingTangent

SHEET = sp.Cloth(shaken_grid().with_region("some", [1, 4, 5]), WOVEN)
NET = sp.SpringNetwork(tangle().mesh.with_region("some", [1, 3]), stiffness=50.0, mass=1.0)
PRINCIPAL = sp.PrincipalStrain(stiffness=0.02)
OF = {
    id(SHEET): sp.ClothStrainRate(shear=2.0, bulk=1.0),
    id(NET): sp.SpringStrainRate(viscosity=2.0),
}
LAWS = {
    "dry": lambda base: sp.PowerLaw(exponent=0, strength=4.0, width=0.5),
    "linear": lambda base: sp.PowerLaw(exponent=1, strength=4.0),
    "steep": lambda base: sp.PowerLaw(exponent=2, strength=4.0),
    "power of another": lambda base: sp.PowerLaw(exponent=1.5, of=base, scale=2.0),
    "dry of another": lambda base: sp.PowerLaw(exponent=0.3, of=base, scale=2.0, width=0.5),
    "principal": lambda base: PRINCIPAL,
    "spline": lambda base: sp.SplineDamping(base, GROWING),
    "spline of strains": lambda base: sp.SplineDamping(PRINCIPAL, GROWING),
    "rising": lambda base: sp.SplineDamping(base, FASTER, over=RATE),
    "falling": lambda base: sp.SplineDamping(base, SLOWER, over=RATE),
    "rising rates": lambda base: sp.SplineDamping(PRINCIPAL, FASTER, over=RATE),
    "falling rates": lambda base: sp.SplineDamping(PRINCIPAL, SLOWER, over=RATE),
}
LINEAR = {"linear", "principal", "spline", "spline of strains"}
every_law = pytest.mark.parametrize("name", LAWS)
every_body = pytest.mark.parametrize("body", [SHEET, NET], ids=["cloth", "springs"])


def at_work(name: str, body: sp.ElasticBody):
    """The damping bound, a shape, a velocity with rates of some 1/s, a change of it."""
    bound = LAWS[name](OF[id(body)]).bind(body)
    u = crumpled(body.mesh) if body is SHEET else bent(body)
    v, d = np.random.default_rng(0).normal(size=(2, *u.shape))
    return bound, Shape(body, u), v, d


@every_body
@every_law
def test_derivatives(name, body):
    bound, shape, v, d = at_work(name, body)
    R, force = bound.evaluate(shape, v)
    steps = 1e-3 * 0.5 ** np.arange(5)
    slopes = remainder_slopes(
        lambda h: abs(bound.evaluate(shape, v + h * d)[0] - R - h * np.vdot(force, d)), steps
    )
    assert (np.abs(slopes - 2) < 0.05).all()
    C = assembled(body, bound.add_matrix, shape, v, definite=False)
    change = (C @ d.ravel()).reshape(d.shape)
    if bound.is_linear:
        there = bound.evaluate(shape, v + d)[1]
        assert np.abs(there - force - change).max() <= 1e3 * EPS * np.abs(there).max()
        products = bound.multiply(shape, np.stack([d, v]))
        assert np.abs(products[1] - force).max() <= 1e3 * EPS * np.abs(force).max()
    else:

        def left(h: float) -> float:
            there = bound.evaluate(shape, v + h * d)[1]
            return float(np.linalg.norm(there - force - h * change))

        slopes = remainder_slopes(left, 0.2 * steps)  # short of where curves have their points
        size = float(np.linalg.norm(change))
        rounding = left(steps[0]) <= 1e-8 * steps[0] * size
        assert rounding or (np.abs(slopes[:3] - 2) < 0.1).all()
    assert bound.is_linear is (name in LINEAR)


@every_body
@every_law
def test_takes_power(name, body):
    """R ≥ 0 and v·∇₂R ≥ 0 at shapes gentle and wild, and the definite matrix is so."""
    bound, shape, v, _ = at_work(name, body)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        u = shape.u * (seed % 5) + 0.3 * rng.normal(size=v.shape) * (seed > 10)
        velocity = 10.0 ** (seed % 4 - 1) * rng.normal(size=v.shape)
        R, force = bound.evaluate(Shape(body, u), velocity)
        assert R > 0
        assert np.vdot(force, velocity) > 0
    C = assembled(body, bound.add_matrix, shape, v, definite=True)
    values = np.linalg.eigvalsh(C)
    assert values[0] >= -1e3 * EPS * values[-1]
    tangent = np.zeros((body.pattern.n_blocks, 3, 3))
    bound.add_tangent(shape, v, DampingTangent(3.0, definite=True), tangent)
    values = np.linalg.eigvalsh(body.pattern.full(tangent).toarray())
    assert values[0] >= -1e3 * EPS * values[-1]
    R, force = bound.evaluate(shape, 0 * v)
    assert R == 0
    assert not force.any()


@every_body
@every_law
def test_rigid_motion_and_momentum(name, body):
    bound, shape, v, _ = at_work(name, body)
    R, force = bound.evaluate(shape, v)
    assert_no_momentum(body, shape, force)
    x = body.mesh.vertices + shape.u
    rigid = np.cross([1.0, -2.0, 0.5], x) + np.array([3.0, 0, 1])
    few = bound.evaluate(shape, rigid)[1]
    lag = 1e3 if name != "dry of another" else 1e7  # rates of rounding, to a power below one
    assert np.abs(few).max() <= lag * EPS * max(np.abs(force).max(), 1.0)
    Q, X = rotation(4), body.mesh.vertices
    turned, turned_force = bound.evaluate(Shape(body, x @ Q.T - X), v @ Q.T)
    assert turned == pytest.approx(R, rel=1e-10)
    assert np.abs(turned_force - force @ Q.T).max() <= 1e-10 * np.abs(force).max()


@every_body
@every_law
def test_motion_loses_energy(name, body):
    """Newton's method finds every step."""
    fixed = np.flatnonzero(body.mesh.vertices[:, 0] <= body.mesh.vertices[:, 0].min() + 0.2)[:3]
    if body is SHEET:
        held = sp.Cloth(body.mesh, WOVEN, fixed=fixed)
    else:
        held = sp.SpringNetwork(body.mesh, stiffness=50.0, mass=1.0, fixed=fixed)
    damping = LAWS[name](OF[id(body)])
    sim = sp.Simulation(held, damping=damping, integrator=sp.BackwardEuler(), dt=0.01)
    sim.state.v = 0.3 * np.random.default_rng(2).normal(size=body.mesh.vertices.shape)
    motion = sim.run(0.1)
    energy = motion.kinetic + motion.elastic
    assert (np.diff(energy) <= 1e-9 * energy[0]).all()
    assert motion.dissipated[-1] > 0


@every_body
@pytest.mark.parametrize("name", ["steep", "principal", "falling"])
def test_admm_and_newton_agree(name, body):
    damping = LAWS[name](OF[id(body)])
    ends = []
    for solver in (sp.Newton(), sp.ADMM(tolerance=1e-9, max_iterations=3000)):
        sim = sp.Simulation(
            body, damping=damping, integrator=sp.BackwardEuler(), solver=solver, dt=2e-3
        )
        sim.state.v = 0.1 * np.random.default_rng(2).normal(size=body.mesh.vertices.shape)
        for _ in range(3):
            sim.step()
        ends.append(sim.state.u)
    assert np.abs(ends[0] - ends[1]).max() <= 1e-6 * np.abs(ends[0]).max()


# -- what they are -------------------------------------------------------------------------------


def grown(damping: sp.Damping, grow: np.ndarray, stretch: np.ndarray) -> float:
    """R of a square metre of cloth, stretched and turned, that grows in its plane."""
    mesh = sp.SheetMesh.grid((1, 1), (2, 2))
    body = sp.Cloth(mesh, ISOTROPIC)
    Q = rotation(2)
    place = np.column_stack([mesh.pattern @ stretch.T, np.zeros(len(mesh.vertices))]) @ Q.T
    v = np.column_stack([mesh.pattern @ grow.T, np.zeros(len(mesh.vertices))]) @ Q.T
    return damping.bind(body).evaluate(Shape(body, place - mesh.vertices), v)[0]


def rate_of_stretch(F: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Ṡ of S = √(FᵀF), by a central difference of matrix roots."""

    def root(F: np.ndarray) -> np.ndarray:
        values, V = np.linalg.eigh(F.T @ F)
        return (V * np.sqrt(values)) @ V.T

    h = 1e-5
    return (root(F + h * D) - root(F - h * D)) / (2 * h)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0])
def test_power_law_of_cloth(p):
    """R = A β ‖Ṡ‖^(p+1) (Eq. 75), and as strong as another where that has the density."""
    F, D = np.array([(1.2, 0.3), (-0.1, 0.8)]), np.array([(0.5, 0.2), (0.4, -0.3)])
    size = np.linalg.norm(rate_of_stretch(F, D))
    R = grown(sp.PowerLaw(exponent=p, strength=3.0, width=1e-6), D, F)
    assert pytest.approx(3.0 * size ** (p + 1), rel=1e-6) == R
    other = sp.ClothStrainRate(shear=2.0, bulk=1.0)
    there = grown(other, D, F)
    same = sp.PowerLaw(exponent=p, of=other, scale=there, width=1e-6)
    assert grown(same, D, F) == pytest.approx(there, rel=1e-6)


def test_principal_strain_of_cloth():
    """β/2 σ̇ᵀK_σ σ̇ by differences of the energy; that of the whole sheet at rest is β K."""
    F, D = np.diag([1.2, 0.9]), np.diag([0.5, -0.3])
    mesh = sp.SheetMesh.grid((1, 1), (2, 2))
    body = sp.Cloth(mesh, ISOTROPIC)

    def energy(sigma: np.ndarray) -> float:
        place = np.column_stack([mesh.pattern * sigma, np.zeros(len(mesh.vertices))])
        return body.energy(place - mesh.vertices)

    h, sigma, rate = 1e-3, np.diag(F), np.diag(D)
    second = (energy(sigma + h * rate) - 2 * energy(sigma) + energy(sigma - h * rate)) / h**2
    R = grown(sp.PrincipalStrain(stiffness=0.1), D, F)
    assert pytest.approx(0.5 * 0.1 * second, rel=1e-5) == R
    still = Shape(body, np.zeros_like(mesh.vertices))
    v = np.random.default_rng(0).normal(size=still.u.shape) * [1, 1, 0]
    known = sp.ClothStrainRate(matched=0.1).bind(body).evaluate(still, v)[1]
    found = sp.PrincipalStrain(stiffness=0.1).bind(body).evaluate(still, v)[1]
    assert np.abs(found - known).max() <= 1e-10 * np.abs(known).max()


def test_laws_of_one_spring():
    """R = L β |σ̇|^(p+1), L s(σ) ½ η σ̇² and L s(|σ̇|) ½ η σ̇²."""
    L, eta, rate, sigma = 2.0, 3.0, 0.7, 1.3
    mesh = sp.SpringMesh.chain((0, 0, 0), (L, 0, 0), 1)
    body = sp.SpringNetwork(mesh, stiffness=100.0, mass=1.0)
    shape = Shape(body, np.array([(0.0, 0, 0), (L * (sigma - 1), 0, 0)]))
    v = np.array([(0.0, 1, 0), (L * rate, 5.0, 0)])
    base = sp.SpringStrainRate(viscosity=eta)
    square = 0.5 * eta * rate**2
    expected = {
        sp.PowerLaw(exponent=2, strength=eta): eta * rate**3,
        sp.PowerLaw(exponent=2, of=base, scale=square): square,
        sp.PrincipalStrain(stiffness=0.03): 0.5 * 0.03 * 100.0 * rate**2,
        sp.SplineDamping(base, GROWING): GROWING(sigma) * square,
        sp.SplineDamping(base, FASTER, over=RATE): FASTER(rate) * square,
    }
    for damping, r in expected.items():
        assert damping.bind(body).evaluate(shape, v)[0] == pytest.approx(L * r, rel=1e-12), damping


@every_body
def test_coefficients_by_region(body):
    shape, v = at_work("principal", body)[1:3]
    inside = np.zeros(body.n_cells)
    inside[body.mesh.region("some")] = 4.0
    for make in (
        lambda c: sp.PowerLaw(exponent=2, strength=c),
        lambda c: sp.PrincipalStrain(stiffness=c),
    ):
        forces = [make(c).bind(body).evaluate(shape, v)[1] for c in ({"some": 4.0}, inside)]
        assert forces[0].any()
        np.testing.assert_array_equal(*forces)


def test_bases_that_are_refused():
    bending = sp.ClothStrainRate(matched=0.1, bending=0.1)
    for damping in (
        sp.PowerLaw(exponent=2, of=bending, scale=1.0),
        sp.SplineDamping(bending, GROWING),
        sp.SplineDamping(sp.Rayleigh(mass=1.0), GROWING),
        sp.PowerLaw(exponent=2, of=sp.PowerLaw(exponent=2, strength=1.0), scale=1.0),
    ):
        with pytest.raises(sp.InputError, match="quadratic in the strain rates"):
            damping.bind(SHEET)
