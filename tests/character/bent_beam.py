"""A beam that a rig bends, with the same basis in every pose: small, and quick to train for."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import supple as sp
from supple.bodies.mass import LumpedMass
from supple.character.rigs import PoseRig
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.samples import ColumnGroups, RestPose

MESH = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(12, 2, 2))
SKIN = MESH.boundary()
FIXED = MESH.where(x=0)
POSES = np.array([[0.0], [1.2]])


class BeamRig(PoseRig):
    """Bends the beam into an arc of so many radians, and knows how its cross-sections turn."""

    triangles, neutral = SKIN.triangles, np.zeros(1)

    def vertices(self, pose: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        x = SKIN.vertices if which is None else SKIN.vertices[which]
        return bent(x, float(pose[0]))

    def frames(self, pose: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        x = SKIN.vertices if which is None else SKIN.vertices[which]
        return turns(x, float(pose[0]))

    def perturbed(self, pose, rng, size=1.0):
        return pose + np.deg2rad(size) * rng.uniform(-1, 1, 1)


def bent(x: np.ndarray, angle: float) -> np.ndarray:
    """Places (n, 3) on an arc that begins at the origin."""
    if angle == 0:
        return x.copy()
    radius, a = 1 / angle - x[:, 2], angle * x[:, 0]
    return np.stack([radius * np.sin(a), x[:, 1], 1 / angle - radius * np.cos(a)], axis=1)


def turns(x: np.ndarray, angle: float) -> np.ndarray:
    """How the surroundings of places (n, 3) turn, (n, 3, 3)."""
    c, s = np.cos(angle * x[:, 0]), np.sin(angle * x[:, 0])
    R = np.zeros((len(x), 3, 3))
    R[:, 0, 0], R[:, 2, 2], R[:, 0, 2], R[:, 2, 0], R[:, 1, 1] = c, c, -s, s, 1.0
    return R


@lru_cache
def tet_rig() -> TetRig:
    return TetRig.of(BeamRig(), MESH)


def body(material: sp.Material, pose: np.ndarray) -> sp.Body:
    mesh = sp.TetMesh(tet_rig().vertices(pose), MESH.cells)
    return sp.Body(mesh, material, fixed=FIXED, mass_model=LumpedMass())


@lru_cache
def masses() -> np.ndarray:
    straight = body(sp.StVK(young=1e5, poisson=0.4), POSES[0])
    return straight.mass_times(np.ones_like(MESH.vertices))[:, 0]


@lru_cache
def local_shapes(regions: int, size: int = 10) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Modes faded out beyond each region (r, n, 3), the regions (r,), and members (regions, n)."""
    straight = body(sp.StVK(young=1e5, poisson=0.4), POSES[0])
    modes = sp.modal_derivative_basis(straight, modes=5, size=size).vectors
    if regions == 1:
        return modes, np.zeros(size, dtype=np.int64), np.ones((1, len(MESH.vertices)), dtype=bool)
    x = MESH.vertices[:, 0]
    fades = np.clip([1.3 - 2 * x, 2 * x - 0.7], 0.0, 1.0)
    shapes = np.concatenate([fade[None, :, None] * modes for fade in fades])
    shapes /= np.sqrt(np.einsum("rni,n,rni->r", shapes, masses(), shapes))[:, None, None]
    return shapes, np.repeat([0, 1], size), fades > 0


def rest_pose(
    material: sp.Material,
    pose: np.ndarray,
    regions: int = 1,
    shapes: np.ndarray | None = None,
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
