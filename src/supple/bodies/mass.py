"""How the mass of a cell is shared among its nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats


@dataclass(frozen=True)
class MassModel(ABC):
    """Turns exact cell masses into the masses that a simulation uses."""

    @abstractmethod
    def of_cells(self, exact: Floats) -> Floats:
        """Cell masses per density (cells, k, k) [m³] from the integrals of N_a N_b."""


@dataclass(frozen=True)
class ConsistentMass(MassModel):
    """∫ N_a N_b: momentum and inertia of every motion that the mesh can show are exact."""

    def of_cells(self, exact: Floats) -> Floats:
        return exact


@dataclass(frozen=True)
class LumpedMass(MassModel):
    """A diagonal mass matrix, as explicit integrators want it.

    The diagonal of the exact one is scaled to the mass of the cell, which is positive for every
    element (a row sum is not, for quadratic tetrahedra).
    """

    def of_cells(self, exact: Floats) -> Floats:
        diagonal = np.einsum("eaa->ea", exact)
        scale = exact.sum(axis=(1, 2)) / diagonal.sum(axis=1)
        lumped = np.zeros_like(exact)
        np.einsum("eaa->ea", lumped)[:] = diagonal * scale[:, None]
        return lumped
