"""Writing solids to files."""

from __future__ import annotations

import os
import urllib.parse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import InputError, MeshError
from supple.files import replacing
from supple.mesh.checks import MeshWarning
from supple.mesh.files import guarded
from supple.mesh.reading import REGION
from supple.mesh.vega import write_vega
from supple.mesh.volume import VolumeMesh
from supple.types import Ints

_CELL = {4: "tetra", 8: "hexahedron", 10: "tetra10"}
_MODULE = {".msh": "gmsh", ".vtk": "vtk", ".vtu": "vtu", ".mesh": "medit"}


def write_mesh(mesh: VolumeMesh, path: str | os.PathLike[str]) -> None:
    """Write a mesh; the file appears whole or not at all.

    By ending: .msh (gmsh 2.2, regions as physical groups), .vtk and .vtu (a mask for each
    region), .mesh (medit, regions as numbers), .veg (Vega: sets and materials; linear tets and
    bricks only). A MeshWarning tells of what a format cannot hold.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in (*_MODULE, ".veg"):
        known = ", ".join((*_MODULE, ".veg"))
        raise InputError(f"{file}: write_mesh does not know {ending or 'no ending'}; use {known}")
    if ending == ".mesh" and mesh.cell_nodes == 10:
        raise MeshError("a .mesh file holds linear tets and bricks; use .msh, .vtk or .vtu")
    with replacing(file) as temporary:
        if ending == ".veg":
            write_vega(mesh, temporary)
        else:
            _through_meshio(mesh, ending, temporary)


def _through_meshio(mesh: VolumeMesh, ending: str, file: Path) -> None:
    import meshio

    cells = [(_CELL[mesh.cell_nodes], mesh.cells)]
    made: Any
    if ending in (".vtk", ".vtu"):
        masks = {}
        for name, members in mesh.regions.items():
            mask = np.zeros(mesh.n_cells, dtype=np.int32)
            mask[members] = 1
            masks[REGION + urllib.parse.quote(name, safe="")] = [mask]
        made = meshio.Mesh(mesh.vertices, cells, cell_data=masks)
    elif ending == ".msh":
        for name in mesh.regions:
            if any(letter in name for letter in "\"'\\\n\r"):
                raise MeshError(f"region name {name!r} cannot be written in a .msh file")
        labels = _labels(mesh, ending)
        data = {"gmsh:physical": [labels], "gmsh:geometrical": [np.ones_like(labels)]}
        names = {name: np.array([i, 3]) for i, name in enumerate(mesh.regions, 1)}
        made = meshio.Mesh(mesh.vertices, cells, cell_data=data, field_data=names)
    else:
        data = {"medit:ref": [_labels(mesh, ending)]}
        made = meshio.Mesh(mesh.vertices, cells, cell_data=data)
    with guarded(file, meshio.WriteError):
        module = getattr(meshio, _MODULE[ending])
        if ending == ".msh":
            module.write(str(file), made, fmt_version="2.2", binary=True)
        else:
            module.write(str(file), made)


def _labels(mesh: VolumeMesh, ending: str) -> Ints:
    """One region number a cell, from 1; a cell in several regions is of the first."""
    labels = np.zeros(mesh.n_cells, dtype=np.int32)
    shared = 0
    for number, members in reversed(list(enumerate(mesh.regions.values(), 1))):
        shared += int(np.count_nonzero(labels[members]))
        labels[members] = number
    if shared:
        warnings.warn(
            f"{ending} files hold one region a cell; {shared} cells in several keep the first",
            MeshWarning,
            stacklevel=5,
        )
    return labels.astype(np.int64)
