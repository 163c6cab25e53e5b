"""A beam that is straight, and bent: its bases, and how far they are off between."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.linalg import eigvalsh

import supple as sp
from supple.character.tissue.fitting import fitted
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.basis import PoseBases, pose_bases, posed_body
from supple.character.training.modes import pose_modes
from supple.character.training.training import PoseTraining

MESH = sp.TetMesh.box((1.0, 0.16, 0.16), (16, 3, 3), (0.0, -0.08, -0.08))
FLESH = sp.StVK(young=1e5, poisson=0.4)
BODY = sp.Body(MESH, FLESH, fixed=MESH.where(x=0), mass_model=sp.LumpedMass())
RIG = sp.BendRig(MESH.boundary(), origin=(0.0, 0.0, 0.0), bounds=(0.35, 0.65))
RIGHT = np.pi / 2
ENDS = np.stack([np.clip(1.5 - 2 * MESH.vertices[:, 0], 0, 1), MESH.vertices[:, 0]])


@cache
def training(*bends: float, local: bool = False) -> PoseTraining:
    """Straight, and bent by these angles [rad]."""
    poses = np.array([[0.0], *([bend] for bend in bends)])
    tet_rig = fitted(TetRig.of(RIG, MESH), poses)
    bases = pose_bases(BODY, tet_rig, poses, modes=6, size=12, regions=ENDS if local else None)
    young = np.full((len(poses), MESH.n_cells), 1e5)
    return PoseTraining(BODY, tet_rig, poses, bases, young, samples=10, seed=0)


def too_fast(of: PoseTraining, bases: PoseBases, bend: float, count: int = 4) -> float:
    """By what share the first frequencies of the mixed model are above those of the body."""
    pose = np.array([bend])
    U = of.in_the_world(bases.shapes(of.weights(pose)), pose).reshape(12, -1).T
    body = posed_body(BODY, of.tet_rig.vertices(pose))
    K = U.T @ (body.stiffness(np.zeros_like(MESH.vertices)) @ U)
    mass = U.T @ (np.repeat(bases.masses, 3)[:, None] * U)
    mixed, own = eigvalsh(K, mass)[:count], pose_modes(body, count).squares
    return float((np.sqrt(mixed / own) - 1).max())
