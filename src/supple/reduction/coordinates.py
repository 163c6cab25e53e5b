"""What is done with few coordinates: vibrations, definiteness, and displacements from them."""

from __future__ import annotations

import numpy as np

from supple.core.errors import InputError
from supple.core.types import Floats


def vibrations(stiffness: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """ω² [1/s²], ascending (r,), and shapes in columns (r, r) with K̃ φ = ω² M̃ φ and φᵀM̃φ = 1."""
    L = np.linalg.cholesky(mass)
    half = np.linalg.solve(L, stiffness)
    A = np.linalg.solve(L, half.T)  # L⁻¹ K̃ L⁻ᵀ
    squares, turned = np.linalg.eigh(0.5 * (A + A.T))
    return squares, np.linalg.solve(L.T, turned)


def is_definite(matrix: Floats, least: float = 1e-12) -> bool:
    """Whether a symmetric matrix is positive definite, by more than ``least`` of its diagonal."""
    scale = np.sqrt(np.abs(np.diag(matrix)))
    if not (scale > 0).all():
        return False
    return bool(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] > least)


def expand(q: Floats, vectors: Floats, out: Floats | None = None) -> Floats:
    """Σ q_i φ_i, (n, 3), into ``out`` if given."""
    flat = vectors.reshape(len(vectors), -1)
    if out is None:
        return (q @ flat).reshape(vectors.shape[1:])
    np.dot(q, flat, out=output_array("out", out, vectors.shape[1:]).reshape(-1))
    return out


def output_array(name: str, out: Floats, shape: tuple[int, ...]) -> Floats:
    """``out`` itself, if it is an array that can be filled in place."""
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == np.float64
    if not (fits and out.flags.c_contiguous and out.flags.writeable):
        raise InputError(f"{name} must be a float64 array in C order that can be written, {shape}")
    return out
