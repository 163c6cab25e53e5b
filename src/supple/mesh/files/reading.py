"""Reading solids from files."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from supple.core.errors import MeshError
from supple.core.types import Ints
from supple.mesh.files.common import (
    VOLUMES,
    Found,
    assemble,
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
from supple.mesh.quadratic import QuadraticTetMesh
from supple.mesh.tet import TetMesh

# Labels that programs write for the cells of a file, and the prefix under which we write masks.
_LABELS = ("gmsh:physical", "medit:ref", "region", "regions", "material", "PhysicalIds")
REGION = "region:"


def read_mesh(path: str | os.PathLike[str]) -> TetMesh | QuadraticTetMesh | HexMesh:
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
