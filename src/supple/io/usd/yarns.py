"""Yarns in USD: curves with a width, one prim for all warps and one for all wefts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.core.types import Floats, Ints
from supple.dynamics.motion import Motion
from supple.io.yarn_surfaces import FAMILIES, YarnTubes
from supple.mesh import YarnMesh
from supple.yarns import YarnCurves

Moving = tuple[Any, Any, Callable[[int], Floats], float]
"""Attributes of points and extent, the points of a frame, and how far things reach beyond them."""


def add_yarn_curves(stage: Any, path: str, motion: Motion) -> list[Moving]:
    """Adds yarns as ``BasisCurves``, Catmull–Rom through the crossings, without points yet."""
    from pxr import Gf, UsdGeom, Vt

    curves = YarnCurves(_mesh(motion), samples=1)
    UsdGeom.Xform.Define(stage, path)
    made: list[Moving] = []
    for name, family, paint in FAMILIES:
        (mine,) = np.nonzero(curves.point_families == family)
        prim = UsdGeom.BasisCurves.Define(stage, f"{path}/{name}")
        prim.CreateTypeAttr(UsdGeom.Tokens.cubic)
        prim.CreateBasisAttr(UsdGeom.Tokens.catmullRom)
        prim.CreateWrapAttr(UsdGeom.Tokens.pinned)
        counts = curves.counts[curves.families == family].astype(np.int32)
        prim.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(counts))
        radius = float(curves.mesh.radii[family])
        prim.CreateWidthsAttr([2 * radius])
        prim.SetWidthsInterpolation(UsdGeom.Tokens.constant)
        prim.CreateDisplayColorAttr([Gf.Vec3f(*paint)])
        points = _points(motion, curves, mine)
        made.append((prim.CreatePointsAttr(), prim.CreateExtentAttr(), points, radius))
    return made


def add_yarn_tubes(
    stage: Any,
    path: str,
    motion: Motion,
    samples: int,
    sides: int,
    add_mesh: Callable[[Any, str, Ints, tuple[float, float, float]], Any],
) -> list[Moving]:
    """Adds yarns as tubes, each family a mesh of its own, without points yet."""
    from pxr import UsdGeom

    tubes = YarnTubes(_mesh(motion), samples, sides)
    UsdGeom.Xform.Define(stage, path)
    made: list[Moving] = []
    for name, family, paint in FAMILIES:
        mine, triangles = tubes.of_family(family)
        prim = add_mesh(stage, f"{path}/{name}", triangles, paint)

        def points(i: int, mine: Ints = mine) -> Floats:
            return tubes.at(motion.displacements[i])[mine]

        made.append((prim.CreatePointsAttr(), prim.CreateExtentAttr(), points, 0.0))
    return made


def _points(motion: Motion, curves: YarnCurves, mine: Ints) -> Callable[[int], Floats]:
    def points(i: int) -> Floats:
        return curves.points(motion.mesh.vertices + motion.displacements[i])[mine]

    return points


def _mesh(motion: Motion) -> YarnMesh:
    assert isinstance(motion.mesh, YarnMesh)
    return motion.mesh
