"""USD stages: tet meshes and surfaces, in metres where the stage says its unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.core.errors import MeshError, MissingExtra
from supple.core.types import Floats, Ints
from supple.mesh.files.common import Found, guarded
from supple.mesh.polygons import fan
from supple.mesh.surface import Surface


def read_usd_tets(file: Path) -> Found:
    """All TetMesh prims of a stage as one mesh; each is a region if there are several."""
    with guarded(file):
        stage, usd_geom = open_stage(file)
        prims = [usd_geom.TetMesh(p) for p in stage.Traverse() if p.IsA(usd_geom.TetMesh)]
        if not prims:
            surfaces = any(p.IsA(usd_geom.Mesh) for p in stage.Traverse())
            advice = "it holds surfaces: read_surface reads them" if surfaces else "it has no mesh"
            raise MeshError(f"{file} holds no UsdGeomTetMesh; {advice}")
        vertices: list[Floats] = []
        cells: list[Ints] = []
        regions: dict[str, Ints] = {}
        start = count = 0
        for prim in prims:
            points = _points(stage, usd_geom, prim)
            tets = np.array(prim.GetTetVertexIndicesAttr().Get() or [], np.int64).reshape(-1, 4)
            if len(tets) and not 0 <= tets.min() <= tets.max() < len(points):
                raise MeshError(f"{file}: {prim.GetPath()} names a vertex that it does not have")
            vertices.append(points)
            cells.append(tets + start)
            name = prim.GetPrim().GetName()
            regions[name if name not in regions else str(prim.GetPath())] = np.arange(
                count, count + len(tets)
            )
            start, count = start + len(points), count + len(tets)
    return Found(np.concatenate(vertices), np.concatenate(cells), regions if len(prims) > 1 else {})


def read_usd_surface(file: Path) -> Surface:
    """All Mesh prims of a stage, and the skins of its TetMesh prims, as one surface."""
    return read_textured_usd(file)[0]


def read_textured_usd(file: Path) -> tuple[Surface, Floats | None]:
    """The same, and the primvar "st" at the corners of triangles (t, 3, 2) if all have it."""
    with guarded(file):
        stage, usd_geom = open_stage(file)
        vertices: list[Floats] = []
        triangles: list[Ints] = []
        textures: list[Floats | None] = []
        start = 0
        for prim in stage.Traverse():
            if prim.IsA(usd_geom.Mesh):
                mesh = usd_geom.Mesh(prim)
                points = _points(stage, usd_geom, mesh)
                counts = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
                corners = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], np.int64)
                if counts.sum() != len(corners) or (counts < 3).any():
                    raise MeshError(f"{file}: the faces of {mesh.GetPath()} are damaged")
                if len(corners) and not 0 <= corners.min() <= corners.max() < len(points):
                    raise MeshError(f"{file}: {mesh.GetPath()} names a vertex it does not have")
                parts = fan(points[corners], counts, np.arange(len(corners)))
                faces, texture = corners[parts], _texture(usd_geom, mesh, corners)
                texture = None if texture is None else texture[parts]
            elif prim.IsA(usd_geom.TetMesh):
                mesh = usd_geom.TetMesh(prim)
                points = _points(stage, usd_geom, mesh)
                faces = np.array(
                    mesh.GetSurfaceFaceVertexIndicesAttr().Get() or [], np.int64
                ).reshape(-1, 3)
                texture = None
            else:
                continue
            if mesh.GetOrientationAttr().Get() == usd_geom.Tokens.leftHanded:
                faces = faces[:, ::-1]
                texture = None if texture is None else texture[:, ::-1]
            textures.append(texture)
            vertices.append(points)
            triangles.append(faces + start)
            start += len(points)
        if not any(len(faces) for faces in triangles):
            raise MeshError(f"{file} holds no surface")
        surface = Surface(np.concatenate(vertices), np.concatenate(triangles))
        known = [texture for texture in textures if texture is not None]
        return surface, np.concatenate(known) if len(known) == len(textures) else None


def _texture(usd_geom: Any, mesh: Any, corners: Ints) -> Floats | None:
    """Texture coordinates of the corners of a prim's faces, (c, 2)."""
    given = usd_geom.PrimvarsAPI(mesh).GetPrimvar("st")
    values = np.array((given.ComputeFlattened() if given else None) or [], dtype=np.float64)
    if len(values) == len(corners) and given.GetInterpolation() == usd_geom.Tokens.faceVarying:
        return values.reshape(-1, 2)
    if len(values) > corners.max(initial=-1):
        at: Floats = values.reshape(-1, 2)[corners]
        return at
    return None


def open_stage(file: Path) -> tuple[Any, Any]:
    """A stage, and pxr.UsdGeom."""
    try:
        from pxr import Tf, Usd, UsdGeom
    except ImportError as error:
        raise MissingExtra("reading USD files", "usd") from error
    try:
        return Usd.Stage.Open(str(file)), UsdGeom
    except Tf.ErrorException as error:
        raise MeshError(f"{file} cannot be read as USD; is it damaged or cut off?") from error


def _points(stage: Any, usd_geom: Any, mesh: Any) -> Floats:
    """Vertices of a prim in the frame of the stage [m]."""
    from pxr import Usd

    given = mesh.GetPointsAttr()
    points = given.Get() or given.Get(Usd.TimeCode.EarliestTime()) or []
    local = np.array(points, dtype=np.float64).reshape(-1, 3)
    matrix = np.array(usd_geom.XformCache().GetLocalToWorldTransform(mesh.GetPrim()))
    placed: Floats = local @ matrix[:3, :3] + matrix[3, :3]
    return metres_of(stage, usd_geom) * placed


def metres_of(stage: Any, usd_geom: Any) -> float:
    """The unit of a stage [m], one where it says none."""
    if not usd_geom.StageHasAuthoredMetersPerUnit(stage):
        return 1.0
    return float(usd_geom.GetStageMetersPerUnit(stage))
