"""Over every kind of obstacle: distances, normals, motion, and what bad input says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation
from tests.contact.obstacles import samples
from tests.helpers import EPS, rotation
from tests.refusals import refusals

import supple as sp
from supple.contact import OBSTACLES

NAMES = list(samples.OBSTACLES)

ROUND = ("cylinder", "hollow cylinder", "cone", "hollow cone", "torus", "hollow torus")
CURVED = ("sphere", "hollow sphere", "capsule", "height field", *ROUND)


def turned(name: str, R: np.ndarray, shift: np.ndarray) -> sp.Obstacle:
    """A sample described where R x + shift takes it."""
    given = samples.OBSTACLES[name]
    if isinstance(given, sp.Plane):
        n = R @ given.normal
        return sp.Plane(normal=n, offset=given.offset + n @ shift)
    if isinstance(given, sp.Sphere):
        return dataclasses.replace(given, centre=R @ given.centre + shift)
    if isinstance(given, sp.Box):
        return dataclasses.replace(
            given, centre=R @ given.centre + shift, rotation=R @ given.rotation
        )
    if isinstance(given, sp.Capsule | sp.Cylinder):
        return dataclasses.replace(given, start=R @ given.start + shift, end=R @ given.end + shift)
    if isinstance(given, sp.Cone):
        return dataclasses.replace(given, apex=R @ given.apex + shift, base=R @ given.base + shift)
    if isinstance(given, sp.Torus):
        return dataclasses.replace(given, centre=R @ given.centre + shift, axis=R @ given.axis)
    if isinstance(given, sp.HeightField):
        return dataclasses.replace(given, origin=given.origin + shift)
    mesh = given.mesh
    moved = sp.Surface(mesh.vertices @ R.T + shift, mesh.triangles)
    return dataclasses.replace(given, mesh=moved)


def test_every_kind_has_a_sample():
    assert {type(obstacle) for obstacle in samples.OBSTACLES.values()} == set(OBSTACLES)


@pytest.mark.parametrize("name", NAMES)
def test_normal_is_gradient(name):
    obstacle, x, h = samples.OBSTACLES[name], samples.points(name, 600), 1e-6
    _, normal = obstacle.signed_distance(x)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=8 * EPS)
    slope, smooth = np.empty_like(x), np.ones(len(x), bool)
    for axis in range(3):
        ahead, behind = (obstacle.signed_distance(x + s * h * np.eye(3)[axis]) for s in (1, -1))
        slope[:, axis] = (ahead[0] - behind[0]) / (2 * h)
        # A crease lies between where the normals differ by more than a curvature radius of
        # 0.1 mm would make them.
        smooth &= np.abs(ahead[1] - behind[1]).max(axis=1) < 2 * h / 1e-4
    assert smooth.mean() > 0.98
    # Central differences: truncation h²/(6 r²) at the radius above, rounding eps/h.
    bound = h**2 / 6 / 1e-4**2 + 4 * EPS / h
    assert np.abs(slope - normal)[smooth].max() < bound


@pytest.mark.parametrize("name", NAMES)
def test_distance_to_drawn_triangles(name):
    """Brute force over all triangles of surface() gives the same distance."""
    obstacle, x = samples.OBSTACLES[name], samples.points(name, 300)
    drawn = obstacle.surface(extent=10.0)
    _, expected, _ = trimesh.proximity.closest_point_naive(
        trimesh.Trimesh(drawn.vertices, drawn.triangles, process=False), x
    )
    distance, _ = obstacle.signed_distance(x)
    assert min((distance > 0).sum(), (distance < 0).sum()) > 5  # both sides are tried
    bound = 1e-14
    if name in CURVED:
        # Flat triangles are off by what their own points are; dense ones, and a tenth for between.
        shares = np.array([(i, j, 8 - i - j) for i in range(9) for j in range(9 - i)]) / 8
        on = np.einsum("sc,tci->tsi", shares, drawn.vertices[drawn.triangles]).reshape(-1, 3)
        bound = 1.1 * np.abs(obstacle.signed_distance(on)[0]).max()
        assert bound < 0.01
    np.testing.assert_allclose(np.abs(distance), expected, atol=bound, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_drawn_triangles_face_outward(name):
    obstacle = samples.OBSTACLES[name]
    drawn = obstacle.surface()
    corners = drawn.vertices[drawn.triangles]
    middle = corners.mean(axis=1)
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    face /= np.linalg.norm(face, axis=1, keepdims=True)
    _, normal = obstacle.signed_distance(middle + 0.01 * face)
    assert np.einsum("ki,ki->k", normal, face).min() > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_described_elsewhere(name):
    """Turned and shifted in its description, or by rails: the same in the turned frame."""
    shift = np.array([0.4, -0.3, 2.0])
    R = np.eye(3) if name == "height field" else rotation(8)
    x = samples.points(name, 200)
    distance, normal = samples.OBSTACLES[name].signed_distance(x)
    found, pointing = turned(name, R, shift).signed_distance(x @ R.T + shift)
    np.testing.assert_allclose(found, distance, atol=1e-14)
    np.testing.assert_allclose(pointing, normal @ R.T, atol=1e-11)
    rails = sp.Rails(rotation=lambda t: R, position=lambda t: shift)
    touch = dataclasses.replace(samples.OBSTACLES[name], motion=rails).at(x @ R.T + shift, 7.0)
    np.testing.assert_allclose(touch.distance, distance, atol=1e-14)
    np.testing.assert_allclose(touch.normal, normal @ R.T, atol=1e-11)
    assert np.abs(touch.velocity).max() == 0


@pytest.mark.parametrize("name", NAMES)
def test_moving_is_still_in_its_own_frame(name):
    centre, rate, time = np.array([0.3, 0.1, -0.2]), np.array([0.5, -1.0, 2.0]), 0.7
    moving = dataclasses.replace(
        samples.OBSTACLES[name], motion=sp.Rails.turning(centre=centre, rate=rate)
    )
    R = Rotation.from_rotvec(rate * time).as_matrix()
    x = samples.points(name, 200)
    distance, normal = moving.signed_distance(x)
    touch = moving.at((x - centre) @ R.T + centre, time)
    np.testing.assert_allclose(touch.distance, distance, atol=1e-14)
    np.testing.assert_allclose(touch.normal, normal @ R.T, atol=1e-11)
    # The nearest place turns with the rest: ω × arm.
    foot = x - distance[:, None] * normal
    expected = np.cross(rate, (foot - centre) @ R.T)
    np.testing.assert_allclose(touch.velocity, expected, atol=1e-10)
    still, now = moving.surface(), moving.surface(time)
    np.testing.assert_allclose(now.vertices, (still.vertices - centre) @ R.T + centre, atol=1e-14)


def test_standing_still_has_no_velocity():
    touch = sp.Plane().at([(0, 0, 1), (0, 0, -2)], 3.0)
    np.testing.assert_array_equal(touch.distance, [1, -2])
    np.testing.assert_array_equal(touch.normal, [(0, 0, 1)] * 2)
    np.testing.assert_array_equal(touch.velocity, np.zeros((2, 3)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("within", [0.0, 0.1])
def test_cutoff_keeps_what_is_near_or_inside(name, within):
    obstacle = samples.OBSTACLES[name]
    x = np.concatenate([samples.points(name, 300), 3 * samples.points("", 300, seed=1)])
    exact, normal = obstacle.signed_distance(x)
    cut, pointing = obstacle.signed_distance(x, within=within)
    near = exact < within  # inside is never far
    np.testing.assert_array_equal(cut[near], exact[near])
    np.testing.assert_array_equal(pointing[near], normal[near])
    assert (cut[exact >= within] >= within).all()
    np.testing.assert_allclose(np.linalg.norm(pointing, axis=1), 1.0, atol=8 * EPS)


@pytest.mark.parametrize("name", NAMES)
def test_not_a_number_stays_one(name):
    x = samples.points(name, 4)
    x[1, 0], x[2, 2] = np.nan, np.nan
    distance, normal = samples.OBSTACLES[name].signed_distance(x, within=0.5)
    np.testing.assert_array_equal(np.isnan(distance), [False, True, True, False])
    np.testing.assert_array_equal(np.isnan(normal).all(axis=1), [False, True, True, False])
    for shape in ((0, 3), (1, 3)):
        distance, normal = samples.OBSTACLES[name].signed_distance(np.zeros(shape))
        assert distance.shape == shape[:1]
        assert normal.shape == shape


@pytest.mark.parametrize("name", NAMES)
def test_threads_give_the_same(name):
    x = samples.points(name, 2500)
    try:
        sp.set_thread_count(1)
        alone = samples.OBSTACLES[name].signed_distance(x)
        sp.set_thread_count(3)
        shared = samples.OBSTACLES[name].signed_distance(x)
    finally:
        sp.set_thread_count(0)
    np.testing.assert_array_equal(alone[0], shared[0])
    np.testing.assert_array_equal(alone[1], shared[1])


def test_places_without_a_nearest_still_have_a_unit_normal():
    for obstacle, x in (
        (sp.Sphere(radius=2.0), (0, 0, 0)),
        (sp.Capsule(start=(0, 0, 0), end=(0, 0, 1), radius=0.2), (0, 0, 0.5)),
        (sp.Cylinder(start=(0, 0, 0), end=(0, 0, 1), radius=0.2), (0, 0, 0.5)),
        (sp.Cylinder(start=(0, 0, 0), end=(0, 0, 1), radius=0.2), (0.2, 0, 1)),
        (sp.Cone(apex=(0, 0, 1), base=(0, 0, 0), radius=0.2), (0, 0, 1)),
        (sp.Cone(apex=(0, 0, 1), base=(0, 0, 0), radius=0.2), (0, 0, 0)),
        (sp.Cone(apex=(0, 0, 1), base=(0, 0, 0), radius=0.2), (0.2, 0, 0)),
        (sp.Cone(apex=(0, 0, 1), base=(0, 0, 0), radius=0.2), (0, 0, 0.2)),
        (sp.Torus(radius=0.5, tube=0.2), (0, 0, 0)),
        (sp.Torus(radius=0.5, tube=0.2), (0.5, 0, 0)),
        (sp.Box(size=(1, 1, 1)), (0, 0, 0)),
        (sp.Box(size=(1, 1, 1)), (0.5, 0.5, 0.5)),
    ):
        _, normal = obstacle.signed_distance([x])
        assert abs(np.linalg.norm(normal) - 1) < 4 * EPS


test_bad_input_named = refusals(
    (lambda: sp.Plane(normal=(0, 0, 0)), "normal"),
    (lambda: sp.Plane(normal=(0, 1)), "normal"),
    (lambda: sp.Plane(offset=np.inf), "offset"),
    (lambda: sp.Plane(friction=-0.1), "friction"),
    (lambda: sp.Plane(friction="rough"), "friction"),
    (lambda: sp.Plane(vertex_restitution=1.2), "vertex_restitution"),
    (lambda: sp.Plane(vertex_restitution=-0.2), "vertex_restitution"),
    (lambda: sp.Plane(vertex_restitution=np.nan), "vertex_restitution"),
    (lambda: sp.Plane(motion=lambda t: (0, 0, t)), "motion"),
    (lambda: sp.Sphere(radius=-1.0), "radius"),
    (lambda: sp.Sphere(radius=0.0), "radius"),
    (lambda: sp.Sphere(radius=1.0, centre=(0, np.nan, 0)), "centre"),
    (lambda: sp.Box(size=(1, 0, 1)), "size"),
    (lambda: sp.Box(size=(1, 1, 1), rotation=np.diag([1, 1, -1])), "rotation"),
    (lambda: sp.Box(size=(1, 1, 1), rotation=2 * np.eye(3)), "rotation"),
    (lambda: sp.Capsule(start=(0, 0, 1), end=(0, 0, 1), radius=0.1), "Sphere"),
    (lambda: sp.Capsule(start=(0, 0, 0), end=(0, 0, 1), radius=-0.1), "radius"),
    (lambda: sp.Cylinder(start=(0, 0, 1), end=(0, 0, 1), radius=0.1), "move one"),
    (lambda: sp.Cone(apex=(0, 0, 1), base=(0, 0, 1), radius=0.1), "move one"),
    (lambda: sp.Cone(apex=(0, 0, 1), base=(0, 0, 0), radius=0), "radius"),
    (lambda: sp.Torus(radius=0.1, tube=0.1), "tube"),
    (lambda: sp.Torus(radius=0.1, tube=0.05, axis=(0, 0, 0)), "axis"),
    (lambda: sp.HeightField([[0, 0], [0, np.nan]]), r"heights\[1, 1\]"),
    (lambda: sp.HeightField([0, 1, 2]), "heights"),
    (lambda: sp.HeightField([[0, 1, 2]]), "heights"),
    (lambda: sp.HeightField(np.zeros((3, 3)), spacing=0), "spacing"),
    (lambda: sp.HeightField(np.zeros((3, 3)), spacing=(1, 1, 1)), "spacing"),
    (lambda: sp.MeshObstacle("nowhere/bowl.obj"), "bowl.obj"),
    (lambda: sp.MeshObstacle(3), "mesh"),
    (lambda: sp.MeshObstacle(sp.Surface(np.eye(3), np.zeros((0, 3), int))), "triangle"),
    (lambda: sp.MeshObstacle(sp.Surface(np.eye(3), [(0, 1, 1)])), "triangle"),
    (
        lambda: sp.MeshObstacle(sp.Surface([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])),
        "area",
    ),
    (lambda: sp.Plane().signed_distance((0, 0, 1)), "points"),
    (lambda: sp.Plane().at(np.zeros((2, 2)), 0.0), "points"),
    (lambda: sp.Plane().surface(extent=0), "extent"),
)
