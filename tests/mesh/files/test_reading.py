"""Solids from and to files: round trips, what readers mend, and what they refuse."""

from __future__ import annotations

import builtins
import dataclasses
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import meshio
import numpy as np
import pytest
from tests.mesh.files.sample_files import FORMATS, assert_same, tetgen, usd
from tests.refusals import refused

from supple.core.errors import MeshError, MissingExtra
from supple.mesh import (
    MESH_FORMATS,
    HexMesh,
    MeshWarning,
    QuadraticTetMesh,
    TetMesh,
    read_mesh,
    read_vertex_list,
    write_mesh,
)
from supple.mesh.files.reading import _READERS


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.filterwarnings(r"ignore:.*\.mesh files hold no names:supple.mesh.MeshWarning")
def test_written_mesh_reads_back_the_same(kind, ending, tmp_path):
    mesh = kind.box((1.0, 0.5, 1 / 3), (2, 1, 2)).with_region("left side", [0, 1])
    mesh = mesh.with_region("tip", [3])
    file = tmp_path / f"solid{ending}"
    if kind is QuadraticTetMesh and ending in (".mesh", ".veg"):
        refused("linear tets and bricks", write_mesh, mesh, file, error=MeshError)
        assert not list(tmp_path.iterdir())
        return
    write_mesh(mesh, file)
    again = read_mesh(file)
    assert type(again) is kind
    assert_same(again, mesh)
    names = {"1": "left side", "2": "tip"} if ending == ".mesh" else {}
    regions = {names.get(k, k): v.tolist() for k, v in again.regions.items()}
    assert regions == {"left side": [0, 1], "tip": [3]}
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]


def test_overlapping_regions_survive_where_the_format_can(tmp_path):
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1)).with_region("a", [0, 1]).with_region("b", [1, 2])
    for ending in (".vtk", ".vtu", ".veg"):
        write_mesh(mesh, tmp_path / f"m{ending}")
        assert read_mesh(tmp_path / f"m{ending}").region("b").tolist() == [1, 2]
    with pytest.warns(MeshWarning, match="1 cells in several"):
        write_mesh(mesh, tmp_path / "m.msh")
    assert read_mesh(tmp_path / "m.msh").region("b").tolist() == [2]


@pytest.mark.parametrize(("version", "binary"), [("2.2", False), ("4.1", False), ("4.1", True)])
def test_gmsh_versions_give_the_same_mesh(version, binary, tmp_path, kind):
    mesh = kind.box((1, 1, 1), (1, 2, 1))
    name = {4: "tetra", 8: "hexahedron", 10: "tetra10"}[mesh.cell_nodes]
    # Surface triangles, whose group is not ours, stand beside the cells.
    skin = mesh.boundary()
    blocks = [("triangle", skin.vertex_ids[skin.triangles]), (name, mesh.cells)]
    tags = [np.full(len(data), 7 - k) for k, (_, data) in enumerate(blocks)]
    made = meshio.Mesh(
        mesh.vertices,
        blocks,
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"skin": np.array([7, 2]), "flesh": np.array([6, 3])},
    )
    if version == "4.1":
        entities = np.tile([3, 6], (mesh.n_vertices, 1))
        entities[0] = (2, 7)
        made.point_data["gmsh:dim_tags"] = entities
    file = tmp_path / "solid.msh"
    meshio.gmsh.write(str(file), made, fmt_version=version, binary=binary)
    again = read_mesh(file)
    assert_same(again, mesh)
    assert list(again.regions) == ["flesh"]
    assert len(again.region("flesh")) == mesh.n_cells


def test_gmsh_volumes_may_have_many_groups_or_none(tmp_path):
    file = tmp_path / "two.msh"
    file.write_text(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
        '$PhysicalNames\n2\n3 1 "all of it"\n3 2 "half"\n$EndPhysicalNames\n'
        "$Entities\n0 0 0 2\n1 0 0 0 1 1 1 2 1 2 0\n3 0 0 0 1 1 1 0 0\n$EndEntities\n"
        "$Nodes\n1 5 10 50\n3 1 0 5\n10\n20\n30\n40\n50\n"
        "0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n"
        "$Elements\n2 2 1 2\n3 1 4 1\n1 10 20 30 40\n3 3 4 1\n2 20 30 40 50\n$EndElements\n"
    )
    mesh = read_mesh(file)
    assert mesh.n_cells == 2
    regions = {name: ids.tolist() for name, ids in mesh.regions.items()}
    assert regions == {"all of it": [0], "half": [0]}


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("named", [".node", ".ele"])
def test_tetgen_pair_reads_from_either_name(base, named, tmp_path):
    mesh = TetMesh.box((1, 1, 1), (2, 1, 1))
    again = read_mesh(tetgen(mesh, tmp_path, base).with_suffix(named))
    assert_same(again, mesh)
    assert set(again.regions) == {"1", "2"}


def test_tetgen_second_order_nodes_are_put_in_our_order(tmp_path):
    mesh = QuadraticTetMesh.box((1, 1, 1), (1, 1, 1))
    file = tetgen(mesh, tmp_path)
    other = mesh.cells[:, [0, 1, 2, 3, 9, 7, 4, 5, 8, 6]] + 1
    rows = [f"{i} {' '.join(map(str, c))}" for i, c in enumerate(other.tolist(), 1)]
    file.with_suffix(".ele").write_text("\n".join([f"{mesh.n_cells} 10 0", *rows]))
    np.testing.assert_array_equal(read_mesh(file).cells, mesh.cells)


def test_tetgen_names_the_missing_half(tmp_path):
    file = tetgen(TetMesh.box((1, 1, 1), (1, 1, 1)), tmp_path)
    file.with_suffix(".ele").unlink()
    refused(r"pair\.node needs pair\.ele", read_mesh, file, error=MeshError)


def test_vega_reads_includes_sets_and_materials(tmp_path):
    (tmp_path / "points.txt").write_text("4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")
    file = tmp_path / "one.veg"
    file.write_text(
        "# a comment\n*VERTICES\n*INCLUDE points.txt\n\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n"
        "*SET shell\n*INCLUDE nowhere.txt\n*SET core\n1,\n"
        "*MATERIAL hard\nENU, 1000, 2e6, 0.45\n*REGION\ncore, hard\n*REGION\nshell, hard\n"
    )
    with pytest.warns(MeshWarning, match=r"left out the set 'shell', which nowhere\.txt"):
        mesh = read_mesh(file)
    assert mesh.region("core").tolist() == [0]
    assert mesh.properties == {"core": {"young": 2e6, "poisson": 0.45, "density": 1000.0}}
    write_mesh(mesh, tmp_path / "again.veg")
    assert read_mesh(tmp_path / "again.veg").properties == mesh.properties


def test_vega_that_includes_itself_is_refused(tmp_path):
    file = tmp_path / "loop.veg"
    file.write_text("*INCLUDE loop.veg\n")
    refused("include itself", read_mesh, file, error=MeshError)


def test_vega_names_a_missing_file_it_cannot_do_without(tmp_path):
    file = tmp_path / "lost.veg"
    file.write_text("*VERTICES\n*INCLUDE gone.node\n")
    refused(r"includes gone\.node, which is not there", read_mesh, file, error=MeshError)


def test_usd_tets_are_placed_and_scaled(tmp_path):
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1))
    again = read_mesh(usd(mesh, tmp_path))
    np.testing.assert_allclose(again.vertices, np.add(mesh.vertices, (1, 0, 0)))
    np.testing.assert_array_equal(again.cells, mesh.cells)


def test_usd_names_the_extra_it_needs(tmp_path, monkeypatch):
    file = tmp_path / "solid.usda"
    file.write_text("#usda 1.0\n")
    original = builtins.__import__

    def without(name, *rest, **more):
        if name == "pxr":
            raise ModuleNotFoundError("No module named 'pxr'", name="pxr")
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    refused(r"supple\[usd\]", read_mesh, file, error=MissingExtra)


def test_reader_mends_and_says_so(kind, tmp_path):
    mesh = kind.box((1, 1, 1), (2, 1, 1))
    flip = {4: [0, 2, 1, 3], 10: [0, 2, 1, 3, 6, 5, 4, 7, 9, 8], 8: [4, 5, 6, 7, 0, 1, 2, 3]}
    cells = mesh.cells.copy()
    cells[1] = cells[1][flip[mesh.cell_nodes]]
    vertices = np.vstack([[(9, 9, 9)], mesh.vertices])
    name = {4: "tetra", 8: "hexahedron", 10: "tetra10"}[mesh.cell_nodes]
    meshio.vtu.write(str(tmp_path / "m.vtu"), meshio.Mesh(vertices, [(name, cells + 1)]))
    with pytest.warns(MeshWarning) as told:
        again = read_mesh(tmp_path / "m.vtu")
    words = " ".join(str(one.message) for one in told)
    assert "turned 1 inverted" in words
    assert "dropped 1 vertices" in words
    assert all(one.filename == __file__ for one in told)
    assert_same(again, mesh)


def test_reader_straightens_curved_tets(tmp_path):
    mesh = QuadraticTetMesh.box((1, 1, 1), (1, 1, 1))
    vertices = mesh.vertices.copy()
    vertices[-1] += 0.01
    meshio.vtu.write(str(tmp_path / "m.vtu"), meshio.Mesh(vertices, [("tetra10", mesh.cells)]))
    with pytest.warns(MeshWarning, match="moved 1 middle nodes"):
        again = read_mesh(tmp_path / "m.vtu")
    np.testing.assert_allclose(again.vertices, mesh.vertices, atol=1e-15)


def test_surface_file_points_to_read_surface(tmp_path):
    skin = TetMesh.box((1, 1, 1), (1, 1, 1)).boundary()
    made = meshio.Mesh(skin.vertices, [("triangle", skin.triangles)])
    meshio.vtk.write(str(tmp_path / "s.vtk"), made)
    (tmp_path / "s.obj").write_text("v 0 0 0\n")
    with pytest.raises(MeshError, match=r"volume cells.*export it as \.obj or \.ply"):
        read_mesh(tmp_path / "s.vtk")
    for name in ("s.vtk", "s.obj"):
        with pytest.raises(MeshError, match=rf"{name}.*read_surface.*TetMesh\.from_surface"):
            read_mesh(tmp_path / name)


def test_mixed_cells_are_refused(tmp_path):
    tets, bricks = TetMesh.box((1, 1, 1), (1, 1, 1)), HexMesh.box((1, 1, 1), (1, 1, 1))
    both = meshio.Mesh(tets.vertices, [("tetra", tets.cells), ("hexahedron", bricks.cells)])
    meshio.vtu.write(str(tmp_path / "m.vtu"), both)
    refused(r"m\.vtu mixes hexahedron and tetra", read_mesh, tmp_path / "m.vtu", error=MeshError)


@pytest.mark.parametrize(
    "ending", [*FORMATS, ".node", ".ele", ".usda", ".usdc", ".usd", ".xyz", ""]
)
def test_reader_names_a_file_that_is_no_mesh(ending, tmp_path, capfd):
    file = tmp_path / f"bad{ending}"
    for name in (".node", ".ele"):
        (tmp_path / f"bad{name}").write_bytes(b"")
    refused(r"there is no file|is empty", read_mesh, file, error=MeshError)
    for content in (b"", b"\n\n", b"hello there\n", bytes(range(256)) * 8):
        file.write_bytes(content)
        refused("bad", read_mesh, file, error=MeshError)
    refused("is a folder", read_mesh, tmp_path, error=MeshError)
    assert capfd.readouterr().out == ""


def test_reader_says_it_needs_a_name():
    refused("file name is needed", read_mesh, None)


def test_writer_leaves_the_old_file_when_it_fails(tmp_path, monkeypatch):
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1))
    file = tmp_path / "m.veg"
    file.write_text("precious")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("supple.mesh.files.writing.write_vega", fail)
    refused(r"/m\.veg cannot be written: disk full", write_mesh, mesh, file, error=MeshError)
    assert file.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("ending", FORMATS)
def test_writer_says_what_a_format_loses(ending, tmp_path):
    whole = {"young": 1e5, "poisson": 0.4, "density": 1000.0}
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1))
    mesh = mesh.with_region("a", [0, 1]).with_region("b", [1]).with_region("c", [2])
    mesh = dataclasses.replace(mesh, properties={"a": whole, "c": {"density": 900.0}})
    file = tmp_path / f"m{ending}"
    with pytest.warns(MeshWarning) as caught:
        write_mesh(mesh, file)
    said = " | ".join(str(note.message) for note in caught)
    assert all(note.filename == __file__ for note in caught)
    again = read_mesh(file)
    assert ("'b'" in said) == ("b" not in again.regions)
    assert ("no names" in said) == ("a" not in again.regions)
    properties = {name: dict(of) for name, of in again.properties.items()}
    assert properties == ({"a": whole} if ending == ".veg" else {})
    assert ("properties of 'c'" if ending == ".veg" else "those of 'a', 'c'") in said
    assert ("1 cells in several" in said) == (not MESH_FORMATS[ending].overlapping)


def test_writer_is_silent_where_nothing_is_lost(tmp_path):
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1)).with_region("1", [0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ending in FORMATS:
            write_mesh(mesh, tmp_path / f"m{ending}")


def test_every_format_of_the_table_is_read():
    assert set(_READERS) == set(MESH_FORMATS)


def test_parallel_reading_leaves_printing_and_warnings_as_they_were(tmp_path):
    mesh = TetMesh.box((1, 1, 1), (3, 3, 3))
    files = [tmp_path / f"m{i}.vtu" for i in range(8)]
    for file in files:
        write_mesh(mesh, file)
    before = sys.stdout, sys.stderr, list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        assert all(m.n_cells == mesh.n_cells for m in pool.map(read_mesh, files * 4))
    assert (sys.stdout, sys.stderr, list(warnings.filters)) == before


def test_file_too_large_for_memory_is_not_called_cut_off(tmp_path, monkeypatch):
    file = tmp_path / "m.vtu"
    write_mesh(TetMesh.box((1, 1, 1), (1, 1, 1)), file)

    def fail(_):
        raise MemoryError

    monkeypatch.setattr("meshio.vtu.read", fail)
    refused("does not fit into memory", read_mesh, file, error=MeshError)


def test_writer_names_a_bad_place_or_ending(tmp_path):
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1))
    refused("no folder", write_mesh, mesh, tmp_path / "nowhere" / "m.msh")
    refused(r"does not know \.xyz", write_mesh, mesh, tmp_path / "m.xyz")
    for ending, name in ((".veg", "a,b"), (".msh", 'a"b')):
        with pytest.raises(MeshError, match="cannot be written"):
            write_mesh(mesh.with_region(name, [0]), tmp_path / f"m{ending}")


def test_vertex_list_counts_from_one(tmp_path):
    file = tmp_path / "fixed.bou"
    file.write_text("3,1,\n2\n")
    assert read_vertex_list(file).tolist() == [0, 1, 2]
    for bad in ("0,1", "a", ",", "1.5"):
        file.write_text(bad)
        refused(r"fixed\.bou", read_vertex_list, file, error=MeshError)


@pytest.mark.parametrize(
    ("name", "cells", "volume"),
    [
        ("bar_bar-186.msh", 186, 5.0),
        ("bar_bar-2523.msh", 2523, 5.0),
        ("octocat.msh", 21426, None),
        ("fcd_elephant.msh", 29011, None),
        ("bunny_1124.node", 2510, None),
        ("sphere.ele", 3100, 4.1234),
        ("torus.node", 4130, None),
        ("simpleBridge_resol92-b1.155_enlarged.veg", 1736, None),
        ("turtle-volumetric-heterogeneous.veg", 1185, None),
    ],
)
@pytest.mark.filterwarnings("ignore::supple.mesh.MeshWarning")
def test_asset_loads_with_a_closed_boundary(assets, name, cells, volume):
    mesh = read_mesh(assets / "tets" / name)
    assert mesh.n_cells == cells
    skin = mesh.boundary()
    assert skin.is_closed
    assert skin.volume == pytest.approx(mesh.volume if volume is None else volume, rel=1e-4)


def test_turtle_knows_its_fixed_vertices_and_says_what_is_missing(assets):
    with pytest.warns(MeshWarning, match="left out the set") as told:
        turtle = read_mesh(assets / "tets" / "turtle-volumetric-heterogeneous.veg")
    assert len(told) == 2
    fixed = read_vertex_list(assets / "tets" / "turtle-volumetric.bou")
    assert len(fixed) == 23
    assert fixed.max() < turtle.n_vertices
