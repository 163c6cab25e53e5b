"""Surfaces from files."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.mesh.files.sample_files import damaged
from tests.refusals import refused

from supple.core.errors import MeshError
from supple.mesh import Surface, TetMesh, read_surface

FORMATS = [".obj", ".ply", ".stl", ".glb", ".off"]


def export(surface, file):
    trimesh.Trimesh(surface.vertices, surface.triangles, process=False).export(str(file))
    return file


@pytest.mark.parametrize("ending", FORMATS)
def test_surface_reads_back_closed(ending, tmp_path, sphere):
    again = read_surface(export(sphere, tmp_path / f"ball{ending}"))
    assert again.is_closed
    assert again.n_vertices == sphere.n_vertices
    assert again.volume == pytest.approx(sphere.volume, rel=1e-5)
    if ending not in (".stl", ".glb"):
        np.testing.assert_allclose(again.vertices, sphere.vertices, atol=1e-6)


def test_obj_reads_polygons_and_all_kinds_of_corners(tmp_path):
    file = tmp_path / "cube.obj"
    points = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    lines = [f"v {x} {y} {z} 0.5 0.5 0.5" for x, y, z in points]
    lines += ["vt 0 0", "vn 0 0 1", "usemtl none", "g side # a comment"]
    lines += ["f 1/1/1 3/1/1 4/1/1 2/1/1", "f 5//1 6//1 8//1 7//1", "f -8 -7 -3 -4"]
    lines += ["f 2/1 4/1 8/1 6/1", "f 4 3 7 \\\n 8", "f 3 1 5 7"]
    file.write_text("\n".join(lines))
    cube = read_surface(file)
    assert cube.n_vertices == 8
    assert cube.n_triangles == 12
    assert cube.is_closed
    assert cube.volume == pytest.approx(1.0)


def test_glb_scene_puts_every_part_in_its_place(tmp_path):
    skin = TetMesh.box((1, 1, 1), (1, 1, 1)).boundary()
    part = trimesh.Trimesh(skin.vertices, skin.triangles, process=False)
    scene = trimesh.Scene()
    for k in range(2):
        place = trimesh.transformations.translation_matrix((3 * k, 0, k))
        scene.add_geometry(part, transform=place)
    scene.export(str(tmp_path / "two.glb"))
    both = read_surface(tmp_path / "two.glb")
    assert both.n_triangles == 24
    assert both.volume == pytest.approx(2.0)
    np.testing.assert_allclose(both.bounds, [(0, 0, 0), (4, 1, 2)], atol=1e-6)


def test_usd_polygons_become_triangles(tmp_path):
    pytest.importorskip("pxr", reason="needs the extra usd")
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.CreateNew(str(tmp_path / "square.usda"))
    mesh = UsdGeom.Mesh.Define(stage, "/square")
    mesh.GetPointsAttr().Set([(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0)])
    mesh.GetFaceVertexCountsAttr().Set([4])
    mesh.GetFaceVertexIndicesAttr().Set([0, 1, 2, 3])
    mesh.GetOrientationAttr().Set(UsdGeom.Tokens.leftHanded)
    stage.Save()
    square = read_surface(tmp_path / "square.usda")
    assert square.area == pytest.approx(4.0)
    assert (square.normals()[:, 2] == -1).all()


@pytest.mark.parametrize("ending", [*FORMATS, ".gltf", ".usda", ".usdc", ".msh", ""])
def test_reader_names_a_file_that_is_no_surface(ending, tmp_path):
    file = tmp_path / f"bad{ending}"
    for content in (b"", b"\n\n", b"hello there\n", b"v 0 0 0\n", bytes(range(256)) * 8):
        file.write_bytes(content)
        refused("bad", read_surface, file, error=MeshError)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("f 1 2 4", "vertex 4 of 3"),
        ("f 1 2", "line 4"),
        ("f 0 1 2", "line 4"),
        ("f -4 1 2", "line 4"),
        ("f a b c", "line 4"),
        ("v 1 2", "line 4"),
        ("v 1 2 nan\nf 1 2 3", "not finite"),
        ("# nothing", "no faces"),
    ],
)
def test_obj_names_the_bad_line(line, words, tmp_path):
    file = tmp_path / "bad.obj"
    file.write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{line}\n")
    refused(words, read_surface, file, error=MeshError)


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    skin = TetMesh.box((1, 1, 1), (1, 1, 1)).boundary()
    return folder, {e: export(skin, folder / f"whole{e}").read_bytes() for e in FORMATS}


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_surface_loads_or_raises_mesh_error(whole_files, data):
    folder, files = whole_files
    ending = data.draw(st.sampled_from(FORMATS))
    file = folder / f"cut{ending}"
    file.write_bytes(damaged(data, files[ending]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with contextlib.suppress(MeshError):
            assert isinstance(read_surface(file), Surface)


@pytest.mark.parametrize("name", ["spot.obj", "bob.obj", "cipc_kingkong.obj"])
def test_closed_asset_reads_closed(assets, name):
    surface = read_surface(assets / "surfaces" / name)
    assert surface.is_closed
    assert surface.volume > 0
    if name == "spot.obj":
        assert (surface.n_vertices, surface.n_triangles) == (2930, 5856)


def test_every_obstacle_and_character_loads(assets):
    files = sorted((assets / "surfaces" / "obstacles").iterdir())
    files += [*sorted((assets / "characters").glob("*.glb")), assets / "measured" / "beam.stl"]
    for file in files:
        assert read_surface(file).area > 0, file.name
    assert read_surface(assets / "measured" / "beam.stl").is_closed
    assert read_surface(assets / "characters" / "khronos_Fox.glb").is_closed
