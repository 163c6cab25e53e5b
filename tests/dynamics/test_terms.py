"""The terms of the equation of motion, one by one and as a sum."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.helpers import shaken, soft, stepped
from tests.refusals import refused
from tests.yarns.cases import cloth

import supple as sp
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.group import BodyGroup
from supple.dynamics.problem import BodyProblem
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.base import BlockSum, Point, Share, StageStart, Term
from supple.integrators import BackwardEuler, Stage, State
from supple.solvers.interface import Tangent
from supple.yarns import WovenBody, YarnDamping, YarnRayleigh

MESH = shaken(sp.TetMesh.box((1.0, 0.4, 0.3), (3, 1, 1)), size=0.03)
BODY = sp.Body(MESH, soft(sp.StableNeoHookean, young=2e4))
FLOOR = sp.Plane(offset=float(MESH.vertices[:, 2].min()) + 0.01, friction=0.4)
DAMPINGS: dict[str, sp.Damping] = {
    "mass": sp.Rayleigh(mass=0.7),
    "stiffness at rest": sp.Rayleigh(stiffness=0.02, at=sp.StiffnessAt.REST),
    "strain rate": sp.StrainRate(shear=30.0, bulk=10.0),
    "power law": sp.PowerLaw(exponent=2.0, strength=40.0),
}


class Anchor(Term):
    """A soft spring from every vertex to its rest position: a term of somebody else."""

    def __init__(self, stiffness: float) -> None:
        self._k = stiffness

    def evaluate(self, at: Point) -> Share:
        return Share(self._k * at.u, 0.5 * self._k * float(np.vdot(at.u, at.u)))

    def add_matrix(self, at: Point, share: Share, tangent: Tangent, to: BlockSum) -> None:
        to.values[BODY.pattern.indptr[:-1]] += self._k * np.eye(3)


def begun(
    terms: list[Term], body: ElasticBody = BODY, size: float = 1.0
) -> tuple[BodyProblem, Stage, np.ndarray]:
    """A problem in the middle of a step, and a shape to look at."""
    rng = np.random.default_rng(2)
    u, v = 0.01 * size * rng.normal(size=(2, body.n_vertices, 3))
    now = State(0.0, u, v, np.zeros_like(u))
    stage = next(BackwardEuler().stages(now, None, 0.02))
    for term in terms:
        term.set_gravity(np.array((0, 0, -9.81)))
    problem = BodyProblem(body, terms)
    problem.begin(StageStart(stage, body.weight((0, 0, -9.81)), now, u))
    return problem, stage, u + 0.02 * v + 0.002 * size * rng.normal(size=u.shape)


def of_damping(name: str) -> Callable[[], list[Term]]:
    return lambda: terms_of(BODY, [DAMPINGS[name]])


SUMS: dict[str, Callable[[], list[Term]]] = {
    "bare": lambda: terms_of(BODY),
    "obstacle": lambda: terms_of(BODY, obstacles=[FLOOR]),
    "anchored": lambda: [*terms_of(BODY), Anchor(300.0)],
    **{name: of_damping(name) for name in DAMPINGS},
}


@pytest.mark.parametrize("name", SUMS)
def test_residual_and_matrix_are_derivatives_of_the_potential(name):
    """Taylor remainders of second order, of the potential and of the residual."""
    problem, stage, u = begun(SUMS[name]())
    here = problem.linearize(stage, u)
    values = here.matrix(Tangent(consistent=True))
    way = np.random.default_rng(3).normal(size=u.shape)
    slope, change = float(np.vdot(here.residual, way)), problem.pattern.multiply(values, way)
    errors = []
    for h in (1e-4, 5e-5):
        there = problem.linearize(stage, u + h * way)
        rise = there.lagged_potential(here) - here.potential
        turned = there.residual - here.residual
        errors.append((abs(rise - h * slope), np.linalg.norm(turned - h * change)))
    first, second = np.log2(np.divide(*errors))
    assert first == pytest.approx(2, abs=0.15)
    # contacts and strain rates leave out of the matrix what is not symmetric or not sparse
    exact = name not in ("obstacle", "strain rate", "power law")
    assert second >= (1.85 if exact else 0.9)


YARN_DAMPINGS: dict[str, list[sp.Damping]] = {
    "none": [],
    "strain rates": [YarnDamping(stretch=0.03, bending=0.02, shear=0.01)],
    "stiffness": [YarnRayleigh(stiffness=0.01)],
}


@pytest.mark.parametrize("among", [False, True], ids=["alone", "among others"])
@pytest.mark.parametrize("name", YARN_DAMPINGS)
def test_woven_cloth_has_the_derivatives_of_its_potential(name, among):
    """Mass that follows the yarns, weight, friction and damping, all exact within a stage."""
    woven, size = WovenBody(cloth()), 2e-3
    body: ElasticBody = BodyGroup([BODY, woven]) if among else woven
    models: list[Any] = YARN_DAMPINGS[name]
    terms = terms_of(body, [(1, each) for each in models] if among else models)
    problem, stage, u = begun(terms, body, size)
    here = problem.linearize(stage, u)
    values = here.matrix(Tangent())
    way = np.zeros_like(u)
    way[-woven.n_vertices :] = size * np.random.default_rng(3).normal(size=(woven.n_vertices, 3))
    way *= problem.free
    slope, change = float(np.vdot(here.residual, way)), problem.pattern.multiply(values, way)
    errors = []
    for h in (2e-4, 1e-4):
        there = problem.linearize(stage, u + h * way)
        rise = there.lagged_potential(here) - here.potential
        turned = there.residual - here.residual
        errors.append((abs(rise - h * slope), np.linalg.norm((turned - h * change)[problem.free])))
    np.testing.assert_allclose(np.log2(np.divide(*errors)), 2, atol=0.1)
    if name == "stiffness":  # it is that of the start, which may have buckled
        return
    stiff = problem.pattern.full(here.matrix(Tangent(definite=True)))
    free = problem.free.ravel()
    assert np.linalg.eigvalsh(stiff.toarray()[free][:, free]).min() > 0


@pytest.mark.parametrize("name", SUMS)
def test_a_linearization_stays_as_it_is(name):
    problem, stage, u = begun(SUMS[name]())
    here, tangents = problem.linearize(stage, u), (Tangent(), Tangent(definite=True))
    before = [here.matrix(tangent).copy() for tangent in tangents]
    residual, potential = here.residual.copy(), here.potential
    for k in range(4):
        there = problem.linearize(stage, (1 + 0.1 * k) * u, with_matrix=True)
        there.matrix(Tangent())
        there.lagged_potential(here)
    np.testing.assert_array_equal(here.residual, residual)
    assert here.potential == potential
    again = problem.linearize(stage, u)
    for tangent, values in zip(tangents, before, strict=True):
        np.testing.assert_array_equal(here.matrix(tangent), values)
        np.testing.assert_array_equal(again.matrix(tangent), values)


def test_a_new_term_is_one_class():
    """An anchored body hangs where its springs hold it: k u = m g at each vertex."""
    body = sp.Body(MESH, sp.StVK(young=1e7, poisson=0.3), mass_model=sp.LumpedMass())
    problem = BodyProblem(body, [*terms_of(body), Anchor(1e4)])
    load = body.weight((0, 0, -9.81))
    still = np.zeros_like(load)
    stage = Stage(0.0, 0.0, still, 0.0, still, still)
    problem.begin(StageStart(stage, load))
    u = sp.Newton(tolerance=1e-10).bind(problem).solve(stage, [still])
    assert 1e4 * u[:, 2].sum() == pytest.approx(load[:, 2].sum(), rel=1e-9)


def test_advice_comes_from_the_terms_in_use():
    def advice(material: type[sp.Material], damping: list[sp.Damping]) -> str:
        body = sp.Body(MESH, soft(material))
        return BodyProblem(body, terms_of(body, damping)).advice

    assert advice(sp.StVK, []) == ""
    assert "NeoHookean forbids inversion" in advice(sp.NeoHookean, [])
    following, constant = sp.Rayleigh(stiffness=0.01), sp.Rayleigh(mass=0.1)
    assert "StiffnessAt.REST" in advice(sp.StVK, [following, following])
    assert advice(sp.StVK, [following, following]).count("REST") == 1
    assert advice(sp.StVK, [constant]) == ""


# -- obstacles that a body begins in ------------------------------------------------------------


def small_box(offset: tuple[float, float, float] = (0, 0, 0)) -> sp.Body:
    mesh = sp.TetMesh.box((0.2, 0.2, 0.2), (2, 2, 2))
    moved = sp.TetMesh(mesh.vertices - 0.1 + np.array(offset), mesh.cells)
    return sp.Body(moved, soft(sp.StVK))


def test_a_body_in_a_ball_is_told_how_to_stay_in_it():
    ball = sp.Sphere(centre=(0, 0, 0), radius=1.0)
    sim = sp.Simulation(small_box(), obstacles=[ball], gravity=(0, 0, -9.81))
    refused(r"begins inside obstacles\[0\], a Sphere: 26 of the 26 .* hollow=True", sim.step)
    assert sim.state.time == 0.0
    inside = sp.Sphere(centre=(0, 0, 0), radius=1.0, hollow=True)
    sim = sp.Simulation(small_box(), obstacles=[inside], gravity=(0, 0, -9.81))
    sim.step()
    assert sim.state.time > 0


def test_a_body_below_the_floor_is_told_to_move():
    sim = sp.Simulation(small_box((0, 0, -0.3)), obstacles=[sp.Plane()])
    refused(r"a Plane: .* m deep; move one of the two$", sim.step)


def test_a_body_that_dips_into_the_floor_is_pushed_out():
    sim = sp.Simulation(small_box((0, 0, 0.09)), obstacles=[sp.Plane()], dt=0.01)
    sim.step()
    assert (sim.body.mesh.vertices + sim.state.u)[:, 2].min() >= -1e-6


def test_a_sheet_that_lies_in_the_margin_is_pushed_out():
    """Every vertex of a sheet is boundary; what is less than half an edge deep is no mistake."""
    sheet = sp.SheetMesh.grid((1.0, 1.0), (4, 4))
    film = sp.IsotropicCloth(
        young=1e5, poisson=0.3, thickness=5e-4, areal_density=0.2, bending_stiffness=1e-5
    )
    sim = sp.Simulation(sp.Cloth(sheet, film), obstacles=[sp.Plane(offset=0.01)], dt=0.01)
    sim.step()
    assert (sheet.vertices + sim.state.u)[:, 2].min() >= 0.01 - 1e-5


def test_a_body_that_is_held_all_over_may_be_anywhere():
    body = replace(small_box(), fixed=np.arange(27))
    sim = sp.Simulation(body, obstacles=[sp.Plane(offset=1.0)])
    sim.step()
    assert not sim.state.u.any()


# -- what is refused, or fails, leaves no trace ---------------------------------------------------


def test_a_refused_damping_leaves_the_old_one():
    sim = sp.Simulation(small_box((0, 0, 1.0)), damping=sp.Rayleigh(mass=1.0))
    with pytest.raises(sp.InputError):
        sim.damping = sp.SpringStrainRate(viscosity=1.0)
    assert sim.damping == sp.Rayleigh(mass=1.0)
    sim.obstacles = [sp.Plane()]
    sim.step()
    assert sim.obstacles


class Interrupted(sp.BackwardEuler):
    """Solves its stage, and then fails."""

    def stages(self, now: State, before: State | None, dt: float) -> Generator[Stage, State, None]:
        yield from super().stages(now, before, dt)
        raise sp.StepFailed("interrupted", time=now.time, residual=0.0, advice="")


def test_a_failed_step_leaves_contacts_and_counts_as_they_were():
    body = small_box((0, 0, 0.1001))
    sim = sp.Simulation(body, obstacles=[sp.Plane()], gravity=(0, 0, -9.81), dt=0.01)
    stepped(sim, 3)
    forces, stats = sim.contact_forces, sim.stats
    assert forces.any()
    sim.integrator = Interrupted()
    refused("interrupted", sim.step, force=body.weight((0, 0, 20.0)), error=sp.StepFailed)
    sim.integrator = sp.TRBDF2()
    np.testing.assert_array_equal(sim.contact_forces, forces)
    assert sim.stats == stats
    sim.step()
    assert sim.stats.stages == 2


def test_forces_beyond_all_measure_are_a_failed_step():
    sim = sp.Simulation(small_box())
    huge = np.full((sim.body.n_vertices, 3), 1e300)
    with pytest.raises(sp.StepFailed, match="forces"), np.errstate(all="ignore"):
        sim.step(force=huge)
    assert sim.state.time == 0.0


# -- what steps cost ----------------------------------------------------------------------------


def test_stats_count_the_last_step_and_all():
    body = small_box((0, 0, 0.1001))
    sim = sp.Simulation(body, obstacles=[sp.Plane()], gravity=(0, 0, -9.81), dt=0.01)
    assert sim.stats == type(sim.stats)()
    iterations = [stepped(sim, 1).stats.iterations for _ in range(3)]
    assert sim.stats.stages == 2, "TR-BDF2 has two"
    assert sim.stats.substeps == 1
    assert sim.stats.contacts > 0
    assert max(sim.stats.residuals) <= sp.Newton().tolerance
    assert sim.stats.total is not None
    assert sim.stats.total.iterations == sum(iterations)
    assert sim.stats.total.stages == 6
    assert sim.stats.total.factorizations >= 1
