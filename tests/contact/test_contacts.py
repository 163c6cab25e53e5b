"""Bodies among obstacles: they stay out, and what holds them out carries them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.contact.blocks import SOLVERS, G, block, depth, edge, simulation
from tests.contact.obstacles import samples
from tests.helpers import killed, stepped
from tests.refusals import refused

import supple as sp
from supple.contact.contacts import Contacts
from supple.integrators import BackwardEuler, State

pytestmark = pytest.mark.processors

both = pytest.mark.parametrize("solver", SOLVERS)


def above(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A place a little outside an obstacle, and the way out there."""
    x = samples.points(name, 200, seed)
    distance, normal = samples.OBSTACLES[name].signed_distance(x)
    k = int(np.argmin(np.abs(distance - 0.14)))
    return x[k], normal[k]


@both
@pytest.mark.parametrize("name", samples.OBSTACLES)
def test_stays_out_of_every_obstacle(name, solver):
    """Thrown at it at 2 m/s: never in by more than a millionth of an edge."""
    place, out = above(name)
    obstacle = dataclasses.replace(samples.OBSTACLES[name], friction=0.3)
    body = block((0.08, 0.08, 0.08), (1, 1, 1), at=place, young=1e5)
    sim = simulation(body, solver, [obstacle], gravity=-G * out, dt=0.01)
    sim.state.v = np.tile(-2.0 * out, (body.n_vertices, 1))
    touched = 0
    for _ in range(15):
        sim.step()
        touched += (sim.contact_forces != 0).any()
        assert depth(sim, obstacle) <= 1e-6 * edge(body)
    assert touched >= 2


@both
@pytest.mark.parametrize("rule", [sp.BackwardEuler, sp.TRBDF2, sp.BDF2], ids=lambda r: r.__name__)
def test_obstacles_carry_the_weight(solver, rule):
    body, floor = block(), sp.Plane(friction=0.4)
    sim = stepped(simulation(body, solver, floor, integrator=rule()), 40)
    force = sim.contact_forces
    weight = body.total_mass * G
    np.testing.assert_allclose(force.sum(axis=0), (0, 0, weight), atol=1e-4 * weight)
    assert (force[:, 2] >= -1e-9 * weight).all()  # floors do not pull
    assert (force[body.mesh.vertices[:, 2] > 0.01] == 0).all()
    assert np.abs(sim.state.v).max() < 1e-5


@both
def test_both_walls_of_a_corner_hold(solver):
    """A block pushed into a corner, each of its obstacles with its own force."""
    floor = sp.Plane(), sp.Plane(normal=(1, 0, 0), offset=-0.1)
    sim = stepped(simulation(block(), solver, floor, gravity=(-G, 0, -G)), 40)
    force, weight = sim.contact_forces, sim.body.total_mass * G
    np.testing.assert_allclose(force.sum(axis=0), (weight, 0, weight), atol=1e-3 * weight)
    for obstacle in floor:
        assert depth(sim, obstacle) <= 1e-6 * edge(sim.body)


def test_solvers_agree():
    floor = sp.Plane(friction=0.3)
    found = []
    for solver in SOLVERS:
        sim = simulation(block(at=(0, 0, 0.02)), solver, floor)
        sim.state.v = np.tile((1.0, 0.3, 0.0), (sim.body.n_vertices, 1))
        found.append(stepped(sim, 15).state.u)
    assert np.abs(found[0] - found[1]).max() < 1e-3 * np.abs(found[0]).max()


# -- where a body starts -----------------------------------------------------------------------


@both
def test_far_away_changes_nothing(solver):
    """Bit for bit as without, where no vertex comes near."""
    far = sp.Plane(offset=-100.0, friction=0.5), sp.Sphere(centre=(50, 0, 0), radius=1.0)
    body = block(fixed=np.arange(3))
    with_far, without = (stepped(simulation(body, solver, o), 5) for o in (far, ()))
    np.testing.assert_array_equal(with_far.state.u, without.state.u)
    np.testing.assert_array_equal(with_far.state.v, without.state.v)
    assert with_far.dissipated == without.dissipated


@both
def test_brought_out_of_an_obstacle(solver):
    """A body that starts a little inside is outside after a step, and does not fly off."""
    floor = sp.Plane(offset=0.01, vertex_restitution=0.0)
    sim = simulation(block(), solver, floor, integrator=sp.BackwardEuler())
    sim.step()
    assert depth(sim, floor) <= 1e-6 * edge(sim.body)
    stepped(sim, 30)
    assert np.abs(sim.state.v).max() < 0.05


@both
def test_fixed_vertices_inside_are_left_alone(solver):
    """A block set in concrete: what is held stays where it is, the rest stays out."""
    body = block((0.2, 0.2, 0.2), (2, 2, 2), at=(0, 0, -0.1))
    held = np.flatnonzero(body.mesh.vertices[:, 2] < -0.05)
    body = dataclasses.replace(body, fixed=held)
    floor = sp.Plane(offset=-0.02)
    sim = stepped(simulation(body, solver, floor, gravity=(0, 0, -50 * G)), 10)
    assert (sim.state.u[held] == 0).all()
    free = np.setdiff1d(np.arange(body.n_vertices), held)
    x = (body.mesh.vertices + sim.state.u)[free]
    assert x[:, 2].min() >= -0.02 - 1e-6 * edge(body)
    assert (sim.contact_forces[held] == 0).all()


@both
def test_too_fast_to_be_seen_coming(solver):
    """A sphere half a step away: vertices that were overlooked are held out all the same."""
    ball = sp.Sphere(centre=(0, 0, -0.3), radius=0.2)
    sim = simulation(block(at=(0, 0, 0.1)), solver, ball)
    sim.state.v = np.tile((0.0, 0.0, -8.0), (sim.body.n_vertices, 1))
    for _ in range(4):
        sim.step()
        assert depth(sim, ball) <= 1e-6 * edge(sim.body)


def test_explicit_rules_refuse():
    for rule in (sp.RK4(), sp.SymplecticEuler()):
        sim = simulation(block(), "Newton", sp.Plane(), integrator=rule, dt=1e-5)
        refused(f"{type(rule).__name__} is explicit.*TRBDF2", sim.step)


@pytest.mark.parametrize("given", [3, [sp.Plane(), "floor"], {"a": sp.Plane()}], ids=repr)
def test_bad_obstacles(given):
    refused("Plane", sp.Simulation, block(), obstacles=given)


# -- what goes on from step to step --------------------------------------------------------------


@both
def test_resumed_run_is_the_same(solver, tmp_path):
    def made() -> sp.Simulation:
        floor = sp.Plane(friction=0.4, vertex_restitution=0.3)
        sim = simulation(block(at=(0, 0, 0.01)), solver, floor)
        sim.state.v = np.tile((0.5, 0.0, 0.0), (sim.body.n_vertices, 1))
        return sim

    whole = made().run(0.24)

    path = killed(made(), 0.24, tmp_path / "motion", 6)
    resumed = made().run(0.24, record=path, resume=True)
    size = np.abs(whole.displacements).max()
    assert np.abs(resumed.displacements - whole.displacements).max() < 1e-5 * size
    np.testing.assert_allclose(resumed.dissipated, whole.dissipated, rtol=1e-3)


def test_contacts_keep_their_state():
    body = block()
    found = Contacts([sp.Plane()], body.mesh.vertices, body.free, body.contact_vertices, 0.1)
    still = np.zeros_like(body.mesh.vertices)
    stage = next(BackwardEuler().stages(State(0.0, still, still, still), None, 0.01))
    found.begin(stage, still, still, 0.0)
    low = np.flatnonzero(body.mesh.vertices[:, 2] < 1e-9)
    np.testing.assert_array_equal(np.sort(found.pairs.vertex), low)
    np.testing.assert_allclose(found.pairs.offset, 0, atol=1e-15)
    forces = np.zeros((found.pairs.count, 3))
    forces[0], forces[2] = (0, 0, 3.0), (1.0, 0, 2.0)
    found.store_forces(forces)
    np.testing.assert_array_equal(found.on_vertices().sum(axis=0), (1, 0, 5))
    assert found.touching == {(int(found.pairs.vertex[k]), 0) for k in (0, 2)}
    again = Contacts([sp.Plane()], body.mesh.vertices, body.free, body.contact_vertices, 0.1)
    saved = found.state()
    again.restore(saved["pairs"], saved["forces"])
    again.begin(stage, still, still, 0.0)
    np.testing.assert_array_equal(again.warm_start_forces(), forces)
