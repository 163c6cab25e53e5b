"""Bones as straight lines between joints, and what lies on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.character.skeleton.character import Character
from supple.character.skeleton.rig import RigPose
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh import TetMesh
from supple.mesh.tet import barycentric_gradients

_CARRIED = 0.4  # of a vertex: a joint that no vertex follows as far only helps others


@dataclass(frozen=True, eq=False, repr=False)
class Bones:
    """Straight bones in one pose."""

    segments: Floats
    """Both ends of each bone [m], (k, 2, 3); a point has them at one place."""
    joints: Ints
    """The joint that moves each bone, (k,)."""
    names: tuple[str, ...]
    """The name of that joint."""

    def __repr__(self) -> str:
        return f"Bones({len(self.segments)} of {len(set(self.names))} joints)"


def bones_of(character: Character, pose: RigPose | None = None) -> Bones:
    """The bones of a character in a pose, at rest unless given.

    A bone goes from each joint that carries skin to the joints that hang on it; joints that only
    control others have none. The last of a chain, which nothing hangs on, has a bone to the middle
    of the skin that it carries.
    """
    skin, rig = character.skin, character.rig
    world = rig.world(rig.rest if pose is None else pose)
    places, x = world[:, :3, 3], skin.placed(world)
    follows = skin.joints[skin.bones]
    count = rig.n_joints
    most = np.zeros(count)
    np.maximum.at(most, follows.ravel(), skin.weights.ravel())
    carries = most >= _CARRIED
    below = carries.copy()
    for joint in range(count - 1, 0, -1):  # parents come before their children
        if below[joint] and rig.parents[joint] >= 0:
            below[rig.parents[joint]] = True
    segments, joints = [], []
    for joint in [int(each) for each in np.flatnonzero(carries)]:
        hanging = np.flatnonzero(rig.parents == joint)
        ends = [places[c] for c in hanging if below[c] or len(hanging) == 1]
        if not ends:
            share = np.where(follows == joint, skin.weights, 0.0).sum(axis=1)
            ends = [share @ x / share.sum()]
        segments += [(places[joint], end) for end in ends]
        joints += [joint] * len(ends)
    names = tuple(rig.names[joint] for joint in joints)
    return Bones(np.array(segments), np.array(joints, dtype=np.int64), names)


def chains_of(parents: Ints, bones: Bones) -> tuple[list[list[int]], list[list[int]]]:
    """Joints with bones in chains: those that others hang on, the body, and those that end, limbs.

    A joint goes on with its parent's chain where it is the only child.
    """
    with_bone = [int(joint) for joint in np.unique(bones.joints)]  # parents come first
    chain_of: dict[int, list[int]] = {}
    for joint in with_bone:
        above = int(parents[joint])
        siblings = [other for other in with_bone if parents[other] == above]
        if above in chain_of and len(siblings) == 1:
            chain_of[above].append(joint)
            chain_of[joint] = chain_of[above]
        else:
            chain_of[joint] = [joint]
    chains = [chain for joint, chain in chain_of.items() if chain[0] == joint]
    inner = [c for c in chains if any(parents[other[0]] in c for other in chains)]
    return inner, [chain for chain in chains if chain not in inner]


def as_segments(name: str, given: Bones | ArrayLike) -> Floats:
    """Bones, segments (k, 2, 3) or points (k, 3) [m] as segments (k, 2, 3)."""
    if isinstance(given, Bones):
        return given.segments
    array = numbers(name, given)
    if array.ndim >= 1 and array.shape[-1] == 3:
        if array.ndim <= 2:
            return np.repeat(np.atleast_2d(array)[:, None], 2, axis=1)
        if array.ndim == 3 and array.shape[1] == 2:
            return array
    raise InputError(
        f"{name} has shape {array.shape}; give segments (k, 2, 3), points (k, 3), or "
        "bones_of(character)"
    )


def segment_distances(points: Floats, segments: Floats) -> Floats:
    """From points (n, 3) to segments (k, 2, 3) [m], (n, k)."""
    found = np.empty((len(points), len(segments)))
    for k, (start, end) in enumerate(segments):
        way = end - start
        length = max(float(way @ way), np.finfo(float).tiny)
        place = start + np.clip((points - start) @ way / length, 0.0, 1.0)[:, None] * way
        found[:, k] = np.linalg.norm(points - place, axis=1)
    return found


def crossed_cells(mesh: TetMesh, segments: Floats) -> Bools:
    """Which cells the segments (k, 2, 3) go through, (k, cells)."""
    slopes = barycentric_gradients(mesh.vertices, mesh.cells, mesh.volumes)
    found = np.empty((len(segments), mesh.n_cells), dtype=bool)
    for k, (start, end) in enumerate(segments):
        # A barycentric coordinate goes from a to a + b along the segment; in the cell all are ≥ 0.
        a = 0.25 + np.einsum("mki,mi->mk", slopes, start - mesh.centroids)
        b = slopes @ (end - start)
        with np.errstate(divide="ignore", invalid="ignore"):
            zero = -a / b
        enters = np.where(b > 0, zero, -np.inf).max(axis=1)
        leaves = np.where(b < 0, zero, np.inf).min(axis=1)
        level = ((b != 0) | (a >= 0)).all(axis=1)
        found[k] = level & (np.maximum(enters, 0.0) <= np.minimum(leaves, 1.0))
    return found
