"""Meshes as a JSON-ready header and named arrays, for the project's own files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from numpy.typing import NDArray

from supple.core.errors import InputError
from supple.mesh.base import Mesh
from supple.mesh.floating import FloatingMesh
from supple.mesh.group import MeshGroup
from supple.mesh.hex import HexMesh
from supple.mesh.reduced import ReducedMesh
from supple.mesh.rigid import RigidMesh
from supple.mesh.sheet import SheetMesh
from supple.mesh.springs import SpringMesh
from supple.mesh.tet import QuadraticTetMesh, TetMesh
from supple.mesh.volume import VolumeMesh
from supple.mesh.woven import WovenMesh
from supple.mesh.yarns import YarnMesh

_KINDS: dict[str, type[Mesh]] = {
    kind.__name__: kind
    for kind in (
        TetMesh,
        QuadraticTetMesh,
        HexMesh,
        RigidMesh,
        ReducedMesh,
        FloatingMesh,
        SpringMesh,
        SheetMesh,
        YarnMesh,
        WovenMesh,
    )
}


def describe_mesh(mesh: Mesh) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What ``mesh_of`` makes the same mesh of."""
    kind = type(mesh)
    if isinstance(mesh, MeshGroup):
        parts = [describe_mesh(part) for part in mesh.parts]
        arrays = {f"{i} {name}": a for i, (_, own) in enumerate(parts) for name, a in own.items()}
        headers = [header for header, _ in parts]
        return {"mesh": kind.__name__, "parts": headers, "names": list(mesh.names)}, arrays
    if _KINDS.get(kind.__name__) is not kind:
        kinds = ", ".join(_KINDS)
        raise InputError(f"a {kind.__name__} cannot be kept in a file; use one of {kinds}")
    header: dict[str, Any] = {"mesh": kind.__name__, "regions": list(mesh.regions)}
    if isinstance(mesh, VolumeMesh):
        header["properties"] = {name: dict(values) for name, values in mesh.properties.items()}
    arrays = {"vertices": mesh.vertices, "cells": mesh.cells}
    arrays |= {f"region {i}": cells for i, cells in enumerate(mesh.regions.values())}
    own = {word: getattr(mesh, name) for name, word in _own_arrays(kind)}
    return header, arrays | {word: array for word, array in own.items() if array is not None}


def mesh_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Mesh:
    """The mesh that was described; InputError where the description is not of one."""
    try:
        if header["mesh"] == MeshGroup.__name__:
            parts = [_part_of(i, header, arrays) for i in range(len(header["parts"]))]
            return MeshGroup.of(parts, header.get("names", ()))
        kind = _KINDS[header["mesh"]]
        regions = {name: arrays[f"region {i}"] for i, name in enumerate(header["regions"])}
        solid = {"properties": header["properties"]} if issubclass(kind, VolumeMesh) else {}
        own = {
            name: arrays[word]
            for name, word in _own_arrays(kind)
            if word in arrays or word != "pattern"  # not every sheet has one
        }
        return kind(arrays["vertices"], arrays["cells"], regions, **solid, **own)
    except InputError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"its header does not describe a mesh ({error!r})") from error


def _part_of(number: int, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Mesh:
    mark = f"{number} "
    own = {name.removeprefix(mark): a for name, a in arrays.items() if name.startswith(mark)}
    return mesh_of(header["parts"][number], own)


def _own_arrays(kind: type[Mesh]) -> list[tuple[str, str]]:
    """What springs, sheets and yarns have beside vertices and cells: fields, and names in files."""
    return [(each.name, each.name.replace("_", " ")) for each in fields(kind) if each.kw_only]
