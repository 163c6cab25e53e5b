"""Strain limits: no triangle is ever longer than its cloth allows."""

from dataclasses import replace

import numpy as np
import pytest
from tests.bodies.cloth.sheets import FILM, ISOTROPIC, WOVEN, crumpled, shaken_grid

import supple as sp
from supple.core.errors import InputError, StepFailed

SOFT = sp.IsotropicCloth(
    young=1e5, poisson=0.3, thickness=5e-4, areal_density=0.2, bending_stiffness=1e-5
)
SOLVERS = {
    "Newton": sp.Newton(),
    "one Newton": sp.Newton(iterations=1),
    "ADMM": sp.ADMM(),
    "30 of ADMM": sp.ADMM(iterations=30),
}
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())


def longest(body: sp.Cloth, u: np.ndarray) -> float:
    """By how much the longest direction of any triangle is longer, by a decomposition."""
    return float(np.linalg.svd(body.deformation(u), compute_uv=False).max()) - 1


def test_barrier_is_twice_differentiable():
    """The remainder of a Taylor expansion falls with its order, next to the onset and the limit."""
    rng = np.random.default_rng(0)
    mesh = shaken_grid()
    v = rng.normal(size=mesh.vertices.shape)
    for stretch in (0.3, 0.0801, 0.16, 0.1999):
        loose = sp.StrainLimit(stretch=0.6, onset=0.2)
        limit = sp.StrainLimit(stretch=0.2, onset=0.4) if stretch < 0.2 else loose
        body = sp.Cloth(mesh, WOVEN, strain_limit=limit)
        u = stretch * mesh.vertices * [1.0, 0.97, 0.0]
        room = limit.strain - body.largest_strain(u)
        d = v * room / np.abs(body.rates(v)).max()
        here = body.evaluate(u, order=1, direction=d)
        energies, forces = [], []
        for h in (0.04, 0.02, 0.01):
            there = body.evaluate(u + h * d, order=1)
            rest = there.gradient - here.gradient - h * here.product
            energies.append(abs(there.energy - here.energy - h * np.vdot(here.gradient, d)))
            forces.append(np.linalg.norm(rest))
        slopes = np.log2(np.divide(energies[:-1], energies[1:]))
        assert slopes == pytest.approx(2, abs=0.2)
        if stretch != 0.0801:  # where the onset is between, the second derivative has a kink
            assert np.log2(np.divide(forces[:-1], forces[1:])) == pytest.approx(2, abs=0.4)


def test_definite_stiffness_is_definite():
    mesh = shaken_grid()
    body = sp.Cloth(mesh, ISOTROPIC, strain_limit=sp.StrainLimit(stretch=2.0, onset=0.05))
    for seed in range(5):
        found = body.evaluate(crumpled(mesh, seed), order=2, definite=True)
        assert np.isfinite(found.energy)
        matrix = body.pattern.full(found.stiffness).toarray()
        values = np.linalg.eigvalsh(matrix)
        assert values[0] > -1e-10 * values[-1]


def test_cloth_is_unchanged_below_the_onset_and_infinite_beyond_the_limit():
    mesh = sp.SheetMesh.grid((1, 1), (2, 2))
    film = sp.IsotropicCloth(young=1e5, poisson=0.0, bending_stiffness=0.0, **FILM)
    limit = sp.StrainLimit(stretch=0.1, firmness=50.0, onset=0.8)
    free, limited = (sp.Cloth(mesh, film, strain_limit=x) for x in (None, limit))
    pull = mesh.vertices * [1, 0, 0]
    for share in (-0.3, 0.05, 0.0799):
        assert limited.energy(share * pull) == free.energy(share * pull)
    # κ r² B((ℓ − e)/r), by area, of both strains
    e, top, low = (0.5 * ((1 + x) ** 2 - 1) for x in (0.095, 0.1, 0.08))
    x, reach = (top - e) / (top - low), top - low
    barrier = 50 * 100.0 * reach**2 * -((1 - x) ** 2) * np.log(x)
    expected = 0.5 * 100.0 * e**2 + barrier
    assert limited.energy(0.095 * pull) == pytest.approx(expected, rel=1e-10)
    both = mesh.vertices * [0.095, 0.095, 0.0]
    assert limited.energy(both) == pytest.approx(2 * expected, rel=1e-10)
    assert limited.energy(0.0999999 * pull) < np.inf
    assert limited.energy(0.1000001 * pull) == np.inf


@every_solver
@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.TRBDF2(), sp.BDF2()], ids=repr)
@pytest.mark.parametrize("load", [1, 30])
def test_swinging_cloth_never_exceeds_its_limit(solver, rule, load):
    """A sheet let go from two corners, as heavy as is likely and thirty times that."""
    mesh = sp.SheetMesh.grid((1, 1), (6, 6))
    heavy = replace(SOFT, areal_density=0.2 * load)
    body = sp.Cloth(mesh, heavy, fixed=[6, 48], strain_limit=sp.StrainLimit(stretch=0.05))
    sim = sp.Simulation(body, integrator=rule, solver=solver, gravity=(0, 0, -9.81), dt=1 / 30)
    most = 0.0
    for _ in range(12):
        sim.step()
        most = max(most, longest(body, sim.state.u))
    assert 0.04 < most < 0.05
    assert sim.state.u[:, 2].min() < -0.25


def test_firmness_does_not_matter_to_the_limit():
    for firmness in (1.0, 1000.0):
        mesh = sp.SheetMesh.grid((1, 1), (6, 6))
        limit = sp.StrainLimit(stretch=0.05, firmness=firmness)
        body = sp.Cloth(mesh, SOFT, fixed=[6, 48], strain_limit=limit)
        sim = sp.Simulation(body, solver=sp.ADMM(iterations=30), gravity=(0, 0, -9.81), dt=1 / 25)
        for _ in range(10):
            sim.step()
            assert longest(body, sim.state.u) < 0.05


def test_cloth_at_rest_is_within_its_limit():
    """A soft sheet that hangs by its edge stretches far, or to its limit."""
    mesh = sp.SheetMesh.grid((1, 0.5), (8, 4))
    soft = sp.IsotropicCloth(young=4e3, poisson=0.0, bending_stiffness=1e-4, **FILM)
    found = []
    for limit in (None, sp.StrainLimit(stretch=0.05)):
        body = sp.Cloth(mesh, soft, fixed=mesh.where(x=(0, 0.13)), strain_limit=limit)
        found.append(longest(body, sp.static_shape(body, body.weight((9.81, 0, 0)))))
    assert found[0] > 0.2
    assert 0.04 < found[1] < 0.05


@pytest.mark.parametrize("solver", [sp.Newton(), SOLVERS["30 of ADMM"]], ids=["Newton", "ADMM"])
def test_cloth_on_a_ball_is_within_its_limit(solver):
    flat = sp.SheetMesh.grid((1, 1), (10, 10))
    mesh = replace(flat, vertices=flat.vertices - [0.5, 0.5, -0.31])
    body = sp.Cloth(mesh, SOFT, strain_limit=sp.StrainLimit(stretch=0.02))
    sim = sp.Simulation(
        body, integrator=sp.BackwardEuler(), solver=solver, dt=0.02, gravity=(0, 0, -9.81),
        damping=sp.ClothStrainRate(matched=0.01), obstacles=sp.Sphere(radius=0.3, friction=0.5),
    )  # fmt: skip
    for _ in range(15):
        sim.step()
        assert longest(body, sim.state.u) < 0.02
    assert sim.contact_forces.any()


@pytest.mark.parametrize("speed", [0.1, 5.0])
def test_supports_that_pull_too_far_are_told(speed):
    mesh = sp.SheetMesh.grid((1, 0.5), (4, 2))
    pull = sp.Support(mesh.where(x=1), lambda t: (speed * t, 0, 0))
    limit = sp.StrainLimit(stretch=0.05)
    body = sp.Cloth(mesh, SOFT, fixed=mesh.where(x=0), supports=[pull], strain_limit=limit)
    sim = sp.Simulation(body, dt=1 / 60)
    with pytest.raises(StepFailed, match="supports stretch cloth beyond its strain limit of 5 %"):
        sim.run(1.0)
    assert longest(body, sim.state.u) < 0.05
    assert sim.state.time == pytest.approx(max(0.05 / speed - 1 / 60, 0), abs=1 / 50)


def test_cloth_that_begins_beyond_its_limit_is_refused():
    flat = sp.SheetMesh.grid((1, 1), (2, 2))
    mesh = sp.SheetMesh(1.1 * flat.vertices, flat.cells, pattern=flat.vertices[:, :2])
    with pytest.raises(InputError, match=r"begins longer by 10 % .* strain limit of 5 %"):
        sp.Cloth(mesh, SOFT, strain_limit=sp.StrainLimit(stretch=0.05))


def test_limits_hold_in_worlds():
    mesh = sp.SheetMesh.grid((1, 1), (6, 6))
    limited = sp.Cloth(mesh, SOFT, fixed=[6, 48], strain_limit=sp.StrainLimit(stretch=0.05))
    block = sp.Body(sp.TetMesh.box((0.1, 0.1, 0.1), (1, 1, 1)), sp.StVK(young=1e5, poisson=0.3))
    world = sp.Simulation([block, limited], self_contact=False, gravity=(0, 0, -9.81), dt=1 / 30)
    for _ in range(8):
        world.step()
        assert longest(limited, world.state_of(limited).u) < 0.05
