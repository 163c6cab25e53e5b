"""A surface that follows joints: linear blend skinning."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import number, numbers
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh.surface import Surface


@dataclass(frozen=True, eq=False)
class Skin:
    """Vertices (n, 3) [m] and triangles (t, 3) that follow bones.

    A bone is a joint, ``joints`` (b,), with the matrix from the frame of the vertices to that of
    the joint, ``inverse_binds`` (b, 4, 4). ``bones`` (n, k) are those of each vertex, with
    ``weights`` (n, k) that add up to 1. ``targets`` (t, n, 3) [m], none unless given, are added to
    the vertices by the weights of a pose, before the bones move them.
    """

    vertices: Floats
    triangles: Ints
    joints: Ints
    inverse_binds: Floats
    bones: Ints
    weights: Floats
    targets: Floats | None = None

    def __post_init__(self) -> None:
        surface = Surface(self.vertices, self.triangles)
        n, b = surface.n_vertices, len(self.joints)
        weights = numbers("weights", self.weights)
        bones = np.asarray(self.bones, dtype=np.int64)
        if weights.ndim != 2 or bones.shape != weights.shape or len(weights) != n:
            raise InputError(
                f"bones and weights have shapes {bones.shape} and {weights.shape}; "
                f"{n} vertices need ({n}, k) of both"
            )
        if bones.size and not 0 <= bones.min() <= bones.max() < b:
            raise InputError(f"a vertex follows bone {bones.max()}, but there are {b} bones")
        total = weights.sum(axis=1)
        if (weights < 0).any() or not (total > 0).all():
            lost = int(np.argmin(np.where((weights < 0).any(axis=1), -1.0, total)))
            raise InputError(
                f"vertex {lost} has the weights {weights[lost].tolist()}; give none below 0 and "
                "one or more above"
            )
        binds = numbers("inverse_binds", self.inverse_binds, ((b, 4, 4),))
        targets = np.zeros((0, n, 3)) if self.targets is None else numbers("targets", self.targets)
        if targets.ndim != 3 or targets.shape[1:] != (n, 3):
            raise InputError(f"targets have shape {targets.shape}; give (t, {n}, 3)")
        values = {
            "vertices": surface.vertices,
            "triangles": surface.triangles,
            "joints": np.ascontiguousarray(self.joints, dtype=np.int64),
            "inverse_binds": binds,
            "bones": bones,
            "weights": weights / total[:, None],
            "targets": targets,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def n_targets(self) -> int:
        """Number of morph targets, t."""
        return len(np.asarray(self.targets))

    def shaped(self, weights: Floats, which: Ints | None = None) -> Floats:
        """Vertices (…, k, 3) [m] before the bones move them, with morph weights (…, t)."""
        chosen = slice(None) if which is None else which
        if not self.n_targets or weights.shape[-1] == 0:
            return self.vertices[chosen]
        if weights.shape[-1] != self.n_targets:
            raise InputError(
                f"the pose has {weights.shape[-1]} morph weights; this skin has {self.n_targets} "
                "targets"
            )
        moved = np.tensordot(weights, np.asarray(self.targets)[:, chosen], axes=1)
        return np.asarray(self.vertices[chosen] + moved)

    def placed(self, world: Floats, weights: Floats | None = None) -> Floats:
        """Vertices (…, n, 3) [m] where the joints are at ``world`` (…, j, 4, 4).

        ``weights`` (…, t) are those of the morph targets, 0 unless given.
        """
        moves = (world[..., self.joints, :, :] @ self.inverse_binds)[..., :3, :]  # (…, b, 3, 4)
        X = self.shaped(np.zeros(0) if weights is None else weights)
        x = np.concatenate([X, np.ones((*X.shape[:-1], 1))], axis=-1)
        total = np.zeros((*world.shape[:-3], len(self.vertices), 3))
        for bone, weight in zip(self.bones.T, self.weights.T, strict=True):
            used = np.flatnonzero(weight)
            there = np.einsum("...nij,...nj->...ni", moves[..., bone[used], :, :], x[..., used, :])
            total[..., used, :] += weight[used, None] * there
        return total

    def slimmed(self, share: float, parents: ArrayLike) -> Skin:
        """This skin drawn towards its bones: 1 is as it is, 0 on the bones.

        ``parents`` (j,) of the joints tell where bones go: each from its joint to the joints that
        hang on it, as they lay when the skin was bound to them.
        """
        s = number("slim", share, at_least=0)
        above = np.asarray(parents)[self.joints]
        heads = np.linalg.inv(self.inverse_binds)[:, :3, 3]  # where the joints were
        middle = np.zeros_like(self.vertices)
        for bone, weight in zip(self.bones.T, self.weights.T, strict=True):
            for which in np.unique(bone[weight > 0]):
                mine = np.flatnonzero((bone == which) & (weight > 0))
                tails = heads[above == self.joints[which]]
                near = _nearest(self.vertices[mine], heads[which], tails)
                middle[mine] += weight[mine, None] * near
        slim = middle + s * (self.vertices - middle)
        return replace(self, vertices=slim, targets=s * np.asarray(self.targets))


def _nearest(points: Floats, head: Floats, tails: Floats) -> Floats:
    """The nearest places (k, 3) to ``points`` on the lines from a head (3,) to tails (m, 3)."""
    found = np.tile(head, (len(points), 1))
    gap = np.linalg.norm(points - found, axis=1)
    for way in tails - head:
        length = max(float(way @ way), np.finfo(float).tiny)
        place = head + np.clip((points - head) @ way / length, 0.0, 1.0)[:, None] * way
        apart = np.linalg.norm(points - place, axis=1)
        nearer = apart < gap
        found[nearer], gap[nearer] = place[nearer], apart[nearer]
    return found
