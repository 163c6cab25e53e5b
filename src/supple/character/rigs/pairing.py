"""Which joints of a skeleton bend the flesh between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.character.skeleton.character import Character
from supple.core.types import Bools, Floats, Ints

_SAME_PLACE = 1e-5  # of the size of the body
_SLIDES = 0.005  # of the size of the body: joints that clips move apart by more


@dataclass(frozen=True, eq=False)
class JointPairs:
    """Pairs of joints whose flesh hangs together: how they lie to each other tells poses apart.

    Where the bones that share flesh make circles, the pairs that share least are left out.
    """

    joints: Ints
    """(p, 2)"""
    places: Floats
    """Where the two meet, in the frames of both, (p, 2, 3) [m]."""
    slide: Bools
    """Which of them come apart in some clip, (p,)."""
    length: float
    """A slide by this much [m] counts as 1 rad."""


def coupled_joints(character: Character) -> JointPairs:
    """Those of a character; its clips tell which joints slide."""
    rig, skin = character.rig, character.skin
    world = rig.world(rig.rest)
    x = character.posed(rig.rest)
    size = float(np.ptp(x, axis=0).max())
    follows = _shares(character, x)
    pairs = _strongest_pairs(follows)
    places = np.empty((len(pairs), 2, 3))
    middles = x[skin.triangles].mean(axis=1)
    for k, (a, b) in enumerate(pairs):
        both = np.asarray(follows[:, [a]].multiply(follows[:, [b]]).todense()).ravel()
        centre = both @ middles / both.sum()
        origins = world[[a, b], :3, 3]
        meeting = origins[np.argmin(np.linalg.norm(origins - centre, axis=1))]
        for side, joint in enumerate((a, b)):
            places[k, side] = np.linalg.pinv(world[joint, :3, :3]) @ (meeting - world[joint, :3, 3])
    slide = _apart(character, pairs, places) > _SLIDES * size
    return JointPairs(pairs, places, slide, 0.1 * size)


def _shares(character: Character, x: Floats) -> Any:
    """How far each triangle follows each joint, (triangles, joints).

    Vertices in one place, of triangles that are not joined in the file, count as one.
    """
    from scipy import sparse  # slow to import

    skin = character.skin
    n, k = skin.bones.shape
    grid = np.round(x / (_SAME_PLACE * np.ptp(x, axis=0).max()))
    place = np.unique(grid, axis=0, return_inverse=True)[1].ravel()
    vertices = sparse.csc_matrix(
        (skin.weights.ravel(), (np.repeat(place, k), skin.joints[skin.bones].ravel())),
        shape=(n, character.rig.n_joints),
    )
    count = len(skin.triangles)
    corners = sparse.csr_matrix(
        (
            (1 / (3 * np.bincount(place)[place]))[skin.triangles.ravel()],
            (np.repeat(np.arange(count), 3), place[skin.triangles.ravel()]),
        ),
        shape=(count, n),
    )
    return sparse.csc_matrix(corners @ vertices)


def _strongest_pairs(follows: Any) -> Ints:
    """A forest over the joints that share triangles, of the pairs that share most."""
    from scipy import sparse  # slow to import

    shared = sparse.triu(follows.T @ follows, k=1).tocoo()
    used = shared.data > 0
    inverse = sparse.csr_matrix(
        (1 / shared.data[used], (shared.row[used], shared.col[used])), shape=shared.shape
    )
    kept = sparse.csgraph.minimum_spanning_tree(inverse).tocoo()
    pairs = np.stack([kept.row, kept.col], axis=1).astype(np.int64)
    return pairs[np.lexsort(pairs.T[::-1])]


def _apart(character: Character, pairs: Ints, places: Floats) -> Floats:
    """How far clips move the two places of each pair apart at most, (p,) [m]."""
    most = np.zeros(len(pairs))
    for clip in character.clips.values():
        times = np.unique(np.concatenate([track.times for track in clip.tracks]))
        world = character.rig.world(clip.poses(character.rig, times))
        both = world[:, pairs]  # (times, pairs, 2, 4, 4)
        there = (both[..., :3, :3] @ places[..., None])[..., 0] + both[..., :3, 3]
        gaps = np.linalg.norm(there[:, :, 1] - there[:, :, 0], axis=-1)
        most = np.maximum(most, gaps.max(axis=0))
    return most
