"""Bases of different poses, turned so that they can be interpolated (pose space paper, §5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from supple.character.rigs.base import nearest_rotations
from supple.core.types import Floats, Ints
from supple.mesh.tet import barycentric_gradients, tet_volumes

_TIED = 1e-9  # share by which what is equally near may differ


def vertex_rotations(cells: Ints, before: Floats, after: Floats) -> Floats:
    """How the surroundings of each vertex of a tet mesh turn between two poses, (n, 3, 3).

    ``before`` and ``after`` are vertices (n, 3) [m]. The rotations of the cells around a vertex
    are averaged by volume (Eq. 13).
    """
    volumes = tet_volumes(before, cells)
    slopes = barycentric_gradients(before, cells, volumes)
    F = np.einsum("mki,mkj->mij", after[cells], slopes)
    q = Rotation.from_matrix(nearest_rotations(F)).as_quat()  # Q of the polar decomposition F = Q R
    one = np.empty((len(before), 4))
    one[cells] = q[:, None]  # that of any cell around a vertex, with whose sign the others agree
    agreeing = np.where(np.einsum("mi,mki->mk", q, one[cells]) < 0, -1.0, 1.0)
    mean = np.zeros_like(one)
    np.add.at(mean, cells, (agreeing * volumes[:, None])[:, :, None] * q[:, None])
    return np.asarray(Rotation.from_quat(mean).as_matrix())


def pose_tree(features: Floats) -> Ints:
    """The pose that each of m poses is aligned to, (m,), −1 for the first, the neutral one.

    From that one on, the nearest pair of a pose in the tree and one outside is joined.
    """
    distances = np.linalg.norm(features[:, None] - features[None], axis=2)
    parents = np.full(len(features), -1)
    inside = np.arange(len(features)) == 0
    while not inside.all():
        open_pairs = np.where(inside[:, None] & ~inside, distances, np.inf)
        # of mirrored poses, equally near but for rounding, the first
        nearest = np.argmax(open_pairs <= (1 + _TIED) * open_pairs.min())
        parent, child = np.unravel_index(nearest, distances.shape)
        parents[child] = parent
        inside[child] = True
    return parents


def procrustes(child: Floats, parent: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Q (r, r) that turns the child's basis onto the parent's, and the angles between them (r,).

    Both are mass-orthonormal, (n, 3, r), with the masses (n,) of the vertices.
    """
    # U_jᵀ M U_i = Y Σ Zᵀ, Q_j = Y Zᵀ, θ = arccos σ (Eqs. 11 and 12)
    Y, sigma, Zt = np.linalg.svd(np.einsum("nak,n,nal->kl", child, masses, parent, optimize=True))
    return Y @ Zt, np.arccos(np.clip(sigma, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Alignment:
    """Aligned bases and how well they agree."""

    bases: Floats
    """(m, n, 3, r)"""
    parents: Ints
    """The pose that each one was aligned to, (m,), −1 for the first."""
    angles: Floats
    """Between the subspaces of each pose and its parent [rad], region by region, (m, r)."""


def aligned(
    bases: Floats,
    places: Floats,
    cells: Ints,
    masses: Floats,
    features: Floats,
    regions: Ints,
    frames: Floats | None = None,
) -> Alignment:
    """Bases U_i (m, n, 3, r) of m poses, turned by Procrustes along the tree of poses.

    ``places`` (m, n, 3) [m] are the vertices in these poses, ``features`` (m, f) tell which poses
    are close, ``regions`` (r,) which columns may mix. ``frames`` (m, n, 3, 3), where a rig has
    them, are taken off: the result lies in the neutral frames.
    """
    turned = bases.copy() if frames is None else np.einsum("mnji,mnjr->mnir", frames, bases)
    parents, angles = pose_tree(features), np.zeros((len(bases), bases.shape[-1]))
    for child in from_the_root(parents):
        parent = parents[child]
        R = vertex_rotations(cells, places[parent], places[child])
        if frames is not None:  # what the frames do not know
            R = frames[child].swapaxes(1, 2) @ R @ frames[parent]
        back = np.einsum("nji,njr->nir", R, turned[child])
        for region in np.unique(regions):
            own = np.flatnonzero(regions == region)
            Q, angles[child, own] = procrustes(back[..., own], turned[parent][..., own], masses)
            turned[child][..., own] = turned[child][..., own] @ Q
    return Alignment(turned, parents, angles)


def from_the_root(parents: Ints) -> list[int]:
    """Poses but the first, each after its parent."""
    order, known = [], {0}
    while len(known) < len(parents):
        ready = [k for k in range(len(parents)) if k not in known and parents[k] in known]
        order += ready
        known.update(ready)
    return order
