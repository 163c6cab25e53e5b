"""Bodies that control points drag along: curves and lattices."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline
from scipy.spatial import cKDTree

from supple.character.rigs.base import PoseRig
from supple.character.rigs.poses import one_pose
from supple.checks import instance, number, numbers, vector, whole_number
from supple.errors import InputError
from supple.mesh.surface import Surface
from supple.types import Floats, Ints

_HUMAN = 2.0  # [m]
_ON_CURVE = 50  # places per control point where vertices look for the nearest


class _DraggedRig(PoseRig):
    """x = X + W p: vertices follow the displacements p (c, 3) of control points."""

    rest: Surface
    shares: sparse.csr_matrix
    """W, (n, c)."""

    def _ready(self, shares: sparse.csr_matrix) -> None:
        object.__setattr__(self, "shares", shares)
        object.__setattr__(self, "triangles", self.rest.triangles)
        object.__setattr__(self, "neutral", np.zeros(3 * shares.shape[1]))

    def vertices(self, pose: Floats, which: Ints | None = None) -> Floats:
        p = one_pose(pose, len(self.neutral)).reshape(-1, 3)
        if which is None:
            return np.asarray(self.rest.vertices + self.shares @ p)
        return np.asarray(self.rest.vertices[which] + self.shares[which] @ p)

    def perturbed(self, pose: Floats, rng: np.random.Generator, size: float = 1.0) -> Floats:
        """Control points moved by up to ``size`` mm on a body of 2 m; more on a larger one."""
        p = one_pose(pose, len(self.neutral))
        reach = 1e-3 * size * float(np.ptp(self.rest.bounds, axis=0).max()) / _HUMAN
        return p + reach * rng.uniform(-1.0, 1.0, p.shape)


@dataclass(frozen=True, eq=False)
class WireRig(_DraggedRig):
    """A curve that drags what is near it.

    ``points`` (c, 3) [m] are the control points of a smooth curve from the first to the last. A
    pose (3 c,) is how far each of them has moved [m]. A vertex goes along with the nearest place of
    the curve: fully where it lies on it, less the farther it is, and not at all from ``radius`` [m]
    on.
    """

    rest: Surface
    points: Floats
    radius: float

    def __post_init__(self) -> None:
        instance("rest", self.rest, Surface, 'read_surface("bear.obj")')
        points = numbers("points", self.points)
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2:
            raise InputError(f"points have shape {points.shape}; give (c, 3), two or more")
        radius = number("radius", self.radius, above=0, unit="m")
        object.__setattr__(self, "points", points)
        degree = min(3, len(points) - 1)
        curve = BSpline(_knots(len(points), degree), points, degree)
        t = np.linspace(0.0, 1.0, _ON_CURVE * len(points))
        distance, place = cKDTree(curve(t)).query(self.rest.vertices)
        if distance.min() >= radius:
            raise InputError(
                f"radius={radius:g} m reaches no vertex; the nearest is {distance.min():.3g} m away"
            )
        fall = np.maximum(1 - (distance / radius) ** 2, 0.0) ** 2
        basis = BSpline.design_matrix(t[place], curve.t, degree)
        self._ready(sparse.csr_matrix(sparse.diags(fall) @ basis))


class LatticeBasis(Enum):
    """How far each control point of a lattice counts at a place within."""

    BERNSTEIN = "Bernstein"
    """One smooth polynomial over the whole box, in which every point counts everywhere."""
    TRILINEAR = "trilinear"
    """Linear from point to point; only the eight points around a place count."""


@dataclass(frozen=True, eq=False)
class LatticeRig(_DraggedRig):
    """A box of control points that shapes what is within: free-form deformation.

    ``counts`` (3,) control points along x, y and z, evenly from corner to corner of the box from
    ``low`` (3,) to ``high`` (3,) [m], that of the surface unless given. A pose (3 c,) is how far
    each of them has moved [m], in the order of ``control_points``.
    """

    rest: Surface
    counts: tuple[int, int, int] = (3, 3, 3)
    basis: LatticeBasis = LatticeBasis.BERNSTEIN
    low: ArrayLike | None = None
    high: ArrayLike | None = None

    def __post_init__(self) -> None:
        instance("rest", self.rest, Surface, 'read_surface("bear.obj")')
        instance("basis", self.basis, LatticeBasis, "LatticeBasis.TRILINEAR")
        if len(self.counts) != 3:
            raise InputError(f"counts={self.counts!r}: give three, along x, y and z")
        for count in self.counts:
            whole_number("counts", count, at_least=2)
        box = self.rest.bounds
        low = vector("low", box[0] if self.low is None else self.low)
        high = vector("high", box[1] if self.high is None else self.high)
        if (low > box[0]).any() or (high < box[1]).any():
            raise InputError(
                f"the surface from {box[0]} to {box[1]} is not within the lattice from {low} to "
                f"{high}; make it larger"
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        self._ready(self._basis_functions((0, 0, 0)))

    def control_points(self) -> Floats:
        """Where the control points are in the neutral pose, (c, 3) [m]; z changes fastest."""
        low, high = np.asarray(self.low), np.asarray(self.high)
        steps = (np.linspace(low[k], high[k], self.counts[k]) for k in range(3))
        return np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)

    def frames(self, pose: Floats, which: Ints | None = None) -> Floats:
        U, _, Vt = np.linalg.svd(self.gradients(pose, which))
        U[:, :, 2] *= np.linalg.det(U @ Vt)[:, None]
        return np.asarray(U @ Vt)

    def gradients(self, pose: Floats, which: Ints | None = None) -> Floats:
        p = one_pose(pose, len(self.neutral)).reshape(-1, 3)
        chosen = slice(None) if which is None else which
        slopes = np.stack([slope[chosen] @ p for slope in self._slopes], axis=2)
        return np.asarray(np.eye(3) + slopes)

    @cached_property
    def _slopes(self) -> list[sparse.csr_matrix]:
        """∂W/∂X along each axis [1/m], (n, c)."""
        return [self._basis_functions(orders) for orders in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]

    def _basis_functions(self, orders: tuple[int, int, int]) -> sparse.csr_matrix:
        """Products of those along the axes, each differentiated so many times, (n, c)."""
        low, high = np.asarray(self.low), np.asarray(self.high)
        along = []
        for k, (count, order) in enumerate(zip(self.counts, orders, strict=True)):
            degree = count - 1 if self.basis is LatticeBasis.BERNSTEIN else 1
            size = max(high[k] - low[k], np.finfo(float).tiny)
            t = np.clip((self.rest.vertices[:, k] - low[k]) / size, 0.0, 1.0)
            along.append(BSpline(_knots(count, degree), np.eye(count), degree)(t, nu=order))
            along[-1] /= size**order
        product = np.einsum("na,nb,nc->nabc", *along)
        return sparse.csr_matrix(product.reshape(len(product), -1))


def _knots(count: int, degree: int) -> Floats:
    """Even ones from 0 to 1, with as many more at both ends as ``count`` control points need."""
    inner = np.linspace(0.0, 1.0, count - degree + 1)
    return np.concatenate([np.zeros(degree), inner, np.ones(degree)])
