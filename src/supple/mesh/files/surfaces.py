"""Surfaces, sheets of cloth and lists of vertices from files.

Of a sheet, the texture coordinates are the flat pattern.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from supple.core.errors import MeshError
from supple.core.files import replacing
from supple.core.types import Floats, Ints
from supple.mesh.files.common import existing, guarded, silenced, text, unreadable, whole_numbers
from supple.mesh.files.formats import GLTF, SURFACE_FORMATS, USD
from supple.mesh.files.usd import read_textured_usd
from supple.mesh.sheet import SheetMesh
from supple.mesh.surface import Surface, fan, joined


def read_surface(path: str | os.PathLike[str]) -> Surface:
    """Read triangles; coordinates are taken as metres.

    By ending: .obj, .ply, .off, .stl, .glb, .gltf, .usd, .usda, .usdc (extra ``usd``). Polygons
    become triangles; textures and normals are passed over. A scene's parts are put in their
    places and joined. Vertices keep the order of the file, except that .stl, .glb and .gltf,
    which repeat vertices, are welded.
    """
    file = existing(path)
    ending = file.suffix.lower()
    if ending not in SURFACE_FORMATS:
        known = ", ".join(SURFACE_FORMATS)
        raise MeshError(
            f"{file}: read_surface does not know {ending or 'no ending'}; it reads {known}; "
            "read_mesh(...).boundary() gives the surface of a solid"
        )
    try:
        if ending == ".obj":
            return _textured_obj(file)[0]
        if ending in USD:
            return read_textured_usd(file)[0]
        surface = _through_trimesh(file)[0]
        return surface.welded()[0] if SURFACE_FORMATS[ending].split else surface
    except MeshError as error:
        if str(file) in str(error):
            raise
        raise MeshError(f"{file}: {error}") from error


def read_vertex_list(path: str | os.PathLike[str]) -> Ints:
    """Read vertex indices from a .bou file: numbers from 1, with commas between them.

    Returns them from 0, sorted, each once, (k,).
    """
    file = existing(path)
    ids = np.unique(whole_numbers(file, text(file)))
    if not len(ids) or ids[0] < 1:
        raise MeshError(f"{file} must list vertex numbers from 1, with commas between them")
    return ids - 1


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
    if ending not in _TEXTURED:
        known = ", ".join(_TEXTURED)
        raise MeshError(f"{file}: texture coordinates are read from {known}, not from {ending}")
    surface, corners = _TEXTURED[ending](file)
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


# -- surfaces with texture coordinates ----------------------------------------------------------


def _textured_obj(file: Path) -> tuple[Surface, Floats | None]:
    """The triangles, and the texture coordinates of their corners (t, 3, 2) if all have some."""
    vertices: list[list[float]] = []
    textures: list[list[float]] = []
    corners: list[int] = []
    painted: list[int] = []
    counts: list[int] = []
    lines = text(file).replace("\\\n", " ").splitlines()
    for number, line in enumerate(lines, 1):
        words = line.split("#", 1)[0].split()
        try:
            if words and words[0] == "v":
                vertices.append([float(words[1]), float(words[2]), float(words[3])])
            elif words and words[0] == "vt":
                textures.append([float(words[1]), float(words[2]) if len(words) > 2 else 0.0])
            elif words and words[0] == "f":
                face = [int(word.split("/", 1)[0]) for word in words[1:]]
                if len(face) < 3 or not all(0 < abs(v) <= len(vertices) or v > 0 for v in face):
                    raise ValueError(f"face {' '.join(words[1:5])}")
                # Numbers count from 1, or back from the vertex read last.
                corners += [v - 1 if v > 0 else len(vertices) + v for v in face]
                counts.append(len(face))
                marks = [word.split("/") for word in words[1:]]
                paints = [int(mark[1]) for mark in marks if len(mark) > 1 and mark[1]]
                painted += [k - 1 if k > 0 else len(textures) + k for k in paints]
        except (ValueError, IndexError) as error:
            raise unreadable(file, f"line {number}: {error}") from error
    if not counts:
        raise MeshError(f"{file} holds no faces")
    if max(corners) >= len(vertices):
        raise unreadable(file, f"a face names vertex {max(corners) + 1} of {len(vertices)}")
    points = np.array(vertices, dtype=np.float64)
    if not np.isfinite(points).all():
        raise unreadable(file, "a vertex is not finite")
    ids, last = np.array(corners), len(textures) - 1
    triangles = fan(points[ids], np.array(counts), np.arange(len(ids)))
    surface = Surface(points, ids[triangles])
    if len(painted) != len(corners) or not 0 <= min(painted) <= max(painted) <= last:
        return surface, None
    return surface, np.array(textures)[np.array(painted)][triangles]


def _textured_gltf(file: Path) -> tuple[Surface, Floats | None]:
    """The triangles, welded, and the texture coordinates of their corners, v upwards."""
    surface, textures = _through_trimesh(file, textured=True)
    welded, merged = surface.welded()
    if textures is None:
        return welded, None
    a, b, c = merged[surface.triangles].T
    return welded, textures[surface.triangles[(a != b) & (b != c) & (c != a)]]


def _through_trimesh(file: Path, *, textured: bool = False) -> tuple[Surface, Floats | None]:
    """The triangles, and texture coordinates (n, 2) of vertices where all parts have some."""
    import trimesh

    with guarded(file):
        with silenced():
            loaded: Any = trimesh.load(str(file), process=False, skip_materials=not textured)
            dumped = loaded.dump() if isinstance(loaded, trimesh.Scene) else [loaded]
        parts: list[Any] = [part for part in dumped if len(getattr(part, "faces", ()))]
        if not parts:
            raise MeshError(f"{file} holds no triangles")
        arrays = [
            (np.asarray(p.vertices, np.float64), np.asarray(p.faces, np.int64)) for p in parts
        ]
        textures: list[Any] = [getattr(part.visual, "uv", None) for part in parts]
        painted = textured and all(each is not None for each in textures)
        together = np.concatenate(textures, dtype=np.float64) if painted else None
        return Surface(*joined(arrays)), together


def _sheet(file: Path, surface: Surface, corners: Floats) -> SheetMesh:
    whole, kept = surface.compact()
    flat = np.full((surface.n_vertices, 2), np.nan)
    flat[surface.triangles] = corners
    pattern = flat[kept] if np.array_equal(flat[surface.triangles], corners) else corners
    try:
        return SheetMesh(whole.vertices, whole.triangles, pattern=pattern)
    except MeshError as error:
        raise MeshError(f"{file}: {error}") from error


_TEXTURED = {
    ".obj": _textured_obj,
    **dict.fromkeys(GLTF, _textured_gltf),
    **dict.fromkeys(USD, read_textured_usd),
}
