"""What large swings of a body store, and how much of it a reduced model stores too much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from supple.core.errors import InputError
from supple.core.types import Floats


@dataclass(frozen=True, eq=False)
class SwingEnergies:
    """What is stored in large swings along k slow vibrations, and what giving way takes off it.

    Swings are all sums Σ c_i a_i Ψ^i with Σ c_i² = 1, where a_i Ψ^i is where vibration i goes under
    a force as large as that which moves the slowest by a quarter of the body's size.
    """

    linear: Floats
    """½ λ_i a_i² [J], (k,), that small vibrations would store."""
    relief: Floats
    """½ r_p K⁻¹ r_p' [J] for forces r of the pairs i ≤ j, (p, p): what the body gives way by."""
    forces: Floats
    """Those forces in the coordinates of a model [N], (r, p)."""
    stiffness: Floats
    """Uᵀ K U at rest [N/m], (r, r), of all cells: that of a cubature is not near enough."""

    @property
    def excess(self) -> float:
        """The energy that the model stores too much, of that of small vibrations, at most.

        Over swings along each vibration, and between any of them.
        """
        given = 0.5 * self.forces.T @ np.linalg.solve(self.stiffness, self.forces)
        lacking = self.relief - given
        i, j = np.triu_indices(len(self.linear))
        shares = []
        for way in product((-1, 0, 1), repeat=len(self.linear)):
            if any(way) and next(c for c in way if c) > 0:  # back is as far
                c = np.array(way) / np.linalg.norm(way)
                pairs = np.where(i == j, 1, 2) * c[i] * c[j]
                shares.append(pairs @ lacking @ pairs / (self.linear @ c**2))
        return max(float(max(shares)), 0.0)

    def truncated(self, size: int) -> SwingEnergies:
        """In the first ``size`` coordinates."""
        cut = slice(size)
        return replace(self, forces=self.forces[cut], stiffness=self.stiffness[cut, cut])

    def transformed(self, T: Floats) -> SwingEnergies:
        """In coordinates p with q = T p."""
        return replace(self, forces=T.T @ self.forces, stiffness=T.T @ self.stiffness @ T)

    def arrays(self) -> dict[str, Floats]:
        """All of it by name, for a file."""
        names = ("linear", "relief", "forces", "stiffness")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float64]], size: int) -> SwingEnergies:
        """Those from a file of a model with ``size`` coordinates."""
        k = len(arrays["linear"])
        p = k * (k + 1) // 2
        shapes = {"linear": (k,), "relief": (p, p), "forces": (size, p), "stiffness": (size, size)}
        for name, shape in shapes.items():
            if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
                raise InputError(f"its swing {name} is not of shape {shape}, or is not finite")
        return cls(**{name: np.array(arrays[name], dtype=float) for name in shapes})
