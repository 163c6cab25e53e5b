"""Points between the vertices of a skin that is a linear blend of its bones' moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sparse

from supple._kernels import skinning
from supple.character.rigs.carried import Carried, CarriedPoints
from supple.types import Floats, Ints

if TYPE_CHECKING:
    from supple.character.rigs.skeleton import SkeletonRig


class SkinnedPoints(CarriedPoints):
    """Each is a blend of bones itself, and needs no vertex: Σ_k s_k Σ_b w_kb M_b X_k over bones."""

    def __init__(self, rig: SkeletonRig, near: Ints, shares: Floats) -> None:
        self._skeleton = rig
        skin, count = rig.character.skin, len(near)
        weights = shares[:, :, None] * skin.weights[near]  # (n, k, bones)
        point = np.broadcast_to(np.arange(count)[:, None, None], weights.shape)
        width = len(skin.joints)
        used = weights > 0
        slots, slot = np.unique((point * width + skin.bones[near])[used], return_inverse=True)
        vertex = np.broadcast_to(near[:, :, None], weights.shape)[used]
        parts = np.concatenate([rig.back, skin.vertices[:, :, None]], axis=2).reshape(-1, 12)
        parts = np.concatenate([parts, np.ones((len(parts), 1))], axis=1)
        sums = sparse.csr_array(
            (weights[used], (slot.ravel(), vertex)), shape=(len(slots), len(parts))
        )
        self._spans = np.ascontiguousarray(sums @ parts)
        self._bones = slots % width
        self._starts = np.searchsorted(slots // width, np.arange(count + 1))

    def __call__(self, pose: Floats) -> Carried:
        turns, world = self._skeleton.placed(pose)
        count = len(self._starts) - 1
        x, gradients = np.empty((count, 3)), np.empty((count, 3, 3))
        moves = self._skeleton.bone_moves(world)
        skinning.carry_points(moves, self._starts, self._bones, self._spans, x, gradients)
        return Carried(x, gradients, self._skeleton.compared(pose, turns, world))
