"""Rigs: surfaces that a pose shapes, taken as black boxes (pose space paper, §3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.character.rig import average
from supple.core.checks import number, numbers
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh.surface import Surface

_DEGREE = float(np.deg2rad(1.0))


def one_pose(pose: Any, size: int) -> Floats:
    """A pose of ``size`` numbers as an array (size,)."""
    p = np.asarray(pose, dtype=float)
    p = p if p.ndim else p[None]
    if p.shape != (size,):
        raise InputError(f"the pose has shape {p.shape}; this rig takes ({size},)")
    return p


def nearest_rotations(matrices: Floats) -> Floats:
    """The rotations nearest to matrices (k, 3, 3), (k, 3, 3)."""
    U, _, Vt = np.linalg.svd(matrices)
    U[:, :, 2] *= np.linalg.det(U @ Vt)[:, None]
    return np.asarray(U @ Vt)


def turned(frames: Floats | None, u: Floats) -> Floats:
    """Vectors u (n, 3) of the neutral frames as they are in a pose, where a rig has frames."""
    return u if frames is None else np.asarray(np.einsum("nij,nj->ni", frames, u))


def turned_back(frames: Floats | None, u: Floats) -> Floats:
    """Vectors u (n, 3) of a pose as they are in the neutral frames, where a rig has frames."""
    return u if frames is None else np.asarray(np.einsum("nji,nj->ni", frames, u))


class PoseRig(ABC):
    """Φ̄: from a pose (d,), numbers of any meaning, to vertices (n, 3) of a triangle mesh [m].

    A rig that knows how the surroundings of each vertex turn from the neutral pose tells it by
    ``frames``; what is fixed to the surface then turns along, however far. One that does not know
    is a black box: it may bend and stretch, but should not turn as a whole.
    """

    triangles: Ints
    """(t, 3)"""
    neutral: Floats
    """The pose of the mesh as it was modelled, (d,)."""

    @abstractmethod
    def vertices(self, pose: Floats, which: Ints | None = None) -> Floats:
        """Vertices [m] in a pose (d,): all (n, 3), or those of ``which`` (k,) alone, (k, 3)."""

    def features(self, pose: Floats) -> Floats:
        """(f,): what of a pose (d,) tells it from others; distances between poses are theirs."""
        return pose

    def frames(self, pose: Floats, which: Ints | None = None) -> Floats | None:
        """Rotations (k, 3, 3) from the neutral pose to this one around vertices, if known."""
        return None

    def gradients(self, pose: Floats, which: Ints | None = None) -> Floats | None:
        """Matrices (k, 3, 3) to which the frames are the nearest rotations, if known.

        They may stretch what they turn; unless a rig tells them, they are the frames.
        """
        return self.frames(pose, which)

    def posed(self, pose: Floats, which: Ints | None = None) -> tuple[Floats, Floats | None]:
        """Vertices and gradients together, which a rig may find faster than one by one."""
        return self.vertices(pose, which), self.gradients(pose, which)

    def carried(self, near: Ints, shares: Floats, offsets: Floats) -> CarriedPoints:
        """Points that follow vertices ``near`` (n, k), in pose after pose; see CarriedPoints."""
        return CarriedPoints(self, near, shares, offsets)

    @abstractmethod
    def perturbed(self, pose: Floats, rng: np.random.Generator, size: float = 1.0) -> Floats:
        """A pose (d,) at random near this one: joints turned by up to ``size`` degrees, …"""

    def between(self, one: Floats, two: Floats, share: float) -> Floats:
        """A pose (d,) on the way from one to another, 0 at the first and 1 at the second."""
        return (1 - share) * one + share * two

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.vertices(self.neutral))

    def surface(self, pose: Floats | None = None) -> Surface:
        """The mesh in a pose, the neutral one unless given."""
        return Surface(self.vertices(self.neutral if pose is None else pose), self.triangles)

    def checked_poses(self, given: ArrayLike, name: str = "poses", *, least: int = 0) -> Floats:
        """Poses (m, d), a row for each, no less than so many."""
        poses, d = numbers(name, given), len(self.neutral)
        if poses.ndim != 2 or poses.shape[1] != d or len(poses) < least:
            raise InputError(f"{name} have shape {poses.shape}; give (m, {d}), one row for a pose")
        return poses

    def _set(self, **values: Any) -> None:
        """Fields of a frozen rig that were checked, or follow from others."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class BlackBoxRig(PoseRig):
    """Any function from a pose (d,) to vertices (n, 3) [m].

    ``reach`` (d,), or one number, is by how much each number of a pose is changed where nearby
    poses are tried: a degree where it is an angle, a millimetre for a length of a human body.
    """

    function: Callable[[Floats], ArrayLike]
    triangles: Ints
    neutral: Floats
    reach: Floats | float = _DEGREE

    def __post_init__(self) -> None:
        neutral = np.atleast_1d(numbers("neutral", self.neutral))
        if neutral.ndim != 1:
            raise InputError(f"neutral has shape {neutral.shape}; give a pose (d,)")
        if np.ndim(self.reach):
            numbers("reach", self.reach, ((len(neutral),),))
        else:
            number("reach", self.reach, above=0)
        self._set(neutral=neutral)
        self._set(triangles=Surface(self.vertices(neutral), self.triangles).triangles)

    def vertices(self, pose: Floats, which: Ints | None = None) -> Floats:
        p = one_pose(pose, len(self.neutral))
        x = np.asarray(self.function(p), dtype=float)
        if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
            raise InputError(
                f"the rig gave an array of shape {x.shape} for the pose {p.tolist()}; it must give "
                "finite vertices (n, 3)"
            )
        return x if which is None else x[which]

    def perturbed(self, pose: Floats, rng: np.random.Generator, size: float = 1.0) -> Floats:
        p = np.atleast_1d(np.asarray(pose, dtype=float))
        return np.asarray(p + size * np.asarray(self.reach) * rng.uniform(-1.0, 1.0, p.shape))


class CarriedPoints:
    """Means over vertices ``near`` (n, k) of a surface, with ``shares`` (n, k).

    What is meant is where each of them has the point, at ``offsets`` (n, k, 3) [m] from it in the
    neutral pose: x = Σ_k s_k (x_k + G_k d_k), with the gradients G of the rig.
    """

    def __init__(self, rig: PoseRig, near: Ints, shares: Floats, offsets: Floats) -> None:
        self._rig = rig
        self._surface, places = np.unique(near, return_inverse=True)
        self._all = len(self._surface) == rig.n_vertices
        self._places = np.ascontiguousarray(places.reshape(near.shape))
        self._shares = np.ascontiguousarray(shares, dtype=float)
        self._offsets = np.ascontiguousarray(offsets, dtype=float)

    def __call__(self, pose: Floats) -> tuple[Floats, Floats, Floats]:
        """Points x (n, 3) [m], gradients (n, 3, 3) and features (f,) in a pose (d,), new arrays.

        The gradients, how their surroundings turn and stretch, are (0, 3, 3) if there are none.
        """
        found, gradients = self._rig.posed(pose, None if self._all else self._surface)
        given = np.empty((0, 3, 3)) if gradients is None else gradients
        x = np.empty((len(self._places), 3))
        means = np.empty((len(x) if len(given) else 0, 3, 3))
        average(
            np.ascontiguousarray(found, dtype=float), np.ascontiguousarray(given, dtype=float),
            self._places, self._shares, self._offsets, x, means,
        )  # fmt: skip
        return x, means, np.ascontiguousarray(self._rig.features(pose), dtype=float)
