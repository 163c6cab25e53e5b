"""Woven cloth in the formats of others: curves, tubes and lines."""

from xml.etree import ElementTree

import meshio
import numpy as np
import pygltflib
import pytest
import trimesh
from tests.io.conftest import stage_of
from tests.io.gltf.test_motion import Glb

import supple as sp
from supple.io import export_motion
from supple.io.surfaces import moving_surface
from supple.yarns import Weave, WovenCloth, Yarn, YarnCurves, YarnMotion, YarnNet

RADII = (2e-4, 1.5e-4)
FRAMES = 5


@pytest.fixture(scope="module")
def woven():
    """A patch that waves."""
    net = YarnNet.patch(5, 6, spacing=1e-3, weave=Weave.twill(2, 1))
    warp, weft = (Yarn(radius=r, linear_density=1e-4, stretch=1.0, bending=1e-8) for r in RADII)
    mesh = WovenCloth(net, warp=warp, weft=weft).mesh
    x = mesh.vertices
    times = 0.1 * np.arange(FRAMES)
    u = np.zeros((FRAMES, *x.shape))
    u[..., 2] = 1e-3 * np.sin(700 * x[:, 0] + 6 * times[:, None])
    zero, three = np.zeros(FRAMES), np.zeros((FRAMES, 3))
    return YarnMotion(
        mesh, times, u, zero, zero, zero, zero, three, three,
        arc_lengths=np.tile(mesh.arc_lengths, (FRAMES, 1, 1)),
    )  # fmt: skip


def test_usd_has_curves_through_the_crossings(woven, tmp_path):
    geometry = pytest.importorskip("pxr.UsdGeom")
    stage = stage_of(woven, tmp_path / "cloth.usda")
    curves = YarnCurves(woven.mesh, samples=1)
    for family, name in enumerate(("warp", "weft")):
        prim = geometry.BasisCurves(stage.GetPrimAtPath(f"/World/body/{name}"))
        assert (prim.GetTypeAttr().Get(), prim.GetBasisAttr().Get()) == ("cubic", "catmullRom")
        assert prim.GetWrapAttr().Get() == "pinned"
        assert list(prim.GetCurveVertexCountsAttr().Get()) == [(6, 5)[family]] * (5, 6)[family]
        assert list(prim.GetWidthsAttr().Get()) == pytest.approx([2 * RADII[family]])
        assert prim.GetWidthsInterpolation() == "constant"
        assert prim.GetPointsAttr().GetTimeSamples() == list(range(FRAMES))
        for i in range(FRAMES):
            x = curves.points(woven.positions[i])[curves.point_families == family]
            points = np.array(prim.GetPointsAttr().Get(i))
            np.testing.assert_allclose(points, x, atol=1e-8)
            low, high = np.array(prim.GetExtentAttr().Get(i))
            np.testing.assert_allclose(low, x.min(axis=0) - RADII[family], atol=1e-8)
            np.testing.assert_allclose(high, x.max(axis=0) + RADII[family], atol=1e-8)


def test_usd_has_tubes_if_wanted(woven, tmp_path):
    geometry = pytest.importorskip("pxr.UsdGeom")
    stage = stage_of(woven, tmp_path / "cloth.usdc", sides=8, samples=2, name="cloth")
    counts = []
    for name in ("warp", "weft"):
        mesh = geometry.Mesh(stage.GetPrimAtPath(f"/World/cloth/{name}"))
        points = np.array(mesh.GetPointsAttr().Get(2))
        faces = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
        assert sp.Surface(points, faces).is_closed
        counts.append(len(points))
    assert counts == [8 * 5 * 11, 8 * 6 * 9]


def test_glb_has_tubes_of_each_family(woven, tmp_path):
    report = export_motion(woven, tmp_path / "cloth.glb", sides=6, samples=3)
    assert report.targets > 0
    assert report.met
    diagonal = np.linalg.norm(np.ptp(woven.positions[0], axis=0))
    assert report.tolerance == pytest.approx(1e-3 * diagonal, rel=0.2)  # tubes are wider
    glb = Glb(tmp_path / "cloth.glb")
    document = glb.document
    assert [node.name for node in document.nodes[1:]] == ["warp", "weft"]
    assert [material.name for material in document.materials] == ["warp", "weft"]
    assert [channel.target.node for channel in document.animations[0].channels] == [1, 2]
    curves = YarnCurves(woven.mesh, 3)
    warps = np.repeat(curves.point_families, 6) == 0
    for i in range(FRAMES):
        wanted = curves.tubes(woven.positions[i], 6)[warps]
        shown = glb.base + np.tensordot(glb.weights[i], glb.shapes, 1)
        # A viewer's vertices are those of the tubes, in an order of its own.
        gap = np.linalg.norm(np.sort(shown, axis=0) - np.sort(wanted, axis=0), axis=1)
        assert gap.max() < 2e-5
    assert len(trimesh.load(tmp_path / "cloth.glb").geometry) == 2


def test_glb_has_lines_where_tubes_are_too_much(woven, tmp_path, monkeypatch):
    tubes = export_motion(woven, tmp_path / "tubes.glb")
    lines = export_motion(woven, tmp_path / "lines.glb", sides=0)
    assert lines.bytes < 0.2 * tubes.bytes
    document = pygltflib.GLTF2().load(str(tmp_path / "lines.glb"))
    assert [mesh.primitives[0].mode for mesh in document.meshes] == [pygltflib.LINES] * 2
    monkeypatch.setattr("supple.io.gltf.motion._HEAVY", 1000)
    assert export_motion(woven, tmp_path / "lines.glb").bytes == lines.bytes


def test_paraview_gets_lines_with_a_radius(woven, tmp_path):
    export_motion(woven, tmp_path / "cloth.pvd")
    listed = ElementTree.parse(tmp_path / "cloth.pvd").getroot().findall("Collection/DataSet")
    assert len(listed) == FRAMES
    curves = YarnCurves(woven.mesh)
    frame = meshio.read(tmp_path / listed[3].get("file"))
    np.testing.assert_allclose(frame.points, curves.points(woven.positions[3]), atol=1e-12)
    np.testing.assert_array_equal(frame.cells_dict["line"], curves.lines)
    np.testing.assert_array_equal(frame.point_data["radius"], np.take(RADII, curves.point_families))
    assert set(frame.cell_data_dict["region"]["line"].tolist()) == {1, 2}


def test_obstacles_go_with_yarns(woven, tmp_path):
    ball = sp.Sphere(radius=1e-3, centre=(0, 0, -2e-3))
    export_motion(woven, tmp_path / "cloth.glb", obstacles=ball)
    document = Glb(tmp_path / "cloth.glb").document
    assert [node.name for node in document.nodes[1:]] == ["warp", "weft", "obstacle_1"]
    assert document.meshes[2].primitives[0].material == 2


def test_very_many_yarns_are_drawn_as_a_sheet(woven, monkeypatch):
    fine = moving_surface(woven)
    assert fine.round
    assert len(fine.rest) > 6 * woven.mesh.n_vertices
    monkeypatch.setattr("supple.io.yarn_surfaces._MANY", 100)
    coarse = moving_surface(woven)
    assert len(coarse.triangles) == 2 * 4 * 5
    np.testing.assert_array_equal(coarse.positions, woven.positions)
    assert sp.Surface(coarse.rest, coarse.triangles).normals()[:, 2].min() > 0.99
    assert coarse.colors.shape == (30, 3)
