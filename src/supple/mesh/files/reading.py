"""Reading solids from files."""

from __future__ import annotations

import os
import urllib.parse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from supple.core.errors import MeshError
from supple.core.types import Floats, Ints
from supple.mesh.checks import MeshWarning, within_reach
from supple.mesh.files.common import (
    VOLUMES,
    Found,
    existing,
    guarded,
    labelled,
    one_kind,
    silenced,
    unreadable,
)
from supple.mesh.files.formats import MESH_FORMATS, SURFACE_FORMATS, USD
from supple.mesh.files.gmsh import is_gmsh41, read_gmsh41
from supple.mesh.files.tetgen import read_tetgen
from supple.mesh.files.usd import read_usd_tets
from supple.mesh.files.vega import read_vega
from supple.mesh.hex import HexMesh
from supple.mesh.tet import EDGES, STRAIGHT, QuadraticTetMesh, TetMesh

Solid = TetMesh | QuadraticTetMesh | HexMesh
_KINDS: dict[int, type[Solid]] = {
    kind.cell_nodes: kind for kind in (TetMesh, QuadraticTetMesh, HexMesh)
}

# Labels that programs write for the cells of a file, and the prefix under which we write masks.
_LABELS = ("gmsh:physical", "medit:ref", "region", "regions", "material", "PhysicalIds")
REGION = "region:"


def read_mesh(path: str | os.PathLike[str]) -> Solid:
    """Read tets, quadratic tets or bricks; coordinates are taken as metres.

    By ending: .msh (gmsh 2.2 and 4.1), .vtk, .vtu, .mesh (medit), .node or .ele (a TetGen pair,
    either named), .veg (Vega), .usd, .usda, .usdc (extra ``usd``; scaled to metres where the
    stage names its unit). Physical groups, region attributes and sets become ``regions``;
    materials of .veg become ``properties``. Points, lines and triangles in the file are passed
    over. A MeshWarning tells of unused vertices dropped, inverted cells turned round, and sets
    left out.
    """
    file = existing(path)
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        advice = f"one of {', '.join(MESH_FORMATS)}"
        if file.suffix.lower() in SURFACE_FORMATS:
            advice = "read_surface for surfaces, or TetMesh.from_surface to fill one with tets"
        raise MeshError(
            f"{file}: read_mesh does not know {file.suffix or 'no ending'}; use {advice}"
        )
    return assemble(file, reader(file))


def assemble(file: Path, found: Found) -> Solid:
    """Check and clean what was found, saying what was mended."""
    kind = _KINDS[found.cells.shape[1]]
    vertices = np.asarray(found.vertices, dtype=np.float64)
    try:
        whole = len(found.cells) and 0 <= found.cells.min() <= found.cells.max() < len(vertices)
        if whole and within_reach(vertices[found.cells]):  # if not, what follows says so
            if kind is QuadraticTetMesh:
                vertices = _straightened(file, vertices, found.cells)
            turned = int(np.count_nonzero(kind.inverted(vertices, found.cells)))
            if turned:
                _mended(f"{file}: turned {turned} inverted cells round")
        mesh = kind.cleaned(vertices, found.cells, found.regions, found.properties)
    except MeshError as error:
        raise MeshError(f"{file}: {error}") from error
    dropped = len(vertices) - mesh.n_vertices
    if dropped:
        _mended(f"{file}: dropped {dropped} vertices that no cell uses")
    return mesh


def _straightened(file: Path, vertices: Floats, cells: Ints) -> Floats:
    middles = vertices[cells[:, EDGES]].mean(axis=2)
    moved = np.linalg.norm(vertices[cells[:, 4:]] - middles, axis=2)
    length = np.linalg.norm(
        vertices[cells[:, EDGES[:, 1]]] - vertices[cells[:, EDGES[:, 0]]], axis=2
    )
    curved = np.unique(cells[:, 4:][moved > STRAIGHT * length])
    if len(curved):
        _mended(f"{file}: moved {len(curved)} middle nodes onto straight edges")
    straight = vertices.copy()
    straight[cells[:, 4:]] = middles
    return straight


def _mended(what: str) -> None:
    warnings.warn(what, MeshWarning, stacklevel=4)


def _through_meshio(module: str) -> Callable[[Path], Found]:
    def read(file: Path) -> Found:
        import meshio

        with guarded(file, meshio.ReadError):
            with silenced():
                found = getattr(meshio, module).read(str(file))
            return _volume_cells(file, found)

    return read


def _read_gmsh(file: Path) -> Found:
    return read_gmsh41(file) if is_gmsh41(file) else _through_meshio("gmsh")(file)


def _volume_cells(file: Path, mesh: Any) -> Found:
    """The volume cells of a meshio mesh, with their regions."""
    kinds = {block.type for block in mesh.cells if len(block.data)}
    kind = one_kind(file, kinds)
    blocks = [k for k, block in enumerate(mesh.cells) if block.type == kind]
    cells = np.concatenate([np.asarray(mesh.cells[k].data) for k in blocks]).astype(np.int64)
    if cells.ndim != 2 or cells.shape[1] != VOLUMES[kind]:
        raise unreadable(file, f"its {kind} cells have shape {cells.shape}")
    return Found(np.asarray(mesh.points, dtype=np.float64), cells, _regions(mesh, blocks))


def _regions(mesh: Any, blocks: list[int]) -> dict[str, Ints]:
    regions: dict[str, Ints] = {}
    names = {int(value[0]): name for name, value in mesh.field_data.items() if value[1] == 3}
    for key, data in mesh.cell_data.items():
        values = np.concatenate([np.asarray(data[k]) for k in blocks])
        if values.ndim != 1 or (values != values.astype(np.int64)).any():
            continue
        if key.startswith(REGION):
            regions[urllib.parse.unquote(key[len(REGION) :])] = np.flatnonzero(values)
        elif key in _LABELS:
            regions.update(labelled(values.astype(np.int64), names))
    return regions


_READERS: dict[str, Callable[[Path], Found]] = {
    ".msh": _read_gmsh,
    ".vtk": _through_meshio("vtk"),
    ".vtu": _through_meshio("vtu"),
    ".mesh": _through_meshio("medit"),
    ".node": read_tetgen,
    ".ele": read_tetgen,
    ".veg": read_vega,
    **dict.fromkeys(USD, read_usd_tets),
}
