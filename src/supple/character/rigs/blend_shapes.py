"""Sculpted shapes: mixed by weights, or as corrections in some poses (pose space paper, §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from supple.character.model.weights import PoseWeights
from supple.character.rigs.base import PoseRig, one_pose, turned, turned_back
from supple.character.rigs.skeleton import SkeletonRig
from supple.core.checks import instance, number, numbers
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh.surface import Surface

_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class BlendShapeRig(PoseRig):
    """x = X + Σ_i w_i Δ_i: a pose (s,) are the weights of the shapes.

    ``offsets`` (s, n, 3) [m] lead from the neutral shape to each of the others; ``from_shapes``
    takes the shapes themselves. ``reach`` is by how much a weight is changed where nearby poses are
    tried.
    """

    rest: Surface
    offsets: Floats
    reach: float = 0.01

    def __post_init__(self) -> None:
        instance("rest", self.rest, Surface, 'read_surface("face.obj")')
        offsets = numbers("offsets", self.offsets)
        n = self.rest.n_vertices
        if offsets.ndim != 3 or offsets.shape[1:] != (n, 3) or not len(offsets):
            raise InputError(f"offsets have shape {offsets.shape}; give (shapes, {n}, 3)")
        number("reach", self.reach, above=0)
        self._set(offsets=offsets, triangles=self.rest.triangles, neutral=np.zeros(len(offsets)))

    @classmethod
    def from_shapes(
        cls, rest: Surface, shapes: Sequence[Surface] | ArrayLike, *, reach: float = 0.01
    ) -> BlendShapeRig:
        """From surfaces, or their vertices (s, n, 3) [m], that have the triangles of ``rest``."""
        x = vertices_of("shapes", shapes, rest.n_vertices)
        return cls(rest, x - rest.vertices, reach)

    def vertices(self, pose: Floats, which: Ints | None = None) -> Floats:
        w = one_pose(pose, len(self.offsets))
        chosen = slice(None) if which is None else which
        moved = np.tensordot(w, self.offsets[:, chosen], axes=1)
        return np.asarray(self.rest.vertices[chosen] + moved)

    def perturbed(self, pose: Floats, rng: np.random.Generator, size: float = 1.0) -> Floats:
        """Weights changed by up to ``size`` times the ``reach``."""
        w = one_pose(pose, len(self.offsets))
        return w + size * self.reach * rng.uniform(-1.0, 1.0, w.shape)


def vertices_of(name: str, shapes: Sequence[Surface] | ArrayLike, n: int) -> Floats:
    """Vertices (s, n, 3) of surfaces, or as they are given."""
    given = [each.vertices if isinstance(each, Surface) else each for each in shapes]  # type: ignore[union-attr]
    for k, each in enumerate(given):
        if np.shape(each) != (n, 3):
            raise InputError(f"{name}[{k}] has vertices of shape {np.shape(each)}; give ({n}, 3)")
    return numbers(name, given)


@dataclass(frozen=True, eq=False)
class PoseSpaceDeformation(PoseRig):
    """A rig with corrections: Φ(p) + δ(p), δ(p) = Σ_i w_i(p) δ_i (Eqs. 1 and 2).

    ``corrections`` (m, n, 3) [m] are those in ``poses`` (m, d). Where the rig has frames they lie
    in the neutral ones, and turn along. The neutral pose has none, unless it is among the poses.
    """

    rig: PoseRig
    poses: Floats
    corrections: Floats
    weights: PoseWeights = field(init=False)
    """How much each of the poses counts in another."""

    def __post_init__(self) -> None:
        instance("rig", self.rig, PoseRig, "SkeletonRig(character)")
        neutral = self.rig.neutral
        poses = self.rig.checked_poses(self.poses, least=1)
        wanted = (len(poses), self.rig.n_vertices, 3)
        corrections = numbers("corrections", self.corrections, (wanted,))
        features = np.array([self.rig.features(pose) for pose in poses])
        at_rest = self.rig.features(neutral)
        if not (np.abs(features - at_rest).max(axis=1) < _SAME).any():
            features = np.concatenate([at_rest[None], features])
            poses = np.concatenate([neutral[None], poses])
            corrections = np.concatenate([np.zeros((1, *wanted[1:])), corrections])
        self._set(poses=poses, corrections=corrections, weights=PoseWeights.of(features))
        self._set(triangles=self.rig.triangles, neutral=neutral)

    @classmethod
    def from_shapes(
        cls, rig: PoseRig, poses: ArrayLike, shapes: Sequence[Surface] | ArrayLike
    ) -> PoseSpaceDeformation:
        """From the sculpted surfaces, or their vertices (m, n, 3) [m], in ``poses`` (m, d)."""
        given = np.atleast_2d(numbers("poses", poses))
        x = vertices_of("shapes", shapes, rig.n_vertices)
        if len(x) != len(given):
            raise InputError(f"there are {len(given)} poses and {len(x)} shapes; give one for each")
        corrections = np.empty_like(x)
        for k, (pose, shape) in enumerate(zip(given, x, strict=True)):
            corrections[k] = turned_back(rig.frames(pose), shape - rig.vertices(pose))
        return cls(rig, given, corrections)

    def vertices(self, pose: Floats, which: Ints | None = None) -> Floats:
        chosen = slice(None) if which is None else which
        w = self.weights(self.features(pose))
        added = np.tensordot(w, self.corrections[:, chosen], axes=1)  # Eq. 2
        return self.rig.vertices(pose, which) + turned(self.frames(pose, which), added)  # Eq. 1

    def features(self, pose: Floats) -> Floats:
        return self.rig.features(pose)

    def frames(self, pose: Floats, which: Ints | None = None) -> Floats | None:
        return self.rig.frames(pose, which)

    def gradients(self, pose: Floats, which: Ints | None = None) -> Floats | None:
        return self.rig.gradients(pose, which)

    def perturbed(self, pose: Floats, rng: np.random.Generator, size: float = 1.0) -> Floats:
        return self.rig.perturbed(pose, rng, size)

    def between(self, one: Floats, two: Floats, share: float) -> Floats:
        return self.rig.between(one, two, share)


def skeleton_within(rig: PoseRig) -> SkeletonRig | None:
    """The skeleton that moves a rig, also where that is corrected; None where there is none."""
    while isinstance(rig, PoseSpaceDeformation):
        rig = rig.rig
    return rig if isinstance(rig, SkeletonRig) else None
