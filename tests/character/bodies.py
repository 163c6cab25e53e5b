"""A small rigged body with two bones, and rigs with known answers."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy.spatial.transform import Rotation

import supple as sp
from supple.character import Character, Rig, RigPose, Skin
from supple.character.rigs import BlackBoxRig, PoseRig

LENGTH, WIDTH = 2.0, 0.5
ROD = sp.TetMesh.box(
    (LENGTH, WIDTH, WIDTH), (16, 4, 4), origin=(0.0, -WIDTH / 2, -WIDTH / 2)
).boundary()
"""The surface of a rod along x."""


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


def rod() -> Character:
    """The rod on two bones, from 0 to 1 and on from 1, below a joint that carries nothing."""
    rig = rig_of(("root", "upper", "lower"), [-1, 0, 1], [(0, 0, -1), (0, 0, 0), (1, 0, 0)])
    outer = np.clip(2.0 * (ROD.vertices[:, 0] - 0.75), 0.0, 1.0)
    return character_of(ROD, rig, np.stack([np.zeros_like(outer), 1 - outer, outer], axis=1))


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


def still(surface: sp.Surface) -> BlackBoxRig:
    """A rig that does not move."""
    return BlackBoxRig(lambda pose: surface.vertices, surface.triangles, np.zeros(1))
