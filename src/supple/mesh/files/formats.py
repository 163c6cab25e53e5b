"""Every format of meshes and surfaces, by the ending of the file's name."""

from __future__ import annotations

from dataclasses import dataclass

USD = (".usd", ".usda", ".usdc")
"""Endings of stages, which may hold solids, surfaces or both."""

GLTF = (".glb", ".gltf")

CELL_NAMES = {4: "tetra", 8: "hexahedron", 10: "tetra10"}
"""VTK's and meshio's name of a solid cell, by its number of nodes."""


@dataclass(frozen=True)
class MeshFormat:
    """What a format of solids keeps.

    ``written``: whether write_mesh writes it; and, if so, whether it keeps ``quadratic`` tets, the
    ``names`` of regions, ``overlapping`` regions, and ``properties`` of regions.
    """

    written: bool = False
    quadratic: bool = False
    names: bool = False
    overlapping: bool = False
    properties: bool = False


@dataclass(frozen=True)
class SurfaceFormat:
    """A format of surfaces: whether write_surface writes it, and whether it repeats vertices.

    A ``split`` format has a vertex again where its normal or texture differs, or for every
    triangle.
    """

    written: bool = False
    split: bool = False


_VTK = MeshFormat(written=True, quadratic=True, names=True, overlapping=True)

MESH_FORMATS = {
    ".msh": MeshFormat(written=True, quadratic=True, names=True),
    ".vtk": _VTK,
    ".vtu": _VTK,
    ".mesh": MeshFormat(written=True),
    ".veg": MeshFormat(written=True, names=True, overlapping=True, properties=True),
    ".node": MeshFormat(),
    ".ele": MeshFormat(),
    **dict.fromkeys(USD, MeshFormat()),
}
"""Every format that read_mesh reads."""

SURFACE_FORMATS = {
    ".obj": SurfaceFormat(written=True),
    ".ply": SurfaceFormat(written=True),
    ".stl": SurfaceFormat(written=True, split=True),
    ".glb": SurfaceFormat(written=True, split=True),
    ".gltf": SurfaceFormat(split=True),
    ".off": SurfaceFormat(),
    **dict.fromkeys(USD, SurfaceFormat()),
}
"""Every format that read_surface reads."""

WRITTEN_MESHES = tuple(ending for ending, kept in MESH_FORMATS.items() if kept.written)
WRITTEN_SURFACES = tuple(ending for ending, kept in SURFACE_FORMATS.items() if kept.written)
