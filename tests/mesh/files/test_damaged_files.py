"""Damaged mesh files load, or say what is wrong with them."""

from __future__ import annotations

import contextlib
import warnings

import meshio
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.mesh.files.sample_files import FORMATS, damaged, tetgen, usd
from tests.refusals import refused

from supple.core.errors import MeshError
from supple.mesh import HexMesh, MeshWarning, TetMesh, read_mesh, write_mesh


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory):
    """The bytes of one file of every format."""
    folder = tmp_path_factory.mktemp("whole")
    files = {}
    for kind in (TetMesh, HexMesh):
        mesh = kind.box((1, 1, 1), (1, 1, 2)).with_region("1", [0])
        for ending in FORMATS:
            write_mesh(mesh, folder / f"m{ending}")
            files[kind.__name__ + ending] = (folder / f"m{ending}").read_bytes()
    mesh = TetMesh.box((1, 1, 1), (1, 1, 2))
    for version, binary in (("2.2", False), ("4.1", False), ("4.1", True)):
        made = meshio.Mesh(mesh.vertices, [("tetra", mesh.cells)])
        made.point_data["gmsh:dim_tags"] = np.tile([3, 1], (mesh.n_vertices, 1))
        made.cell_data["gmsh:geometrical"] = [np.ones(mesh.n_cells, int)]
        made.cell_data["gmsh:physical"] = [np.ones(mesh.n_cells, int)]
        meshio.gmsh.write(str(folder / "m.msh"), made, fmt_version=version, binary=binary)
        files[f"gmsh{version}{binary}.msh"] = (folder / "m.msh").read_bytes()
    tetgen(mesh, folder)
    files["pair.node"] = (folder / "pair.node").read_bytes()
    files["pair.ele"] = (folder / "pair.ele").read_bytes()
    return folder, files


def load_or_mesh_error(file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshWarning)
        with contextlib.suppress(MeshError):
            read_mesh(file)


@pytest.mark.parametrize("large", [1e200, float("inf"), float("nan")])
def test_coordinates_beyond_reach_are_named(tmp_path, large):
    path = tmp_path / "far.mesh"
    path.write_text(
        f"MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 1\n{large!r} 1 0 1\n0 1 1 1\n"
        "1 0 0 1\nTetrahedra\n1\n1 2 3 4 1\nEnd\n"
    )
    refused("finite", read_mesh, path, error=MeshError)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_file_loads_or_raises_mesh_error(whole_files, data):
    folder, files = whole_files
    name = data.draw(st.sampled_from(sorted(files)))
    file = folder / name if name.startswith("pair") else folder / f"cut{name[name.rindex('.') :]}"
    file.write_bytes(damaged(data, files[name]))
    try:
        load_or_mesh_error(file)
    finally:
        if name.startswith("pair"):
            file.write_bytes(files[name])


def test_damaged_usd_loads_or_raises_mesh_error(tmp_path):
    for name in ("whole.usda", "whole.usdc"):
        content = usd(TetMesh.box((1, 1, 1), (1, 1, 1)), tmp_path, name).read_bytes()
        for k, cut in enumerate(np.linspace(0, len(content), 12).astype(int)):
            file = tmp_path / f"cut{k}{name[5:]}"
            file.write_bytes(content[:cut])
            load_or_mesh_error(file)
