"""A character's surface as its coordinates shape it, and forces on the surface brought back."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.character.skin import blow, carry, carry_back, displace, gather
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.arrays import SkinArrays
from supple.character.runtime.rig import RigSampler
from supple.core.checks import number, vector
from supple.core.types import Floats, Ints


class SkinShape:
    """Φ̄(p) + A U(p) q. Everything here costs as much as the surface is large."""

    def __init__(self, model: PoseSpaceModel, dtype: Any) -> None:
        self._model, self._rig = model, model.tet_rig.rig
        self._arrays = SkinArrays.of(model, dtype)
        self._follower = RigSampler(model.tet_rig, self._arrays.needed)
        count = len(self._arrays.needed)
        self._u = np.zeros((count, 3))
        self._turns = self._rig.frames(self._rig.neutral, np.zeros(1, dtype=np.int64)) is not None
        self._no_frames = np.empty((0, 3, 3))

    def copy(self) -> SkinShape:
        """The same for another thread."""
        other = copy(self)
        other._follower = self._follower.copy()
        other._u = np.zeros_like(self._u)
        return other

    def _frames(self, pose: Floats) -> Floats:
        return self._follower.sample(pose).frames if self._turns else self._no_frames

    def displacements(self, pose: Floats, q: Floats, w: Floats) -> Floats:
        """A F Σ_i w_i U_i q of the surface [m], (n, 3), for coordinates before Υ."""
        arrays = self._arrays
        displace(q, w, arrays.groups, arrays.rows, self._frames(pose), self._u)
        skin = np.zeros((len(arrays.shares), 3))
        carry(self._u, arrays.corners, arrays.shares, skin)
        return skin

    def gathered(self, force: Floats, pose: Floats, w: Floats) -> Floats:
        """Uᵀ Aᵀ force (r,), before Υ, of forces (n, 3) [N] at the surface."""
        arrays = self._arrays
        f = np.zeros(self._model.n_coordinates)
        u = np.zeros_like(self._u)
        carry_back(force, arrays.corners, arrays.shares, u)
        gather(u, w, arrays.groups, arrays.rows, self._frames(pose), f)
        return f

    def wind_force(self, wind: Wind, x: Floats, before: Floats, dt: float) -> Floats:
        """Forces (n, 3) [N] on the surface that went from ``before`` to x (n, 3) within dt [s]."""
        force = np.empty_like(x)
        blow(x, before, dt, self._rig.triangles, *wind.coefficients, force)
        return force

    def pulled(self, pull: Pull, pose: Floats, w: Floats) -> Floats:
        """Uᵀ f (r,) of a pull, before Υ."""
        U = np.tensordot(w, self._model.bases[:, pull.vertices], axes=1)  # (k, 3, r)
        frames = self._model.tet_rig.frames(pose, pull.vertices)
        force = np.broadcast_to(pull.force, (len(pull.vertices), 3))
        if frames is not None:
            force = np.einsum("kij,i->kj", frames, pull.force)
        return np.asarray(np.einsum("k,ki,kir->r", pull.shares, force, U))


@dataclass(frozen=True, eq=False)
class Pull:
    """A force (3,) [N] on vertices (k,) of the tet mesh; ``PoseSimulation.pull`` makes it."""

    vertices: Ints
    shares: Floats
    force: Floats


@dataclass(frozen=True, kw_only=True)
class Wind:
    """Moving air: the force ½ ρ A C ‖w‖ w on each triangle, w the wind relative to it.

    It is taken from the surface as it was at the start of a step.
    """

    velocity: ArrayLike = (0.0, 0.0, 0.0)
    """[m/s], (3,)."""
    normal: float = 1.2
    """C across a triangle, about 1.2 for a plate that faces the flow."""
    tangential: float = 0.02
    """C along it."""
    density: float = 1.2
    """ρ [kg/m³]; water has 1000."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "velocity", tuple(vector("velocity", self.velocity).tolist()))
        for name in ("normal", "tangential", "density"):
            object.__setattr__(self, name, number(name, getattr(self, name), at_least=0))

    @property
    def coefficients(self) -> tuple[Floats, float, float]:
        """The velocity, and ½ ρ C across and along."""
        half = 0.5 * self.density
        return np.array(self.velocity), half * self.normal, half * self.tangential
