"""What the examples of poses share: shapes at rest in a subspace, and how far off they are."""

from __future__ import annotations

import numpy as np

import supple as sp


def static_in(body: sp.Body, vectors: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Displacements (n, 3) [m] in the span of vectors (r, n, 3) at which the body rests under
    forces (n, 3) [N]: Newton's method, with steps that are halved until the energy falls."""
    vectors = np.linalg.qr(vectors.reshape(len(vectors), -1).T)[0].T.reshape(vectors.shape)
    q = np.zeros(len(vectors))

    def energy(q: np.ndarray) -> float:
        u = np.tensordot(q, vectors, 1)
        return body.energy(u) - float(np.vdot(forces, u))

    for _ in range(200):
        found = body.evaluate(np.tensordot(q, vectors, 1), order=2)
        residual = np.tensordot(vectors, forces - found.gradient, 2)
        if np.abs(residual).max() <= 1e-9 * np.abs(np.tensordot(vectors, forces, 2)).max():
            return np.tensordot(q, vectors, 1)
        columns = body.pattern.multiply_many(found.stiffness, vectors)
        squares, turns = np.linalg.eigh(np.tensordot(vectors, columns, ((1, 2), (1, 2))))
        squares = np.maximum(np.abs(squares), 1e-6 * np.abs(squares).max())
        step = turns @ ((turns.T @ residual) / squares)
        while energy(q + step) > energy(q) + 1e-11 * abs(energy(q)):
            step /= 2
        q = q + step
    raise RuntimeError("Newton's method did not come to rest")


def error(body: sp.Body, found: np.ndarray, wanted: np.ndarray) -> float:
    """How far a shape (n, 3) is off, in the mass norm, as a share of what it should be."""

    def norm(u: np.ndarray) -> float:
        return float(np.sqrt(np.vdot(u, body.mass_times(u))))

    return norm(found - wanted) / norm(wanted)
