"""From the checked fields of a scene file to the objects that it describes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.body import Body
from supple.builtin import BUILTINS
from supple.damping import Rayleigh, StiffnessAt
from supple.errors import InputError
from supple.io.scene_fields import SELECTORS
from supple.io.scene_schema import Problems, guess
from supple.mass import ConsistentMass, LumpedMass
from supple.materials import Material
from supple.mesh import (
    Embedding,
    HexMesh,
    Surface,
    TetMesh,
    VolumeMesh,
    read_mesh,
    read_surface,
    read_vertex_list,
)
from supple.supports import Support
from supple.types import Floats, Ints

Fields = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Shape:
    """The solid of a scene and what to draw of it."""

    mesh: VolumeMesh
    skin: Embedding | None = None
    colors: Floats | None = None
    places: Mapping[str, Ints] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Load:
    """A force (n, 3) [N] that acts from ``start`` until before ``end`` [s]."""

    force: Floats
    start: float
    end: float


@contextmanager
def noting(problems: Problems, path: str) -> Iterator[None]:
    """What goes wrong inside becomes a problem of the field ``path``."""
    try:
        yield
    except InputError as error:
        problems.add(path, str(error))


def build_shape(given: Fields, problems: Problems) -> Shape:
    """The mesh with its regions, and its skin. Raises InputError."""
    scale = float(given.get("scale", 1.0))
    shape = _source(given, scale)
    mesh = shape.mesh
    if scale != 1.0 and not ({"surface", "voxels"} & given.keys()):
        mesh = dataclasses.replace(mesh, vertices=scale * mesh.vertices)
    if given.get("quadratic", False):
        if not isinstance(mesh, TetMesh):
            raise InputError(
                f"quadratic = true needs linear tets, and this is a {type(mesh).__name__}"
            )
        mesh = mesh.quadratic()
    for name, box in given.get("regions", {}).items():
        with noting(problems, f"mesh.regions.{name}"):
            if name in mesh.regions:
                raise InputError("the mesh has a region of that name; choose another")
            mesh = mesh.with_region(name, mesh.cells_where(**box))
    skin = shape.skin
    if "skin" in given:
        skin = Embedding(mesh, _scaled(read_surface(given["skin"]), scale))
    elif skin is not None and skin.mesh is not mesh:
        skin = Embedding(mesh, _scaled(skin.surface, scale if "builtin" in given else 1.0))
    colors = None if "skin" in given else shape.colors
    return Shape(mesh, skin, colors, shape.places)


def _source(given: Fields, scale: float) -> Shape:
    if "file" in given:
        return Shape(read_mesh(given["file"]))
    if "box" in given:
        box = dict(given["box"])
        kind: type[HexMesh] | type[TetMesh] = HexMesh if box.pop("bricks", False) else TetMesh
        return Shape(kind.box(**box))
    if "surface" in given:
        surface = _scaled(read_surface(given["surface"]), scale)
        return Shape(TetMesh.from_surface(surface, given.get("edge"), epsilon=given.get("epsilon")))
    if "voxels" in given:
        surface = _scaled(read_surface(given["voxels"]), scale)
        mesh = HexMesh.voxelize(surface, given["resolution"], fill=given.get("fill", True))
        return Shape(mesh, Embedding(mesh, surface))
    options = {"resolution": given["resolution"]} if "resolution" in given else {}
    made = BUILTINS[given["builtin"]](**options)
    return Shape(made.mesh, made.skin, made.colors, made.places)


def _scaled(surface: Surface, scale: float) -> Surface:
    return surface if scale == 1.0 else Surface(scale * surface.vertices, surface.triangles)


def select(given: Fields, shape: Shape) -> Ints | None:
    """The vertices that a support or a load names; None where it names none."""
    used = [key for key in SELECTORS if key in given]
    if not used:
        return None
    chosen = np.ones(shape.mesh.n_vertices, dtype=bool)
    spans = {axis: given[axis] for axis in "xyz" if axis in given}
    sets: list[Ints] = []
    if spans:
        sets.append(shape.mesh.where(**spans, tolerance=given.get("tolerance")))
    if "file" in given:
        sets.append(read_vertex_list(given["file"]))
    if "vertices" in given:
        sets.append(np.asarray(given["vertices"], dtype=np.int64))
    if "place" in given:
        name = given["place"]
        if name not in shape.places:
            known = ", ".join(shape.places) or "none"
            raise InputError(
                f"no place {name!r} on this body{guess(name, shape.places)}; it has: {known}"
            )
        sets.append(shape.places[name])
    for ids in sets:
        if ids.max() >= len(chosen):
            raise InputError(
                f"vertex {ids.max()} is named, but the mesh has vertices 0 to {len(chosen) - 1}"
            )
        here = np.zeros(len(chosen), dtype=bool)
        here[ids] = True
        chosen &= here
    if not chosen.any():
        raise InputError(f"no vertex meets all of {', '.join(used)}")
    return np.flatnonzero(chosen).astype(np.int64)


def build_body(plan: Fields, shape: Shape, problems: Problems) -> Body | None:
    """The body with its materials and supports; None after noting what is wrong."""
    before = len(problems.found)
    held = np.zeros((shape.mesh.n_vertices, 3), dtype=bool)
    supports: list[Support] = []
    for i, given in enumerate(plan.get("supports", ())):
        with noting(problems, f"supports[{i}]"):
            ids = select(given, shape)
            if ids is None:
                raise InputError(f"say which vertices: give {', '.join(SELECTORS)}")
            moving = _moving(given, ids, shape)
            if moving is not None:
                supports.append(moving)
            else:
                for axis in given.get("components", "xyz"):
                    held[ids, "xyz".index(axis)] = True
    mass = LumpedMass() if plan.get("mass") == "lumped" else ConsistentMass()
    body = None
    with noting(problems, "materials" if "materials" in plan else "material"):
        mesh, material = _materials(plan, shape.mesh)
        body = Body(mesh, material, mass_model=mass)
    if body is None or len(problems.found) > before:
        return None
    with noting(problems, "supports"):
        return dataclasses.replace(body, fixed=held, supports=tuple(supports))
    return None


def _moving(given: Fields, ids: Ints, shape: Shape) -> Support | None:
    if "keyframes" in given:
        keys = given["keyframes"]
        return Support.keyframes(ids, keys["times"], keys["displacements"])
    if "rotation" in given:
        turn = given["rotation"]
        return Support.rotating(ids, shape.mesh.vertices[ids], turn["centre"], turn["rate"])
    if "oscillation" not in given:
        return None
    swing = given["oscillation"]
    amplitude, frequency = np.array(swing["amplitude"]), swing["frequency"]
    if "duration" not in swing:
        return Support.oscillating(ids, amplitude, frequency)
    return Support(ids, _burst(amplitude, frequency, swing["duration"]))


def _burst(amplitude: Floats, frequency: float, duration: float) -> Callable[[float], Floats]:
    """A swing that starts and ends gently: sin(2πft) sin²(πt/T) while 0 < t < T, then still."""

    def motion(t: float) -> Floats:
        if not 0 < t < duration:
            return np.zeros(3)
        envelope = np.sin(np.pi * t / duration) ** 2
        moved: Floats = amplitude * (envelope * np.sin(2 * np.pi * frequency * t))
        return moved

    return motion


def _materials(plan: Fields, mesh: VolumeMesh) -> tuple[VolumeMesh, Any]:
    """One material, or one a region; ``[material]`` covers what ``[materials.…]`` leaves."""
    default: Any = plan.get("material")
    if isinstance(default, type) and issubclass(default, Material):
        default = default.from_mesh(mesh)
    named: dict[str, Material] = dict(plan.get("materials", {}))
    if not named:
        if default is None:
            raise InputError(
                "no material; add a table [material] with young and poisson, or from_file = true"
            )
        return mesh, default
    left = np.ones(mesh.n_cells, dtype=bool)
    for region in named:
        left[mesh.region(region)] = False
    if not left.any() or default is None:
        return mesh, named
    others = "everything else"
    while others in mesh.regions:
        others += "…"
    return mesh.with_region(others, left), {**named, others: default}


def build_loads(
    given: Sequence[Fields], body: Body, shape: Shape, problems: Problems
) -> tuple[Load, ...]:
    """The forces that act on the body, each with its times."""
    loads = []
    for i, load in enumerate(given):
        with noting(problems, f"loads[{i}]"):
            start, end = load.get("start", -np.inf), load.get("end", np.inf)
            if not start < end:
                raise InputError(f"start = {start:g} must come before end = {end:g}")
            ids = select(load, shape)
            if "point" in load:
                if ids is None:
                    raise InputError(f"say which vertices: give {', '.join(SELECTORS)}")
                force = body.point_force(ids, load["point"])
            elif "traction" in load:
                force = body.surface_force(ids, load["traction"])
            else:
                force = body.pressure(ids, load["pressure"])
            loads.append(Load(force, start, end))
    return tuple(loads)


def build_damping(given: Fields | None, body: Body, problems: Problems) -> Rayleigh | None:
    """Rayleigh damping from coefficients, or from ratios at two frequencies."""
    if given is None:
        return None
    at = StiffnessAt[given.get("stiffness_at", "current").upper()]
    with noting(problems, "damping"):
        if "ratios" in given:
            if "mass" in given or "stiffness" in given:
                raise InputError("give frequencies and ratios, or mass and stiffness, not both")
            (low, high), (first, second) = given["frequencies"], given["ratios"]
            return Rayleigh.from_ratios((low, high), (first, second), at=at)
        damping = Rayleigh(
            mass=given.get("mass", 0.0), stiffness=given.get("stiffness", 0.0), at=at
        )
        for name in ("mass", "stiffness"):
            regions = given.get(name)
            for region in regions if isinstance(regions, dict) else ():
                body.mesh.region(region)
        return damping
    return None
