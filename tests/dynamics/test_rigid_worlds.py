"""Rigid bodies among others: on obstacles, and pushed by what they push."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contact.blocks import G, block
from tests.helpers import stepped

import supple as sp
from supple.bodies.group import BodyGroup
from supple.contact.self_contact_forces import SelfContactForces

ipctk = pytest.importorskip("ipctk")


def cube(at, size=0.1, density=500.0, cells=1, **options):
    origin = np.asarray(at) - (size / 2, size / 2, 0)
    box = sp.TetMesh.box(size=[size] * 3, cells=[cells] * 3, origin=origin)
    return sp.RigidBody(box, density=density, **options)


def ball(at, radius=0.04, density=2000.0):
    import trimesh

    made = trimesh.creation.icosphere(subdivisions=1, radius=radius)
    return sp.RigidBody(sp.Surface(made.vertices + np.array(at), made.faces), density=density)


def soft(at, young=6e4):
    return block((0.1, 0.1, 0.1), (2, 2, 2), at=at, young=young)


@pytest.mark.parametrize("cells", [1, 3])
@pytest.mark.parametrize("angle", [20.0, 23.0])
def test_blocks_slide_where_slopes_are_steeper_than_friction(angle, cells):
    """tan 21.8° = 0.4 = μ: at rest below it, with g (sin − μ cos) above."""
    slope, mu = np.radians(angle), 0.4
    sim = sp.Simulation(
        cube((0, 0, 1e-6), cells=cells),
        obstacles=sp.Plane(friction=mu),
        gravity=G * np.array([np.sin(slope), 0, -np.cos(slope)]),
    )
    before = stepped(sim, 15).state.v.mean(axis=0)[0]
    speed = stepped(sim, 30).state.v.mean(axis=0)[0]
    a = max(G * (np.sin(slope) - mu * np.cos(slope)), 0.0)
    assert (speed - before) / 0.5 == pytest.approx(a, rel=1e-3, abs=1e-5)
    weight = sim.body.total_mass * G * np.cos(slope)
    assert sim.contact_forces[:, 2].sum() == pytest.approx(weight, rel=1e-3)


@pytest.mark.parametrize("rule", [sp.TRBDF2, sp.BackwardEuler, sp.Trapezoidal])
def test_hard_impacts_hardly_stretch_and_gain_nothing(rule):
    """At 20 m/s on a corner, spinning."""
    body = cube((0, 0, 0.2))
    sim = sp.Simulation(body, integrator=rule(), obstacles=sp.Plane(friction=0.3))
    sim.state.v = body.velocity((1.0, 0.0, -20.0), (5.0, 3.0, -4.0))
    energies = [sim.frame().kinetic]
    for _ in range(20):
        frame = stepped(sim, 1).frame()
        assert body.stretch(sim.state.u) < 1e-3
        assert body.positions(sim.state.u)[:, 2].min() > -1e-6
        energies.append(frame.kinetic + frame.elastic)
    assert max(energies) < (1 + 5e-3) * energies[0]
    assert energies[-1] < 0.9 * energies[0]


def test_bounces_are_those_asked_for():
    body = cube((0, 0, 0.02))
    floor = sp.Plane(vertex_restitution=0.5)
    sim = sp.Simulation(body, obstacles=floor)
    sim.state.v = (0.0, 0.0, -1.0) * np.ones((4, 1))
    stepped(sim, 6)
    np.testing.assert_allclose(sim.state.v[:, 2], 0.5, rtol=1e-3)


@pytest.mark.parametrize("density", [500.0, 3e6])
def test_a_ball_pushes_and_is_pushed(density):
    """Down to a thousandth of its mass, momentum is kept."""
    target, thrown = soft((0, 0, 0)), ball((-0.1, 0.01, 0.055), density=density)
    sim = sp.Simulation([target, thrown], dt=1 / 120)
    sim.state_of(thrown).v = (2.0, 0, 0)
    first = sim.frame()
    for _ in range(20):
        frame = stepped(sim, 1).frame()
        assert frame.kinetic + frame.elastic < (1 + 5e-3) * first.kinetic
    size = np.abs(first.linear_momentum).max()
    np.testing.assert_allclose(frame.linear_momentum, first.linear_momentum, atol=1e-6 * size)
    np.testing.assert_allclose(frame.angular_momentum, first.angular_momentum, atol=3e-4 * size)
    assert sim.state_of(target).v[:, 0].mean() > 0.3
    assert sim.state_of(thrown).v[:, 0].mean() < 2.0 - 1e-4
    assert thrown.stretch(sim.state_of(thrown).u) < 1e-4


def test_stacks_of_rigid_and_soft_blocks_stand():
    bodies = [cube((0, 0, 0.002)), soft((0.01, 0, 0.104)), cube((0, 0.01, 0.206))]
    sim = sp.Simulation(
        bodies,
        integrator=sp.BackwardEuler(),
        damping={bodies[1]: sp.StrainRate(shear=60)},
        obstacles=sp.Plane(friction=0.5),
        self_contact=sp.SelfContact(friction=0.4),
        gravity=(0, 0, -G),
    )
    stepped(sim, 40)
    standing = sim.state.u.copy()
    stepped(sim, 10)
    np.testing.assert_allclose(sim.state.u, standing, atol=3e-3)
    R, centre = bodies[2].pose(sim.state_of(bodies[2]).u)
    assert 0.24 < centre[2] < 0.256
    assert R[2, 2] > 0.999
    weight = sim.body.total_mass * G
    assert sim.contact_forces[:, 2].sum() == pytest.approx(weight, rel=0.02)


def test_contact_forces_and_matrices_are_derivatives():
    """Of the barrier, by the vertices that carry a skin; in a group with a soft body beside."""
    group = BodyGroup([soft((0, 0, 0)), cube((0.02, 0.01, 0.104)), ball((0.05, 0.05, 0.25))])
    contact = SelfContactForces(group, sp.SelfContact(distance=0.003))
    rng = np.random.default_rng(1)
    u = 2e-4 * rng.normal(size=(group.n_vertices, 3))
    u[group.rows[1], 2] -= 0.002
    d = rng.normal(size=u.shape)
    assert contact.count(u) > 0
    h = 1e-6
    slope = (contact.energy(u + h * d) - contact.energy(u - h * d)) / (2 * h)
    assert slope == pytest.approx(float(np.vdot(contact.force(u), d)), rel=1e-5)
    keys, blocks = contact.matrix(u, np.zeros_like(u), 0.0)
    row, col = np.divmod(keys, group.n_vertices)
    product = np.zeros_like(u)
    np.add.at(product, row, np.einsum("kij,kj->ki", blocks, d[col]))
    off = row != col
    np.add.at(product, col[off], np.einsum("kji,kj->ki", blocks[off], d[row[off]]))
    change = (contact.force(u + h * d) - contact.force(u - h * d)) / (2 * h)
    np.testing.assert_allclose(product, change, atol=1e-5 * np.abs(change).max())
    assert np.abs(change[group.rows[1]]).max() > 0


def test_a_hollow_body_does_not_touch_itself():
    """The jaws of a clamp are nearer than the distance of contact."""
    import trimesh

    parts = [
        trimesh.creation.box(extents=(0.1, 0.1, 0.02)),
        trimesh.creation.box(extents=(0.1, 0.1, 0.02)).apply_translation((0, 0, 0.022)),
    ]
    made = trimesh.util.concatenate(parts)
    clamp = sp.RigidBody(sp.Surface(made.vertices, made.faces), density=100)
    sim = sp.Simulation([clamp, cube((0.2, 0, 0))], self_contact=sp.SelfContact(distance=0.01))
    stepped(sim, 2)
    assert sim.stats.contacts == 0


def test_motions_are_recorded_resumed_and_exported(tmp_path):
    bodies = [cube((0, 0, 0.08)), soft((0.01, 0, 0.2))]

    def made():
        return sp.Simulation(bodies, obstacles=sp.Plane(), gravity=(0, 0, -G))

    whole = made().run(0.1, record=tmp_path / "whole.motion")
    made().run(0.05, record=tmp_path / "half.motion")
    resumed = made().run(0.1, record=tmp_path / "half.motion", resume=True)
    np.testing.assert_array_equal(resumed.displacements, whole.displacements)
    read = sp.read_motion(tmp_path / "whole.motion")
    assert isinstance(read.mesh.parts[0], sp.RigidMesh)
    np.testing.assert_array_equal(read.mesh.parts[0].skin_vertices, bodies[0].mesh.skin_vertices)
    for suffix in (".glb", ".usdc", ".pvd"):
        sp.export_motion(whole, tmp_path / f"world{suffix}")
        assert (tmp_path / f"world{suffix}").stat().st_size > 100
    import meshio

    drawn = meshio.read(tmp_path / "world_frames" / f"frame_{len(whole) - 1:05d}.vtu")
    exact = bodies[0].positions(whole.displacements[-1][:4])
    np.testing.assert_allclose(drawn.points[: len(exact)], exact)
