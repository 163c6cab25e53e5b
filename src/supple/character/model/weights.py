"""How much each of some known poses counts in another one (pose space paper, Eq. 2), and what is
interpolated by that."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.character.basis import Known
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.types import Floats

_SAME = 1e-9  # of the largest distance: poses so close are one
_ROUND = 0.1  # of the smallest distance: so near a pose, weights turn from one slope to another


@dataclass(frozen=True, eq=False)
class PoseWeights:
    """w_i(p) = Σ_j ŵ_ij ρ(p − p_j), divided by their sum: 1 at pose i, 0 at the others.

    ρ = √(‖p − p_j‖² + ε²) is the distance, rounded at its tip: at distance itself weights have a
    kink at every pose, and what they blend would change its speed there at once.
    """

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
        if len(known) == 1:
            return cls(known, np.ones((1, 1)))
        distances = _distances(known)
        apart = distances + np.where(np.eye(len(known)), np.inf, 0.0)
        if apart.min() <= _SAME * distances.max():
            one, two = np.unravel_index(np.argmin(apart), apart.shape)
            raise InputError(f"poses {one} and {two} are the same; leave one of them out")
        return cls(known, np.linalg.inv(np.hypot(distances, _ROUND * apart.min())))

    @property
    def count(self) -> int:
        """Number of poses, m."""
        return len(self.features)

    @cached_property
    def rounding(self) -> float:
        """ε, a share of the smallest distance between poses."""
        if self.count == 1:
            return 0.0
        distances = _distances(self.features)
        return float(_ROUND * distances[np.triu_indices(self.count, 1)].min())

    @cached_property
    def compiled(self) -> Known:
        """The poses for compiled loops."""
        features = np.ascontiguousarray(self.features)
        return Known(features, np.ascontiguousarray(self.coefficients), self.rounding)

    def __call__(self, features: Floats) -> Floats:
        """Weights (m,) that add up to 1, in a pose with these features (f,)."""
        if self.count == 1:
            return np.ones(1)
        distances = np.linalg.norm(self.features - features, axis=1)
        w = self.coefficients @ np.hypot(distances, self.rounding)
        return np.asarray(w / w.sum())


def interpolated_mass(w: Floats, gram: Floats) -> tuple[Floats, Floats]:
    """The diagonal of Υ (r,) and M̃ (r, r) for weights w (m,), of U_iᵀ M U_j (m, m, r, r)."""
    # M̃ = Υᵀ (Σ_i Σ_j w_i w_j U_iᵀ M U_j) Υ, whose diagonal is 1 (Eqs. 15 and 16)
    mixed = np.einsum("i,j,ijkl->kl", w, w, gram, optimize=True)
    upsilon = 1 / np.sqrt(np.diagonal(mixed))
    return upsilon, upsilon[:, None] * mixed * upsilon


def _distances(features: Floats) -> Floats:
    """Between all poses, (m, m)."""
    return np.asarray(np.linalg.norm(features[:, None] - features[None], axis=2))


@dataclass(frozen=True, eq=False)
class StiffnessCorrections:
    """What the stiffness of cubature cells lacks at rest, D(p) = K̃ − K̃_cubature, in every pose.

    A few cells get the linear part of forces wrong by more than the rest of it. That part is known
    for all cells together. Where a rig presses flesh it changes fast, and so it is known in more
    poses than have a basis, and interpolated.
    """

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
