"""Pins, glue and springs: forces that belong together, and motions that are known."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contact.blocks import G, block
from tests.helpers import stepped
from tests.refusals import refused

import supple as sp
from supple.bodies.group import BodyGroup
from supple.dynamics.problem import BodyProblem
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.attachments import AttachmentTerm
from supple.integrators import Stage


def cube(at, size=0.1, density=500.0):
    origin = np.asarray(at) - (size / 2, size / 2, 0)
    return sp.RigidBody(sp.TetMesh.box([size] * 3, [1] * 3, origin=origin), density=density)


def sheet(at):
    grid = sp.SheetMesh.grid((0.2, 0.2), (3, 3))
    felt = sp.IsotropicCloth(young=2e4, poisson=0.3, thickness=5e-4, areal_density=0.2)
    return sp.Cloth(sp.SheetMesh(grid.vertices + np.asarray(at), grid.cells), felt)


def soft(at, young=3e4):
    return block((0.1, 0.1, 0.1), (1, 1, 1), at=at, young=young)


def every_kind():
    bodies = [soft((0, 0, 0)), cube((0, 0, 0.11)), sheet((0.3, 0, 0))]
    flesh, stone, cloth = bodies
    ties = [
        sp.Pin(flesh, 3, stone, (0.01, 0.02, 0.1)),
        sp.Pin(cloth, 2, flesh, (0.04, 0.01, 0.05)),
        sp.Spring(cloth, (0.35, 0.05, 0.0), stone, 4, stiffness=50.0),
        sp.Spring(flesh, 1, stone, 2, stiffness=80.0, length=0.02),
        sp.Glue(stone, flesh, within=0.02),
    ]
    return bodies, ties


def at_rest(n):
    none = np.zeros((n, 3))
    return Stage(0.0, 0.0, none, 0.0, none, none)


def test_forces_and_matrices_are_derivatives():
    bodies, ties = every_kind()
    group = BodyGroup(bodies)
    problem = BodyProblem(group, terms_of(group, attachments=ties))
    term = next(each for each in problem.terms if isinstance(each, AttachmentTerm))
    rng, stage, h = np.random.default_rng(2), at_rest(group.n_vertices), 1e-6
    u, d = 0.02 * rng.normal(size=(2, group.n_vertices, 3))

    def point(v):
        return problem.linearize(stage, v).at

    from supple.solvers.interface import Tangent

    def share(v):
        return term.evaluate(point(v))

    slope = (share(u + h * d).potential - share(u - h * d).potential) / (2 * h)
    assert slope == pytest.approx(float(np.vdot(share(u).force, d)), rel=1e-6)
    keys, blocks = term.pair_blocks(point(u), Tangent(definite=False))
    row, col = np.divmod(keys, group.n_vertices)
    product, off = np.zeros_like(u), row != col
    np.add.at(product, row, np.einsum("kij,kj->ki", blocks, d[col]))
    np.add.at(product, col[off], np.einsum("kji,kj->ki", blocks[off], d[row[off]]))
    change = (share(u + h * d).force - share(u - h * d).force) / (2 * h)
    np.testing.assert_allclose(product, change, atol=1e-6 * np.abs(change).max())


def test_bodies_held_to_each_other_keep_their_momenta():
    """Forces on both ends are equal and opposite, and along the line between them."""
    bodies, ties = every_kind()
    group = BodyGroup(bodies)
    problem = BodyProblem(group, terms_of(group, attachments=ties))
    term = next(each for each in problem.terms if isinstance(each, AttachmentTerm))
    u = 0.02 * np.random.default_rng(3).normal(size=(group.n_vertices, 3))
    force = term.evaluate(problem.linearize(at_rest(len(u)), u).at).force
    size = np.abs(force).sum()
    assert size > 1
    np.testing.assert_allclose(force.sum(axis=0), 0, atol=1e-12 * size)
    turning = np.cross(group.mesh.vertices + u, force).sum(axis=0)
    np.testing.assert_allclose(turning, 0, atol=1e-12 * size)


def test_nothing_pulls_where_bodies_start():
    bodies, ties = every_kind()
    group = BodyGroup(bodies)
    tied = [ties[2], ties[4]]  # a spring at its length, and glue across a gap
    term = AttachmentTerm(group, tied)
    from supple.bodies.shape import Shape

    rest = Shape(group, np.zeros((group.n_vertices, 3)), order=1)
    assert term.stored_energy(rest) < 1e-15
    np.testing.assert_allclose(term.free_force(rest, rest.u), 0, atol=1e-6)


def test_a_pendulum_swings_as_it_should():
    """A cube on one of its corners: small swings have T = 2π √((I + m l²)/(m g l))."""
    body = cube((0, 0, 0))
    corner = int(np.argmax(body.mesh.skin_vertices @ (1, 1, 1)))
    hinge = body.mesh.skin_vertices[corner]
    arm = body.centre - hinge
    length = float(np.linalg.norm(arm))
    down = -arm / length  # gravity along the diagonal, so that it hangs
    inertia = body.inertia[0, 0] + body.total_mass * length**2
    period = 2 * np.pi * np.sqrt(inertia / (body.total_mass * G * length))
    sim = sp.Simulation(body, dt=period / 100, gravity=-G * down, attachments=sp.Pin(body, corner))
    axis = np.cross(down, (1.0, 0, 0))
    axis /= np.linalg.norm(axis)
    spin = 0.1 * axis
    sim.state.v = body.velocity(np.cross(spin, arm), spin)
    swings, energies = [], []
    for _ in range(110):
        frame = stepped(sim, 1).frame()
        swings.append(float((body.pose(sim.state.u)[1] - body.centre) @ np.cross(axis, down)))
        energies.append(frame.kinetic + frame.elastic + frame.gravitational)
    signs = np.flatnonzero(np.diff(np.sign(swings)))
    half = signs[0] + swings[signs[0]] / (swings[signs[0]] - swings[signs[0] + 1]) + 1
    assert half * sim.dt == pytest.approx(period / 2, rel=5e-3)
    held = body.positions(sim.state.u)[corner]
    np.testing.assert_allclose(held, hinge, atol=1e-5)
    at_play = 0.5 * inertia * 0.1**2
    assert np.ptp(energies) < 0.02 * at_play


def test_glued_halves_bend_like_the_whole():
    """A beam cut across and glued sags as far as one that was never cut."""
    rubber = sp.StVK(young=1e6, poisson=0.3, density=1000)
    whole = sp.TetMesh.box((0.4, 0.1, 0.1), (8, 2, 2))
    left = sp.TetMesh.box((0.2, 0.1, 0.1), (4, 2, 2))
    right = sp.TetMesh.box((0.2, 0.1, 0.1), (4, 2, 2), origin=(0.2, 0, 0))
    beam = sp.Body(whole, rubber, fixed=whole.where(x=0))
    one, other = sp.Body(left, rubber, fixed=left.where(x=0)), sp.Body(right, rubber)
    options = {"gravity": (0, 0, -G), "integrator": sp.BackwardEuler(), "dt": 0.05}
    uncut = stepped(sp.Simulation(beam, **options), 25)
    glue = sp.Glue(other, one, within=1e-6)
    cut = sp.Simulation([one, other], self_contact=False, attachments=[glue], **options)
    stepped(cut, 25)
    tip = uncut.state.u[whole.where(x=0.4), 2].mean()
    found = cut.state_of(other).u[right.where(x=0.4), 2].mean()
    assert found == pytest.approx(tip, rel=0.04)
    assert tip < -0.005


def test_pins_follow_points_that_move():
    """A cube on a pin that circles; what the pin puts in is found in the energy."""
    body = cube((0, 0, 0))

    def circling(t):
        return body.centre + 0.1 * np.array([np.cos(3 * t) - 1, np.sin(3 * t), 0])

    sim = sp.Simulation(body, attachments=sp.Pin(body, body.centre, point=circling), dt=1 / 100)
    sim.state.v = (0, 0.3, 0) * np.ones((4, 1))
    stepped(sim, 60)
    np.testing.assert_allclose(body.pose(sim.state.u)[1], circling(0.6), atol=1e-4)


def test_attachments_can_be_let_go():
    body = cube((0, 0, 0))
    sim = sp.Simulation(body, attachments=[sp.Pin(body, body.centre)], gravity=(0, 0, -G))
    stepped(sim, 10)
    assert abs(sim.state.u).max() < 1e-5
    kept = sim.snapshot()
    sim.attachments = ()
    assert stepped(sim, 10).state.u[:, 2].max() < -0.1
    sim.restore(kept)
    assert len(sim.attachments) == 1


def test_what_cannot_hold_is_refused():
    flesh, cloth = soft((0, 0, 0)), sheet((0, 0, 0.2))
    refused("there is no such vertex", sp.Pin, flesh, 1000)
    refused("holds a body", sp.Pin, flesh.mesh, 0)
    refused("give the solid second", sp.Glue, flesh, cloth, within=0.1)
    refused("no vertex is glued", sp.Glue, cloth, flesh, within=0.01)
    refused("stiffness", sp.Spring, flesh, 0, cloth, 0, stiffness=-1.0)
    pin = sp.Pin(flesh, 0, cloth, 0)
    refused("not one of the bodies", sp.Simulation, [flesh], attachments=[pin])
    refused(
        "attachments need", sp.Simulation, flesh, attachments=sp.Pin(flesh, 0), solver=sp.ADMM()
    )
