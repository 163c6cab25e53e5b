"""Mesh files of formats that others write, for the tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from supple.mesh import WRITTEN_MESHES

FORMATS = list(WRITTEN_MESHES)


def assert_same(one, other):
    np.testing.assert_array_equal(one.vertices, other.vertices)
    np.testing.assert_array_equal(one.cells, other.cells)


def tetgen(mesh, folder, base=1):
    lines = [f"{mesh.n_vertices} 3 0 0"]
    lines += [f"{i} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(mesh.vertices.tolist(), base)]
    (folder / "pair.node").write_text("\n".join(lines) + "\n# made by a test\n")
    lines = [f"{mesh.n_cells} {mesh.cell_nodes} 1"]
    for i, cell in enumerate((mesh.cells + base).tolist(), base):
        lines.append(f"{i} {' '.join(map(str, cell))} {1 if i < 5 else 2}")
    (folder / "pair.ele").write_text("# elements\n" + "\n".join(lines))
    return folder / "pair.node"


def damaged(data, whole):
    """Bytes of a file that is cut short, or has some others in it."""
    content = bytearray(whole)
    if data.draw(st.booleans()):
        return content[: data.draw(st.integers(0, len(content)))]
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    return content


def usd(mesh, folder, name="solid.usda"):
    pytest.importorskip("pxr", reason="needs the extra usd")
    from pxr import Gf, Usd, UsdGeom

    file = folder / name
    stage = Usd.Stage.CreateNew(str(file))
    UsdGeom.SetStageMetersPerUnit(stage, 0.5)
    prim = UsdGeom.TetMesh.Define(stage, "/solid")
    prim.GetPointsAttr().Set([Gf.Vec3f(*v) for v in (2 * mesh.vertices).tolist()])
    prim.GetTetVertexIndicesAttr().Set([Gf.Vec4i(*c) for c in mesh.cells.tolist()])
    prim.AddTranslateOp().Set(Gf.Vec3d(2.0, 0.0, 0.0))
    stage.Save()
    return file
