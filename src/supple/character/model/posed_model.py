"""A pose-space model in one pose: its basis, mass and skin there, with plain arrays."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import numbers, vector, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Ints

if TYPE_CHECKING:
    from supple.character.model.pose_space_model import PoseSpaceModel


class PosedModel:
    """What a model is in a pose (d,): weights w, Υ, M̃ and what follows from them."""

    def __init__(self, model: PoseSpaceModel, pose: ArrayLike) -> None:
        d = model.poses.shape[1]
        self.model = model
        self.pose: Floats = np.atleast_1d(numbers("pose", pose))
        if self.pose.shape != (d,):
            raise InputError(f"the pose has shape {self.pose.shape}; this model takes ({d},)")
        self.w: Floats = model.weights(model.tet_rig.rig.features(self.pose))
        """How much each pose with a model counts, (m,)."""
        # M̃ = Υᵀ (Σ_i Σ_j w_i w_j U_iᵀ M U_j) Υ, whose diagonal is 1 (Eqs. 15 and 16)
        mixed = np.einsum("i,j,ijkl->kl", self.w, self.w, model.gram, optimize=True)
        self.upsilon: Floats = 1 / np.sqrt(np.diagonal(mixed))
        """Diagonal of Υ, (r,)."""
        self.mass: Floats = self.upsilon[:, None] * mixed * self.upsilon
        """M̃, (r, r)."""

    @cached_property
    def rest(self) -> Floats:
        """Vertices of the tet mesh where nothing moves beside the rig [m], (n, 3)."""
        return self.model.tet_rig.vertices(self.pose)

    def shapes(self, which: Ints | None = None) -> Floats:
        """The basis U in the world, (n, 3, r), or (k, 3, r) at vertices ``which`` (k,)."""
        bases = self.model.bases if which is None else self.model.bases[:, which]
        U = np.tensordot(self.w, bases, axes=1) * self.upsilon  # Eqs. 14 and 16
        frames = self.model.tet_rig.frames(self.pose, which)
        return U if frames is None else frames @ U

    @property
    def cell_weights(self) -> Floats:
        """v(p) of the cubature cells, (c,) (Eq. 20)."""
        return self.w @ self.model.cell_weights

    @property
    def gap(self) -> Floats:
        """K̃ of all cells at rest less that of the cubature cells, (r, r)."""
        return self.model.gaps.at(self.model.tet_rig.rig.features(self.pose), self.upsilon)

    @property
    def lame(self) -> Floats:
        """λ and μ of the cubature cells [Pa], (c, 2) (Eq. 36)."""
        return np.tensordot(self.w, self.model.lame, axes=1)

    def displacements(self, q: ArrayLike) -> Floats:
        """u = U q of the tet mesh [m], (n, 3), for coordinates q (r,)."""
        return np.asarray(self.shapes() @ self._coordinates(q))

    def skin_displacements(self, q: ArrayLike) -> Floats:
        """A u: how far the surface is from where the rig has it [m], (surface vertices, 3)."""
        u = self.displacements(q)
        nodes = self.model.tet_rig.mesh.cells[self.model.skin_cells]
        moved: Floats = np.einsum("sk,ski->si", self.model.skin_weights, u[nodes])
        return moved

    def skin(self, q: ArrayLike) -> Floats:
        """Φ̄(p) + A u: vertices of the surface [m], (surface vertices, 3)."""
        return self.model.tet_rig.rig.vertices(self.pose) + self.skin_displacements(q)

    def pull(self, vertex: int, force: ArrayLike) -> Floats:
        """Reduced force (r,) of a force (3,) [N] at a vertex of the surface."""
        index = whole_number("vertex", vertex, at_least=0)
        if index >= len(self.model.skin_cells):
            raise InputError(f"vertex={vertex}: the surface has {len(self.model.skin_cells)}")
        nodes = self.model.tet_rig.mesh.cells[self.model.skin_cells[index]]
        share = self.model.skin_weights[index]
        pulled: Floats = np.einsum("k,kir,i->r", share, self.shapes(nodes), vector("force", force))
        return pulled

    def _coordinates(self, q: ArrayLike) -> Floats:
        return numbers("q", q, ((self.model.n_coordinates,),))
