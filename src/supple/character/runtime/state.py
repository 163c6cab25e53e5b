"""Where a character is and how its flesh moves: coordinates, energies, shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.shape import SkinShape
from supple.character.runtime.solver import StepSolver
from supple.core.checks import numbers
from supple.core.types import Floats


class PoseState:
    """The state of one character."""

    model: PoseSpaceModel
    _solver: StepSolver
    _skin: SkinShape
    _pose: Floats
    _has_past: bool
    """Whether the state one step ago is known."""
    _settled: bool
    """Whether the acceleration belongs to the state."""

    @property
    def q(self) -> Floats:
        """Coordinates, (r,); assign them for initial conditions."""
        return np.array(self._solver.workspace.history[0])

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._set(0, "q", value)

    @property
    def v(self) -> Floats:
        """Their rates, (r,)."""
        return np.array(self._solver.workspace.history[1])

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._set(1, "v", value)

    def _set(self, row: int, name: str, value: ArrayLike) -> None:
        history = self._solver.workspace.history
        history[row] = numbers(name, value, (history[0].shape,))
        self._solver.drop_history()
        self._has_past = self._settled = False

    @property
    def pose(self) -> Floats:
        """The pose that it is in, (d,)."""
        return self._pose.copy()

    @property
    def kinetic(self) -> float:
        """Kinetic energy of the motion relative to the rig [J]."""
        return self._solver.kinetic()

    @property
    def elastic(self) -> float:
        """Elastic energy [J]."""
        return self._solver.elastic()

    @property
    def elastic_force(self) -> Floats:
        """U(p)ᵀ f_int at q, by cubature (Eq. 21), (r,)."""
        self._solver.forces(self._solver.workspace.history[0])
        return np.array(self._solver.workspace.balance.R)

    @property
    def stiffness(self) -> Floats:
        """U(p)ᵀ K U(p) at q, by cubature (Eq. 22), (r, r)."""
        self._solver.forces(self._solver.workspace.history[0])
        return np.array(self._solver.workspace.balance.K)

    @property
    def mass(self) -> Floats:
        """U(p)ᵀ M U(p), (r, r)."""
        return np.array(self._solver.workspace.balance.M)

    def surface_displacements(self) -> Floats:
        """A U(p) q: how far the surface is from the rig's [m], (surface vertices, 3)."""
        return self._skin.displacements(
            self._pose,
            self._solver.workspace.scale * self._solver.workspace.history[0],
            self._solver.workspace.w,
        )

    def vertices(self) -> Floats:
        """The surface, Φ̄(p) + A U(p) q [m], (surface vertices, 3)."""
        return self.model.tet_rig.rig.vertices(self._pose) + self.surface_displacements()

    def displacements(self) -> Floats:
        """U(p) q at all vertices of the tet mesh [m], (n, 3)."""
        workspace = self._solver.workspace
        scaled = np.multiply.outer(workspace.w, workspace.scale * workspace.history[0])
        u: Floats = np.einsum("mnir,mr->ni", self.model.bases, scaled)
        frames = self.model.tet_rig.frames(self._pose)
        return u if frames is None else np.asarray(np.einsum("nij,nj->ni", frames, u))
