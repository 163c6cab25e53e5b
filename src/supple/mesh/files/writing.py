"""Writing solids to files."""

from __future__ import annotations

import contextlib
import os
import urllib.parse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from supple.core.errors import InputError, MeshError
from supple.core.files import replacing
from supple.mesh.checks import MeshWarning, names
from supple.mesh.files.common import silenced
from supple.mesh.files.formats import CELL_NAMES, MESH_FORMATS, WRITTEN_MESHES
from supple.mesh.files.reading import REGION
from supple.mesh.files.vega import writable, write_vega
from supple.mesh.volume import VolumeMesh

_MODULE = {".msh": "gmsh", ".vtk": "vtk", ".vtu": "vtu", ".mesh": "medit"}


def write_mesh(mesh: VolumeMesh, path: str | os.PathLike[str]) -> None:
    """Write a mesh; the file appears whole or not at all.

    By ending: .msh (gmsh 2.2, regions as physical groups), .vtk and .vtu (a mask for each
    region), .mesh (medit, regions as numbers), .veg (Vega: sets and materials; linear tets and
    bricks only). A MeshWarning tells of what a format cannot hold: overlapping regions, their
    names or their properties.
    """
    if not isinstance(mesh, VolumeMesh):
        raise InputError(
            f"mesh is a {type(mesh).__name__}; write_mesh writes solids, write_surface a Surface"
        )
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in WRITTEN_MESHES:
        known = ", ".join(WRITTEN_MESHES)
        raise InputError(f"{file}: write_mesh does not know {ending or 'no ending'}; use {known}")
    if mesh.cell_nodes == 10 and not MESH_FORMATS[ending].quadratic:
        able = ", ".join(e for e in WRITTEN_MESHES if MESH_FORMATS[e].quadratic)
        raise MeshError(f"a {ending} file holds linear tets and bricks; use one of {able}")
    with replacing(file) as temporary, _writing(file):
        if ending == ".veg":
            write_vega(mesh, temporary)
        else:
            _through_meshio(mesh, ending, temporary)
    for loss in _losses(mesh, ending):
        warnings.warn(f"{file}: {loss}", MeshWarning, stacklevel=2)


@contextlib.contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Failures name the file that was asked for, not the one it is written under at first."""
    try:
        yield
    except MeshError:
        raise
    except OSError as error:
        raise MeshError(f"{target} cannot be written: {error.strerror or error}") from error
    except ValueError as error:
        reason = " ".join(str(error).split())[:200]
        raise MeshError(f"{target} cannot be written as {target.suffix}: {reason}") from error


def _losses(mesh: VolumeMesh, ending: str) -> Iterator[str]:
    """What a file with this ending does not keep of a mesh."""
    kept = MESH_FORMATS[ending]
    if not kept.overlapping and mesh.regions:
        members = np.concatenate(list(mesh.regions.values()))
        shared = int(np.count_nonzero(np.bincount(members, minlength=mesh.n_cells) > 1))
        if shared:
            yield f"{ending} files hold one region a cell; {shared} cells in several keep the first"
        left = set(mesh.region_numbers().tolist())
        gone = [name for i, name in enumerate(mesh.regions, 1) if i not in left]
        if gone:
            yield f"left out regions that no cell has as its first: {names(dict.fromkeys(gone))}"
    named = [(i, name) for i, name in enumerate(mesh.regions, 1) if name != str(i)]
    if not kept.names and named:
        numbered = ", ".join(f"{name!r} became {i}" for i, name in named)
        yield f"{ending} files hold no names of regions, only numbers: {numbered}"
    lost = {
        name: values
        for name, values in mesh.properties.items()
        if values and not (kept.properties and writable(values))
    }
    if lost and kept.properties:
        yield (
            f"left out the properties of {names(lost)}: a material of a {ending} file has "
            "density, young and poisson, all three and no others"
        )
    elif lost:
        yield f"{ending} files hold no properties of regions; left out those of {names(lost)}"


def _through_meshio(mesh: VolumeMesh, ending: str, file: Path) -> None:
    import meshio

    cells = [(CELL_NAMES[mesh.cell_nodes], mesh.cells)]
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
        labels = mesh.region_numbers()
        data = {"gmsh:physical": [labels], "gmsh:geometrical": [np.ones_like(labels)]}
        groups = {name: np.array([i, 3]) for i, name in enumerate(mesh.regions, 1)}
        made = meshio.Mesh(mesh.vertices, cells, cell_data=data, field_data=groups)
    else:
        data = {"medit:ref": [mesh.region_numbers()]}
        made = meshio.Mesh(mesh.vertices, cells, cell_data=data)
    module = getattr(meshio, _MODULE[ending])
    options = {"fmt_version": "2.2", "binary": True} if ending == ".msh" else {}
    try:
        with silenced():
            module.write(str(file), made, **options)
    except meshio.WriteError as error:
        raise ValueError(f"{error}") from error
