import os
import sys

import numpy as np
import pytest
from tests.refusals import refused

from supple.core.errors import InputError, MissingExtra
from supple.io import export_motion
from supple.mesh import HexMesh, read_mesh, read_surface

pxr = pytest.importorskip("pxr")
from pxr import Sdf, Usd, UsdGeom  # noqa: E402


def stage_of(motion, path, **options):
    """The stage of an exported motion, and the body in it."""
    export_motion(motion, path, **options)
    stage = Usd.Stage.Open(str(path))
    return stage, UsdGeom.Mesh(stage.GetPrimAtPath("/World/body"))


@pytest.mark.parametrize("ending", ["usd", "usda", "usdc"])
def test_points_return_at_each_time_code(motion, tmp_path, ending):
    path = tmp_path / f"bar.{ending}"
    stage, mesh = stage_of(motion, path)
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == pytest.approx(30)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, len(motion) - 1)
    assert mesh.GetPointsAttr().GetTimeSamples() == list(range(len(motion)))
    surface = motion.mesh.boundary()
    indices = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    np.testing.assert_array_equal(indices, surface.triangles)
    for i in (0, 7, len(motion) - 1):
        points = np.array(mesh.GetPointsAttr().Get(i))
        np.testing.assert_allclose(points, motion.positions[i, surface.vertex_ids], atol=1e-6)
        extent = np.array(mesh.GetExtentAttr().Get(i))
        np.testing.assert_array_equal(extent, [points.min(axis=0), points.max(axis=0)])
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("strip", [False, True])
def test_supple_reads_the_first_frame_of_what_it_wrote(motion, tmp_path, strip):
    path = tmp_path / "bar.usda"
    export_motion(motion, path, volume=True)
    if strip:  # as other programs write it: time samples alone
        stage = Usd.Stage.Open(str(path))
        for name in ("body", "body_volume"):
            stage.GetPrimAtPath(f"/World/{name}").GetAttribute("points").ClearDefault()
        stage.Save()
        del stage
    np.testing.assert_allclose(read_mesh(path).vertices, motion.positions[0], atol=1e-6)
    stage = Usd.Stage.Open(str(path))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/body"))
    assert len(mesh.GetExtentAttr().Get()) == 2
    export_motion(motion, tmp_path / "skin.usdc")
    ids = motion.mesh.boundary().vertex_ids
    skin = read_surface(tmp_path / "skin.usdc")
    np.testing.assert_allclose(skin.vertices, motion.positions[0, ids], atol=1e-6)


def test_up_axis_is_told(motion, tmp_path):
    assert UsdGeom.GetStageUpAxis(stage_of(motion, tmp_path / "bar.usda", up="y")[0]) == "Y"
    refused("up='x'", export_motion, motion, tmp_path / "bar.usda", up="x")


def test_what_pxr_cannot_write_names_the_target(motion, tmp_path, monkeypatch):
    from pxr import Tf

    def fails(*_):
        Tf.RaiseCodingError("Failed to open .bar-12ab.usda")

    monkeypatch.setattr("supple.io.usd.motion._write_stage", fails)
    with pytest.raises(InputError, match=r"cannot write .*bar\.usda") as caught:
        export_motion(motion, tmp_path / "bar.usda")
    assert "12ab" not in str(caught.value)


def test_exporting_again_replaces_the_file(motion, tmp_path):
    path = tmp_path / "bar.usda"
    export_motion(motion, path)
    export_motion(motion[:3], path, name="other")
    layer = path.read_text()
    assert 'def Mesh "other"' in layer
    assert "endTimeCode = 2" in layer


def test_stage_is_closed_before_the_file_is_moved(motion, tmp_path, monkeypatch):
    """Windows moves no file that is open."""
    still_open, move = [], os.replace

    def replace(source, target):
        loaded = [layer.realPath for layer in Sdf.Layer.GetLoadedLayers()]
        still_open.extend(path for path in loaded if path.startswith(str(tmp_path)))
        move(source, target)

    monkeypatch.setattr("os.replace", replace)
    export_motion(motion, tmp_path / "bar.usdc", volume=True)
    assert (tmp_path / "bar.usdc").exists()
    assert not still_open


def test_volume_is_right_handed_with_its_surface(motion, tmp_path):
    stage, _ = stage_of(motion, tmp_path / "bar.usdc", volume=True)
    solid = UsdGeom.TetMesh(stage.GetPrimAtPath("/World/body_volume"))
    tets = np.array(solid.GetTetVertexIndicesAttr().Get())
    np.testing.assert_array_equal(tets, motion.mesh.cells)
    assert len(UsdGeom.TetMesh.FindInvertedElements(solid, 0)) == 0
    computed = np.array(UsdGeom.TetMesh.ComputeSurfaceFaces(solid, 0))
    written = np.array(solid.GetSurfaceFaceVertexIndicesAttr().Get())

    def cyclic(faces):
        return {tuple(np.roll(face, -np.argmin(face)).tolist()) for face in faces}

    assert cyclic(computed) == cyclic(written)


def test_uneven_frames_keep_their_times(motion, tmp_path):
    uneven = motion[:8].joined(motion[20:])
    stage, mesh = stage_of(uneven, tmp_path / "bar.usda")
    seconds = np.array(mesh.GetPointsAttr().GetTimeSamples()) / stage.GetTimeCodesPerSecond()
    np.testing.assert_allclose(seconds, uneven.times, atol=1e-6)


def test_one_frame_has_one_time_code(motion, tmp_path):
    stage, _ = stage_of(motion[4:5], tmp_path / "bar.usda")
    assert stage.GetStartTimeCode() == stage.GetEndTimeCode() == 0


def test_what_cannot_be_written_is_refused(motion, wobble, tmp_path):
    bricks = wobble(HexMesh.box(size=(1.0, 0.2, 0.2), cells=(3, 1, 1)), count=2)
    refused("HexMesh", export_motion, bricks, tmp_path / "bar.usda", volume=True)
    refused("name='1 bar'", export_motion, motion, tmp_path / "bar.usda", name="1 bar")
    assert not list(tmp_path.iterdir())


def test_missing_package_names_its_extra(motion, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr", None)
    refused(r"supple\[usd\]", export_motion, motion, tmp_path / "bar.usda", error=MissingExtra)
