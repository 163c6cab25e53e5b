"""A small rigged body with two bones, and rigs with known answers."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy.spatial.transform import Rotation

import supple as sp
from supple.character import Character, Rig, RigPose, Skin
from supple.character.rigs import BlackBoxRig, PoseRig

LENGTH, WIDTH = 2.0, 0.5


def rod_mesh(cells: tuple[int, int, int]) -> sp.TetMesh:
    """A rod along x."""
    return sp.TetMesh.box((LENGTH, WIDTH, WIDTH), cells, (0.0, -WIDTH / 2, -WIDTH / 2))


ROD = rod_mesh((16, 4, 4)).boundary()


def rig_of(names: tuple[str, ...], parents: list[int], places: list[tuple[float, ...]]) -> Rig:
    """Joints at places of the world, none of them turned."""
    world = np.array(places, dtype=float)
    local = world - np.where(np.array(parents)[:, None] >= 0, world[parents], 0.0)
    count = len(names)
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    return Rig(names, np.array(parents), RigPose(local, turns, np.ones((count, 3))))


def character_of(surface: sp.Surface, rig: Rig, weights: np.ndarray) -> Character:
    """A skin that follows every joint of a rig, with weights (n, j)."""
    joints = np.arange(rig.n_joints)
    binds = np.linalg.inv(rig.world(rig.rest))
    bones = np.tile(joints, (surface.n_vertices, 1))
    return Character(rig, Skin(surface.vertices, surface.triangles, joints, binds, bones, weights))


def rod(surface: sp.Surface = ROD) -> Character:
    """The rod on two bones, from 0 to 1 and on from 1, below a joint that carries nothing."""
    rig = rig_of(("root", "upper", "lower"), [-1, 0, 1], [(0, 0, -1), (0, 0, 0), (1, 0, 0)])
    outer = np.clip(2.0 * (surface.vertices[:, 0] - 0.75), 0.0, 1.0)
    return character_of(surface, rig, np.stack([np.zeros_like(outer), 1 - outer, outer], axis=1))


class FramedRig(PoseRig):
    """A rig that finds all its vertices and frames at once."""

    @abstractmethod
    def shaped(self, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (n, 3) and frames (n, 3, 3)."""

    def vertices(self, pose: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        x, _ = self.shaped(pose)
        return x if which is None else x[which]

    def frames(self, pose: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        _, turns = self.shaped(pose)
        return turns if which is None else turns[which]

    def perturbed(self, pose, rng, size=1.0):
        return pose + np.deg2rad(size) * rng.uniform(-1, 1, pose.shape)


class BendingRod(FramedRig):
    """The rod with its lower bone turned about y by the pose (1,) [rad]; it knows its frames."""

    triangles, neutral = ROD.triangles, np.zeros(1)

    def __init__(self) -> None:
        self.character = rod()

    def shaped(self, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turn = np.array([0.0, float(pose[0]), 0.0])
        x = self.character.posed(self.character.rig.turned({"lower": turn}))
        return x, Rotation.from_rotvec(self.character.skin.weights[:, 2:] * turn).as_matrix()


def soup(*surfaces: sp.Surface) -> sp.Surface:
    """Surfaces as one, of triangles that share no vertices."""
    corners = np.concatenate([s.vertices[s.triangles].reshape(-1, 3) for s in surfaces])
    return sp.Surface(corners, np.arange(len(corners)).reshape(-1, 3))


def with_box(mesh: sp.TetMesh) -> sp.TetMesh:
    """The mesh, and a small box beside the far end of the rod."""
    box = sp.TetMesh.box((0.2, 0.2, 0.2), (1, 1, 1), origin=(1.9, 0.0, 1.0))
    cells = np.concatenate([mesh.cells, box.cells + mesh.n_vertices])
    return sp.TetMesh(np.concatenate([mesh.vertices, box.vertices]), cells)


def still(surface: sp.Surface) -> BlackBoxRig:
    """A rig that does not move."""
    return BlackBoxRig(lambda pose: surface.vertices, surface.triangles, np.zeros(1))
