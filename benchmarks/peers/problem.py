"""The problem file that every engine reads. Needs NumPy only: peers may live without Supple."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Problem:
    """A clamped, undamped body that is let go in the shape of its first vibration mode."""

    vertices: NDArray[np.float64]
    """Rest positions [m], (n, 3)."""
    tets: NDArray[np.int64]
    """(cells, 4)"""
    fixed: NDArray[np.int64]
    """Vertices that are held, (k,)."""
    masses: NDArray[np.float64]
    """A quarter of the mass of each tet around a vertex [kg], (n,)."""
    mode: NDArray[np.float64]
    """The shape φ of the mode, with φᵀ M φ = 1, (n, 3)."""
    release: float
    """Modal amplitude q at which it is let go, the displacements being q φ."""
    frequency: float
    """Of the mode, by a modal analysis of this mesh with these masses [Hz]."""
    beam_frequency: float
    """Of the mode, by Timoshenko's theory of beams [Hz]."""
    explicit_step: float
    """Longest time step at which explicit integrators are stable, 2/ω of the fastest mode [s]."""
    young: float
    """[Pa]"""
    poisson: float
    density: float
    """[kg/m³]"""
    frame_rate: int
    """[Hz]"""

    @property
    def start(self) -> NDArray[np.float64]:
        """Displacements at the release [m], (n, 3)."""
        return self.release * self.mode

    def project(self, field: NDArray[np.float64]) -> float:
        """Modal coordinate φᵀ M u of displacements, or of velocities, (n, 3)."""
        return float(np.einsum("ni,n,ni", self.mode, self.masses, field))

    def save(self, path: str | os.PathLike[str]) -> None:
        np.savez(path, **asdict(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        with np.load(path) as file:
            return cls(**{key: file[key] if file[key].ndim else file[key].item() for key in file})
