"""From the checked fields of a scene file to the objects that it describes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from supple.bodies.cloth import Bending, Cloth, HingeBending, QuadraticBending, StrainLimit
from supple.bodies.mass import ConsistentMass, LumpedMass
from supple.bodies.solid import Body
from supple.bodies.supports import HeldComponents, Support
from supple.builtin import BUILTINS, Solid
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.io.scene.schema import SELECTORS, SHEETS, Problems, guess
from supple.materials import Material
from supple.mesh import (
    Embedding,
    HexMesh,
    Mesh,
    SheetMesh,
    TetMesh,
    VolumeMesh,
    read_mesh,
    read_sheet,
    read_surface,
    read_vertex_list,
)

Fields = Mapping[str, Any]
M = TypeVar("M", bound=Mesh)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A sheet of cloth, or the crossings of a woven one, with named places on it, but no skin."""

    mesh: Mesh
    places: Mapping[str, Ints] = field(default_factory=dict)
    skin: None = None
    colors: None = None


@dataclass(frozen=True, eq=False)
class Load:
    """A force (n, 3) [N] that acts from ``start`` until before ``end`` [s]."""

    force: Floats
    start: float
    end: float


def build_mesh(
    plan: Fields, problems: Problems, recorded: VolumeMesh | None = None
) -> Solid | Sheet:
    """The solid or the sheet of a body, where it starts. Raises InputError.

    Where a surface is to be filled with tets, those of ``recorded``, if given, are taken.
    """
    if set(SHEETS) & set(plan["mesh"]):
        return _build_sheet(plan, problems)
    return _build_solid(plan, problems, recorded)


def _build_solid(plan: Fields, problems: Problems, recorded: VolumeMesh | None) -> Solid:
    """The mesh with its regions, and its skin."""
    given = plan["mesh"]
    scale = float(given.get("scale", 1.0))
    if recorded is not None and "surface" in given:
        made = Solid(_corner_tets(recorded))
    else:
        made = _put(_source(given, scale), plan)
    mesh = made.mesh
    if given.get("quadratic", False):
        if not isinstance(mesh, TetMesh):
            raise InputError(
                f"quadratic = true needs linear tets, and this is a {type(mesh).__name__}"
            )
        mesh = mesh.quadratic()
    mesh = _with_regions(mesh, given, problems)
    skin, colors = made.skin, made.colors
    if "skin" in given:
        surface = read_surface(given["skin"])
        surface = dataclasses.replace(surface, vertices=put(surface.vertices, plan))
        skin, colors = Embedding(mesh, surface), None
    elif skin is not None and skin.mesh is not mesh:
        skin = Embedding(mesh, skin.surface)
    return Solid(mesh, skin, colors, made.places)


def _build_sheet(plan: Fields, problems: Problems) -> Sheet:
    """The sheet with its pattern and its regions."""
    given = plan["mesh"]
    if "grid" in given:
        size, cells = given["grid"]["size"], given["grid"]["cells"]
        mesh = SheetMesh.grid(tuple(size), tuple(cells)).scaled(given.get("scale", 1.0))
    else:
        mesh = sheet_of(given["sheet"], given, cut=given.get("pattern") == "uv")
    mesh = dataclasses.replace(mesh, vertices=placed(mesh.vertices, given))
    mesh = mesh.scaled(plan.get("scale", 1.0))
    mesh = dataclasses.replace(mesh, vertices=placed(mesh.vertices, plan))
    return Sheet(_with_regions(mesh, given, problems))


def sheet_of(file: Path, given: Fields, *, cut: bool) -> SheetMesh:
    """The sheet in a file, scaled, with its texture coordinates as the pattern if it is ``cut``."""
    mesh = read_sheet(file, pattern=cut)
    if mesh.pattern is not None:
        mesh = dataclasses.replace(mesh, pattern=given.get("uv_scale", 1.0) * mesh.pattern)
    return mesh.scaled(given.get("scale", 1.0))


def placed(points: Floats, given: Fields) -> Floats:
    """Points (n, 3) [m], turned about the origin and shifted as a table says."""
    from scipy.spatial.transform import Rotation  # slow to import

    if "rotation" in given:
        points = points @ Rotation.from_rotvec(given["rotation"]).as_matrix().T
    return points + np.array(given["position"]) if "position" in given else points


def put(points: Floats, plan: Fields) -> Floats:
    """Points (n, 3) [m] of the file of a solid, where the tables of the body have them."""
    scale = plan["mesh"].get("scale", 1.0) * plan.get("scale", 1.0)
    return placed(scale * points, plan)


def _put(made: Solid, plan: Fields) -> Solid:
    """A solid of a world, larger, turned and shifted as the table of the body says."""
    if not {"scale", "rotation", "position"} & set(plan):
        return made
    mesh = made.mesh.scaled(plan.get("scale", 1.0))
    mesh = dataclasses.replace(mesh, vertices=placed(mesh.vertices, plan))
    if made.skin is None:
        return dataclasses.replace(made, mesh=mesh)
    surface = made.skin.surface.scaled(plan.get("scale", 1.0))
    surface = dataclasses.replace(surface, vertices=placed(surface.vertices, plan))
    return dataclasses.replace(made, mesh=mesh, skin=Embedding(mesh, surface))


def _with_regions(mesh: M, given: Fields, problems: Problems) -> M:
    for name, box in given.get("regions", {}).items():
        with problems.noting(f"mesh.regions.{name}"):
            if name in mesh.regions:
                raise InputError("the mesh has a region of that name; choose another")
            mesh = mesh.with_region(name, mesh.cells_where(**box))
    return mesh


def _corner_tets(mesh: VolumeMesh) -> TetMesh:
    """The tets without regions that a recorded mesh was made of; middle nodes come last."""
    corners = mesh.cells[:, :4]
    return TetMesh(mesh.vertices[: corners.max() + 1], corners)


def _source(given: Fields, scale: float) -> Solid:
    if "file" in given:
        return Solid(read_mesh(given["file"]).scaled(scale))
    if "box" in given:
        box = dict(given["box"])
        kind: type[HexMesh] | type[TetMesh] = HexMesh if box.pop("bricks", False) else TetMesh
        return Solid(kind.box(**box).scaled(scale))
    if "surface" in given:
        surface = read_surface(given["surface"]).scaled(scale)
        return Solid(TetMesh.from_surface(surface, given.get("edge"), epsilon=given.get("epsilon")))
    if "voxels" in given:
        surface = read_surface(given["voxels"]).scaled(scale)
        mesh = HexMesh.voxelize(surface, given["resolution"], fill=given.get("fill", True))
        return Solid(mesh, Embedding(mesh, surface))
    options = {"resolution": given["resolution"]} if "resolution" in given else {}
    made = BUILTINS[given["builtin"]](**options)
    if scale == 1.0:
        return made
    larger = made.mesh.scaled(scale)
    skin = None if made.skin is None else Embedding(larger, made.skin.surface.scaled(scale))
    return dataclasses.replace(made, mesh=larger, skin=skin)


def select(given: Fields, solid: Solid | Sheet) -> Ints | None:
    """The vertices that a support or a load names; None where it names none."""
    used = [key for key in SELECTORS if key in given]
    if not used:
        return None
    chosen = np.ones(solid.mesh.n_vertices, dtype=bool)
    spans = {axis: given[axis] for axis in "xyz" if axis in given}
    sets: list[Ints] = []
    if spans:
        sets.append(solid.mesh.where(**spans, tolerance=given.get("tolerance")))
    if "file" in given:
        sets.append(read_vertex_list(given["file"]))
    if "vertices" in given:
        sets.append(np.asarray(given["vertices"], dtype=np.int64))
    if "place" in given:
        name = given["place"]
        if name not in solid.places:
            known = ", ".join(solid.places) or "none"
            raise InputError(
                f"no place {name!r} on this body{guess(name, solid.places)}; it has: {known}"
            )
        sets.append(solid.places[name])
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


def build_supports(
    plan: Fields, solid: Solid | Sheet, problems: Problems
) -> tuple[Bools | None, tuple[Support, ...]]:
    """Which components are held (n, 3), and what leads others; nothing where something is wrong."""
    before = len(problems.found)
    held = np.zeros((solid.mesh.n_vertices, 3), dtype=bool)
    supports: list[Support] = []
    for i, given in enumerate(plan.get("supports", ())):
        with problems.noting(f"supports[{i}]"):
            ids = select(given, solid)
            if ids is None:
                raise InputError(f"say which vertices: give {', '.join(SELECTORS)}")
            path = _moving(given, ids, solid)
            if path is not None:
                supports.append(path)
            else:
                for axis in given.get("components", "xyz"):
                    held[ids, "xyz".index(axis)] = True
    moving: tuple[Support, ...] = tuple(supports)
    with problems.noting("supports"):
        HeldComponents.of(held, moving, solid.mesh.n_vertices)
    # A body that is not held still tells what is wrong with its materials.
    return (held, moving) if len(problems.found) == before else (None, ())


def build_body(plan: Fields, solid: Solid | Sheet, problems: Problems) -> Body | Cloth:
    """The body or the cloth with its materials and supports, unless something is wrong."""
    before = len(problems.found)
    fixed, moving = build_supports(plan, solid, problems)
    options: dict[str, Any] = {"fixed": fixed, "supports": moving}
    options["mass_model"] = LumpedMass() if plan.get("mass") == "lumped" else ConsistentMass()
    given = plan.get("cloth", {})
    if "strain_limit" in given:
        options["strain_limit"] = StrainLimit(**given["strain_limit"])
    if "bending" in given:
        with problems.noting("cloth.rest_angles"):
            options["bending"] = _bending(given)
    with problems.noting("materials" if "materials" in plan else "material"):
        mesh, material = _materials_of(plan, solid.mesh)
        kind: Any = Cloth if isinstance(mesh, SheetMesh) else Body
        body: Body | Cloth = kind(mesh, material, **options)
    problems.stop(before)
    return body


def _bending(given: Fields) -> Bending:
    if given["bending"] == "hinges":
        return HingeBending(rest_angles=given.get("rest_angles"))
    if "rest_angles" in given:
        raise InputError('quadratic bending is for flat sheets; give bending = "hinges"')
    return QuadraticBending()


def _moving(given: Fields, ids: Ints, solid: Solid | Sheet) -> Support | None:
    if "keyframes" in given:
        keys = given["keyframes"]
        return Support.keyframes(ids, keys["times"], keys["displacements"])
    if "rotation" in given:
        turn = given["rotation"]
        return Support.rotating(ids, solid.mesh.vertices[ids], turn["centre"], turn["rate"])
    if "oscillation" not in given:
        return None
    swing = given["oscillation"]
    amplitude, frequency = np.array(swing["amplitude"]), swing["frequency"]
    if "duration" not in swing:
        return Support.oscillating(ids, amplitude, frequency)
    return _burst(ids, amplitude, frequency, swing["duration"])


def _burst(ids: Ints, amplitude: Floats, frequency: float, duration: float) -> Support:
    """A swing that starts and ends gently: s e with s = sin(ωt) and e = sin²(πt/T) in 0 < t < T."""
    w, p = 2 * np.pi * frequency, np.pi / duration

    def within(path: Callable[[float], float]) -> Callable[[float], Floats]:
        return lambda t: amplitude * path(t) if 0 < t < duration else np.zeros(3)

    def displacement(t: float) -> float:
        return float(np.sin(w * t) * np.sin(p * t) ** 2)

    def velocity(t: float) -> float:  # s′e + s e′ with e′ = p sin(2pt)
        swell = np.sin(p * t) ** 2
        return float(w * np.cos(w * t) * swell + np.sin(w * t) * p * np.sin(2 * p * t))

    def acceleration(t: float) -> float:  # s″e + 2 s′e′ + s e″ with e″ = 2p² cos(2pt)
        sine, cosine = np.sin(w * t), np.cos(w * t)
        return float(
            -w * w * sine * np.sin(p * t) ** 2
            + 2 * w * cosine * p * np.sin(2 * p * t)
            + sine * 2 * p * p * np.cos(2 * p * t)
        )

    return Support(ids, within(displacement), within(velocity), within(acceleration))


def _materials_of(plan: Fields, mesh: M) -> tuple[M, Any]:
    """One material, or one a region; ``[material]`` covers what ``[materials.…]`` leaves."""
    default: Any = plan.get("material")
    if isinstance(default, type) and issubclass(default, Material):
        assert isinstance(mesh, VolumeMesh)
        default = default.from_mesh(mesh)
    named: dict[str, Any] = dict(plan.get("materials", {}))
    if not named:
        if default is None:
            raise InputError(
                "no material; add a table [material] with young and poisson, or from_file = true"
                if isinstance(mesh, VolumeMesh)
                else "no material; add a table [material] with thickness, areal_density and young"
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
    given: Sequence[Fields], body: Body | Cloth, solid: Solid | Sheet, problems: Problems
) -> tuple[Load, ...]:
    """The forces that act on the body, each with its times."""
    loads = []
    for i, load in enumerate(given):
        with problems.noting(f"loads[{i}]"):
            start, end = load.get("start", -np.inf), load.get("end", np.inf)
            if not start < end:
                raise InputError(f"start = {start:g} must come before end = {end:g}")
            ids = select(load, solid)
            if "point" in load:
                if ids is None:
                    raise InputError(f"say which vertices: give {', '.join(SELECTORS)}")
                force = body.point_force(ids, load["point"])
            elif isinstance(body, Cloth):
                raise InputError("tractions and pressure are for solids; give point forces")
            elif "traction" in load:
                force = body.surface_force(ids, load["traction"])
            else:
                force = body.pressure(ids, load["pressure"])
            loads.append(Load(force, start, end))
    return tuple(loads)
