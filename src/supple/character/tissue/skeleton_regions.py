"""Regions from a skeleton: limbs, head, body."""

from __future__ import annotations

from functools import partial

import numpy as np

from supple.character.skeleton.bones import Bones, bones_of, segment_distances
from supple.character.skeleton.character import Character
from supple.character.skeleton.rig import RigPose
from supple.core.checks import whole_number
from supple.core.types import Floats, Ints

_ALIKE = 1.05  # times the least skin: regions that carry no more are joined at one time
_SAMPLES = 9  # places on a bone at which distances between bones are measured


def regions_from_skeleton(
    character: Character, count: int = 6, *, pose: RigPose | None = None
) -> dict[str, Bones]:
    """Handles for at most ``count`` regions, each named after the joint that carries most of it.

    Joints that hang on each other one by one are a chain: a leg, a tail, neck and head. Chains that
    others hang on are the body, one region. Those that carry least of the skin are joined to the
    nearest region until no more than ``count`` are left, and alike ones, such as two legs,
    together. ``pose`` is that of the mesh, at rest unless given.
    """
    whole_number("count", count, at_least=1)
    bones = bones_of(character, pose)
    carried = _carried(character)
    groups = _limbs_and_body(character, bones)
    while len(groups) > count:
        sizes = [float(carried[group].sum()) for group in groups]
        small = [g for g, size in zip(groups, sizes, strict=True) if size <= _ALIKE * min(sizes)]
        if len(small) == len(groups):
            small = small[:1]
        groups = [group for group in groups if group not in small]
        nearest = [min(groups, key=partial(_apart, bones, group)) for group in small]
        for group, other in zip(small, nearest, strict=True):
            other += group
    found = {}
    for group in groups:
        leader = max(group, key=lambda joint: carried[joint])
        mine = np.isin(bones.joints, group)
        names = tuple(name for name, of_group in zip(bones.names, mine, strict=True) if of_group)
        found[character.rig.names[leader]] = Bones(bones.segments[mine], bones.joints[mine], names)
    return found


def _carried(character: Character) -> Floats:
    """Area of the skin that follows each joint [m²], (j,)."""
    skin, surface = character.skin, character.surface()
    third = np.repeat(surface.areas / 3, 3)
    areas = np.bincount(surface.triangles.ravel(), weights=third, minlength=surface.n_vertices)
    follows = skin.joints[skin.bones].ravel()
    shares = (areas[:, None] * skin.weights).ravel()
    total = np.zeros(character.rig.n_joints)
    np.add.at(total, follows, shares)
    return total


def _limbs_and_body(character: Character, bones: Bones) -> list[list[int]]:
    """Chains of joints that end, and together those that others hang on."""
    parents = character.rig.parents
    chains = chains_of(parents, bones)
    inner = [c for c in chains if any(parents[other[0]] in c for other in chains)]
    limbs = [chain for chain in chains if chain not in inner]
    body = [joint for chain in inner for joint in chain]
    return [body, *limbs] if body else limbs


def chains_of(parents: Ints, bones: Bones) -> list[list[int]]:
    """Joints with bones in chains: a joint goes on with its parent's where it is the only child."""
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
    return [chain for joint, chain in chain_of.items() if chain[0] == joint]


def _apart(bones: Bones, some: list[int], others: list[int]) -> float:
    """The least distance between bones of some joints and of others [m]."""
    share = np.linspace(0.0, 1.0, _SAMPLES)[:, None, None]
    mine = bones.segments[np.isin(bones.joints, some)]
    places = ((1 - share) * mine[:, 0] + share * mine[:, 1]).reshape(-1, 3)
    return float(segment_distances(places, bones.segments[np.isin(bones.joints, others)]).min())
