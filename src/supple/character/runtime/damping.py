"""Damping of a character in motion: Rayleigh's, and examples designed in its neutral pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from supple._kernels.reduction.example_newton import Examples
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import Damping, ExampleDamping, Rayleigh, StiffnessAt
from supple.mesh import TetMesh
from supple.reduction.damping.examples import ReducedExamples


@dataclass(frozen=True, eq=False)
class PoseDamping:
    """C̃ = α M̃ + β K̃, of the stiffness at q or at rest (pose space, Eq. 6); examples change it."""

    mass: float = 0.0
    stiffness: float = 0.0
    at_rest: bool = False
    designed: ReducedExamples | None = None
    examples: Examples | None = None
    """The same, for compiled loops."""

    @classmethod
    def of(cls, damping: Damping | None, model: PoseSpaceModel) -> PoseDamping:
        """The damping on the coordinates of a model."""
        base = damping.base if isinstance(damping, ExampleDamping) else damping
        if base is None:
            return cls()
        if not isinstance(base, Rayleigh):
            raise InputError(
                f"damping={damping!r}: a character takes Rayleigh(mass=..., stiffness=...), "
                "ExampleDamping over it, or none"
            )
        alpha, beta = (_single(name, getattr(base, name)) for name in ("mass", "stiffness"))
        at_rest = base.at is StiffnessAt.REST
        if not isinstance(damping, ExampleDamping):
            return cls(alpha, beta, at_rest)
        neutral = NeutralModel(model)
        C = alpha * neutral.mass + beta * np.diag(np.maximum(model.squares[0], 0.0))
        reduced = ReducedExamples.of(damping, cast(Any, neutral), C)
        return cls(alpha, beta, at_rest, reduced, reduced.compiled(np.zeros_like(C)))

    def force(self, q: Floats, v: Floats, C: Floats) -> Floats:
        """Of rates v (r,) at q (r,), where the base is C (r, r)."""
        return np.asarray(C @ v if self.designed is None else self.designed.force(q, v, C))


def _single(name: str, value: Any) -> float:
    if np.ndim(value) or not np.isscalar(value):
        raise InputError(f"{name} of the damping is {value!r}; a character takes one number")
    return float(cast(float, value))


class NeutralModel:
    """The reduced model of the neutral pose, as far as examples ask for it."""

    def __init__(self, model: PoseSpaceModel) -> None:
        self._basis = model.bases[0]  # (n, 3, r)
        self._masses = model.masses
        self.mesh: TetMesh = model.tet_rig.mesh
        self.size = model.n_coordinates
        lengths = np.sqrt(np.diag(model.gram[0, 0]))
        self._scale: Floats = 1 / lengths
        self.mass: Floats = model.gram[0, 0] * np.outer(self._scale, self._scale)
        self.total_mass = float(model.masses.sum())

    def coordinates(self, shape: Floats) -> Floats:
        """The nearest coordinates (r,) to displacements (n, 3), by mass."""
        momenta = self.gathered(self._masses[:, None] * shape)
        return np.asarray(np.linalg.solve(self.mass, momenta), dtype=np.float64)

    def gathered(self, forces: Floats) -> Floats:
        """The reduced force (r,) of forces (n, 3) [N]."""
        return np.asarray(self._scale * np.einsum("ni,nir->r", forces, self._basis))

    def displacements(self, q: Floats) -> Floats:
        """(n, 3) for coordinates (r,)."""
        return np.asarray(self._basis @ (self._scale * q))
