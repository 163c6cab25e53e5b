"""Obstacles beside the body in every export, where they are in each frame."""

import re

import meshio
import numpy as np
import pygltflib
import pytest
from scipy.spatial.transform import Rotation
from tests.io.conftest import stage_of
from tests.io.gltf.test_motion import Glb
from tests.refusals import refused

from supple.contact import AnimatedMesh, Box, Plane, Rails
from supple.io import export_motion
from supple.io.obstacle_surfaces import drawn_obstacles, floor_of

RAILS = Rails.turning(centre=(0.0, 0.0, 0.5), rate=(0.0, 3.0, 4.0))
FLOOR = Plane(offset=-0.3, friction=0.5)
MILL = Box(centre=(2.0, 0.0, 0.0), size=(0.4, 0.2, 0.1), motion=RAILS)


def corners(time):
    return MILL.surface(time).vertices


def same_places(found, wanted):
    """Whether every point of either is one of the other, to single precision."""
    apart = np.linalg.norm(found[:, None] - wanted[None], axis=2)
    return max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 1e-5


def test_sheets_reach_as_far_as_the_body(motion):
    floor, mill = drawn_obstacles([FLOOR, MILL], motion)
    assert floor.rotations is None
    np.testing.assert_allclose(floor.frame(3)[:, 2], -0.3)
    x = motion.positions.reshape(-1, 3)
    assert (floor.vertices.min(axis=0) < x.min(axis=0))[:2].all()
    assert (floor.vertices.max(axis=0) > x.max(axis=0))[:2].all()
    for i in (0, 7, 30):
        np.testing.assert_allclose(mill.frame(i), corners(motion.times[i]), atol=1e-12)
        turned = mill.upright().frame(i)
        x, y, z = mill.frame(i).T
        np.testing.assert_allclose(turned, np.stack([x, -z, y], axis=1), atol=1e-12)


def test_floor_is_a_level_plane_that_stays():
    assert floor_of([MILL, FLOOR], "z") == -0.3
    assert floor_of([FLOOR], "y") is None
    assert floor_of([Plane(motion=RAILS), Plane(normal=(1, 0, 1))], "z") is None


def test_glb_has_a_node_for_each_obstacle(motion, tmp_path):
    export_motion(motion, tmp_path / "a.glb", obstacles=[FLOOR, MILL])
    glb = Glb(tmp_path / "a.glb")
    document = glb.document
    assert [node.name for node in document.nodes[1:]] == ["body", "obstacle_1", "obstacle_2"]
    assert document.nodes[0].children == [1, 2, 3]
    assert [mesh.primitives[0].material for mesh in document.meshes] == [0, 1, 1]
    floor, rest = (glb.array(m.primitives[0].attributes.POSITION) for m in document.meshes[1:])
    np.testing.assert_allclose(floor[:, 2], -0.3, atol=1e-6)
    animation = document.animations[0]
    channels = {
        channel.target.path: animation.samplers[channel.sampler]
        for channel in animation.channels
        if channel.target.node == 3
    }
    assert set(channels) == {"rotation", "translation"}
    turns = glb.array(channels["rotation"].output)
    assert (np.einsum("ti,ti->t", turns[1:], turns[:-1]) > 0.9).all()
    shifts = glb.array(channels["translation"].output)
    for i in (0, 7, 30):
        placed = Rotation.from_quat(turns[i]).apply(rest) + shifts[i]
        assert same_places(placed, corners(motion.times[i]))


def test_glb_of_a_still_obstacle_and_a_still_body_has_no_animation(bar, wobble, tmp_path):
    export_motion(wobble(bar, count=1), tmp_path / "a.glb", obstacles=FLOOR)
    assert not pygltflib.GLTF2().load(str(tmp_path / "a.glb")).animations
    export_motion(wobble(bar, count=1), tmp_path / "b.glb", obstacles=MILL)
    assert len(pygltflib.GLTF2().load(str(tmp_path / "b.glb")).animations[0].channels) == 2


def test_pvd_has_a_part_for_each_obstacle(motion, tmp_path):
    export_motion(motion, tmp_path / "a.pvd", obstacles=[FLOOR, MILL])
    export_motion(motion, tmp_path / "a.pvd", obstacles=[FLOOR, MILL])  # over itself
    text = (tmp_path / "a.pvd").read_text()
    parts = [int(part) for part in re.findall(r'part="(\d)"', text)]
    assert [parts.count(k) for k in range(3)] == [len(motion)] * 3
    files = {path.name for path in (tmp_path / "a_frames").iterdir()}
    assert len(files) == 2 * len(motion) + 1
    mill = meshio.read(tmp_path / "a_frames" / "obstacle_2_00007.vtu")
    assert same_places(mill.points, corners(motion.times[7]))
    assert "a_frames/obstacle_1_00000.vtu" in text


def test_usd_has_a_mesh_for_each_obstacle(motion, tmp_path):
    geometry = pytest.importorskip("pxr.UsdGeom")
    stage = stage_of(motion, tmp_path / "a.usdc", obstacles=[FLOOR, MILL])
    floor = geometry.Mesh.Get(stage, "/World/obstacles/obstacle_1")
    assert np.allclose(np.array(floor.GetPointsAttr().Get())[:, 2], -0.3)
    mill = geometry.Mesh.Get(stage, "/World/obstacles/obstacle_2")
    rest = np.array(mill.GetPointsAttr().Get(), dtype=float)
    for i in (0, 7, 30):
        matrix = np.array(geometry.XformCache(i).GetLocalToWorldTransform(mill.GetPrim()))
        placed = rest @ matrix[:3, :3] + matrix[3, :3]
        assert same_places(placed, corners(motion.times[i]))


def test_what_is_no_obstacle_is_refused(motion, tmp_path):
    refused("Plane", export_motion, motion, tmp_path / "a.glb", obstacles=["floor"])


# -- what changes shape ------------------------------------------------------------------------


def swelling(motion):
    """A box that grows to twice its size while the body moves."""
    box = Box(centre=(2.0, 0.0, 0.0), size=(0.4, 0.2, 0.1)).surface()
    times = np.linspace(motion.times[0], motion.times[-1], 3)
    positions = np.array([scale * box.vertices for scale in (1.0, 1.5, 2.0)])
    return AnimatedMesh(triangles=box.triangles, times=times, positions=positions)


def test_changing_shapes_are_drawn_frame_by_frame(motion):
    obstacle = swelling(motion)
    (drawn,) = drawn_obstacles([obstacle], motion)
    assert drawn.frames == len(motion.times)
    for i in (0, 7, 30):
        np.testing.assert_array_equal(drawn.frame(i), obstacle.surface(motion.times[i]).vertices)
        x, y, z = drawn.frame(i).T
        np.testing.assert_allclose(drawn.upright().frame(i), np.stack([x, -z, y], axis=1))


def test_changing_shapes_are_morphs_in_a_glb(motion, tmp_path):
    export_motion(motion, tmp_path / "a.glb", obstacles=[swelling(motion), MILL])
    document = pygltflib.GLTF2().load(str(tmp_path / "a.glb"))
    assert [node.name for node in document.nodes[1:]] == ["body", "obstacle_1", "obstacle_2"]
    primitive = document.meshes[1].primitives[0]
    assert primitive.material == 1
    assert len(primitive.targets) == 1  # growth is one shape
    paths = {(c.target.node, c.target.path) for c in document.animations[0].channels}
    assert {(2, "weights"), (3, "rotation"), (3, "translation")} <= paths


def test_changing_shapes_in_paraview_and_usd(motion, tmp_path):
    obstacle = swelling(motion)
    export_motion(motion, tmp_path / "a.pvd", obstacles=[obstacle])
    files = sorted(tmp_path.glob("**/obstacle_1_*.vtu"))
    assert len(files) == len(motion.times)
    wanted = obstacle.surface(motion.times[-1]).vertices
    assert same_places(meshio.read(files[-1]).points, wanted)
    stage = stage_of(motion, tmp_path / "a.usda", obstacles=[obstacle])
    points = stage.GetPrimAtPath("/World/obstacles/obstacle_1").GetAttribute("points")
    assert points.GetNumTimeSamples() == len(motion.times)
    assert same_places(np.array(points.Get(points.GetTimeSamples()[-1])), wanted)
