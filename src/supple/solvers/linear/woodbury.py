"""The Woodbury identity: solving with a matrix that differs from a solved one by few factors."""

from __future__ import annotations

import numpy as np

from supple.core.sparse import LowRank
from supple.core.types import Floats


class Woodbury:
    """(A + w F W Fᵀ)⁻¹ from A⁻¹ (example damping, Eq. 26).

    ``solved`` are A⁻¹ F, one row a factor: (k, n, b).
    """

    def __init__(self, low_rank: LowRank, solved: Floats) -> None:
        k = len(solved)
        self._solved = solved.reshape(k, -1)
        self._factors = low_rank.factors.reshape(k, -1)
        wW = low_rank.weight * low_rank.coupling
        # (W⁻¹ + Fᵀ A⁻¹ F)⁻¹ without W⁻¹: W is singular where an example is left as it is
        matrix = np.eye(k) + wW @ (self._factors @ self._solved.T)
        self._small: Floats = np.asarray(np.linalg.solve(matrix, wW), dtype=float)

    def correct(self, x: Floats) -> Floats:
        """(A + w F W Fᵀ)⁻¹ b from x = A⁻¹ b (n, b)."""
        share = self._small @ (self._factors @ x.ravel())
        corrected: Floats = x - (share @ self._solved).reshape(x.shape)
        return corrected
