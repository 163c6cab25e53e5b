"""Triangle meshes as obstacles: against closed forms, brute force and winding numbers."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from tests.contact.obstacles import samples

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
    with pytest.raises(sp.MeshError, match="3 edges"):
        sp.MeshObstacle(sp.Surface(np.array(CUBE.vertices), triangles))


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
