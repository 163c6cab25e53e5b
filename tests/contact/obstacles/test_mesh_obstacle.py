"""Triangle meshes as obstacles: against closed forms, brute force and winding numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation
from tests.contact.blocks import DAMPING, G, block, edge
from tests.contact.obstacles import samples
from tests.helpers import stepped
from tests.refusals import refusals, refused

import supple as sp

CUBE = trimesh.creation.box(extents=(1.0, 0.6, 0.4))


def surface(mesh: trimesh.Trimesh) -> sp.Surface:
    return sp.Surface(np.array(mesh.vertices), np.array(mesh.faces))


def winding(mesh: sp.Surface, x: np.ndarray) -> np.ndarray:
    """How often the mesh goes round each point, from solid angles (van Oosterom, Strackee)."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles][None] - x[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(arm, axis=2) for arm in (a, b, c))

    def dot(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return np.einsum("kti,kti->kt", p, q)

    flat = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return np.arctan2(dot(a, np.cross(b, c)), flat).sum(axis=1) / (2 * np.pi)


def test_mesh_of_a_box_is_the_box():
    """Everywhere: over faces, edges and corners, outside and in."""
    x = np.random.default_rng(0).uniform(-1, 1, (4000, 3))
    mesh, box = sp.MeshObstacle(surface(CUBE)), sp.Box(size=(1.0, 0.6, 0.4))
    for found, expected in zip(mesh.signed_distance(x), box.signed_distance(x), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-13)


def test_on_edges_and_corners_the_normal_is_between_the_faces():
    """Where the arm has no length, the normal is the pseudonormal."""
    distance, normal = sp.MeshObstacle(surface(CUBE)).signed_distance(
        [(0.5, 0.3, 0.2), (0.5, 0.3, 0.1), (0.5, 0.07, 0.1)]
    )
    np.testing.assert_allclose(distance, 0, atol=1e-15)
    expected = np.array([(1, 1, 1) / np.sqrt(3), (1, 1, 0) / np.sqrt(2), (1, 0, 0)])
    np.testing.assert_allclose(normal, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_side_near_sharp_corners(seed):
    """Needles and blades: the sign is right where plain vertex normals go wrong."""
    rng = np.random.default_rng(seed)
    hull = trimesh.convex.convex_hull(rng.normal(size=(7, 3)) * (1.0, 0.05, 0.2))
    obstacle = sp.MeshObstacle(surface(hull))
    x = np.repeat(hull.vertices, 300, axis=0)
    x = x + rng.normal(size=x.shape) * 0.02
    beyond = np.einsum("ki,fi->kf", x, hull.face_normals) - np.einsum(
        "fi,fi->f", hull.triangles[:, 0], hull.face_normals
    )
    distance, _ = obstacle.signed_distance(x)
    clear = np.abs(beyond.max(axis=1)) > 1e-12
    np.testing.assert_array_equal(distance[clear] > 0, beyond.max(axis=1)[clear] > 0)
    inside = distance < 0
    np.testing.assert_allclose(distance[inside], beyond.max(axis=1)[inside], atol=1e-13)


def test_split_vertices_count_as_one():
    mesh = samples.torus()
    split = sp.Surface(
        mesh.vertices[mesh.triangles].reshape(-1, 3), np.arange(3 * mesh.n_triangles).reshape(-1, 3)
    )
    x = np.random.default_rng(1).uniform(-1, 1, (500, 3))
    one, other = sp.MeshObstacle(mesh), sp.MeshObstacle(split)
    for found, expected in zip(other.signed_distance(x), one.signed_distance(x), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_inside_out_keeps_bodies_in():
    mesh = samples.torus()
    x = np.random.default_rng(1).uniform(-1, 1, (500, 3))
    distance, normal = sp.MeshObstacle(mesh).signed_distance(x)
    turned = sp.MeshObstacle(sp.Surface(mesh.vertices, mesh.triangles[:, ::-1]))
    for reverse in (turned, sp.MeshObstacle(mesh, hollow=True)):
        opposite, backward = reverse.signed_distance(x)
        np.testing.assert_allclose(opposite, -distance, atol=1e-14)
        np.testing.assert_allclose(backward, -normal, atol=1e-12)


def test_open_sheet_is_an_obstacle_from_its_front():
    square = sp.Surface([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    x = [(0.5, 0.5, 0.3), (0.5, 0.5, -0.3), (0.3, 0.6, -2.0), (1.3, 0.5, 0.4), (1.3, 0.5, -0.4)]
    distance, normal = sp.MeshObstacle(square).signed_distance(x)
    np.testing.assert_allclose(distance, [0.3, -0.3, -2.0, 0.5, 0.5], atol=1e-15)
    expected = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0.6, 0, 0.8), (0.6, 0, -0.8)]
    np.testing.assert_allclose(normal, expected, atol=1e-15)


def test_triangles_that_face_opposite_ways_refused():
    triangles = np.array(CUBE.faces)
    triangles[0] = triangles[0, ::-1]
    mesh = sp.Surface(np.array(CUBE.vertices), triangles)
    refused("3 edges", sp.MeshObstacle, mesh, error=sp.MeshError)


@pytest.mark.parametrize("face", range(12))
def test_flat_triangles_are_passed_over(face):
    """A triangle without area closes the mesh where an edge is halved on one side only."""
    vertices, triangles = np.array(CUBE.vertices), np.array(CUBE.faces)
    (a, b, c), m = triangles[face], len(vertices)
    halved = [(a, m, c), (m, b, c), (a, b, m)]
    mesh = sp.Surface(
        np.concatenate([vertices, [0.5 * (vertices[a] + vertices[b])]]),
        np.concatenate([np.delete(triangles, face, axis=0), halved]),
    )
    assert mesh.is_closed
    x = np.random.default_rng(2).uniform(-1, 1, (1000, 3))
    found, _ = sp.MeshObstacle(mesh).signed_distance(x)
    expected, _ = sp.Box(size=(1.0, 0.6, 0.4)).signed_distance(x)
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_two_sides_of_a_sheet_without_thickness():
    """Closed, but nothing is inside it."""
    fold = sp.Surface([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 1)])
    distance, normal = sp.MeshObstacle(fold).signed_distance([(0.2, 0.2, 0.5), (0.2, 0.2, -0.5)])
    np.testing.assert_allclose(np.abs(distance), 0.5)
    np.testing.assert_allclose(np.abs(normal), [(0, 0, 1)] * 2)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 9, 33])
def test_few_triangles(count):
    """Trees of every small size hold every triangle."""
    corners = np.random.default_rng(count).normal(size=(count, 3, 3))
    soup = sp.Surface(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))
    x = np.random.default_rng(7).normal(size=(60, 3))
    _, expected, _ = trimesh.proximity.closest_point_naive(
        trimesh.Trimesh(soup.vertices, soup.triangles, process=False), x
    )
    distance, _ = sp.MeshObstacle(soup).signed_distance(x)
    np.testing.assert_allclose(np.abs(distance), expected, atol=1e-14)


@pytest.mark.parametrize("name", ["bob", "spot", "obstacles/crack", "obstacles/hole"])
def test_meshes_of_others(assets, name):
    """Distances by brute force, sides by winding numbers."""
    obstacle = sp.MeshObstacle(assets / "surfaces" / f"{name}.obj")
    mesh = obstacle.mesh
    low, high = mesh.bounds
    x = np.random.default_rng(0).uniform(low, high, (150, 3))
    distance, _ = obstacle.signed_distance(x)
    _, expected, _ = trimesh.proximity.closest_point_naive(
        trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False), x
    )
    np.testing.assert_allclose(np.abs(distance), expected, atol=1e-14 * np.abs(mesh.bounds).max())
    np.testing.assert_array_equal(distance < 0, np.round(winding(mesh, x)) == 1)


BALL = sp.Sphere(centre=(0, 0, 0), radius=0.3).surface()
TIMES = np.linspace(0.0, 1.0, 41)


def moved(surface: sp.Surface, place, **options: object) -> sp.AnimatedMesh:
    """A surface whose vertices x are at place(x, t)."""
    positions = np.array([place(surface.vertices, t) for t in TIMES])
    return sp.AnimatedMesh(triangles=surface.triangles, times=TIMES, positions=positions, **options)


def around(seed: int = 0, count: int = 200) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.6, 0.6, (count, 3))


def test_as_a_mesh_on_rails():
    """Carried along a path that cubics follow exactly: same distances, normals and velocities."""
    velocity = np.array([0.4, -0.2, 0.1])
    rigid = sp.MeshObstacle(BALL, motion=sp.Rails.path(position=lambda t: t * velocity))
    animated = moved(BALL, lambda x, t: x + t * velocity)
    for time in (0.0, 0.33, 0.5, 0.999):
        one, other = (obstacle.at(around(), time) for obstacle in (rigid, animated))
        np.testing.assert_allclose(other.distance, one.distance, atol=1e-12)
        np.testing.assert_allclose(other.normal, one.normal, atol=1e-9)
        np.testing.assert_allclose(other.velocity, one.velocity, atol=1e-10)


def test_velocity_is_that_of_the_surface():
    """A ball that swells: all of its surface moves outwards at the rate of its radius."""
    animated = moved(BALL, lambda x, t: (1 + t**2) * x)
    touch = animated.at(around(1), 0.5)
    place = around(1) - touch.distance[:, None] * touch.normal
    np.testing.assert_allclose(touch.velocity, place / 1.25, atol=2e-3)


def test_between_times_by_cubics_through_them():
    animated = moved(BALL, lambda x, t: x + np.array([np.sin(3 * t), 0, 0]))
    for k in (0, 7, 40):
        np.testing.assert_allclose(animated.vertices_at(TIMES[k])[0], animated.positions[k])
    for time in (0.11, 0.5, 0.87):
        ahead, behind = (animated.vertices_at(time + h)[0] for h in (1e-6, -1e-6))
        x, v = animated.vertices_at(time)
        np.testing.assert_allclose(v, (ahead - behind) / 2e-6, atol=1e-8)
        assert np.abs(x[:, 0] - BALL.vertices[:, 0] - np.sin(3 * time)).max() < 1e-5
    for time in (-1.0, 2.0):
        np.testing.assert_array_equal(animated.vertices_at(time)[1], 0.0)


def test_margin_keeps_off():
    """Distances are less by the margin, and nothing else changes."""
    near, far = (moved(BALL, lambda x, t: (1 + t) * x, margin=m) for m in (0.0, 0.01))
    one, other = (obstacle.at(around(2), 0.3) for obstacle in (near, far))
    np.testing.assert_allclose(other.distance, one.distance - 0.01, atol=1e-12)
    np.testing.assert_array_equal(other.normal, one.normal)
    np.testing.assert_array_equal(other.velocity, one.velocity)


def test_what_it_carries_goes_along():
    """Points tied to a ball that turns and moves go with it as if they were part of it."""

    def place(x, t):
        turn = Rotation.from_rotvec([0, 0, 2 * t]).as_matrix()
        return x @ turn.T + np.array([t, 0, 0])

    animated, start = moved(BALL, place), TIMES[8]
    for outside in (around(3), BALL.vertices, 1.05 * BALL.vertices):
        ride = animated.carried(place(outside, start), start)
        for time in (start, TIMES[20], TIMES[40]):
            np.testing.assert_allclose(ride(time), place(outside, time), atol=1e-9)


def test_drawn_where_it_is():
    animated = moved(BALL, lambda x, t: x + np.array([t, 0, 0]))
    np.testing.assert_allclose(
        animated.surface(0.5).vertices, BALL.vertices + np.array([0.5, 0, 0])
    )


@pytest.mark.parametrize("speed", [2.0, 20.0])
def test_a_fast_paddle_does_not_pass_through(speed):
    """4 cm thick and at 20 m/s a third of a metre a step: the block is always ahead of it."""
    plate = sp.Box(centre=(-0.3, 0, 0.1), size=(0.04, 0.8, 0.8)).surface()
    paddle = moved(plate, lambda x, t: x + np.array([speed * t, 0, 0]), friction=0.2)
    body = block(young=1e5)
    sim = sp.Simulation(body, obstacles=paddle, damping=DAMPING, dt=1 / 60, gravity=(0, 0, 0))
    touched = False
    for _ in range(int(0.5 * 60)):
        sim.step()
        touched |= bool(sim.contact_forces.any())
        front = -0.28 + speed * sim.state.time
        ahead = (body.mesh.vertices + sim.state.u)[:, 0] - front
        assert ahead.min() >= -1e-5 * edge(body)
    assert touched
    assert sim.state.v[:, 0].mean() > 0.9 * speed


def test_friction_is_with_the_moving_surface():
    """A belt that moves under a block carries it along."""
    plate = sp.Box(centre=(0, 0, -0.05), size=(6.0, 1.0, 0.1)).surface()
    belt = moved(plate, lambda x, t: x + np.array([t, 0, 0]), friction=0.5)
    body = block(young=1e6)
    sim = sp.Simulation(body, obstacles=belt, damping=DAMPING, dt=0.02, gravity=(0, 0, -G))
    stepped(sim, 40)
    assert abs(sim.state.v[:, 0].mean() - 1.0) < 1e-3


STILL: dict[str, Any] = {"times": [0.0, 1.0], "positions": np.array([BALL.vertices] * 2)}
test_bad_input = refusals(
    ({"times": [0.0]}, "two or more"),
    ({"times": [0.0, 0.0]}, "later"),
    ({"positions": np.zeros((3, 4, 3))}, r"\(T, n, 3\)"),
    ({"margin": -1e-3}, "at least 0"),
    ({"motion": sp.Rails.path(position=lambda t: (t, 0, 0))}, "rigid"),
    make=lambda given: sp.AnimatedMesh(triangles=BALL.triangles, **(STILL | given)),
)
