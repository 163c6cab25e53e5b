"""Small vibrations of a model with few coordinates."""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats


def vibrations(stiffness: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """ω² [1/s²], ascending (r,), and shapes in columns (r, r) with K̃ φ = ω² M̃ φ and φᵀM̃φ = 1."""
    L = np.linalg.cholesky(mass)
    half = np.linalg.solve(L, stiffness)
    A = np.linalg.solve(L, half.T)  # L⁻¹ K̃ L⁻ᵀ
    squares, turned = np.linalg.eigh(0.5 * (A + A.T))
    return squares, np.linalg.solve(L.T, turned)
