"""Joints that hang on each other, and how they lie: the skeleton of a character."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.contact.obstacles.rails import rotation_matrix
from supple.core.checks import instance
from supple.core.errors import InputError
from supple.core.types import Floats, Ints

_ALIKE = 1e-12  # 1 − cos of half the angle: turns so near that a straight line is as good


@dataclass(frozen=True, eq=False)
class RigPose:
    """How each of j joints lies in its parent, at one time or at several (the leading axes).

    ``translations`` (…, j, 3) [m], ``rotations`` (…, j, 4), quaternions x, y, z, w of length 1, and
    ``scales`` (…, j, 3); a joint is scaled first, then turned, then moved. ``weights`` (…, t) are
    those of morph targets.
    """

    translations: Floats
    rotations: Floats
    scales: Floats
    weights: Floats = field(default_factory=lambda: np.zeros(0))

    def matrices(self) -> Floats:
        """From the frame of each joint to that of its parent, (…, j, 4, 4)."""
        local = np.zeros((*self.translations.shape[:-1], 4, 4))
        local[..., :3, :3] = quaternion_matrices(self.rotations) * self.scales[..., None, :]
        local[..., :3, 3] = self.translations
        local[..., 3, 3] = 1.0
        return local

    def blended(self, other: RigPose, share: ArrayLike) -> RigPose:
        """On the way to another pose, 0 here and 1 there; a share for each time, or one number.

        Each joint turns about one axis, the short way round.
        """
        t = np.asarray(share, dtype=float)[..., None, None]
        return RigPose(
            (1 - t) * self.translations + t * other.translations,
            slerp(self.rotations, other.rotations, t[..., 0]),
            (1 - t) * self.scales + t * other.scales,
            (1 - t[..., 0]) * self.weights + t[..., 0] * other.weights,
        )


@dataclass(frozen=True, eq=False)
class Rig:
    """Joints with a name each; ``parents`` (j,) come before their children, −1 for none.

    ``rest`` is how they lie unless something moves them.
    """

    names: tuple[str, ...]
    parents: Ints
    rest: RigPose

    def __post_init__(self) -> None:
        parents = np.ascontiguousarray(self.parents, dtype=np.int64)
        count = len(self.names)
        if parents.shape != (count,):
            raise InputError(f"parents have shape {parents.shape}; {count} joints need ({count},)")
        if not ((parents >= -1) & (parents < np.arange(count))).all():
            raise InputError("parents must come before their children, with −1 for none")
        instance("rest", self.rest, RigPose, "RigPose(translations, rotations, scales)")
        if self.rest.rotations.shape != (count, 4):
            raise InputError(
                f"rest has rotations of shape {self.rest.rotations.shape}; give ({count}, 4)"
            )
        object.__setattr__(self, "parents", parents)

    @property
    def n_joints(self) -> int:
        """Number of joints."""
        return len(self.names)

    def joint(self, name: str) -> int:
        """The number of the joint with this name."""
        if name in self.names:
            return self.names.index(name)
        near = difflib.get_close_matches(str(name), self.names, n=3) or list(self.names[:12])
        raise InputError(f"there is no joint {name!r}; there is {', '.join(near)}")

    def world(self, pose: RigPose) -> Floats:
        """From the frame of each joint to that of the world, (…, j, 4, 4)."""
        matrices = pose.matrices()
        for joint in self._hanging:
            above = matrices[..., self.parents[joint], :, :]
            matrices[..., joint, :, :] = above @ matrices[..., joint, :, :]
        return matrices

    def turned(self, turns: Mapping[str, Any], pose: RigPose | None = None) -> RigPose:
        """A pose, the one at rest unless given, with joints turned about axes of the world.

        ``turns``, by name of joint: a rotation vector [rad], a matrix or a SciPy Rotation. What
        hangs on a joint turns with it; turns are taken in the order of the mapping. A pose at
        several times is turned at each.
        """
        from scipy.spatial.transform import Rotation  # slow to import

        given = self.rest if pose is None else pose
        rotations = given.rotations.reshape(-1, *given.rotations.shape[-2:]).copy()
        for name, turn in turns.items():
            joint = self.joint(name)
            about = Rotation.from_matrix(rotation_matrix(f"the turn of {name}", turn))
            above, parent = Rotation.identity(len(rotations)), int(self.parents[joint])
            while parent >= 0:
                above = Rotation.from_quat(rotations[:, parent]) * above
                parent = int(self.parents[parent])
            own = Rotation.from_quat(rotations[:, joint])
            rotations[:, joint] = (above.inv() * about * above * own).as_quat()
        return replace(given, rotations=rotations.reshape(given.rotations.shape))

    @cached_property
    def _hanging(self) -> list[int]:
        """The joints that have a parent, parents first."""
        return [int(joint) for joint in np.flatnonzero(self.parents >= 0)]


def quaternion_matrices(turns: Floats) -> Floats:
    """Matrices (…, 3, 3) of turns (…, 4) of any length."""
    unit = turns / np.linalg.norm(turns, axis=-1, keepdims=True)
    x, y, z, w = np.moveaxis(unit, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def slerp(start: Floats, end: Floats, share: Floats) -> Floats:
    """On the way from a turn to another, (…, 4): about one axis, the short way round.

    ``start`` and ``end`` are (…, 4), of any length; ``share`` (…,) is 0 at the first and 1 at the
    second.
    """
    a, b = (each / np.linalg.norm(each, axis=-1, keepdims=True) for each in (start, end))
    cosine = np.sum(a * b, axis=-1, keepdims=True)
    b = np.where(cosine < 0, -b, b)  # the same turn, nearer
    cosine = np.minimum(np.abs(cosine), 1.0)
    t = np.asarray(share, dtype=float)[..., None]
    angle = np.arctan2(np.linalg.norm(b - cosine * a, axis=-1, keepdims=True), cosine)
    near = 1 - cosine < _ALIKE
    sine = np.sin(np.where(near, 1.0, angle))
    first = np.where(near, 1 - t, np.sin((1 - t) * angle) / sine)
    second = np.where(near, t, np.sin(t * angle) / sine)
    mixed = first * a + second * b
    return np.asarray(mixed / np.linalg.norm(mixed, axis=-1, keepdims=True))
