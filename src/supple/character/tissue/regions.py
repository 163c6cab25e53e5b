"""Overlapping regions of a volume for local bases (pose space paper, §7)."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from supple.character.skeleton.bones import (
    Bones,
    as_segments,
    bones_of,
    chains_of,
    segment_distances,
)
from supple.character.skeleton.character import Character
from supple.character.skeleton.rig import RigPose
from supple.core.checks import number, numbers, whole_number
from supple.core.errors import InputError, MissingExtra
from supple.core.types import Bools, Floats, Ints
from supple.mesh import TetMesh

Handles = Mapping[str, Bones | ArrayLike] | Sequence[Bones | ArrayLike]
"""For each region, with a name or without: bones, segments (k, 2, 3) or points (k, 3) [m]."""

_ITERATIONS = 10  # of libigl's active set, after which weights are within 1e-3 of their bounds
_CLEARLY = 0.5  # of the distance to other handles: a vertex so much nearer to one is its own
_ALIKE = 1.05  # times the least skin: regions that carry no more are joined at one time
_SAMPLES = 9  # places on a bone at which distances between bones are measured


@dataclass(frozen=True, eq=False, repr=False)
class Regions:
    """Parts of a tet mesh that overlap and together are all of it."""

    names: tuple[str, ...]
    functions: Floats
    """𝒲′, 1 at the handle of a region and smoothly down to 0 at its border, (regions, n)."""

    @property
    def members(self) -> Bools:
        """Which vertices are in each region, (regions, n)."""
        return self.functions > 0

    @property
    def count(self) -> int:
        """Number of regions."""
        return len(self.functions)

    def __repr__(self) -> str:
        return f"Regions({', '.join(self.names)})"


def local_regions(
    mesh: TetMesh, handles: Handles, *, threshold: float = 0.1, sharpness: float = 0.5
) -> Regions:
    """One region around each handle: ``region_weights``, then ``region_functions``."""
    names = tuple(handles) if isinstance(handles, Mapping) else ()
    weights = region_weights(mesh, handles)
    functions = region_functions(weights, threshold=threshold, sharpness=sharpness)
    return Regions(names or tuple(f"region {k}" for k in range(len(weights))), functions)


def region_weights(mesh: TetMesh, handles: Handles) -> Floats:
    """Bounded biharmonic weights of handles, by libigl (extra ``regions``), (regions, n).

    Each is 1 at its own handle and 0 at the others, between 0 and 1 everywhere, and smooth; at
    each vertex they add up to 1. A piece of the mesh without a handle is of the nearest one.
    """
    given = list(handles.values()) if isinstance(handles, Mapping) else list(handles)
    if not given:
        raise InputError("there are no handles; give one or more, e.g. [[(0.0, 0.0, 1.2)]]")
    segments = [as_segments(f"handle {k}", handle) for k, handle in enumerate(given)]
    if len(segments) == 1:
        return np.ones((1, mesh.n_vertices))
    apart = np.stack([segment_distances(mesh.vertices, s).min(axis=1) for s in segments])
    owner = _handle_vertices(apart, segments, mesh)
    weights = np.zeros_like(apart)
    for part in _parts(mesh):
        own = np.flatnonzero(owner[part] >= 0)
        present = np.unique(owner[part[own]])
        if len(present) < 2:
            nearest = present[0] if len(present) else apart[:, part].min(axis=1).argmin()
            weights[nearest, part] = 1.0
            continue
        values = (owner[part[own], None] == present).astype(np.float64)
        weights[np.ix_(present, part)] = _biharmonic(mesh, part, own, values)
    weights /= weights.sum(axis=0)
    return weights


def region_functions(
    weights: ArrayLike, *, threshold: float = 0.1, sharpness: float = 0.5
) -> Floats:
    """𝒲′ = ((𝒲 − η) / (1 − η))^κ from weights 𝒲 (regions, n), and 0 where 𝒲 ≤ η.

    ``threshold`` η cuts a region off, ``sharpness`` κ says how soon it falls to 0 there. Where
    many regions meet, all weights may be below η: then η is lowered, for all, to half the largest
    weight there, so that every vertex is in a region.
    """
    W = numbers("weights", weights)
    if W.ndim != 2 or not W.size:
        raise InputError(f"weights have shape {W.shape}; give (regions, n)")
    eta = number("threshold", threshold, at_least=0, below=1)
    kappa = number("sharpness", sharpness, above=0)
    eta = min(eta, 0.5 * float(W.max(axis=0).min()))
    return np.asarray((np.clip(W - eta, 0.0, None) / (1 - eta)) ** kappa)


def _handle_vertices(apart: Floats, segments: Sequence[Floats], mesh: TetMesh) -> Ints:
    """The handle that each vertex is on, or −1, (n,).

    On a handle are the vertices nearest to places along it that are clearly nearer to it than to
    others; where there is none, the one of them that is nearest in proportion.
    """
    from scipy.spatial import cKDTree  # slow to import

    tree, step = cKDTree(mesh.vertices), 0.5 * float(mesh.edge_lengths().mean())
    owner = np.full(mesh.n_vertices, -1, dtype=np.int64)
    for k, mine in enumerate(segments):
        near = np.unique(tree.query(_along(mine, step))[1])
        others = np.delete(apart[:, near], k, axis=0).min(axis=0)
        share = apart[k, near] / np.maximum(others, np.finfo(float).tiny)
        own = near[(share <= _CLEARLY) | (share == share.min())]
        taken = owner[own]
        if (taken >= 0).any():
            raise InputError(
                f"handles {taken.max()} and {k} are at one vertex of the mesh; leave one out, or "
                "join them into one"
            )
        owner[own] = k
    return owner


def _along(segments: Floats, step: float) -> Floats:
    """Places on segments (k, 2, 3), no farther apart than ``step`` [m]."""
    places = []
    for start, end in segments:
        count = 1 + int(np.ceil(np.linalg.norm(end - start) / step))
        places.append(start + np.linspace(0.0, 1.0, count)[:, None] * (end - start))
    return np.concatenate(places)


def _parts(mesh: TetMesh) -> list[Ints]:
    """Vertices of each part of the mesh, whose cells share vertices."""
    from scipy.sparse import csgraph  # slow to import

    n = mesh.n_vertices
    heads, tails = np.repeat(mesh.cells[:, 0], 3), mesh.cells[:, 1:].ravel()
    graph = sparse.coo_array((np.ones(len(heads), np.int8), (heads, tails)), shape=(n, n))
    _, label = csgraph.connected_components(graph, directed=False)
    return [np.flatnonzero(label == k) for k in range(label.max() + 1)]


def _biharmonic(mesh: TetMesh, part: Ints, own: Ints, values: Floats) -> Floats:
    """Weights (handles, k) of the vertices ``part`` (k,), ``values`` where they are ``own``."""
    if importlib.util.find_spec("igl") is None:
        raise MissingExtra("region_weights", "regions")
    igl: Any = importlib.import_module("igl")
    number_in_part = np.full(mesh.n_vertices, -1)
    number_in_part[part] = np.arange(len(part))
    cells = number_in_part[mesh.cells]
    cells = cells[(cells >= 0).all(axis=1)]
    x = mesh.vertices[part]
    x = (x - x.mean(axis=0)) / np.ptp(x, axis=0).max()  # libigl's tolerances are absolute
    found = igl.bbw(x, cells, own.astype(np.int64), values, max_iter=_ITERATIONS)
    return np.asarray(np.clip(np.asarray(found, dtype=np.float64).T, 0.0, 1.0))


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
    inner, groups = chains_of(character.rig.parents, bones)
    if inner:
        groups = [[joint for chain in inner for joint in chain], *groups]
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


def _apart(bones: Bones, some: list[int], others: list[int]) -> float:
    """The least distance between bones of some joints and of others [m]."""
    share = np.linspace(0.0, 1.0, _SAMPLES)[:, None, None]
    mine = bones.segments[np.isin(bones.joints, some)]
    places = ((1 - share) * mine[:, 0] + share * mine[:, 1]).reshape(-1, 3)
    return float(segment_distances(places, bones.segments[np.isin(bones.joints, others)]).min())
