"""An X of flesh for the examples of characters, and models of it without any cubature error."""

from __future__ import annotations

import numpy as np

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.model.weights import StiffnessCorrections
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.basis import PoseBases


def x_mesh(cells: int = 10, height: float = 1.0, thickness: float = 0.2) -> sp.TetMesh:
    """Two crossed bars in the plane of x and z, ``cells`` bricks high."""
    edge = height / cells
    deep = max(1, round(thickness / edge))
    box = sp.HexMesh.box(size=(height, deep * edge, height), cells=(cells, deep, cells))
    middle = box.vertices[box.cells].mean(axis=1) - [height / 2, 0.0, height / 2]
    width = 0.75 * thickness
    kept = (np.abs(middle[:, 0] - middle[:, 2]) < width) | (
        np.abs(middle[:, 0] + middle[:, 2]) < width
    )
    used, corners = np.unique(box.cells[kept], return_inverse=True)
    vertices = box.vertices[used] - [height / 2, deep * edge / 2, height / 2]
    return sp.HexMesh(vertices, corners.reshape(-1, 8)).tetrahedra()


def whole_model(
    body: sp.Body, tet_rig: TetRig, poses: np.ndarray, bases: PoseBases, vectors: np.ndarray
) -> PoseSpaceModel:
    """A model in which every cell and every vertex counts once; ``vectors`` are (m, n, 3, r)."""
    m, n, _, r = vectors.shape
    cells = np.arange(body.mesh.n_cells)
    heavy = (np.sqrt(bases.masses)[:, None, None] * vectors).reshape(m, 3 * n, r)
    free = np.flatnonzero(body.free.any(axis=1))
    surface = tet_rig.rig.vertices(tet_rig.rig.neutral)
    skin = sp.Embedding(body.mesh, sp.Surface(surface, tet_rig.rig.triangles))
    lame = np.stack(body.parts[0].material.lame(cells), axis=1)
    return PoseSpaceModel(
        tet_rig=tet_rig,
        poses=poses,
        weights=bases.weights,
        material=type(body.parts[0].material),
        masses=bases.masses,
        fixed=~body.free.any(axis=1),
        bases=vectors,
        regions=np.zeros(r, dtype=np.int64),
        members=np.ones((1, n), dtype=bool),
        gram=np.einsum("ika,jkb->ijab", heavy, heavy, optimize=True),
        cells=cells,
        cell_weights=np.ones((m, len(cells))),
        gaps=StiffnessCorrections.none(bases.weights.features[0], r),
        lame=np.tile(lame, (m, 1, 1)),
        inertial_vertices=free,
        inertial_weights=np.ones(len(free)),
        skin_cells=skin.cells,
        skin_weights=skin.weights,
        squares=np.resize(bases.squares, (m, r)),
    )
