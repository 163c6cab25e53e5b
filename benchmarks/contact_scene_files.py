"""A reader for the scene files of the Incremental Potential Contact authors' solver."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import supple as sp

RESTING = {"tend": 30.0, "dt": 0.1}
"""Of a scene without time, which asks for what is at rest: backward Euler's method gets there."""
SHEET = sp.IsotropicCloth(young=1e5, poisson=0.3, thickness=1e-3, areal_density=1.0)
"""Of obstacles, which are held; nothing depends on it."""
_NAMES = {
    "sin": np.sin,
    "cos": np.cos,
    "min": np.minimum,
    "max": np.maximum,
    "pi": np.pi,
    "rotate_2D_x": lambda x, y, angle: np.cos(angle) * x - np.sin(angle) * y,
    "rotate_2D_y": lambda x, y, angle: np.sin(angle) * x + np.cos(angle) * y,
}


class NotRead(Exception):
    """What a scene asks for that is not read here."""


def merged(path: Path) -> dict[str, Any]:
    """A scene with what it has in common with others below it."""
    scene: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    common = scene.pop("common", None)
    return _laid_over(merged(path.parent / common), scene) if common else scene


def files_of(path: Path) -> list[Path]:
    """What a scene is read from: its file, those that it has in common with others, and meshes."""
    files, common = [path], path
    while up := json.loads(common.read_text(encoding="utf-8")).get("common"):
        common = common.parent / up
        files.append(common)
    meshes = {path.parent / each["mesh"] for each in merged(path)["geometry"]}
    return [*files, *(each for each in meshes if each.is_file())]


def _laid_over(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        both = {key: _laid_over(below.get(key), value) for key, value in above.items()}
        return below | both
    return above


def field(value: list[Any], X: np.ndarray) -> Callable[[float], np.ndarray]:
    """Three numbers or formulas of t, x, y and z as displacements of vertices X (k, 3) by time."""
    compiled = [compile(str(each), "scene", "eval") for each in value]
    for code in compiled:
        unknown = set(code.co_names) - set(_NAMES) - {"t", "x", "y", "z"}
        if unknown:
            raise NotRead(f"formulas with {', '.join(sorted(unknown))}")

    def at(t: float) -> np.ndarray:
        known = _NAMES | dict(zip("xyz", X.T, strict=True)) | {"t": t, "__builtins__": {}}
        return np.column_stack([np.broadcast_to(eval(c, known), len(X)) for c in compiled])

    return at


def placed(X: np.ndarray, how: dict[str, Any]) -> np.ndarray:
    """Scaled, then turned about one axis of space after the other, then moved."""
    if "dimensions" in how:
        extent = np.ptp(X, axis=0)
        wanted = np.array(how["dimensions"], dtype=float)
        X = X * np.where(extent > 0, wanted / np.where(extent > 0, extent, 1), 1)
    X = X * np.array(how.get("scale", 1.0), dtype=float)
    mode = how.get("rotation_mode", "xyz")
    turn = np.atleast_1d(how.get("rotation", [0.0, 0.0, 0.0]))
    if mode not in ("xyz", "zyx"):
        raise NotRead(f"rotation_mode {mode}")
    angles = [turn["xyz".index(axis)] for axis in mode]
    X = Rotation.from_euler(mode, angles, degrees=True).apply(X)
    return X + np.array(how.get("translation", [0.0, 0.0, 0.0]), dtype=float)


def refined(mesh: sp.TetMesh, times: int) -> sp.TetMesh:
    """Each tetrahedron as eight, over and over."""
    for _ in range(times):
        ends = np.sort(mesh.cells[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]], axis=2)
        edges, place = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True)
        X = np.concatenate([mesh.vertices, mesh.vertices[edges].mean(axis=1)])
        middles = mesh.n_vertices + place.reshape(-1, 6)
        a, b, c, d = mesh.cells.T
        ab, ac, ad, bc, bd, cd = middles.T
        parts = [(a, ab, ac, ad), (ab, b, bc, bd), (ac, bc, c, cd), (ad, bd, cd, d)]
        parts += [(ab, ac, ad, bd), (ab, ac, bd, bc), (ac, ad, bd, cd), (ac, bc, cd, bd)]
        cells = np.stack([np.column_stack(part) for part in parts], axis=1).reshape(-1, 4)
        p = X[cells]
        inside_out = np.linalg.det(p[:, 1:] - p[:, :1]) < 0
        cells[inside_out] = cells[inside_out][:, [0, 1, 3, 2]]
        mesh = sp.TetMesh(X, cells)
    return mesh


def _axis(name: Any) -> tuple[int, int]:
    """The number of an axis, and from which side."""
    if isinstance(name, str):
        return "xyz".index(name.strip("+-")), -1 if name.startswith("-") else 1
    return abs(name) - 1, int(np.sign(name))


def chosen(geometry: dict[str, Any], mesh: Any) -> list[tuple[int, np.ndarray]]:
    """Ids and the vertices that they are given to, of faces and of points."""
    found = []
    surface = mesh.boundary()
    X, lowest, extent = mesh.vertices, mesh.vertices.min(axis=0), np.ptp(mesh.vertices, axis=0)
    ids = surface.vertex_ids[surface.triangles]
    middles = X[ids].mean(axis=1)
    faces = geometry.get("surface_selection", [])
    for each in faces if isinstance(faces, list) else [faces]:
        if isinstance(each, int):
            found.append((each, np.unique(ids)))
            continue
        axis, side = _axis(each["axis"])
        at = each["position"]
        if each.get("relative"):
            at = lowest[axis] + at * extent[axis]
        inside = side * (middles[:, axis] - at) >= 0
        found.append((each["id"], np.unique(ids[inside])))
    for each in geometry.get("point_selection", []):
        low, high = np.array(each["box"], dtype=float)
        inside = ((low <= X) & (high >= X)).all(axis=1)
        found.append((each["id"], np.flatnonzero(inside)))
    return found


@dataclass
class Scene:
    """A scene as a world."""

    bodies: list[sp.Body]
    obstacles: list[sp.Cloth]
    velocities: list[np.ndarray]
    options: dict[str, Any]
    contact: dict[str, Any]
    dt: float
    steps: int
    notes: list[str]

    def simulation(self) -> sp.Simulation:
        """With the distance of the scene where its parts start farther apart."""
        contact = {
            "friction": self.contact.get("friction_coefficient", 0.0),
            "sticking_speed": self.contact.get("epsv", 1e-3),
        }
        given = [*self.bodies, *self.obstacles]
        try:
            own = sp.SelfContact(distance=self.contact.get("dhat", 1e-3), **contact)
            sim = sp.Simulation(given, self_contact=own, **self.options)
        except sp.InputError as refused:
            if "give less" not in str(refused):
                raise
            self.notes.append("distance by Supple: parts start nearer than dhat")
            own = sp.SelfContact(**contact)
            sim = sp.Simulation(given, self_contact=own, **self.options)
        for body, v in zip(self.bodies, self.velocities, strict=True):
            if v.any():
                sim.state_of(body).v = np.tile(v, (body.mesh.n_vertices, 1))
        return sim


def read(path: Path) -> Scene:
    """A scene file."""
    scene = merged(path)
    clock, notes = scene.get("time", RESTING), []
    if "time" not in scene:
        notes.append("asks for rest, without time: steps of 0.1 s for 30 s")
    dt = clock.get("dt") or clock["tend"] / clock["time_steps"]
    boundary = scene.get("boundary_conditions", {})
    moves = boundary.get("dirichlet_boundary", [])
    moves = {each["id"]: each["value"] for each in (moves if isinstance(moves, list) else [moves])}
    pushed = {each["id"]: each["value"] for each in boundary.get("obstacle_displacements", [])}
    begin = scene.get("initial_conditions", {}).get("velocity", [])
    speeds = {each["id"]: np.array(each["value"], dtype=float) for each in begin}
    materials = scene["materials"]
    materials = materials if isinstance(materials, list) else [materials]
    materials = {each.get("id", 0): each for each in materials}
    bodies, obstacles, velocities = [], [], []
    for geometry in scene["geometry"]:
        if geometry.get("enabled", True) is False:
            continue
        file = path.parent / geometry["mesh"]
        if geometry.get("is_obstacle"):
            obstacles.append(_obstacle(file, geometry, pushed))
            continue
        mesh = refined(sp.read_mesh(file), geometry.get("n_refs", 0))
        X = placed(mesh.vertices, geometry.get("transformation", {}))
        kind = geometry.get("volume_selection", 0)
        for offset in _offsets(geometry, np.ptp(X, axis=0)):
            own = type(mesh)(X + offset, mesh.cells)
            supports = []
            for number, vertices in chosen(geometry, own):
                if number in moves and len(vertices):
                    way = field(moves[number], own.vertices[vertices])
                    supports.append(sp.Support(vertices, way))
            bodies.append(_body(own, materials[kind], supports, notes))
            velocities.append(speeds.get(kind, np.zeros(3)))
    options = {
        "integrator": sp.BackwardEuler(),
        "gravity": -np.array(boundary.get("rhs", [0, 0, 0]), dtype=float),
        "dt": dt,
    }
    steps = round(clock["tend"] / dt)
    return Scene(bodies, obstacles, velocities, options, scene["contact"], dt, steps, notes)


def _offsets(geometry: dict[str, Any], extent: np.ndarray) -> list[np.ndarray]:
    array = geometry.get("array")
    if not array:
        return [np.zeros(3)]
    apart = array["offset"] * (extent if array.get("relative") else np.ones(3))
    return [apart * np.array(place) for place in np.ndindex(*array["size"])]


def _body(
    mesh: Any, given: dict[str, Any], supports: list[sp.Support], notes: list[str]
) -> sp.Body:
    law = given
    if given["type"] == "MaterialSum":  # a body has one material
        law = next(model for model in given["models"] if model["type"] == "NeoHookean")
        notes.append("NeoHookean alone of its sum of materials")
    elif given["type"] != "NeoHookean":
        raise NotRead(f"material {given['type']}")
    material = sp.NeoHookean(young=law["E"], poisson=law["nu"], density=given["rho"])
    return sp.Body(mesh, material, supports=supports, mass_model=sp.LumpedMass())


def _obstacle(file: Path, geometry: dict[str, Any], pushed: dict[int, Any]) -> sp.Cloth:
    surface = sp.read_mesh(file).boundary() if file.suffix == ".msh" else sp.read_surface(file)
    X = placed(surface.vertices, geometry.get("transformation", {}))
    sheet = sp.SheetMesh(X, surface.triangles)
    number = geometry.get("surface_selection", 0)
    everything = np.arange(len(X))
    if number in pushed:
        return sp.Cloth(sheet, SHEET, supports=[sp.Support(everything, field(pushed[number], X))])
    return sp.Cloth(sheet, SHEET, fixed=everything)
