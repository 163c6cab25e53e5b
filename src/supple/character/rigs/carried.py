"""Points that the surface of a rig carries along."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple._kernels.character.rig import average
from supple.core.types import Floats, Ints

if TYPE_CHECKING:
    from supple.character.rigs.base import PoseRig


class Carried(NamedTuple):
    """Points in a pose."""

    x: Floats
    """[m], (n, 3)"""
    gradients: Floats
    """How their surroundings turn and stretch, (n, 3, 3), or (0, 3, 3) if the rig has no frames."""
    features: Floats
    """Of the pose, (f,)."""


class CarriedPoints:
    """Means over vertices ``near`` (n, k) of a surface, with ``shares`` (n, k).

    What is meant is where each of them has the point, at ``offsets`` (n, k, 3) [m] from it in the
    neutral pose: x = Σ_k s_k (x_k + G_k d_k), with the gradients G of the rig.
    """

    def __init__(self, rig: PoseRig, near: Ints, shares: Floats, offsets: Floats) -> None:
        self._rig = rig
        self._surface, places = np.unique(near, return_inverse=True)
        self._all = len(self._surface) == rig.n_vertices
        self._places = np.ascontiguousarray(places.reshape(near.shape))
        self._shares = np.ascontiguousarray(shares, dtype=float)
        self._offsets = np.ascontiguousarray(offsets, dtype=float)

    def __call__(self, pose: Floats) -> Carried:
        """In a pose (d,); the arrays are new ones."""
        found, gradients = self._rig.posed(pose, None if self._all else self._surface)
        given = np.empty((0, 3, 3)) if gradients is None else gradients
        x = np.empty((len(self._places), 3))
        means = np.empty((len(x) if len(given) else 0, 3, 3))
        average(
            np.ascontiguousarray(found, dtype=float), np.ascontiguousarray(given, dtype=float),
            self._places, self._shares, self._offsets, x, means,
        )  # fmt: skip
        return Carried(x, means, np.ascontiguousarray(self._rig.features(pose), dtype=float))
