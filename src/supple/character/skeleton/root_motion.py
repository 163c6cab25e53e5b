"""How a clip carries a character along: the rigid motion from its first frame to its last."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import expm, logm
from scipy.spatial.transform import Rotation

from supple.character.rigs.skeleton import SkeletonRig
from supple.core.types import Floats


@dataclass(frozen=True, eq=False)
class RootMotion:
    """A place x (3,) goes to turn x + shift [m], both along the ground: z stays as it is."""

    turn: Floats = field(default_factory=lambda: np.eye(3))
    shift: Floats = field(default_factory=lambda: np.zeros(3))

    @classmethod
    def between(cls, start: Floats, end: Floats) -> RootMotion:
        """The one that takes places (n, 3) nearest to others (n, 3), by least squares."""
        x, y = start - start.mean(axis=0), end - end.mean(axis=0)
        angle = np.arctan2((x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0]).sum(), (x * y)[:, :2].sum())
        turn = Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix()
        shift = end.mean(axis=0) - turn @ start.mean(axis=0)
        return cls(turn, shift * np.array([1.0, 1.0, 0.0]))

    def times(self, share: float) -> RootMotion:
        """The same over so many rounds, or over a part of one: along a screw."""
        whole = np.eye(4)
        whole[:3, :3], whole[:3, 3] = self.turn, self.shift
        part = np.real(expm(share * logm(whole)))
        return RootMotion(part[:3, :3], part[:3, 3])

    def moved(self, places: Floats) -> Floats:
        """Places (n, 3) after it."""
        return places @ self.turn.T + self.shift

    def posed(self, rig: SkeletonRig, poses: Floats) -> Floats:
        """Poses (…, d) of a character that has gone along as a whole."""
        given = rig.rig_pose(poses)
        roots = rig.character.rig.parents < 0
        places, turns = given.translations.copy(), given.rotations.copy()
        places[..., roots, :] = places[..., roots, :] @ self.turn.T + self.shift
        own = turns[..., roots, :]
        turned = Rotation.from_matrix(self.turn) * Rotation.from_quat(own.reshape(-1, 4))
        turns[..., roots, :] = turned.as_quat().reshape(own.shape)
        return rig.pose_of(replace(given, translations=places, rotations=turns))
