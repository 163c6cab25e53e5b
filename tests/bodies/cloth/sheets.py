"""Sheets that the tests of cloth share."""

from __future__ import annotations

import numpy as np

import supple as sp

FILM = {"thickness": 1e-3, "areal_density": 0.2}
ISOTROPIC = sp.IsotropicCloth(young=2e5, poisson=0.3, bending_stiffness=0.5, **FILM)
WOVEN = sp.OrthotropicCloth(
    young_warp=4e5, young_weft=1e5, shear=3e4, poisson=0.4, warp=(1.0, 0.5),
    bending_warp=0.8, bending_weft=0.3, **FILM,
)  # fmt: skip
MATERIALS = {"isotropic": ISOTROPIC, "woven": WOVEN}


def shaken_grid(seed: int = 0) -> sp.SheetMesh:
    """A sheet of 1 × 0.8 m with vertices in general position in its plane."""
    flat = sp.SheetMesh.grid((1.0, 0.8), (4, 3))
    moved = flat.vertices[:, :2] + np.random.default_rng(seed).uniform(-0.05, 0.05, (20, 2))
    return sp.SheetMesh(np.column_stack([moved, np.zeros(20)]), flat.cells, pattern=moved)


def bowl(seed: int = 0) -> sp.SheetMesh:
    """A curved sheet without a pattern."""
    flat = shaken_grid(seed)
    x, y, _ = flat.vertices.T
    return sp.SheetMesh(np.column_stack([x, y, 0.4 * x**2 - 0.3 * x * y]), flat.cells)


def crumpled(mesh: sp.SheetMesh, seed: int = 1, size: float = 0.06) -> np.ndarray:
    """Displacements that stretch, push together and fold."""
    return size * np.random.default_rng(seed).normal(size=mesh.vertices.shape)


def cloths() -> dict[str, sp.Cloth]:
    """One for each combination of material and bending."""
    made = {}
    for name, material in MATERIALS.items():
        for bending in (sp.QuadraticBending(), sp.HingeBending(), sp.HingeBending(0.2)):
            made[f"{name} {bending}"] = sp.Cloth(shaken_grid(), material, bending=bending)
    made["curved"] = sp.Cloth(bowl(), ISOTROPIC)
    soft = sp.IsotropicCloth(young=2e5, bending_stiffness=0.0, **FILM)
    made["membrane"] = sp.Cloth(shaken_grid(), soft)
    for stretch in (1.2, 1.5):  # crumpled, it is longer by 1.15
        limit = sp.StrainLimit(stretch=stretch, firmness=5.0, onset=0.3)
        made[f"limited {stretch}"] = sp.Cloth(shaken_grid(), WOVEN, strain_limit=limit)
    return made
