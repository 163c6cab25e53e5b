"""Scene files with obstacles, and with a solver of choice."""

import numpy as np
import pytest
from tests.io.conftest import solid_scene

import supple as sp
from supple.contact import Box, Capsule, HeightField, MeshObstacle, Plane, Sphere
from supple.io.scene.models import shapes
from supple.solvers import ADMM, Dissipation, Newton

BASE = solid_scene(
    "box = { size = [0.2, 0.2, 0.2], cells = [1, 1, 1], origin = [0, 0, 0.001] }", "StVK"
)


def one(made):
    (obstacle,) = made.obstacles
    return obstacle


def test_every_kind_of_obstacle_has_a_shape():
    changing = {"animated_mesh", "character"}
    known = {"plane", "sphere", "box", "capsule", "cylinder", "cone", "torus"}
    assert known | {"height_field", "mesh"} | changing == set(shapes())
    assert len(shapes()) == len(sp.contact.OBSTACLES) + len(changing)


def test_plain_shapes(scene):
    made = scene("""
        obstacles = [
          { shape="plane", normal=[0, 1, 0], offset=-0.5, vertex_restitution=0, friction=0.4 },
          { shape = "Sphere", centre = [1, 2, 3], radius = 0.5, hollow = true },
          { shape = "box", size = [1, 2, 3], rotation = [0, 0, 1.5707963267948966] },
          { shape = "capsule", start = [0, 0, 0], end = [1, 0, 0], radius = 0.1 },
          { shape = "cylinder", start = [0, 0, 0], end = [1, 0, 0], radius = 0.1 },
          { shape = "cone", apex = [0, 0, 1], base = [0, 0, 0], radius = 0.1, hollow = true },
          { shape = "torus", radius = 0.5, tube = 0.1, axis = [0, 2, 0] },
        ]
    """)
    plane, sphere, box, capsule, cylinder, cone, torus = made.obstacles
    assert isinstance(plane, Plane)
    assert (plane.friction, plane.vertex_restitution, plane.offset) == (0.4, 0.0, -0.5)
    np.testing.assert_array_equal(plane.normal, (0, 1, 0))
    assert isinstance(sphere, Sphere)
    assert sphere.hollow
    assert sphere.vertex_restitution is None
    assert isinstance(box, Box)
    np.testing.assert_allclose(box.signed_distance([[1.5, 0, 0]])[0], 0.5)  # 2 m wide along x
    assert isinstance(capsule, Capsule)
    assert capsule.radius == 0.1
    np.testing.assert_allclose(cylinder.signed_distance([[1.2, 0, 0]])[0], 0.2)  # flat ends
    np.testing.assert_allclose(cone.signed_distance([[0, 0, 0.01]])[0], 0.01)  # above its base
    np.testing.assert_allclose(torus.signed_distance([[0, 0, 0.5]])[0], -0.1)  # within the tube


@pytest.mark.parametrize("how", ["npy", "csv", "txt", "inline"])
def test_height_field_from_each_source(scene, tmp_path, how):
    heights = np.array([[0.0, 0.1, 0.2], [0.5, 0.6, 0.7]])
    if how == "npy":
        np.save(tmp_path / "hills.npy", heights)
    elif how != "inline":
        np.savetxt(tmp_path / f"hills.{how}", heights, delimiter="," if how == "csv" else " ")
    given = f"heights = {heights.tolist()}" if how == "inline" else f'file = "hills.{how}"'
    places = "spacing = [2, 1]\norigin = [-1, -1, 0.3]"
    field = one(scene(f'[[obstacles]]\nshape = "height_field"\n{given}\n{places}\n'))
    assert isinstance(field, HeightField)
    np.testing.assert_allclose(field.height([[1.0, 1.0], [-1.0, 0.0]]), [1.0, 0.4])


def test_mesh_beside_the_scene(scene, tmp_path):
    sp.write_surface(sp.TetMesh.box((1, 1, 1), (1, 1, 1)).boundary(), tmp_path / "cube.obj")
    given = 'shape = "mesh", file = "cube.obj", scale = 2, position = [0, 0, -3], friction = 0.2'
    mesh = one(scene(f"obstacles = [{{ {given} }}]"))
    assert isinstance(mesh, MeshObstacle)
    np.testing.assert_allclose(mesh.signed_distance([[1.0, 1.0, 0.0]])[0], 1.0)


MOVES = {
    "velocity = [1, 0, 0]": (0.5, (0.5, 0, 0), (1, 0, 0)),
    "turning = [0, 0, 1], centre = [0, 1, 0]": (np.pi, (0, 2, 0), (0, 0, 0)),
    "velocity = [1, 0, 0], turning = [0, 0, 1], centre = [0, 1, 0]": (
        np.pi, (np.pi, 2, 0), (0, 0, 0)),
    "oscillation = { amplitude = [0, 0, 0.1], frequency = 1 }": (
        0.25, (0, 0, 0.1), (0, 0, 0)),
    "times = [0, 1], positions = [[0, 0, 0], [0, 0, 1]]": (0.5, (0, 0, 0.5), (0, 0, 1.5)),
    "times = [0, 1], positions = [[0, 0, 0], [0, 0, 1]], rotations = [[0, 0, 0], [0, 0, 2]], "
    "centre = [0, 1, 0]": (1.0, (np.sin(2), 1 - np.cos(2), 1), (0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("text", MOVES)
def test_obstacles_move(scene, text):
    """Where the point that starts at the origin is, and how fast where that is simple."""
    time, place, velocity = MOVES[text]
    pose = one(scene(f'[[obstacles]]\nshape = "plane"\nmoves = {{ {text} }}\n')).motion.pose(time)
    here = pose.to_world(np.zeros((1, 3)))
    np.testing.assert_allclose(here[0], place, atol=1e-12)
    if "turning" not in text and "rotations" not in text:
        np.testing.assert_allclose(pose.velocity_at(here)[0], velocity, atol=1e-12)


def test_body_stays_on_the_floor(scene):
    made = scene(
        'gravity = [0, 0, -9.81]\n[[obstacles]]\nshape = "plane"\nvertex_restitution = 0\n', BASE
    )
    motion = made.simulation().run(0.1)
    assert motion.positions[-1, :, 2].min() > -1e-3
    assert np.abs(motion.displacements[-1]).max() < 0.02


BAD = {
    "obstacles = 1": ("obstacles", "[[obstacles]]"),
    "obstacles = [1]": ("obstacles[0]", "got 1", "plane"),
    "[[obstacles]]\nfriction = 1": ("obstacles[0].shape", "missing", "capsule"),
    "[[obstacles]]\nshape = 'ball'": ("obstacles[0].shape", '"ball"', "box, capsule, plane"),
    "[[obstacles]]\nshape = 'spher'": ("did you mean sphere",),
    "[[obstacles]]\nshape = 'plane'\nradius = 1": ("obstacles[0].radius", "offset"),
    "[[obstacles]]\nshape = 'plane'\nnormal = [0, 0, 0]": ("obstacles[0].normal", "no direction"),
    "[[obstacles]]\nshape = 'plane'\nfriction = -1": ("obstacles[0].friction", "-1", "at least 0"),
    "[[obstacles]]\nshape = 'plane'\nvertex_restitution = 2": ("at most 1",),
    "[[obstacles]]\nshape = 'plane'\n[[obstacles]]\nshape = 'sphere'": ("obstacles[1].radius",),
    "[[obstacles]]\nshape = 'box'\nsize = [1, 1, 0]": ("obstacles[0].size[2]", "more than 0"),
    "[[obstacles]]\nshape = 'capsule'\nstart = [0, 0, 0]\nend = [0, 0, 0]\nradius = 1": (
        "obstacles[0]", "Sphere"),
    "[[obstacles]]\nshape = 'height_field'": ("obstacles[0]", "give one of file, heights"),
    "[[obstacles]]\nshape = 'height_field'\nfile = 'scene.toml'": (
        "obstacles[0].file", "scene.toml", "rows of heights"),
    "[[obstacles]]\nshape = 'height_field'\nheights = [[1, 2], [1, 2, 3]]": ("[0].heights",),
    "[[obstacles]]\nshape = 'mesh'\nfile = 'lost.obj'": ("obstacles[0].file", "lost.obj"),
    "[[obstacles]]\nshape = 'mesh'\nfile = 'scene.toml'": ("obstacles[0]", "scene.toml"),
    "[[obstacles]]\nshape = 'plane'\nmoves = {}": ("obstacles[0].moves", "velocity"),
    "[[obstacles]]\nshape = 'plane'\nmoves = { speed = 1 }": ("[0].moves.speed", "turning"),
    "[[obstacles]]\nshape = 'plane'\nmoves = { times = [0, 1] }": (
        "obstacles[0].moves.times", "needs positions"),
    "[[obstacles]]\nshape = 'plane'\nmoves = { times = [0, 0], positions = [[0,0,0], [0,0,1]] }": (
        "obstacles[0].moves", "must increase"),
    "[[obstacles]]\nshape = 'plane'\nmoves = { velocity = [1, 0, 0], times = [0, 1], "
    "positions = [[0,0,0], [0,0,1]] }": ("obstacles[0].moves", "velocity and times"),
    "integrator = 'RK4'\n[[obstacles]]\nshape = 'plane'": ("integrator", "explicit", "TRBDF2"),
    "solver = 'Jacobi'": ("solver", "Newton, ADMM"),
    "[solver]\nmethod = 'adm'": ("solver.method", "did you mean ADMM"),
    "[solver]\nmethod = 'admm'\nname = 'admm'": ("solver.name", "same as method"),
    "[solver]\nmethod = 'admm'\nlinear = 'Cholesky'": ("solver.linear", "acceleration"),
    "[solver]\nmethod = 'admm'\nweight = -1": ("solver.weight", "-1"),
    "[solver]\nmethod = 'admm'\ndissipation = 'third'": (
        "solver.dissipation", "balance, first_order, second_order"),
    "[solver]\niterations = 0": ("solver.iterations", "1 or more"),
}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_bad_obstacle_or_solver_names_field_and_cure(refusal, text):
    refusal(text, words=BAD[text])


def test_solver_by_method_or_name(scene):
    made = scene(
        'gravity = [0, 0, -9.81]\n[solver]\nmethod = "admm"\niterations = 30\ntolerance = 1e-3\n'
        'acceleration = 0\nweight = 2\ndissipation = "second_order"\n'
    )
    second = Dissipation.SECOND_ORDER
    assert made.solver == ADMM(
        iterations=30, tolerance=1e-3, acceleration=0, weight=2.0, dissipation=second
    )
    assert scene('solver = "admm"\n').solver == ADMM()
    assert scene('[solver]\nname = "Newton"\niterations = 2\n').solver == Newton(iterations=2)
    assert scene("[solver]\ntolerance = 1e-3\n").solver == Newton(tolerance=1e-3)
    simulation = made.simulation()
    simulation.step()
    assert simulation.state.time == pytest.approx(1 / 60)
