"""Cloth in the formats of others: both sides are drawn, and the pattern goes out as a texture."""

import numpy as np
import pytest
from tests.io.conftest import make_wobble, stage_of
from tests.io.gltf.test_motion import Glb
from tests.refusals import refused

import supple as sp
from supple.io import export_motion
from supple.io.pictures import Camera, render

FLAT = sp.SheetMesh.grid(size=(1.0, 0.5), cells=(4, 2))


def cut(mesh):
    """The same sheet, its pattern in two pieces."""
    corners = mesh.rest_corners.copy()
    corners[mesh.centroids[:, 0] > 0.5] += (3.0, 0.0)
    return sp.SheetMesh(mesh.vertices, mesh.cells, pattern=corners)


@pytest.fixture(params=[FLAT, cut(FLAT)], ids=["whole", "cut"])
def motion(request):
    return make_wobble(request.param, count=6)


def test_glb_has_the_pattern_of_every_corner(motion, tmp_path):
    export_motion(motion, tmp_path / "sheet.glb")
    glb = Glb(tmp_path / "sheet.glb")
    texture = glb.array(glb.primitive.attributes.TEXCOORD_0)
    assert texture.shape == (len(glb.base), 2)
    shown = texture[glb.triangles] * (1, -1) + (0, 1)
    np.testing.assert_allclose(shown, motion.mesh.rest_corners, atol=1e-6)
    seam = 0 if motion.mesh.pattern.ndim == 2 else 3
    assert len(glb.base) == motion.mesh.n_vertices + seam
    assert glb.document.materials[0].doubleSided


def test_usd_has_the_pattern_of_every_corner(motion, tmp_path):
    geometry = pytest.importorskip("pxr.UsdGeom")
    stage = stage_of(motion, tmp_path / "sheet.usda")
    mesh = geometry.Mesh(stage.GetPrimAtPath("/World/body"))
    assert mesh.GetDoubleSidedAttr().Get()
    st = geometry.PrimvarsAPI(mesh).GetPrimvar("st")
    assert st.GetInterpolation() == "faceVarying"
    again = sp.read_sheet(tmp_path / "sheet.usda", pattern=True)
    np.testing.assert_allclose(again.rest_corners, motion.mesh.rest_corners, atol=1e-6)
    assert again.pattern.ndim == motion.mesh.pattern.ndim


@pytest.mark.parametrize("mesh", [FLAT, cut(FLAT), sp.SheetMesh(FLAT.vertices, FLAT.cells)])
def test_sheets_are_read_as_they_were_written(mesh, tmp_path):
    sp.write_sheet(mesh, tmp_path / "sheet.obj")
    again = sp.read_sheet(tmp_path / "sheet.obj", pattern=mesh.pattern is not None)
    np.testing.assert_array_equal(again.vertices, mesh.vertices)
    np.testing.assert_array_equal(again.cells, mesh.cells)
    if mesh.pattern is not None:
        np.testing.assert_array_equal(again.pattern, mesh.pattern)
    refused("must end in", sp.write_sheet, mesh, tmp_path / "sheet.ply", error=sp.MeshError)


def test_solids_have_no_texture(bar, tmp_path):
    export_motion(make_wobble(bar, count=3), tmp_path / "bar.glb")
    assert Glb(tmp_path / "bar.glb").primitive.attributes.TEXCOORD_0 is None


def test_pictures_light_both_sides_alike():
    """A sheet that faces the camera looks the same when its triangles are turned round."""
    camera = Camera.framing(FLAT.vertices, elevation=80)
    front = render(FLAT.vertices, FLAT.cells, camera, size=(60, 60))
    back = render(FLAT.vertices, FLAT.cells[:, ::-1], camera, size=(60, 60))
    np.testing.assert_array_equal(front, back)
