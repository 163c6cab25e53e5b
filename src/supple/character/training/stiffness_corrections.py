"""What the stiffness of cubature cells lacks at rest, in every pose.

A few cells get the linear part of forces wrong by more than the rest of it. That part is known for
all cells together: D(p) = K̃ − K̃_cubature, added to what the cells give, makes it right. Where a rig
presses flesh it changes fast, and so it is known in more poses than have a basis, and interpolated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.character.model.weights import PoseWeights
from supple.core.types import Floats


@dataclass(frozen=True, eq=False)
class StiffnessCorrections:
    """D in some poses, and between them."""

    weights: PoseWeights
    """How much each of k poses counts in another."""
    values: Floats
    """Υ⁻¹ D Υ⁻¹ in each of them, (k, r, r)."""

    @classmethod
    def none(cls, features: Floats, r: int) -> StiffnessCorrections:
        """For a cubature of all cells; ``features`` (f,) are of any pose."""
        return cls(PoseWeights.of(features[None]), np.zeros((1, r, r)))

    def at(self, features: Floats, upsilon: Floats) -> Floats:
        """D in a pose with these features (f,) and the diagonal of Υ (r,), (r, r)."""
        mixed = np.tensordot(self.weights(features), self.values, axes=1)
        return np.asarray(upsilon[:, None] * mixed * upsilon)

    def times(self, factor: float) -> StiffnessCorrections:
        """Those of a body that is so many times as stiff."""
        return StiffnessCorrections(self.weights, factor * self.values)
