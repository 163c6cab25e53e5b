"""Small bodies in poses, with known answers."""

from __future__ import annotations

import numpy as np

import supple as sp
from supple.bodies.mass import LumpedMass


def bent(x: np.ndarray, angle: float, *, length: float = 1.0, around: float = 0.0) -> np.ndarray:
    """Points of a beam along x, its axis at y = ``around``, bent in the xy plane to an arc."""
    if abs(angle) < 1e-12:
        return x.copy()
    radius = length / angle
    phi = x[:, 0] / radius
    arm = radius - (x[:, 1] - around)
    return np.stack([arm * np.sin(phi), around + radius - arm * np.cos(phi), x[:, 2]], axis=1)


def beam(cells: tuple[int, int, int] = (8, 2, 2), material: sp.Material | None = None) -> sp.Body:
    mesh = sp.TetMesh.box(size=(1.0, 0.12, 0.1), cells=cells)
    soft = sp.StVK(young=1e5, poisson=0.4, density=1000.0) if material is None else material
    return sp.Body(mesh, soft, fixed=mesh.where(x=0), mass_model=LumpedMass())


def flat(shapes: np.ndarray) -> np.ndarray:
    """Shapes (k, n, 3) as columns (3n, k)."""
    return shapes.reshape(len(shapes), -1).T
