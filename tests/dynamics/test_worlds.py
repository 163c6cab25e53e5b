"""Several bodies in one simulation: as alone while they are apart, and never through each other."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
from tests.contact.blocks import G, block
from tests.helpers import stepped
from tests.refusals import refused

import supple as sp
from supple.bodies.group import BodyGroup

ipctk = pytest.importorskip("ipctk")

FELT = sp.IsotropicCloth(young=2e4, poisson=0.3, thickness=5e-4, areal_density=0.2)


def sheet(size, cells, at, **options):
    grid = sp.SheetMesh.grid((size, size), (cells, cells))
    middle = np.array([size / 2, size / 2, 0.0])
    moved = sp.SheetMesh(grid.vertices - middle + np.asarray(at), grid.cells)
    return sp.Cloth(moved, FELT, **options)


def rope(start, end, links):
    mesh = sp.SpringMesh.chain(start, end, links)
    return sp.SpringNetwork(mesh, stiffness=200.0, mass=0.1)


def soft_block(at, young=3e4, **options):
    return block((0.1, 0.1, 0.1), (2, 2, 2), at=at, young=young, **options)


def crossings(sim):
    """Whether any two triangles or edges of the world cross, by the toolkit itself."""
    mesh = sim.body.mesh
    surface = mesh.surface()
    triangles = surface.vertex_ids[surface.triangles].astype(np.int32)
    edges = [triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)]
    edges += [
        part.cells + rows.start
        for part, rows in zip(mesh.parts, mesh.rows, strict=True)
        if part.cells.shape[1] == 2
    ]
    edges = np.unique(np.sort(np.concatenate(edges)), axis=0).astype(np.int32)
    outside = np.union1d(edges, triangles)
    mesh = ipctk.CollisionMesh(
        mesh.vertices[outside],
        np.searchsorted(outside, edges).astype(np.int32),
        np.searchsorted(outside, triangles).astype(np.int32),
    )
    x = (sim.body.mesh.vertices + sim.state.u)[outside]
    return ipctk.has_intersections(mesh, np.asfortranarray(x))


def matrix_over(body):
    """A damping matrix that couples vertices which share no cell."""
    n = 3 * body.n_vertices
    far = np.zeros((n, n))
    far[[0, 0, n - 3, n - 3], [0, n - 3, 0, n - 3]] = [0.3, -0.3, -0.3, 0.3]
    return sp.Viscous(far)


def bent(body):
    return sp.Example(body.mesh.vertices[:, [2]] ** 2 * np.array([1.0, 0.2, 0.0]), curve=3.0)


DAMPINGS = {
    "nothing": lambda body: None,
    "Rayleigh": lambda body: sp.Rayleigh(mass=0.2, stiffness=1e-3),
    "several": lambda body: [sp.Rayleigh(mass=0.2), sp.StrainRate(shear=20.0, bulk=5.0)],
    "wide matrix": matrix_over,
    "by example": lambda body: sp.ExampleDamping(sp.Rayleigh(stiffness=1e-3), [bent(body)]),
    "power law": lambda body: sp.PowerLaw(exponent=0.5, strength=20.0),
    "conserving": lambda body: sp.MomentumConserving(sp.Rayleigh(mass=0.5)),
}


@pytest.mark.parametrize("name", DAMPINGS)
def test_bodies_apart_move_as_if_alone(name):
    """Each with a damping of its own, and the other with another."""
    one = soft_block((0, 0, 0), fixed=np.arange(4))
    other = sheet(0.2, 3, (1.0, 0, 0), fixed=[0, 1])
    options = {"dt": 1 / 100, "gravity": (0.5, 0.3, -G), "solver": sp.Newton(tolerance=1e-10)}
    damping = {one: DAMPINGS[name](one), other: sp.Rayleigh(mass=0.3)}
    world = stepped(sp.Simulation([other, one], damping=damping, **options), 8)
    for body in (one, other):
        alone = stepped(sp.Simulation(body, damping=damping[body], **options), 8)
        found, exact = world.state_of(body), alone.state
        np.testing.assert_allclose(found.u, exact.u, atol=1e-6 * np.abs(exact.u).max())
        np.testing.assert_allclose(found.v, exact.v, atol=1e-6 * np.abs(exact.v).max())


def test_one_damping_is_that_of_each():
    bodies = [soft_block((0, 0, 0)), soft_block((0.5, 0, 0))]
    same = sp.Rayleigh(mass=2.0)
    kicked = []
    for damping in (same, dict.fromkeys(bodies, same)):
        sim = sp.Simulation(bodies, damping=damping)
        sim.state.v = np.ones_like(sim.state.v)
        kicked.append(stepped(sim, 5).state.v)
    np.testing.assert_array_equal(*kicked)
    np.testing.assert_allclose(kicked[0], np.exp(-2.0 * 5 / 60), rtol=1e-3)


def test_energy_mass_and_matrices_are_those_of_the_parts():
    parts = [soft_block((0, 0, 0)), sheet(0.2, 2, (1, 0, 0)), rope((2, 0, 0), (3, 0, 0), 4)]
    group = BodyGroup(parts)
    u = 0.01 * np.random.default_rng(0).normal(size=(group.n_vertices, 3))
    cut = [u[rows] for rows in group.rows]
    pairs = list(zip(parts, cut, strict=True))
    assert group.total_mass == pytest.approx(sum(part.total_mass for part in parts))
    assert group.energy(u) == pytest.approx(sum(part.energy(own) for part, own in pairs))
    np.testing.assert_array_equal(group.force(u), np.concatenate([p.force(x) for p, x in pairs]))
    K, M = group.stiffness(u).toarray(), group.mass.toarray()
    for (part, own), rows in zip(pairs, group.rows, strict=True):
        mine = slice(3 * rows.start, 3 * rows.stop)
        np.testing.assert_array_equal(K[mine, mine], part.stiffness(own).toarray())
        np.testing.assert_array_equal(M[mine, mine], part.mass.toarray())
        K[mine, mine] = M[mine, mine] = 0.0
    assert not K.any()
    assert not M.any()


def test_bodies_that_meet_keep_their_momentum():
    """Two blocks that fly at each other, off centre, and part again."""
    left, right = soft_block((-0.1, 0, 0)), soft_block((0.1, 0.03, 0.02))
    sim = sp.Simulation([left, right], dt=1 / 120)
    sim.state_of(left).v = (1.0, 0, 0)
    sim.state_of(right).v = (-1.0, 0, 0)
    first = sim.frame()
    energies, most = [], 0
    for _ in range(40):
        frame = stepped(sim, 1).frame()
        energies.append(frame.kinetic + frame.elastic)
        most = max(most, sim.stats.contacts)
        assert not crossings(sim)
    assert most > 0
    size = sim.body.total_mass * 1.0
    np.testing.assert_allclose(frame.linear_momentum, first.linear_momentum, atol=1e-6 * size)
    np.testing.assert_allclose(frame.angular_momentum, first.angular_momentum, atol=2e-4 * size)
    assert sim.state_of(left).v[:, 0].mean() < -0.3  # thrown back
    assert max(energies) < (1 + 1e-3) * (first.kinetic + first.elastic)


def test_cloth_and_rope_come_to_lie_on_a_block():
    """All of them on a floor, with friction, and nothing passes anything."""
    below = soft_block((0, 0, 0.005))
    over = sheet(0.25, 6, (0, 0, 0.12))
    across = rope((-0.15, 0.01, 0.14), (0.15, 0.01, 0.14), 9)
    sim = sp.Simulation(
        [below, over, across],
        damping=sp.Rayleigh(mass=2.0),
        obstacles=sp.Plane(friction=0.5),
        self_contact=sp.SelfContact(friction=0.4),
        gravity=(0, 0, -G),
    )
    for _ in range(30):
        sim.step()
        assert not crossings(sim)
    heights = [(b.mesh.vertices + sim.state_of(b).u)[:, 2] for b in sim.bodies]
    assert heights[1].max() > 0.09
    assert heights[2].max() > 0.1
    assert min(each.min() for each in heights) > -1e-6


def test_bodies_may_be_let_through_each_other():
    left, right = soft_block((-0.1, 0, 0)), soft_block((0.1, 0.02, 0.03))
    sim = sp.Simulation([left, right], self_contact=False)
    assert sim.self_contact is None
    sim.state_of(left).v = (2.5, 0, 0)
    stepped(sim, 4)
    np.testing.assert_allclose(sim.state_of(left).u[:, 0], 10 / 60, rtol=1e-6)
    assert crossings(sim)
    assert copy.copy(sim).self_contact is None


def test_snapshots_and_copies_go_on_the_same():
    bodies = [soft_block((0, 0, 0.11)), soft_block((0.02, 0, 0))]
    sim = sp.Simulation(bodies, obstacles=sp.Plane(offset=-0.002), gravity=(0, 0, -G))
    kept = stepped(sim, 6).snapshot()
    after = stepped(sim, 4).state.u.copy()
    sim.restore(kept)
    np.testing.assert_array_equal(stepped(sim, 4).state.u, after)


def test_bodies_of_worlds_change_between_steps():
    """Dampings and attachments go over to those that come; from there on all is as if anew."""
    soft, other = soft_block((0, 0, 0.0)), soft_block((0, 0, 0.3))
    stiff = soft_block((0, 0, 0.0), young=9e4)
    options = {"gravity": (0, 0, -G), "dt": 1 / 100}
    damping = {soft: sp.StrainRate(shear=50.0), other: sp.Rayleigh(mass=0.5)}
    pins = [sp.Pin(soft, 0, stiffness=100.0), sp.Pin(soft, 26, other, 0, stiffness=50.0)]
    sim = stepped(sp.Simulation([soft, other], damping=damping, attachments=pins, **options), 3)
    kept = sim.snapshot()
    sim.body = [stiff, other]
    damping = {stiff: sp.StrainRate(shear=50.0), other: sp.Rayleigh(mass=0.5)}
    pins = [sp.Pin(stiff, 0, stiffness=100.0), sp.Pin(stiff, 26, other, 0, stiffness=50.0)]
    anew = sp.Simulation([stiff, other], damping=damping, attachments=pins, **options)
    anew.state.u, anew.state.v, anew.state.time = sim.state.u, sim.state.v, sim.state.time
    assert np.array_equal(stepped(sim, 3).state.u, stepped(anew, 3).state.u)
    assert sim.bodies == (stiff, other)
    refused("have to be the same", setattr, sim, "body", [stiff])
    refused("have to be the same", setattr, sim, "body", [stiff, rope((0, 0, 1), (0, 0, 2), 3)])
    sim.restore(kept)
    assert sim.bodies == (soft, other)
    assert sim.attachments[0].body is soft


def test_motions_of_worlds_are_recorded_and_resumed(tmp_path):
    bodies = [soft_block((0, 0, 0.02)), sheet(0.2, 3, (0, 0, 0.13))]

    def made():
        return sp.Simulation(bodies, obstacles=sp.Plane(), gravity=(0, 0, -G))

    whole = made().run(0.1, record=tmp_path / "whole.motion")
    made().run(0.05, record=tmp_path / "half.motion")
    resumed = made().run(0.1, record=tmp_path / "half.motion", resume=True)
    np.testing.assert_array_equal(resumed.displacements, whole.displacements)
    read = sp.read_motion(tmp_path / "whole.motion")
    assert [type(part) for part in read.mesh.parts] == [sp.TetMesh, sp.SheetMesh]
    for part, body in zip(read.mesh.parts, bodies, strict=True):
        np.testing.assert_array_equal(part.vertices, body.mesh.vertices)
        np.testing.assert_array_equal(part.cells, body.mesh.cells)


@pytest.mark.parametrize("suffix", [".glb", ".usdc", ".pvd"])
def test_worlds_are_exported(tmp_path, suffix):
    bodies = [soft_block((0, 0, 0.02)), sheet(0.2, 3, (0, 0, 0.13)), rope((1, 0, 0), (2, 0, 0), 3)]
    motion = sp.Simulation(bodies, gravity=(0, 0, -G)).run(0.05)
    sp.export_motion(motion, tmp_path / f"world{suffix}")
    assert (tmp_path / f"world{suffix}").stat().st_size > 100


def test_what_cannot_be_is_refused():
    one, other = soft_block((0, 0, 0)), soft_block((1, 0, 0))
    refused("there is no body", sp.Simulation, [])
    refused("body 1 is there twice", sp.Simulation, [one, one])
    refused("body 1 is a TetMesh", sp.Simulation, [one, one.mesh])
    refused(r"several bodies need solver=Newton\(\)", sp.Simulation, [one, other], solver=sp.ADMM())
    refused("not one of the bodies", sp.Simulation, [one], damping={other: sp.Rayleigh(mass=1.0)})
    refused("there is one; give its damping", sp.Simulation, one, damping={one: None})
    sim = sp.Simulation([one, other])
    refused("not one of the bodies", sim.state_of, dataclasses.replace(one))
    refused("u", setattr, sim.state_of(one), "u", np.zeros((3, 3)))
    assert sp.Simulation(one).bodies == (one,)
    assert sp.Simulation(one).state_of(one).u.shape == (one.n_vertices, 3)
