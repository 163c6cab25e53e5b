"""A tet mesh that follows the rig of its surface (pose space paper, §4.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.character.model.weights import PoseWeights
from supple.character.rigs.base import PoseRig, nearest_rotations, turned
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
        chosen = slice(None) if which is None else which
        needed, place = self._followed(chosen)
        moved, gradients = self.offsets[chosen], self.rig.gradients(pose, needed)
        if gradients is not None:
            moved = np.einsum("nkij,nkj->nki", gradients[place], moved)
        x = self.rig.vertices(pose, needed)[place] + moved
        found: Floats = np.einsum("nk,nki->ni", self.shares[chosen], x)
        if self.weights is None or self.corrections is None:
            return found
        w = self.weights(self.rig.features(pose))
        added = np.einsum("m,mni->ni", w, self.corrections[:, chosen])
        return found + turned(self.frames(pose, which), added)

    def frames(self, pose: Floats, which: Ints | None = None) -> Floats | None:
        """Rotations (k, 3, 3) around the vertices from the neutral pose, where the rig has them.

        They are nearest to the means of the gradients of the surface.
        """
        chosen = slice(None) if which is None else which
        needed, place = self._followed(chosen)
        gradients = self.rig.gradients(pose, needed)
        if gradients is None:
            return None
        return nearest_rotations(np.einsum("nk,nkij->nij", self.shares[chosen], gradients[place]))

    def in_poses(self, poses: Floats) -> tuple[Floats, Floats, Floats | None]:
        """Features (m, f), vertices (m, n, 3) [m] and any frames (m, n, 3, 3) in poses (m, d)."""
        features = np.array([self.rig.features(pose) for pose in poses])
        frames = [self.frames(pose) for pose in poses]
        places = np.array([self.vertices(pose) for pose in poses])
        return features, places, None if frames[0] is None else np.array(frames)

    def _followed(self, chosen: slice | Ints) -> tuple[Ints, Ints]:
        """Surface vertices (k,) that vertices follow, and where among them those of each are."""
        needed, place = np.unique(self.near[chosen], return_inverse=True)
        return needed, place.reshape(self.near[chosen].shape)
