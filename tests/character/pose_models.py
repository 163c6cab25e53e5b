"""Small pose-space models, made plainly: for tests of what runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation
from tests.character.bent_beam import bent
from tests.character.bodies import FramedRig

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.model.weights import PoseWeights, StiffnessCorrections
from supple.character.rigs import BlackBoxRig, PoseRig
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.basis import posed_body
from supple.materials import Material

MATERIAL = sp.StVK(young=2e4, poisson=0.4, density=1000.0)


def beam(cells: tuple[int, int, int] = (6, 2, 2)) -> sp.TetMesh:
    """A bar along x."""
    return sp.HexMesh.box(size=(1.0, 0.3, 0.3), cells=cells).tetrahedra()


def bend_rig(skin: sp.Surface) -> BlackBoxRig:
    """Pose: curvature [1/m], and a shift (3,) [m]."""
    return BlackBoxRig(lambda p: bent(skin.vertices, p[0]) + p[1:], skin.triangles, [0.0] * 4, 0.02)


def poses_at(curvatures: Sequence[float], width: int) -> np.ndarray:
    """Poses (k, width) that bend by curvatures [1/m] and do nothing else."""
    return np.outer(curvatures, np.eye(width)[0])


class FramedBend(FramedRig):
    """The same bend, turned as a whole by a rotation vector p[4:]; it knows its frames."""

    def __init__(self, skin: sp.Surface) -> None:
        self._skin, self.triangles, self.neutral = skin, skin.triangles, np.zeros(7)

    def shaped(self, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turn, x = Rotation.from_rotvec(pose[4:]), self._skin.vertices
        local = Rotation.from_rotvec(np.outer(-pose[0] * x[:, 0], [0.0, 1.0, 0.0]))
        return turn.apply(bent(x, pose[0])) + pose[1:4], (turn * local).as_matrix()

    def features(self, pose: np.ndarray) -> np.ndarray:
        return pose[:1]


def model_of(
    rig: PoseRig,
    mesh: sp.TetMesh,
    poses: np.ndarray,
    size: int | None = 8,
    *,
    material: Material = MATERIAL,
    regions: int = 1,
    corrections: float = 0.0,
) -> PoseSpaceModel:
    """Vibrations of the bar in each pose, aligned; every cell and every vertex counts.

    Without a ``size`` the basis is complete. ``regions`` overlap along x.
    """
    tet_rig = TetRig.of(rig, mesh)
    weights = PoseWeights.of([rig.features(p) for p in poses])
    n, m = mesh.n_vertices, len(poses)
    if corrections:
        noise = np.random.default_rng(3).standard_normal((m, n, 3))
        tet_rig = tet_rig.corrected(weights, corrections * noise)
    fixed = np.isclose(mesh.vertices[:, 0], 0.0)
    neutral = sp.Body(mesh, material, fixed=fixed, mass_model=sp.LumpedMass())
    masses = neutral.mass.diagonal()[::3]
    x = mesh.vertices[:, 0]
    places = np.linspace(0, 1, regions + 2)[1:-1]
    width = 2.0 if regions == 1 else 1.0 / regions
    members = (np.abs(x[None] - places[:, None]) < width) & ~fixed
    bases = []
    for pose in poses:
        frames = tet_rig.frames(pose)
        if size is None:
            U = np.eye(3 * n)[:, np.repeat(~fixed, 3)].reshape(n, 3, -1)
        else:
            body = posed_body(neutral, tet_rig.vertices(pose))
            U = np.moveaxis(sp.vibration_modes(body, size).shapes, 0, 2)
        if frames is not None:
            U = np.einsum("nji,njr->nir", frames, U)
        U = np.concatenate([U * each[:, None, None] for each in members], axis=2)
        U = U / np.sqrt(np.einsum("n,nir,nir->r", masses, U, U))
        if bases and size is not None:
            U = U * np.where(np.einsum("n,nir,nir->r", masses, U, bases[0]) < 0, -1.0, 1.0)
        bases.append(U)
    stacked = np.array(bases)
    gram = np.einsum("n,mnia,knib->mkab", masses, stacked, stacked, optimize=True)
    skin = sp.Embedding(mesh, mesh.boundary())
    cells = np.arange(mesh.n_cells)
    lame = np.stack(material.lame(cells), axis=1)
    r = stacked.shape[-1]
    frequencies = 1.0 + np.arange(r)
    if size is not None:
        frequencies = np.resize(sp.vibration_modes(neutral, size).frequencies, r)
    return PoseSpaceModel(
        tet_rig=tet_rig,
        poses=np.array(poses),
        weights=weights,
        material=type(material),
        masses=masses,
        fixed=fixed,
        bases=stacked,
        regions=np.repeat(np.arange(regions), r // regions),
        members=members,
        gram=gram,
        cells=cells,
        cell_weights=np.ones((m, len(cells))),
        gaps=StiffnessCorrections.none(weights.features[0], r),
        lame=np.tile(lame, (m, 1, 1)),
        inertial_vertices=np.flatnonzero(~fixed),
        inertial_weights=np.ones(int((~fixed).sum())),
        skin_cells=skin.cells,
        skin_weights=skin.weights,
        squares=np.tile((2 * np.pi * np.sort(frequencies)) ** 2, (m, 1)),
    )


def thinned(model: PoseSpaceModel, seed: int = 0) -> PoseSpaceModel:
    """The same with half of the cells and vertices, and weights and stiffness by pose."""
    rng = np.random.default_rng(seed)
    cells = np.sort(rng.permutation(model.cells)[: len(model.cells) // 2])
    vertices = rng.permutation(model.inertial_vertices)[: len(model.inertial_vertices) // 2]
    m, c, r = model.n_poses, len(cells), model.n_coordinates
    gaps = rng.standard_normal((m, r, r)) * np.sqrt(model.squares[:, :1, None])
    return replace(
        model,
        cells=cells,
        cell_weights=2 * rng.uniform(0.5, 1.5, (m, c)),
        gaps=StiffnessCorrections(model.weights, gaps @ gaps.swapaxes(1, 2) / r),
        lame=model.lame[:, cells] * rng.uniform(0.5, 2.0, (m, c, 1)),
        inertial_vertices=vertices,
        inertial_weights=2 * rng.uniform(0.5, 1.5, len(vertices)),
    )
