"""Meshes as a JSON-ready header and named arrays, for the project's own files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from ..errors import InputError
from .hex import HexMesh
from .quadratic import QuadraticTetMesh
from .tet import TetMesh
from .volume import VolumeMesh

_MESHES: dict[str, type[VolumeMesh]] = {
    cls.__name__: cls for cls in (TetMesh, QuadraticTetMesh, HexMesh)
}


def describe_mesh(mesh: VolumeMesh) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What ``mesh_of`` makes the same mesh of."""
    name = type(mesh).__name__
    if _MESHES.get(name) is not type(mesh):
        raise InputError(f"a {name} cannot be kept in a file; use one of {', '.join(_MESHES)}")
    header = {
        "mesh": name,
        "regions": list(mesh.regions),
        "properties": {region: dict(values) for region, values in mesh.properties.items()},
    }
    regions = {f"region {i}": cells for i, cells in enumerate(mesh.regions.values())}
    return header, {"vertices": mesh.vertices, "cells": mesh.cells, **regions}


def mesh_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> VolumeMesh:
    """The mesh that was described; InputError where the description is not of one."""
    try:
        return _MESHES[header["mesh"]](
            arrays["vertices"],
            arrays["cells"],
            {name: arrays[f"region {i}"] for i, name in enumerate(header["regions"])},
            header["properties"],
        )
    except InputError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"its header does not describe a mesh ({error!r})") from error
