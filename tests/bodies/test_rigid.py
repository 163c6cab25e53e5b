"""Rigid bodies: their mass, and how they fly."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import stepped
from tests.refusals import refused

import supple as sp
from supple.integrators import INTEGRATORS, ImplicitIntegrator

RULES = [rule for rule in INTEGRATORS if issubclass(rule, ImplicitIntegrator)]


def rugged(seed=0):
    """A solid with an uneven surface, that is not symmetric in any way."""
    box = sp.TetMesh.box(size=(0.3, 0.2, 0.1), cells=(3, 2, 2), origin=(0.4, -0.2, 0.7))
    shift = 0.015 * np.random.default_rng(seed).uniform(-1, 1, box.vertices.shape)
    return sp.TetMesh(box.vertices + shift, box.cells)


def brick(density=1000.0, **options):
    box = sp.TetMesh.box(size=(0.1, 0.2, 0.3), cells=(1, 1, 1), origin=(-0.05, -0.1, -0.15))
    return sp.RigidBody(box, density=density, **options)


def test_mass_centre_and_inertia_are_those_of_the_solid():
    mesh = rugged()
    solid = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.3, density=800))
    rigid = sp.RigidBody(mesh, density=800)
    weights = solid.mass_times(np.ones_like(mesh.vertices))[:, 0]
    centre = weights @ mesh.vertices / weights.sum()
    assert rigid.total_mass == pytest.approx(solid.total_mass, rel=1e-12)
    np.testing.assert_allclose(rigid.centre, centre, rtol=1e-12)
    arms = mesh.vertices - centre
    S = arms.T @ solid.mass_times(arms)
    np.testing.assert_allclose(rigid.inertia, np.trace(S) * np.eye(3) - S, atol=1e-12 * np.trace(S))
    four = rigid.mesh.vertices - rigid.centre
    np.testing.assert_allclose(four.T @ rigid.mass_times(four), S, atol=1e-12 * np.trace(S))


def test_surfaces_turned_inside_out_give_the_same_body():
    skin = rugged().boundary()
    turned = sp.Surface(skin.vertices, skin.triangles[:, ::-1])
    one, other = (sp.RigidBody(each, density=100) for each in (skin, turned))
    assert one.total_mass == pytest.approx(other.total_mass)
    np.testing.assert_allclose(one.inertia, other.inertia)


def test_rigid_bodies_are_read_from_files(tmp_path):
    skin = rugged().boundary()
    sp.write_surface(skin, tmp_path / "stone.obj")
    read = sp.RigidBody(tmp_path / "stone.obj", density=2000)
    assert read.total_mass == pytest.approx(sp.RigidBody(skin, density=2000).total_mass)


def test_momentum_and_energy_are_those_of_a_rigid_motion():
    body, v, w = brick(), np.array([1.0, -2.0, 0.5]), np.array([3.0, 1.0, -2.0])
    sim = sp.Simulation(body)
    sim.state.v = body.velocity(v, w)
    frame = sim.frame()
    np.testing.assert_allclose(frame.linear_momentum, body.total_mass * v)
    np.testing.assert_allclose(frame.angular_momentum, body.inertia @ w, atol=1e-12)
    kinetic = 0.5 * body.total_mass * v @ v + 0.5 * w @ body.inertia @ w
    assert frame.kinetic == pytest.approx(kinetic, rel=1e-12)


def turn(axis, angle):
    K = np.cross(np.eye(3), np.asarray(axis, dtype=float) / np.linalg.norm(axis))
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def test_poses_are_found_again():
    body, R, centre = brick(), turn((1, 2, 3), 2.5), np.array([1.0, 2.0, -3.0])
    u = body.placed(R, centre)
    found, at = body.pose(u)
    np.testing.assert_allclose(found, R, atol=1e-12)
    np.testing.assert_allclose(at, centre, atol=1e-12)
    np.testing.assert_allclose(
        body.positions(u), body.mesh.skin_vertices @ R.T + centre, atol=1e-12
    )
    assert body.stretch(u) < 1e-12
    assert body.energy(u) < 1e-9


def flight(inertia, w, seconds, h=5e-4):
    """Euler's equations by RK4: the rotation after some time (rigid-body theory)."""

    def rate(y):
        w, R = y[:3], y[3:].reshape(3, 3)
        return np.concatenate(
            [-np.cross(w, inertia * w) / inertia, (R @ np.cross(np.eye(3), w)).ravel()]
        )

    y = np.concatenate([w, np.eye(3).ravel()])
    for _ in range(round(seconds / h)):
        a = rate(y)
        b = rate(y + h / 2 * a)
        c = rate(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))
    return y[3:].reshape(3, 3)


def between(R, S):
    """The angle between two rotations [rad]."""
    return float(np.arccos(np.clip((np.trace(R.T @ S) - 1) / 2, -1, 1)))


@pytest.mark.parametrize("rule", RULES)
def test_free_flight_is_that_of_rigid_body_theory(rule):
    """Angular momentum to the solver's tolerance, the energy never grows, the pose at order two."""
    body, w = brick(), np.array([2.0, 5.0, 1.0])
    exact = flight(np.diag(body.inertia), w, 0.8)
    off = []
    for dt in (1 / 50, 1 / 100):
        sim = sp.Simulation(body, integrator=rule(), dt=dt)
        sim.state.v = body.velocity((1.0, 0.0, 0.0), w)
        first = sim.frame()
        for _ in range(round(0.8 / dt)):
            frame = stepped(sim, 1).frame()
            assert frame.kinetic + frame.elastic < (1 + 1e-4) * first.kinetic
            assert body.stretch(sim.state.u) < 1e-6
        spun = np.cross(body.centre + 0.8 * np.array([1.0, 0, 0]), frame.linear_momentum)
        np.testing.assert_allclose(
            frame.angular_momentum - spun, first.angular_momentum, atol=1e-5 * first.kinetic
        )
        assert frame.kinetic + frame.elastic > (1 - 2e-3) * first.kinetic
        R, centre = body.pose(sim.state.u)
        np.testing.assert_allclose(centre, (0.8, 0, 0), atol=1e-6)
        off.append(between(R, exact))
    assert off[1] < 0.1
    assert off[1] < 0.35 * off[0]


def test_spin_about_the_middle_axis_turns_over():
    """Dzhanibekov's nut: it flips, and flips back, as rigid-body theory has it."""
    body, w = brick(), np.array([0.15, 12.0, 0.05])
    sim = sp.Simulation(body, dt=1 / 120)
    sim.state.v = body.velocity(spin=w)
    ups = [stepped(sim, 1) and body.pose(sim.state.u)[0][1, 1] for _ in range(180)]
    assert min(ups) < -0.99
    exact = flight(np.diag(body.inertia), w, 1.5)
    assert between(body.pose(sim.state.u)[0], exact) < 0.02


def test_held_bodies_stay():
    body = brick(fixed=True)
    sim = stepped(sp.Simulation(body, gravity=(0, 0, -9.81)), 5)
    assert not sim.state.u.any()


def test_what_is_no_solid_is_refused():
    skin = rugged().boundary()
    refused("not closed", sp.RigidBody, sp.Surface(skin.vertices, skin.triangles[1:]), density=1)
    refused("density", sp.RigidBody, skin, density=0)
    refused("shape is a int", sp.RigidBody, 3, density=1)
    refused("held as a whole", sp.RigidBody, skin, density=1, fixed=[0])
    body = sp.RigidBody(skin, density=1000)
    refused("rotation is not one", body.placed, np.ones((3, 3)), (0, 0, 0))
    refused(r"rigid bodies need solver=Newton\(\)", sp.Simulation, body, solver=sp.ADMM())
    refused("cannot keep a body rigid", sp.Simulation(body, integrator=sp.RK4()).step)
