"""Meshes of USD stages whose points, or whose places, change with time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.core.errors import MeshError
from supple.core.types import Floats, Ints
from supple.mesh.files.common import guarded
from supple.mesh.files.usd import metres_of, open_stage
from supple.mesh.polygons import fan


def read_usd_motion(file: Path) -> tuple[Floats, Floats, Ints]:
    """All Mesh prims of a stage in motion, as one mesh.

    Times (T,) [s], those at which any of them has a key; positions (T, n, 3) [m]; triangles (t, 3).
    """
    with guarded(file):
        stage, usd_geom = open_stage(file)
        prims = [usd_geom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(usd_geom.Mesh)]
        codes = sorted({code for prim in prims for code in _keys(usd_geom, prim)})
        if len(codes) < 2:
            raise MeshError(f"{file} holds no mesh that moves")
        frames = []
        for code in codes:
            cache = usd_geom.XformCache(code)
            parts = [_placed(cache, prim, code) for prim in prims]
            frames.append(np.concatenate(parts))
        if len({len(frame) for frame in frames}) > 1:
            raise MeshError(f"{file} holds a mesh whose number of points changes with time")
        triangles: list[Ints] = []
        start = 0
        for prim, part in zip(prims, parts, strict=True):
            counts = np.array(prim.GetFaceVertexCountsAttr().Get() or [], np.int64)
            corners = np.array(prim.GetFaceVertexIndicesAttr().Get() or [], np.int64)
            faces = fan(frames[0][start : start + len(part)], counts, corners)
            flipped = prim.GetOrientationAttr().Get() == usd_geom.Tokens.leftHanded
            triangles.append(start + (faces[:, ::-1] if flipped else faces))
            start += len(part)
        times = np.array(codes) / float(stage.GetTimeCodesPerSecond())
        return times, metres_of(stage, usd_geom) * np.stack(frames), np.concatenate(triangles)


def _keys(usd_geom: Any, mesh: Any) -> list[float]:
    """Time codes at which points change, or the place of a prim or of one that holds it."""
    found = list(mesh.GetPointsAttr().GetTimeSamples())
    prim = mesh.GetPrim()
    while prim and not prim.IsPseudoRoot():
        if prim.IsA(usd_geom.Xformable):
            found += usd_geom.Xformable(prim).GetTimeSamples()
        prim = prim.GetParent()
    return found


def _placed(cache: Any, mesh: Any, code: float) -> Floats:
    points = np.array(mesh.GetPointsAttr().Get(code) or [], dtype=np.float64).reshape(-1, 3)
    matrix = np.array(cache.GetLocalToWorldTransform(mesh.GetPrim()))
    placed: Floats = points @ matrix[:3, :3] + matrix[3, :3]
    return placed
