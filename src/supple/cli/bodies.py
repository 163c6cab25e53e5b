"""The body that the words of a command describe: its solid, its material and where it is held."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from supple import (
    Body,
    Embedding,
    HexMesh,
    InputError,
    Surface,
    TetMesh,
    VolumeMesh,
    read_surface,
    read_vertex_list,
    vibration_modes,
)
from supple.builtin import BUILTINS, Solid
from supple.cli.info import load
from supple.core.types import Ints
from supple.materials import MATERIALS, Material

_VOXELS = 40  # along a surface, where nothing is said
_Y_UP = (".veg", ".obj", ".glb", ".gltf")
_PITCH = 1.5  # [Hz] of the first mode, where no stiffness is known
_POISSON, _DENSITY = 0.4, 1000.0
_BROAD = 0.1  # a lowest layer with more of all vertices than this is no foot


def load_solid(given: argparse.Namespace) -> Solid:
    """The built-in body, mesh or surface that is named, with its skin."""
    path = Path(given.mesh)
    if given.mesh in BUILTINS and not path.exists():
        solid = _built_in(given)
    elif path.exists():
        solid = _from_file(path, given)
    else:
        raise InputError(
            f"there is no file {path}, and no built-in body of that name; those are "
            f"{', '.join(BUILTINS)}"
        )
    if given.skin is not None:
        surface = read_surface(given.skin).scaled(given.scale)
        solid = dataclasses.replace(solid, skin=Embedding(solid.mesh, surface))
    return solid


def _built_in(given: argparse.Namespace) -> Solid:
    if given.edge is not None or given.voxels is not None or given.scale != 1.0:
        raise InputError(
            f"--edge, --voxels and --scale are for files; {given.mesh} is built in, and "
            "--resolution says how fine it is"
        )
    options = {} if given.resolution is None else {"resolution": given.resolution}
    return BUILTINS[given.mesh](**options)


def _from_file(path: Path, given: argparse.Namespace) -> Solid:
    if given.resolution is not None:
        raise InputError("--resolution is for built-in bodies; a surface takes --voxels or --edge")
    loaded = load(path).scaled(given.scale)
    if not isinstance(loaded, Surface):
        if given.edge is not None or given.voxels is not None:
            raise InputError(f"{path} is a mesh already; --edge and --voxels fill surfaces")
        beside = path.with_suffix(".bou")
        places = {beside.name: _listed(beside, loaded)} if beside.is_file() else {}
        return Solid(loaded, places=places)
    mesh: VolumeMesh
    if given.edge is not None:
        mesh = TetMesh.from_surface(loaded, given.edge)
    else:
        mesh = HexMesh.voxelize(loaded, given.voxels or _VOXELS)
    return Solid(mesh, Embedding(mesh, loaded))


def up_axis(given: argparse.Namespace) -> int:
    """The axis that points up: as said, y for files of programs where it does, else z."""
    if given.up is not None:
        return "xyz".index(given.up)
    return 1 if Path(given.mesh).suffix.lower() in _Y_UP else 2


# -- where it is held ----------------------------------------------------------------------------


def held_vertices(solid: Solid, given: argparse.Namespace) -> tuple[Ints, str]:
    """The vertices that are held, and where that is in words."""
    if given.free:
        if given.fix:
            raise InputError("--free holds nothing and --fix something; give one of them")
        return np.empty(0, dtype=np.int64), "nothing: the body is free"
    if given.fix:
        sets = [_chosen(solid, text) for text in given.fix]
        return np.unique(np.concatenate(sets)), ", ".join(given.fix)
    if solid.places:
        name = next(iter(solid.places))
        return solid.places[name], name
    return _natural(solid.mesh, up_axis(given))


def _natural(mesh: VolumeMesh, up: int) -> tuple[Ints, str]:
    """The lowest layer or, of a body that lies flat, the two ends of its longest side."""
    lowest = layer(mesh, up, "min")
    if len(lowest) <= _BROAD * mesh.n_vertices:
        return lowest, f"the lowest layer along {'xyz'[up]}, since nothing was said"
    along = int(np.ptp(mesh.bounds, axis=0).argmax())
    if along == up:
        return lowest, f"the lowest layer along {'xyz'[up]}, since nothing was said"
    ends = np.concatenate([layer(mesh, along, end) for end in ("min", "max")])
    return np.unique(ends), f"both ends along {'xyz'[along]}, since nothing was said"


def layer(mesh: VolumeMesh, axis: int, end: str) -> Ints:
    """The vertices at one end of the mesh, as many as hold it: within half an edge, or more."""
    low, high = mesh.bounds[:, axis]
    edge = float(np.median(mesh.edge_lengths()))
    for edges in (0.5, 1.0, 2.0, 4.0):
        depth = edges * edge
        span = (low, low + depth) if end == "min" else (high - depth, high)
        spans: dict[str, Any] = {"xyz"[axis]: span}
        found = mesh.where(**spans)
        if len(found) >= 3 and _firm(mesh, found):
            break
    return found


def _firm(mesh: VolumeMesh, vertices: Ints) -> bool:
    """Whether these are not all on one line."""
    X = mesh.vertices[vertices]
    sizes = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    return bool(sizes[1] > 1e-3 * mesh.diagonal)


def _chosen(solid: Solid, text: str) -> Ints:
    """The vertices that one --fix names."""
    if text in solid.places:
        return solid.places[text]
    axis, equals, span = text.partition("=")
    if equals and axis in ("x", "y", "z"):
        if span in ("min", "max"):
            return layer(solid.mesh, "xyz".index(axis), span)
        try:
            ends = [float(end) if end else None for end in span.split(":")]
        except ValueError:
            ends = []
        if len(ends) in (1, 2) and ends != [None]:
            where: dict[str, Any] = {axis: ends[0] if len(ends) == 1 else tuple(ends)}
            return solid.mesh.where(**where)
    elif Path(text).is_file():
        return _listed(Path(text), solid.mesh)
    known = ", ".join(repr(place) for place in solid.places) or "none"
    raise InputError(
        f"--fix {text}: give x=min, x=max, x=0.5 or x=0:0.5 (also y and z), a list of vertices "
        f"(.bou), or a place of the body, which here are: {known}"
    )


def _listed(path: Path, mesh: VolumeMesh) -> Ints:
    vertices: Ints = np.unique(read_vertex_list(path))
    if len(vertices) and vertices[-1] >= mesh.n_vertices:
        raise InputError(
            f"{path} names vertex {vertices[-1] + 1}, but the mesh has {mesh.n_vertices}"
        )
    return vertices


# -- what it is made of --------------------------------------------------------------------------


def make_body(solid: Solid, held: Ints, given: argparse.Namespace) -> tuple[Body, str]:
    """The body, and where its stiffness comes from in words."""
    kind = MATERIALS.find(given.material)
    constants, source = _constants(solid, kind, given)
    fixed = held if len(held) else None
    if "young" in constants:
        return Body(solid.mesh, kind(**constants), fixed=fixed), source
    trial = Body(solid.mesh, kind(young=1e6, **constants), fixed=fixed)
    first = vibration_modes(trial, trial.free_rigid_motions + 1).frequencies[-1]
    young = float(f"{1e6 * (_PITCH / first) ** 2:.3g}")
    chosen = f"chosen to make it swing at {_PITCH:g} Hz; --young to say better"
    return Body(solid.mesh, kind(young=young, **constants), fixed=fixed), chosen


def _constants(
    solid: Solid, kind: type[Material], given: argparse.Namespace
) -> tuple[dict[str, Any], str]:
    """Young's modulus, if it is known, Poisson ratio and density."""
    names = ("young", "poisson", "density")
    said = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    found: dict[str, Any] = {"poisson": _POISSON, "density": _DENSITY}
    source = "as said"
    known: Material | None = None
    if solid.material is not None:
        known, source = solid.material, f"that of the built-in {given.mesh}"
    elif solid.mesh.properties and len(said) < len(names):
        known, source = kind.from_mesh(solid.mesh), f"from {Path(given.mesh).name}"
    if known is not None:
        found = {name: getattr(known, name) for name in names}
    return {**found, **said}, "as said" if "young" in said else source
