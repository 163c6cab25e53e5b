"""Meshes as a JSON-ready header and named arrays, for the project's own files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from supple.core.errors import InputError
from supple.mesh.base import Mesh
from supple.mesh.hex import HexMesh
from supple.mesh.quadratic import QuadraticTetMesh
from supple.mesh.sheet import SheetMesh
from supple.mesh.springs import SpringMesh
from supple.mesh.tet import TetMesh
from supple.mesh.volume import VolumeMesh
from supple.mesh.yarns import YarnMesh

_SOLIDS: dict[str, type[VolumeMesh]] = {
    cls.__name__: cls for cls in (TetMesh, QuadraticTetMesh, HexMesh)
}
_SPRINGS, _SHEETS, _YARNS = (cls.__name__ for cls in (SpringMesh, SheetMesh, YarnMesh))


def describe_mesh(mesh: Mesh) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What ``mesh_of`` makes the same mesh of."""
    name = type(mesh).__name__
    header: dict[str, Any] = {"mesh": name, "regions": list(mesh.regions)}
    arrays = {"vertices": mesh.vertices, "cells": mesh.cells}
    arrays |= {f"region {i}": cells for i, cells in enumerate(mesh.regions.values())}
    if isinstance(mesh, VolumeMesh) and _SOLIDS.get(name) is type(mesh):
        properties = {region: dict(values) for region, values in mesh.properties.items()}
        return {**header, "properties": properties}, arrays
    if isinstance(mesh, SpringMesh) and name == _SPRINGS:
        return header, {**arrays, "rest lengths": mesh.rest_lengths}
    if isinstance(mesh, SheetMesh) and name == _SHEETS:
        return header, arrays if mesh.pattern is None else {**arrays, "pattern": mesh.pattern}
    if isinstance(mesh, YarnMesh) and name == _YARNS:
        of_yarns = {"arc lengths": mesh.arc_lengths, "warp on top": mesh.warp_on_top}
        return header, {**arrays, **of_yarns, "radii": mesh.radii}
    kinds = ", ".join([*_SOLIDS, _SPRINGS, _SHEETS, _YARNS])
    raise InputError(f"a {name} cannot be kept in a file; use one of {kinds}")


def mesh_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Mesh:
    """The mesh that was described; InputError where the description is not of one."""
    try:
        vertices, cells = arrays["vertices"], arrays["cells"]
        regions = {name: arrays[f"region {i}"] for i, name in enumerate(header["regions"])}
        if header["mesh"] == _SPRINGS:
            return SpringMesh(vertices, cells, regions, rest_lengths=arrays["rest lengths"])
        if header["mesh"] == _SHEETS:
            return SheetMesh(vertices, cells, regions, pattern=arrays.get("pattern"))
        if header["mesh"] == _YARNS:
            return YarnMesh(
                vertices,
                cells,
                regions,
                arc_lengths=arrays["arc lengths"],
                warp_on_top=arrays["warp on top"],
                radii=arrays["radii"],
            )
        return _SOLIDS[header["mesh"]](vertices, cells, regions, header["properties"])
    except InputError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"its header does not describe a mesh ({error!r})") from error
