"""Points that a mesh carries: vertices, skins of rigid bodies and of reduced ones."""

import numpy as np
import pytest

import supple as sp
from supple.contact.carried import CarriedBlocks
from supple.contact.contact_surface import ContactSurface
from supple.contact.self_contact import SelfContact
from supple.mesh.points import CarriedPoints


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    rigid = CarriedPoints.of_weights(rng.normal(size=(7, 3)), rng.normal(size=(7, 4)))
    own = CarriedPoints.of_vertices(rng.normal(size=(5, 3)))
    reduced = CarriedPoints.of_shapes(rng.normal(size=(6, 3)), rng.normal(size=(5, 6, 3)))
    return CarriedPoints.joined([own, rigid, reduced, rigid])


def test_points_move_by_their_maps(points):
    u = np.random.default_rng(1).normal(size=(points.n_vertices, 3))
    np.testing.assert_allclose(points.moved(u)[:5], points.rest[:5] + u[:5])
    chosen = np.array([2, 8, 14, 20])
    np.testing.assert_allclose(points.only(chosen).moved(u), points.moved(u)[chosen])
    forces = np.random.default_rng(2).normal(size=(points.count, 3))
    assert np.vdot(points.spread(forces), u) == pytest.approx(np.vdot(forces, points.of(u)))


def test_shapes_are_three_coordinates_to_a_vertex():
    rng = np.random.default_rng(3)
    shapes, q = rng.normal(size=(5, 6, 3)), rng.normal(size=5)
    carried = CarriedPoints.of_shapes(np.zeros((6, 3)), shapes)
    u = np.append(q, 0.0).reshape(2, 3)
    np.testing.assert_allclose(carried.moved(u), np.tensordot(q, shapes, axes=1))


def test_blocks_of_points_are_those_of_the_whole_matrix(points):
    """Bᵀ H B, for pairs of points in either order."""
    rng = np.random.default_rng(4)
    rows, cols = np.triu_indices(points.count)
    turned, kept = rng.random((2, len(rows))) < 0.5
    rows, cols = np.where(turned, cols, rows)[kept], np.where(turned, rows, cols)[kept]
    H = rng.normal(size=(len(rows), 3, 3))
    H[rows == cols] += H[rows == cols].swapaxes(1, 2)
    whole = np.zeros((points.count, 3, points.count, 3))
    for row, col, block in zip(rows, cols, H, strict=True):
        whole[col, :, row] = block.T
        whole[row, :, col] = block
    size, n = 3 * points.count, points.n_vertices
    B = points.matrix.toarray()
    expected = (B.T @ whole.reshape(size, size) @ B).reshape(n, 3, n, 3)
    found = CarriedBlocks(points, rows, cols)
    assert len(np.unique(found.keys)) == len(found.keys)
    blocks = np.zeros((n, 3, n, 3))
    for key, block in zip(found.keys, found.of(H), strict=True):
        row, col = divmod(key, n)
        assert row <= col
        blocks[col, :, row] = block.T
        blocks[row, :, col] = block
    np.testing.assert_allclose(blocks, expected, atol=1e-12)


def test_what_is_far_from_others_is_not_searched():
    """A rigid body never meets itself, and one alone has nothing to meet."""
    ball = sp.Sphere(radius=0.1).surface()
    beside = sp.Surface(ball.vertices + np.array([0.205, 0, 0]), ball.triangles)
    bodies = [sp.RigidBody(shape, density=1000) for shape in (ball, beside)]
    surface = ContactSurface(sp.Simulation(bodies, self_contact=False).body)
    room = np.full(len(surface.X), 0.02)
    pairs = surface.candidates(surface.X, room)
    assert len(pairs)
    assert (surface.parts[pairs.quads[:, 0]] != surface.parts[pairs.quads[:, 3]]).all()
    assert not len(surface.candidates(surface.X, 0.1 * room))
    step = np.zeros_like(surface.X)
    step[surface.parts == surface.parts[0]] = [0.1, 0, 0]
    assert 0.04 < surface.collision_free_step(surface.X, step) < 0.06


def test_bodies_that_do_not_touch_cost_no_iterations_more():
    """Two far apart take as many iterations as the one of them that takes most."""
    cube = sp.TetMesh.box(size=(0.1,) * 3, cells=(1, 1, 1)).boundary()
    bodies = [
        sp.RigidBody(sp.Surface(cube.vertices + np.array([x, 0, 1]), cube.triangles), density=500)
        for x in (0.0, 5.0)
    ]
    counts = []
    for some in (bodies[:1], bodies):
        contact = SelfContact(friction=0.5)
        sim = sp.Simulation(some, gravity=(0, 0, -9.81), self_contact=contact, dt=1 / 100)
        for body in some:
            sim.state_of(body).v = body.velocity(spin=(3, 0, 1))
        sim.run(0.05)
        counts.append(sim.stats.total.iterations)
    assert counts[1] <= counts[0] + 5
