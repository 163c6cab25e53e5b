"""Points between the vertices of a skin that is a linear blend of its bones' moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple._kernels.character.skinning import carry_points
from supple.character.rigs.carried import Carried, CarriedPoints
from supple.core.types import Floats, Ints

if TYPE_CHECKING:
    from supple.character.rigs.skeleton import SkeletonRig


class SkinnedPoints(CarriedPoints):
    """Each is a blend of bones itself, and needs no vertex.

    With the moves M of bones b and B that undoes those at rest, G_k = Σ_b w_kb M_b B_k, and
    x = Σ_k s_k (x_k + G_k d_k) = Σ_b M_b Σ_k s_k w_kb (X_k + B_k d_k).
    """

    def __init__(self, rig: SkeletonRig, near: Ints, shares: Floats, offsets: Floats) -> None:
        self._skeleton = rig
        skin, count = rig.character.skin, len(near)
        weights = shares[:, :, None] * skin.weights[near]  # (n, k, bones)
        point = np.broadcast_to(np.arange(count)[:, None, None], weights.shape)
        width = len(skin.joints)
        used = weights > 0
        slots, slot = np.unique((point * width + skin.bones[near])[used], return_inverse=True)
        back = rig.back[near]  # (n, k, 3, 3)
        places = skin.vertices[near] + np.einsum("nkij,nkj->nki", back, offsets)
        parts = np.concatenate([back, places[..., None]], axis=3).reshape(-1, 12)
        parts = np.concatenate([parts, np.ones((len(parts), 1))], axis=1)
        pair = np.broadcast_to(np.arange(near.size).reshape(*near.shape, 1), weights.shape)
        self._spans = np.zeros((len(slots), parts.shape[1]))
        np.add.at(self._spans, slot.ravel(), weights[used][:, None] * parts[pair[used]])
        self._bones = slots % width
        self._starts = np.searchsorted(slots // width, np.arange(count + 1))

    def __call__(self, pose: Floats) -> Carried:
        turns, world = self._skeleton.placed(pose)
        count = len(self._starts) - 1
        x, gradients = np.empty((count, 3)), np.empty((count, 3, 3))
        moves = self._skeleton.bone_moves(world)
        carry_points(moves, self._starts, self._bones, self._spans, x, gradients)
        return Carried(x, gradients, self._skeleton.compared(pose, turns, world))
