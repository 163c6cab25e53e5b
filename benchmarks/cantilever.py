"""The body that every benchmark uses: a soft beam, 1 × 0.2 × 0.2 m, clamped at one end."""

from __future__ import annotations

import numpy as np

import supple as sp
from supple.core.types import Floats

YOUNG, POISSON, DENSITY = 1e6, 0.4, 1000.0


def beam(
    material: type[sp.Material] = sp.StVK, bricks: tuple[int, int, int] = (38, 7, 7)
) -> sp.Body:
    """The cantilever; the default has 2,496 vertices and 11,172 tetrahedra."""
    mesh = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=bricks).tetrahedra()
    constants = material(young=YOUNG, poisson=POISSON, density=DENSITY)
    return sp.Body(mesh, constants, fixed=mesh.where(x=0))


def first_bending_mode(body: sp.Body, tip: float) -> tuple[float, Floats]:
    """Frequency [Hz] and shape (n, 3) of the slowest vibration, its deflection ``tip`` [m]."""
    modes = sp.vibration_modes(body, 1)
    shape = modes.shapes[0]
    return float(modes.frequencies[0]), shape * tip / np.abs(shape).max()
