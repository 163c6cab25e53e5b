"""Motions of several bodies in the formats of others: each body by itself, rigid ones as such."""

import numpy as np
import pytest
from tests.io.conftest import stage_of
from tests.io.gltf.test_motion import Glb
from tests.refusals import refused

import supple as sp
from supple.dynamics.motion import Motion
from supple.io import export_motion
from supple.io.report.look import PAINT, Look, Run, Shown
from supple.io.shown_bodies import PALETTE, SpringBars, shown_bodies
from supple.io.surfaces import moving_bodies
from supple.mesh import MeshGroup, RigidMesh, SpringMesh

BLOCK = sp.TetMesh.box(size=(1.0, 1.0, 1.0), cells=(1, 1, 1))
BALL = RigidMesh.of(sp.Box(size=(0.4, 0.2, 0.2), centre=(3.0, 0.0, 0.0)).surface())
SHEET = sp.SheetMesh.grid(size=(1.0, 1.0), cells=(2, 2))
ROPE = SpringMesh.chain((5, 0, 0), (5, 0, 1), 3)
NAMES = ("block", "my ball", "sheet", "rope")
TIMES = np.linspace(0, 1, 6)


@pytest.fixture
def world():
    """A block that is stretched, a ball that turns about z as it goes up, a sheet and a rope."""
    group = MeshGroup.of([BLOCK, BALL, SHEET, ROPE], NAMES)
    frames = []
    for t in TIMES:
        turn = np.array([(np.cos(t), -np.sin(t), 0), (np.sin(t), np.cos(t), 0), (0, 0, 1)])
        arms = BALL.vertices - (3, 0, 0)
        u = [
            0.2 * t * BLOCK.vertices * (0, 0, 1),
            arms @ turn.T + (3, 0, t) - BALL.vertices,
            0.1 * np.sin(t) * SHEET.vertices[:, [0]] * (0, 0, 1),
            0.3 * t * t * ROPE.vertices[:, [2]] * (0, 1, 0),
        ]
        frames.append(np.concatenate(u))
    none, momenta = 4 * [np.zeros(len(TIMES))], 2 * [np.zeros((len(TIMES), 3))]
    return Motion(group, TIMES, np.array(frames), *none, *momenta)


def test_names_are_kept_with_the_motion(world, tmp_path):
    world.save(tmp_path / "world.motion")
    again = sp.read_motion(tmp_path / "world.motion")
    assert again.mesh.names == NAMES
    assert [each.name for each in shown_bodies(again)] == list(NAMES)
    np.testing.assert_array_equal(again.displacements, world.displacements)
    assert MeshGroup.of([BLOCK, ROPE]).names == ("body 0", "body 1")


def test_poses_of_a_rigid_mesh_are_those_it_was_given(world):
    R, c = BALL.poses(world.displacements[:, 8:12])
    np.testing.assert_allclose(R[:, 0, 0], np.cos(TIMES), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(R), 1.0)
    placed = np.einsum("tij,sj->tsi", R, BALL.skin_vertices) + c[:, None]
    np.testing.assert_allclose(placed, BALL.points.moved(world.displacements[:, 8:12]), atol=1e-12)


def test_glb_has_a_node_for_each_body(world, tmp_path):
    report = export_motion(world, tmp_path / "world.glb", obstacles=sp.Plane())
    assert report.met
    glb = Glb(tmp_path / "world.glb")
    nodes = {node.name: k for k, node in enumerate(glb.document.nodes)}
    assert set(NAMES) < set(nodes)
    paths = {
        (glb.document.nodes[channel.target.node].name, channel.target.path)
        for channel in glb.document.animations[0].channels
    }
    moving = {("my ball", "rotation"), ("my ball", "translation")}
    assert paths == moving | {(name, "weights") for name in ("block", "sheet", "rope")}
    paints = {material.name for material in glb.document.materials}
    assert paints == {*NAMES, "obstacle"}


def test_usd_has_a_prim_for_each_body(world, tmp_path):
    geometry = pytest.importorskip("pxr.UsdGeom")
    stage = stage_of(world, tmp_path / "world.usda")
    kinds = {p.GetName(): p.GetTypeName() for p in stage.GetPrimAtPath("/World").GetChildren()}
    assert kinds == {"block": "Mesh", "my_ball": "Mesh", "sheet": "Mesh", "rope": "BasisCurves"}
    ball = geometry.Xformable(stage.GetPrimAtPath("/World/my_ball"))
    matrix = np.array(ball.GetLocalTransformation(5.0))
    np.testing.assert_allclose(matrix[2, 2], 1.0)
    np.testing.assert_allclose(matrix[0, 0], np.cos(1.0))
    points = geometry.Mesh(stage.GetPrimAtPath("/World/block")).GetPointsAttr().Get(5.0)
    assert np.array(points)[:, 2].max() == pytest.approx(1.2)


def test_pvd_numbers_the_bodies(world, tmp_path):
    meshio = pytest.importorskip("meshio")
    export_motion(world, tmp_path / "world.pvd")
    last = meshio.read(tmp_path / "world_frames" / "frame_00005.vtu")
    found = {block.type: set(numbers) for block, numbers in
             zip(last.cells, last.cell_data["region"], strict=True)}  # fmt: skip
    assert {1, 2, 3, 4} == set().union(*found.values())
    moved = last.points[8 : 8 + len(BALL.skin_vertices)]
    np.testing.assert_allclose(moved, BALL.points.moved(world.displacements[5, 8:12]), atol=1e-12)


def test_a_skin_is_that_of_the_body_of_its_name(world, tmp_path):
    skin = sp.Embedding(BLOCK, sp.Sphere(centre=(0.5, 0.5, 0.5), radius=0.3).surface())
    export_motion(world, tmp_path / "world.pvd", skin={"block": skin})
    surface = moving_bodies(world, {"block": skin})
    np.testing.assert_array_equal(surface.rest[: skin.surface.n_vertices], skin.surface.vertices)
    refused("no body is called 'blok'", shown_bodies, world, {"blok": skin})
    refused("several bodies; give a table", shown_bodies, world, skin)
    one = Motion(BLOCK, *([getattr(world, name)[:, :8] if name == "displacements" else
                           getattr(world, name) for name in world._rows()]))  # fmt: skip
    refused("but there is one", shown_bodies, one, {"block": skin})


def test_reports_paint_each_body_and_draw_springs_as_bars(world):
    look = Look.of([Run("world", world)], Shown(None, None, None, "z"), size=(40, 40))
    assert {tuple(row) for row in look.colors.tolist()} == set(PALETTE[:4])
    assert PALETTE[0] == PAINT
    bars = SpringBars(ROPE)
    x = bars.at(np.zeros_like(ROPE.vertices))
    assert x.shape == (6 * 4, 3)
    assert bars.triangles.max() == len(x) - 1
    np.testing.assert_allclose(
        np.ptp(x, axis=0), (2 * bars.radius, 2 * bars.radius, 1 + 2 * bars.radius)
    )
    alone = moving_bodies(
        Motion(ROPE, TIMES, world.displacements[:, -4:], *(getattr(world, n) for n in
               ("kinetic", "elastic", "gravitational", "dissipated", "linear_momentum",
                "angular_momentum")))
    )  # fmt: skip
    assert alone.colors is None
    assert alone.positions.shape == (6, 24, 3)
