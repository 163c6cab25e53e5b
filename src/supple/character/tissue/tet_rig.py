"""A tet mesh that follows the rig of its surface (pose space paper, §4.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.character.model.weights import PoseWeights
from supple.character.rigs.base import PoseRig
from supple.core.types import Floats, Ints
from supple.mesh import TetMesh

_NEAREST = 4


@dataclass(frozen=True, eq=False)
class TetRig:
    """Φ: from a pose to the vertices of a tet mesh.

    Each vertex follows the nearest vertices of the surface, with inverse-distance weights; where
    the rig has frames, it turns and stretches along with what is around them. ``corrections``
    (m, n, 3) [m] of m poses are added with the weights of Eq. 2; they lie in the neutral frames.
    """

    rig: PoseRig
    mesh: TetMesh
    near: Ints
    """Surface vertices that each vertex follows, (n, 4)."""
    shares: Floats
    """How much, (n, 4); each row adds up to 1."""
    offsets: Floats
    """From those surface vertices to the vertex in the neutral pose [m], (n, 4, 3)."""
    weights: PoseWeights | None = None
    corrections: Floats | None = None

    @classmethod
    def of(cls, rig: PoseRig, mesh: TetMesh) -> TetRig:
        """The mesh, which lies as the surface does in its neutral pose, without corrections."""
        from scipy.spatial import cKDTree  # slow to import

        surface = rig.vertices(rig.neutral)
        places, first = np.unique(surface, axis=0, return_index=True)  # seams repeat vertices
        count = min(_NEAREST, len(places))
        distance, near = cKDTree(places).query(mesh.vertices, k=count)
        distance, near = distance.reshape(-1, count), first[near].reshape(-1, count)
        closest = np.maximum(distance, 1e-9 * np.ptp(surface, axis=0).max())
        shares = 1 / closest
        shares /= shares.sum(axis=1, keepdims=True)
        offsets = mesh.vertices[:, None] - surface[near]
        return cls(rig, mesh, near.astype(np.int64), shares, offsets)

    def corrected(self, weights: PoseWeights, corrections: Floats) -> TetRig:
        """The same with corrections (m, n, 3) at the poses of ``weights``."""
        return replace(self, weights=weights, corrections=corrections)

    def vertices(self, pose: Floats, which: Ints | None = None) -> Floats:
        """Vertices [m] in a pose, all (n, 3) or those of ``which`` (k,), (k, 3)."""
        near, shares, offsets = self._of(which)
        needed, place = np.unique(near, return_inverse=True)
        place = place.reshape(near.shape)
        x = self.rig.vertices(pose, needed)[place]
        gradients = self.rig.gradients(pose, needed)
        if gradients is None:
            x = x + offsets
        else:
            x = x + np.einsum("nkij,nkj->nki", gradients[place], offsets)
        found: Floats = np.einsum("nk,nki->ni", shares, x)
        if self.weights is None or self.corrections is None:
            return found
        extra = self.corrections if which is None else self.corrections[:, which]
        added = np.einsum("m,mni->ni", self.weights(self.rig.features(pose)), extra)
        frames = self.frames(pose, which)
        if frames is not None:
            added = np.einsum("nij,nj->ni", frames, added)
        return np.asarray(found + added)

    def frames(self, pose: Floats, which: Ints | None = None) -> Floats | None:
        """Rotations (k, 3, 3) around the vertices from the neutral pose, where the rig has them.

        They are nearest to the means of the gradients of the surface.
        """
        near, shares, _ = self._of(which)
        needed, place = np.unique(near, return_inverse=True)
        gradients = self.rig.gradients(pose, needed)
        if gradients is None:
            return None
        mean = np.einsum("nk,nkij->nij", shares, gradients[place.reshape(near.shape)])
        U, _, Vt = np.linalg.svd(mean)
        U[:, :, 2] *= np.linalg.det(U @ Vt)[:, None]
        return np.asarray(U @ Vt)

    def _of(self, which: Ints | None) -> tuple[Ints, Floats, Floats]:
        if which is None:
            return self.near, self.shares, self.offsets
        return self.near[which], self.shares[which], self.offsets[which]
