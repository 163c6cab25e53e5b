"""The body of a file or a built-in one: its solid, its material and where it is held."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.bodies.solid import Body
from supple.builtin import BUILTINS, Solid
from supple.core.errors import InputError, Message, Parameter
from supple.core.types import Ints
from supple.materials import MATERIALS, Material
from supple.mesh import (
    Embedding,
    HexMesh,
    Surface,
    TetMesh,
    VolumeMesh,
    read_surface,
    read_vertex_list,
)
from supple.reduction import vibration_modes
from supple.workflows.loading import load_mesh

_VOXELS = 40  # along a surface, where nothing is said
_Y_UP = (".veg", ".obj", ".glb", ".gltf")
_PITCH = 1.5  # [Hz] of the first mode, where no stiffness is known
_POISSON, _DENSITY = 0.4, 1000.0
_BROAD = 0.1  # a lowest layer with more of all vertices than this is no foot


@dataclass(frozen=True, kw_only=True)
class Filling:
    """How a mesh is made of what is named, and how large it is.

    ``edge`` [m] or ``voxels``, along it, fill a surface with tets or bricks; ``resolution`` are the
    bricks along a built-in body; ``scale`` multiplies the lengths of a file; ``skin`` is the file
    of a surface that moves with the body.
    """

    edge: float | None = None
    voxels: int | None = None
    resolution: int | None = None
    scale: float = 1.0
    skin: str | os.PathLike[str] | None = None


def load_solid(mesh: str | os.PathLike[str], how: Filling) -> Solid:
    """The built-in body, mesh or surface that is named, with its skin."""
    path = Path(mesh)
    if str(mesh) in BUILTINS and not path.exists():
        solid = _built_in(str(mesh), how)
    elif path.exists():
        solid = _from_file(path, how)
    else:
        raise InputError(
            f"there is no file {path}, and no built-in body of that name; those are "
            f"{', '.join(BUILTINS)}"
        )
    if how.skin is not None:
        surface = read_surface(how.skin).scaled(how.scale)
        solid = dataclasses.replace(solid, skin=Embedding(solid.mesh, surface))
    return solid


def _built_in(name: str, how: Filling) -> Solid:
    if how.edge is not None or how.voxels is not None or how.scale != 1.0:
        raise InputError(
            Parameter("edge"), ", ", Parameter("voxels"), " and ", Parameter("scale"),
            f" are for files; {name} is built in, and ", Parameter("resolution"),
            " says how fine it is",
        )  # fmt: skip
    return BUILTINS[name](**({} if how.resolution is None else {"resolution": how.resolution}))


def _from_file(path: Path, how: Filling) -> Solid:
    edge, voxels = Parameter("edge"), Parameter("voxels")
    if how.resolution is not None:
        raise InputError(
            Parameter("resolution"), " is for built-in bodies; a surface takes ", voxels,
            " or ", edge,
        )  # fmt: skip
    loaded = load_mesh(path).scaled(how.scale)
    if not isinstance(loaded, Surface):
        if how.edge is not None or how.voxels is not None:
            raise InputError(f"{path} is a mesh already; ", edge, " and ", voxels, " fill surfaces")
        beside = path.with_suffix(".bou")
        places = {beside.name: _listed(beside, loaded)} if beside.is_file() else {}
        return Solid(loaded, places=places)
    mesh: VolumeMesh
    if how.edge is not None:
        mesh = TetMesh.from_surface(loaded, how.edge)
    else:
        mesh = HexMesh.voxelize(loaded, how.voxels or _VOXELS)
    return Solid(mesh, Embedding(mesh, loaded))


def up_axis(mesh: str | os.PathLike[str], up: str | None = None) -> int:
    """The axis that points up: as said, y for files of programs where it does, else z."""
    if up is not None:
        return "xyz".index(up)
    return 1 if Path(mesh).suffix.lower() in _Y_UP else 2


# -- where it is held ----------------------------------------------------------------------------


def held_vertices(
    solid: Solid, *, fix: Sequence[str] = (), free: bool = False, up: int = 2
) -> tuple[Ints, str]:
    """The vertices that are held, and where that is in words; ``up`` is the axis that does."""
    if free:
        if fix:
            raise InputError(
                Parameter("free", "True"), " holds nothing and ", Parameter("fix"),
                " something; give one of them",
            )  # fmt: skip
        return np.empty(0, dtype=np.int64), "nothing: the body is free"
    if fix:
        sets = [_chosen(solid, text) for text in fix]
        return np.unique(np.concatenate(sets)), ", ".join(fix)
    if solid.places:
        name = next(iter(solid.places))
        return solid.places[name], name
    return _natural(solid.mesh, up)


def _natural(mesh: VolumeMesh, up: int) -> tuple[Ints, str]:
    """The lowest layer or, of a body that lies flat, the two ends of its longest side."""
    lowest, along = layer(mesh, up, "min"), int(np.ptp(mesh.bounds, axis=0).argmax())
    if along == up or len(lowest) <= _BROAD * mesh.n_vertices:
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
    """The vertices that one text names."""
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
        Parameter("fix", text),
        ": give x=min, x=max, x=0.5 or x=0:0.5 (also y and z), a list of vertices (.bou), or a "
        f"place of the body, which here are: {known}",
    )


def _listed(path: Path, mesh: VolumeMesh) -> Ints:
    vertices: Ints = np.unique(read_vertex_list(path))
    if len(vertices) and vertices[-1] >= mesh.n_vertices:
        raise InputError(
            f"{path} names vertex {vertices[-1] + 1}, but the mesh has {mesh.n_vertices}"
        )
    return vertices


# -- what it is made of --------------------------------------------------------------------------


def make_body(
    solid: Solid, held: Ints, kind: type[Material], said: Mapping[str, float], name: str
) -> tuple[Body, Message]:
    """The body of a solid that is called so, and where its stiffness comes from in words.

    ``said`` are those of young, poisson and density that are given.
    """
    constants, source = _constants(solid, kind, said, name)
    fixed = held if len(held) else None
    if "young" in constants:
        return Body(solid.mesh, kind(**constants), fixed=fixed), Message(source)
    trial = Body(solid.mesh, kind(young=1e6, **constants), fixed=fixed)
    first = vibration_modes(trial, trial.free_rigid_motions + 1).frequencies[-1]
    young = float(f"{1e6 * (_PITCH / first) ** 2:.3g}")
    chosen = f"chosen to make it swing at {_PITCH:g} Hz; "
    body = Body(solid.mesh, kind(young=young, **constants), fixed=fixed)
    return body, Message(chosen, Parameter("young"), " to say better")


def material_named(name: str) -> type[Material]:
    """The class of a material, by its name; capitals do not matter."""
    kinds = {model.__name__.lower(): model for model in MATERIALS}
    if name.lower() not in kinds:
        known = ", ".join(model.__name__ for model in MATERIALS)
        raise InputError.of("material", name, f" is none of {known}")
    return kinds[name.lower()]


def _constants(
    solid: Solid, kind: type[Material], said: Mapping[str, float], name: str
) -> tuple[dict[str, Any], str]:
    """Young's modulus, if it is known, Poisson ratio and density."""
    names = ("young", "poisson", "density")
    found: dict[str, Any] = {"poisson": _POISSON, "density": _DENSITY}
    source = "as said"
    known: Material | None = None
    if solid.material is not None:
        known, source = solid.material, f"that of the built-in {name}"
    elif solid.mesh.properties and len(said) < len(names):
        known, source = kind.from_mesh(solid.mesh), f"from {Path(name).name}"
    if known is not None:
        found = {each: getattr(known, each) for each in names}
    return {**found, **said}, "as said" if "young" in said else source
