"""Sheets of cloth from files: triangles, with the texture coordinates as the flat pattern."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from supple.core.errors import MeshError
from supple.core.files import replacing
from supple.core.types import Floats
from supple.mesh.files.common import existing
from supple.mesh.files.formats import GLTF, USD
from supple.mesh.files.surfaces import read_surface, read_textured_gltf, read_textured_obj
from supple.mesh.files.usd import read_textured_usd
from supple.mesh.sheet import SheetMesh
from supple.mesh.surface import Surface

_READERS = {
    ".obj": read_textured_obj,
    **dict.fromkeys(GLTF, read_textured_gltf),
    **dict.fromkeys(USD, read_textured_usd),
}


def read_sheet(path: str | os.PathLike[str], *, pattern: bool = False) -> SheetMesh:
    """Read a sheet of triangles, in metres, from any file that ``read_surface`` reads.

    With ``pattern=True``, the texture coordinates of the file are the pattern that the cloth is cut
    from [m]; of .obj, .glb, .gltf and USD files. A pattern in other units is multiplied afterwards:
    ``dataclasses.replace(mesh, pattern=0.01 * mesh.pattern)``.
    """
    file = existing(path)
    if not pattern:
        return SheetMesh.from_surface(read_surface(file))
    ending = file.suffix.lower()
    if ending not in _READERS:
        known = ", ".join(_READERS)
        raise MeshError(f"{file}: texture coordinates are read from {known}, not from {ending}")
    surface, corners = _READERS[ending](file)
    if corners is None:
        raise MeshError(f"{file} has no texture coordinates; leave the pattern out, or unwrap it")
    return _sheet(file, surface, corners)


def write_sheet(mesh: SheetMesh, path: str | os.PathLike[str]) -> None:
    """Write a sheet as ``.obj``, in metres, with its pattern as texture coordinates."""
    if Path(path).suffix.lower() != ".obj":
        raise MeshError(f"cannot write a sheet to {path}: the name must end in .obj")
    lines = ["v {!r} {!r} {!r}".format(*x) for x in mesh.vertices.tolist()]
    if mesh.pattern is None:
        lines += ["f {} {} {}".format(*t) for t in (mesh.cells + 1).tolist()]
    else:
        lines += ["vt {!r} {!r}".format(*x) for x in mesh.pattern.reshape(-1, 2).tolist()]
        seams = mesh.pattern.ndim == 3
        textures = np.arange(mesh.cells.size).reshape(-1, 3) if seams else mesh.cells
        corners = np.stack([mesh.cells, textures], axis=2).reshape(-1, 6) + 1
        lines += ["f {}/{} {}/{} {}/{}".format(*t) for t in corners.tolist()]
    with replacing(path) as temporary:
        temporary.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _sheet(file: Path, surface: Surface, corners: Floats) -> SheetMesh:
    whole, kept = surface.compact()
    flat = np.full((surface.n_vertices, 2), np.nan)
    flat[surface.triangles] = corners
    seamless = np.array_equal(flat[surface.triangles], corners)
    try:
        return SheetMesh(
            whole.vertices, whole.triangles, pattern=flat[kept] if seamless else corners
        )
    except MeshError as error:
        raise MeshError(f"{file}: {error}") from error
