"""A beam that a rig bends, with the same basis in every pose: small, and quick to train for."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import supple as sp
from supple.character.rigs import BendRig
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.samples import ColumnGroups, RestPose

MESH = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(12, 2, 2))
SKIN = MESH.boundary()
FIXED = MESH.where(x=0)
POSES = np.array([[0.0], [1.2]])
SOFT = sp.StVK(young=1e5, poisson=0.4)


class BeamRig(BendRig):
    """Bends the beam into an arc of so many radians; of a kind that no file knows."""

    def __init__(self) -> None:
        super().__init__(SKIN, about=(0.0, -1.0, 0.0), origin=(0.0, 0.0, 0.0))


def bent(x: np.ndarray, curvature: float, *, up: int = 2, around: float = 0.0) -> np.ndarray:
    """Places (n, 3) along x on an arc [1/m] towards an axis, of which ``around`` is the middle."""
    found = x.copy()
    if abs(curvature) > 1e-9:
        radius, angle = 1 / curvature - (x[:, up] - around), curvature * x[:, 0]
        found[:, 0] = radius * np.sin(angle)
        found[:, up] = around + 1 / curvature - radius * np.cos(angle)
    return found


def beam(cells: tuple[int, int, int] = (8, 2, 2), material: sp.Material = SOFT) -> sp.Body:
    """Another one, held at one end."""
    mesh = sp.TetMesh.box(size=(1.0, 0.12, 0.1), cells=cells)
    return sp.Body(mesh, material, fixed=mesh.where(x=0), mass_model=sp.LumpedMass())


def flat(shapes: np.ndarray) -> np.ndarray:
    """Shapes (k, n, 3) as columns (3n, k)."""
    return shapes.reshape(len(shapes), -1).T


@lru_cache
def tet_rig() -> TetRig:
    return TetRig.of(BeamRig(), MESH)


def body(material: sp.Material, pose: np.ndarray) -> sp.Body:
    mesh = sp.TetMesh(tet_rig().vertices(pose), MESH.cells)
    return sp.Body(mesh, material, fixed=FIXED, mass_model=sp.LumpedMass())


@lru_cache
def masses() -> np.ndarray:
    return body(SOFT, POSES[0]).mass_times(np.ones_like(MESH.vertices))[:, 0]


@lru_cache
def local_shapes(regions: int, size: int = 10) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Modes faded out beyond each region (r, n, 3), the regions (r,), and members (regions, n)."""
    modes = sp.modal_derivative_basis(body(SOFT, POSES[0]), modes=5, size=size).vectors
    if regions == 1:
        return modes, np.zeros(size, dtype=np.int64), np.ones((1, len(MESH.vertices)), dtype=bool)
    x = MESH.vertices[:, 0]
    fades = np.clip([1.3 - 2 * x, 2 * x - 0.7], 0.0, 1.0)
    shapes = np.concatenate([fade[None, :, None] * modes for fade in fades])
    shapes /= np.sqrt(np.einsum("rni,n,rni->r", shapes, masses(), shapes))[:, None, None]
    return shapes, np.repeat([0, 1], size), fades > 0


def rest_pose(
    material: sp.Material, pose: np.ndarray, regions: int = 1, shapes: np.ndarray | None = None
) -> RestPose:
    usual, of_columns, members = local_shapes(regions)
    shapes = usual if shapes is None else shapes
    touched = members[:, MESH.cells].any(axis=2)
    frames = tet_rig().frames(pose)
    assert frames is not None
    world = np.ascontiguousarray(np.einsum("nij,rnj->rni", frames, shapes))
    groups = ColumnGroups.of(of_columns, touched)
    return RestPose(body(material, pose), world, masses(), of_columns, groups)


def vertex_groups(regions: int = 1) -> ColumnGroups:
    _, of_columns, members = local_shapes(regions)
    return ColumnGroups.of(of_columns, members & ~np.isin(np.arange(members.shape[1]), FIXED))
