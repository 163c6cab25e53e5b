"""A small rigged body with two bones, and rigs with known answers."""

from __future__ import annotations

from dataclasses import replace

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


class BendingRod(PoseRig):
    """The rod with its lower bone turned about y by the pose (1,) [rad]; it knows its frames."""

    def __init__(self) -> None:
        self.character = rod()
        self.triangles, self.neutral = ROD.triangles, np.zeros(1)

    def vertices(self, pose: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        rig = self.character.rig
        x = self.character.posed(rig.turned({"lower": (0.0, float(pose[0]), 0.0)}))
        return x if which is None else x[which]

    def frames(self, pose: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        outer = self.character.skin.weights[:, 2]
        outer = outer if which is None else outer[which]
        return Rotation.from_rotvec(outer[:, None] * [0.0, float(pose[0]), 0.0]).as_matrix()

    def perturbed(self, pose, rng, size=1.0):
        return pose + np.deg2rad(size) * rng.uniform(-1, 1, 1)


def still(surface: sp.Surface) -> BlackBoxRig:
    """A rig that does not move."""
    return BlackBoxRig(lambda pose: surface.vertices, surface.triangles, np.zeros(1))


class SkinnedRig(PoseRig):
    """A character whose joints all turn, by rotation vectors (3 j,) [rad] from how they rest."""

    def __init__(self, character: Character) -> None:
        self.character = character
        self.triangles = character.skin.triangles
        self.neutral = np.zeros(3 * character.rig.n_joints)

    def pose_at(self, time: float, clip: str) -> np.ndarray:
        """The pose of a clip at a time [s]."""
        rig = self.character.rig
        rotations = self.character.clip(clip).poses(rig, np.array([time])).rotations[0]
        way = Rotation.from_quat(rig.rest.rotations).inv() * Rotation.from_quat(rotations)
        return way.as_rotvec().ravel()

    def vertices(self, pose: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        x = self.character.posed(self._posed(pose))
        return x if which is None else x[which]

    def frames(self, pose: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        rig, skin = self.character.rig, self.character.skin
        turns = (rig.world(self._posed(pose)) @ np.linalg.inv(rig.world(rig.rest)))[:, :3, :3]
        mean = np.einsum("nk,nkij->nij", skin.weights, turns[skin.joints[skin.bones]])
        mean = mean if which is None else mean[which]
        U, _, Vt = np.linalg.svd(mean)
        U[:, :, 2] *= np.linalg.det(U @ Vt)[:, None]
        return U @ Vt

    def perturbed(self, pose, rng, size=1.0):
        return pose + np.deg2rad(size) * rng.uniform(-1, 1, pose.shape)

    def _posed(self, pose: np.ndarray) -> RigPose:
        rest = self.character.rig.rest
        turned = Rotation.from_quat(rest.rotations) * Rotation.from_rotvec(pose.reshape(-1, 3))
        return replace(rest, rotations=turned.as_quat())
