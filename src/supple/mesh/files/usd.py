"""USD stages: tets, surfaces and their motion, in metres where the stage says its unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.core.errors import MeshError, MissingExtra
from supple.core.types import Floats, Ints
from supple.mesh.files.common import Found, guarded
from supple.mesh.surface import Surface, fan, joined


def read_usd_tets(file: Path) -> Found:
    """All TetMesh prims of a stage as one mesh; each is a region if there are several."""
    with guarded(file):
        stage, usd_geom = _open(file)
        prims = [usd_geom.TetMesh(p) for p in stage.Traverse() if p.IsA(usd_geom.TetMesh)]
        if not prims:
            surfaces = any(p.IsA(usd_geom.Mesh) for p in stage.Traverse())
            advice = "it holds surfaces: read_surface reads them" if surfaces else "it has no mesh"
            raise MeshError(f"{file} holds no UsdGeomTetMesh; {advice}")
        parts: list[tuple[Floats, Ints]] = []
        regions: dict[str, Ints] = {}
        count = 0
        for prim in prims:
            points = _points(stage, usd_geom, prim)
            tets = _indices(file, prim, prim.GetTetVertexIndicesAttr(), points).reshape(-1, 4)
            parts.append((points, tets))
            name = prim.GetPrim().GetName()
            ids = np.arange(count, count + len(tets))
            regions[name if name not in regions else str(prim.GetPath())] = ids
            count += len(tets)
    return Found(*joined(parts), regions if len(prims) > 1 else {})


def read_textured_usd(file: Path) -> tuple[Surface, Floats | None]:
    """All Mesh prims of a stage, and the skins of its TetMesh prims, as one surface.

    And the primvar "st" at the corners of triangles (t, 3, 2) if all have it.
    """
    with guarded(file):
        stage, usd_geom = _open(file)
        found: list[tuple[Floats, Ints]] = []
        textures: list[Floats | None] = []
        for prim in stage.Traverse():
            texture = None
            if prim.IsA(usd_geom.Mesh):
                mesh = usd_geom.Mesh(prim)
                points = _points(stage, usd_geom, mesh)
                corners, parts = _triangles(file, usd_geom, mesh, points)
                faces, texture = corners[parts], _texture(usd_geom, mesh, corners)
                texture = None if texture is None else texture[parts]
            elif prim.IsA(usd_geom.TetMesh):
                mesh = usd_geom.TetMesh(prim)
                points = _points(stage, usd_geom, mesh)
                skin = mesh.GetSurfaceFaceVertexIndicesAttr()
                faces = _indices(file, mesh, skin, points).reshape(-1, 3)
                faces = faces[:, :: _way(usd_geom, mesh)]
            else:
                continue
            textures.append(texture)
            found.append((points, faces))
        if not any(len(faces) for _, faces in found):
            raise MeshError(f"{file} holds no surface")
        known = [texture for texture in textures if texture is not None]
        whole = np.concatenate(known) if len(known) == len(textures) else None
        return Surface(*joined(found)), whole


def read_usd_motion(file: Path) -> tuple[Floats, Floats, Ints]:
    """All Mesh prims of a stage in motion, as one mesh.

    Times (T,) [s], those at which any of them has a key; positions (T, n, 3) [m]; triangles (t, 3).
    """
    with guarded(file):
        stage, usd_geom = _open(file)
        prims = [usd_geom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(usd_geom.Mesh)]
        codes = sorted({code for prim in prims for code in _keys(usd_geom, prim)})
        if len(codes) < 2:
            raise MeshError(f"{file} holds no mesh that moves")
        frames = [[_placed(usd_geom, prim, code) for prim in prims] for code in codes]
        positions = [np.concatenate(parts) for parts in frames]
        if len({len(frame) for frame in positions}) > 1:
            raise MeshError(f"{file} holds a mesh whose number of points changes with time")
        found = []
        for prim, points in zip(prims, frames[0], strict=True):
            corners, parts = _triangles(file, usd_geom, prim, points)
            found.append((points, corners[parts]))
        times = np.array(codes) / float(stage.GetTimeCodesPerSecond())
        return times, _metres(stage, usd_geom) * np.stack(positions), joined(found)[1]


def _keys(usd_geom: Any, mesh: Any) -> list[float]:
    """Time codes at which points change, or the place of a prim or of one that holds it."""
    found = list(mesh.GetPointsAttr().GetTimeSamples())
    prim = mesh.GetPrim()
    while prim and not prim.IsPseudoRoot():
        if prim.IsA(usd_geom.Xformable):
            found += usd_geom.Xformable(prim).GetTimeSamples()
        prim = prim.GetParent()
    return found


def _triangles(file: Path, usd_geom: Any, mesh: Any, points: Floats) -> tuple[Ints, Ints]:
    """The corners of a prim's faces (c,), and which of them each triangle has (t, 3)."""
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
    corners = _indices(file, mesh, mesh.GetFaceVertexIndicesAttr(), points)
    if counts.sum() != len(corners) or (counts < 3).any():
        raise MeshError(f"{file}: the faces of {mesh.GetPath()} are damaged")
    parts = fan(points[corners], counts, np.arange(len(corners)))
    return corners, parts[:, :: _way(usd_geom, mesh)]


def _indices(file: Path, mesh: Any, given: Any, points: Floats) -> Ints:
    """The vertices that an attribute names, (k,)."""
    found: Ints = np.array(given.Get() or [], np.int64).ravel()
    if len(found) and not 0 <= found.min() <= found.max() < len(points):
        raise MeshError(f"{file}: {mesh.GetPath()} names a vertex that it does not have")
    return found


def _way(usd_geom: Any, mesh: Any) -> int:
    """The step through the corners of a triangle that goes round it counter-clockwise."""
    return -1 if mesh.GetOrientationAttr().Get() == usd_geom.Tokens.leftHanded else 1


def _texture(usd_geom: Any, mesh: Any, corners: Ints) -> Floats | None:
    """Texture coordinates of the corners of a prim's faces, (c, 2)."""
    given = usd_geom.PrimvarsAPI(mesh).GetPrimvar("st")
    values = np.array((given.ComputeFlattened() if given else None) or [], dtype=np.float64)
    if len(values) == len(corners) and given.GetInterpolation() == usd_geom.Tokens.faceVarying:
        return values.reshape(-1, 2)
    if len(values) > corners.max(initial=-1):
        return values.reshape(-1, 2)[corners]
    return None


def _open(file: Path) -> tuple[Any, Any]:
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
    return _metres(stage, usd_geom) * _placed(usd_geom, mesh)


def _placed(usd_geom: Any, mesh: Any, code: float | None = None) -> Floats:
    """Vertices of a prim in the frame of the stage at a time code, in the unit of the stage."""
    from pxr import Usd

    given, at = mesh.GetPointsAttr(), () if code is None else (code,)
    points = given.Get(*at) or (given.Get(Usd.TimeCode.EarliestTime()) if code is None else [])
    local = np.array(points or [], dtype=np.float64).reshape(-1, 3)
    matrix = np.array(usd_geom.XformCache(*at).GetLocalToWorldTransform(mesh.GetPrim()))
    return np.asarray(local @ matrix[:3, :3] + matrix[3, :3])


def _metres(stage: Any, usd_geom: Any) -> float:
    """The unit of a stage [m], one where it says none."""
    if not usd_geom.StageHasAuthoredMetersPerUnit(stage):
        return 1.0
    return float(usd_geom.GetStageMetersPerUnit(stage))
