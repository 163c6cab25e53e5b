"""How much each of some known poses counts in another one (pose space paper, Eq. 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.checks import numbers
from supple.errors import InputError
from supple.types import Floats

_SAME = 1e-9  # of the largest distance: poses so close are one


@dataclass(frozen=True, eq=False)
class PoseWeights:
    """w_i(p) = Σ_j ŵ_ij ‖p − p_j‖, divided by their sum: 1 at pose i, 0 at the others."""

    features: Floats
    """Of the known poses, (m, f)."""
    coefficients: Floats
    """ŵ, (m, m)."""

    @classmethod
    def of(cls, features: ArrayLike) -> PoseWeights:
        """For poses with these features (m, f)."""
        known = numbers("features", features)
        if known.ndim != 2 or not len(known):
            raise InputError(f"features have shape {known.shape}; give (m, f), one row for a pose")
        distances = np.linalg.norm(known[:, None] - known[None], axis=2)
        if len(known) == 1:
            return cls(known, np.ones((1, 1)))
        apart = distances + np.where(np.eye(len(known)), np.inf, 0.0)
        if apart.min() <= _SAME * distances.max():
            one, two = np.unravel_index(np.argmin(apart), apart.shape)
            raise InputError(f"poses {one} and {two} are the same; leave one of them out")
        return cls(known, np.linalg.inv(distances))

    @property
    def count(self) -> int:
        """Number of poses, m."""
        return len(self.features)

    def __call__(self, features: Floats) -> Floats:
        """Weights (m,) that add up to 1, in a pose with these features (f,)."""
        if self.count == 1:
            return np.ones(1)
        w = self.coefficients @ np.linalg.norm(self.features - features, axis=1)
        normalised: Floats = w / w.sum()
        return normalised
