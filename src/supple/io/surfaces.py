"""Surfaces on their way to a file: still or in motion, with normals that keep sharp edges sharp."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from supple.core.errors import InputError
from supple.core.files import replacing
from supple.core.types import Floats, Ints
from supple.dynamics.motion import Motion
from supple.io.shown_bodies import ShownBody, Skins, SpringBars, shown_bodies, shown_rows
from supple.io.yarn_surfaces import YarnTubes, sheet_paint
from supple.mesh import (
    WRITTEN_SURFACES,
    Embedding,
    Mesh,
    MeshGroup,
    SheetMesh,
    SpringMesh,
    Surface,
    WovenMesh,
    YarnMesh,
)
from supple.mesh.group import own_surface, points_of
from supple.mesh.surface import area_vectors


@dataclass(frozen=True, eq=False)
class DrawnSurface:
    """What is drawn of a mesh: triangles (t, 3), and vertex positions at rest [m], (s, 3).

    ``moved`` gives positions (…, s, 3) for displacements (…, n, 3) of the mesh. ``colors`` (s, 3)
    are its own, if it has any; ``round`` says that it has no sharp edges; ``textures`` (t, 3, 2)
    are texture coordinates of corners: the pattern of cloth [m].
    """

    triangles: Ints
    rest: Floats
    moved: Callable[[Floats], Floats]
    colors: Floats | None = None
    round: bool = False
    textures: Floats | None = None


@dataclass(frozen=True, eq=False)
class MovingSurface(DrawnSurface):
    """The same with a motion that moves it."""

    motion: Motion = field(kw_only=True)

    def frame(self, index: int) -> Floats:
        """Vertex positions in one frame [m], (s, 3)."""
        return self.moved(self.motion.displacements[index])

    @cached_property
    def positions(self) -> Floats:
        """Vertex positions in every frame [m], (T, s, 3)."""
        return self.moved(self.motion.displacements)


def moving_surface(motion: Motion, skin: Embedding | None = None) -> MovingSurface:
    """The ``drawn_surface`` of a motion's mesh in motion."""
    return MovingSurface(**vars(drawn_surface(motion.mesh, skin)), motion=motion)


def moving_bodies(
    motion: Motion, skin: Skins = None, colors: Mapping[str, Floats] | None = None
) -> MovingSurface:
    """The same of all bodies of a motion together, each in its colour; springs are bars.

    ``colors`` are those of vertices of skins, (s, 3) in 0…1, by the names of bodies.
    """
    if not isinstance(motion.mesh, MeshGroup | SpringMesh | WovenMesh):
        return moving_surface(motion, shown_bodies(motion, skin)[0].skin)
    painted = colors or {}
    parts = [_drawn_body(each, painted.get(each.name)) for each in shown_bodies(motion, skin)]
    rows = shown_rows(motion.mesh)
    counts = np.cumsum([0, *(len(part.rest) for part in parts)])
    triangles = [p.triangles + n for p, n in zip(parts, counts[:-1].tolist(), strict=True)]

    def moved(u: Floats) -> Floats:
        places = [part.moved(u[..., mine, :]) for part, mine in zip(parts, rows, strict=True)]
        return np.concatenate(places, axis=-2)

    own = [part.colors for part in parts if part.colors is not None]
    return MovingSurface(
        np.concatenate(triangles),
        np.concatenate([part.rest for part in parts]),
        moved,
        np.concatenate(own) if own else None,
        motion=motion,
    )


def _drawn_body(body: ShownBody, colors: Floats | None) -> DrawnSurface:
    mesh = body.motion.mesh
    if isinstance(mesh, SpringMesh):
        bars = SpringBars(mesh)
        made = DrawnSurface(bars.triangles, bars.at(np.zeros_like(mesh.vertices)), bars.at)
    else:
        made = drawn_surface(mesh, body.skin)
    if body.color is None or made.colors is not None:
        return made
    paint = np.tile(body.color, (len(made.rest), 1)) if colors is None else colors
    return replace(made, colors=paint)


def drawn_surface(mesh: Mesh, skin: Embedding | None = None) -> DrawnSurface:
    """The boundary of a mesh, a sheet or, if given, the skin embedded in it.

    Of yarns, tubes as fine as a page can play or, of very many, the sheet that they make.
    """
    if skin is not None:
        if len(skin.mesh.vertices) != len(mesh.vertices):
            raise InputError(
                f"the skin is embedded in a mesh of {len(skin.mesh.vertices)} vertices, but this "
                f"one has {len(mesh.vertices)}; embed it in the mesh that moves"
            )
        return DrawnSurface(skin.surface.triangles, skin.surface.vertices, skin.deform)
    if isinstance(mesh, WovenMesh):
        made, count = drawn_surface(mesh.yarns), mesh.crossings
        return replace(made, moved=lambda u: made.moved(u[..., :count, :]))
    if isinstance(mesh, YarnMesh):
        tubes = YarnTubes.light(mesh)
        if tubes is None:
            X, paint = mesh.vertices, sheet_paint(mesh)
            return DrawnSurface(mesh.sheet_triangles, X, lambda u: X + u, paint, round=True)
        rest = tubes.at(np.zeros_like(mesh.vertices))
        return DrawnSurface(tubes.triangles, rest, tubes.at, tubes.paint, round=True)
    textures = None
    surface = own_surface(mesh)
    if isinstance(mesh, SheetMesh):
        textures = None if mesh.pattern is None else mesh.rest_corners
    if surface is None:
        raise InputError(
            f"this needs a surface, which a {type(mesh).__name__} does not have; export_motion "
            "writes .pvd and .glb of it"
        )
    X, ids, points = surface.vertices, surface.vertex_ids, points_of(mesh)
    if points.are_vertices:
        return DrawnSurface(surface.triangles, X, lambda u: X + u[..., ids, :], textures=textures)
    return DrawnSurface(surface.triangles, X, points.only(ids).moved)


@dataclass(frozen=True, eq=False)
class Shading:
    """A surface cut apart along its sharp edges, so that each piece can be shaded smoothly.

    Attributes: ``source`` (v,), the vertex of the whole surface that each cut vertex stands for;
    ``triangles`` (t, 3) into the cut vertices.
    """

    source: Ints
    triangles: Ints
    _faces: Ints
    _around: Any  # sparse (v, t), 1 where a triangle touches a cut vertex

    @classmethod
    def cut(
        cls, rest: Floats, triangles: Ints, crease: float, textures: Floats | None = None
    ) -> Shading:
        """Cuts where the surface at rest [m], (s, 3), bends by more than ``crease`` [degrees].

        And where ``textures`` (t, 3, 2) of the corners on either side of an edge differ.
        """
        if not 0 <= crease <= 180:
            raise InputError(f"crease={crease} must be an angle between 0 and 180 degrees")
        count = len(triangles)
        # Half-edge 3f + k runs from corner k of triangle f to the next one. Sorted by their two
        # ends, those that share an edge become neighbours.
        corner = np.arange(3 * count)
        following = 3 * (corner // 3) + (corner + 1) % 3
        vertex = triangles.ravel()
        low = np.where(vertex < vertex[following], corner, following)
        high = np.where(vertex < vertex[following], following, corner)
        order = np.lexsort((vertex[high], vertex[low]))
        a, b = order[:-1], order[1:]
        unit = _unit(area_vectors(rest, triangles))
        bend = np.einsum("ei,ei->e", unit[a // 3], unit[b // 3])
        joined = (vertex[low[a]] == vertex[low[b]]) & (vertex[high[a]] == vertex[high[b]])
        joined &= bend >= np.cos(np.radians(crease)) - 1e-12
        if textures is not None:
            at = textures.reshape(-1, 2)
            for one, other in ((low[a], low[b]), (high[a], high[b])):
                joined &= (at[one] == at[other]).all(axis=1)
        rows = np.concatenate([low[a[joined]], high[a[joined]]])
        columns = np.concatenate([low[b[joined]], high[b[joined]]])
        links = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(3 * count, 3 * count))
        pieces, label = connected_components(links, directed=False)
        source = np.empty(pieces, dtype=np.int64)
        source[label] = vertex
        around = csr_matrix((np.ones(3 * count), (label, corner // 3)), shape=(pieces, count))
        return cls(source, label.reshape(-1, 3).astype(np.int64), triangles, around)

    def normals(self, positions: Floats) -> Floats:
        """Unit normals of the cut vertices, (v, 3), for surface vertices at [m], (s, 3)."""
        return _unit(self._around @ area_vectors(positions, self._faces))


def write_surface(surface: Surface, path: str | os.PathLike[str]) -> None:
    """Writes a surface as .obj, .ply, .stl or .glb, by the ending of ``path``.

    Coordinates stay as they are, in metres; .ply, .stl and .glb keep single precision, and .stl
    no shared vertices.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in WRITTEN_SURFACES:
        raise InputError(
            f"cannot write a surface to {path}: the name must end in {', '.join(WRITTEN_SURFACES)}"
        )
    import trimesh

    mesh = trimesh.Trimesh(surface.vertices, surface.triangles, process=False)
    # By default .obj has 8 decimals, which is coarse for a body of millimetres.
    options: dict[str, Any] = {"digits": 17} if suffix == ".obj" else {}
    data: Any = mesh.export(file_type=suffix[1:], **options)
    with replacing(path) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


CACHES = (".npz", ".pc2", ".mdd")
"""Endings of files with the vertices of every frame, for programs that move meshes by them."""


def write_vertex_cache(
    path: str | os.PathLike[str], times: Floats, positions: Floats, triangles: Ints
) -> None:
    """Writes ``positions`` (T, n, 3) at ``times`` (T,) [s] by the ending of the name.

    ``.npz`` holds ``times``, ``positions`` in single precision and ``triangles`` (t, 3), for NumPy.
    ``.pc2`` (3ds Max, Maya, Blender) and ``.mdd`` (Blender, Maya, LightWave) hold positions; the
    first needs frames that are evenly spaced.
    """
    suffix = Path(path).suffix.lower()
    frames, vertices = positions.shape[:2]
    if suffix == ".npz":
        with replacing(path) as temporary, open(temporary, "wb") as file:
            single = positions.astype(np.float32)
            np.savez_compressed(file, times=times, positions=single, triangles=triangles)
        return
    if suffix == ".pc2":
        steps = np.diff(times)
        if len(steps) and np.ptp(steps) > 1e-3 * steps.mean():
            raise InputError("a .pc2 file needs evenly spaced frames; give a rate, e.g. 30")
        spacing = float(steps.mean()) if len(steps) else 1.0
        head = struct.pack(
            "<12siiffi", b"POINTCACHE2\0", 1, vertices, float(times[0]), spacing, frames
        )
        body = positions.astype("<f4").tobytes()
    elif suffix == ".mdd":
        head = struct.pack(">ii", frames, vertices) + times.astype(">f4").tobytes()
        body = positions.astype(">f4").tobytes()
    else:
        raise InputError(f"cannot write {path}: a vertex cache ends in {', '.join(CACHES)}")
    with replacing(path) as temporary:
        temporary.write_bytes(head + body)


def _unit(vectors: Floats) -> Floats:
    """Vectors at length 1; where there is none, up."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    up = np.broadcast_to(np.array([0.0, 0.0, 1.0]), vectors.shape)
    unit: Floats = np.divide(vectors, length, out=up.copy(), where=length > 0)
    return unit
