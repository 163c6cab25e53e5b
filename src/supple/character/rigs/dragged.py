"""Bodies that control points drag along: curves and lattices."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from supple.character.rigs.base import PoseRig, nearest_rotations, one_pose
from supple.core.checks import instance, number, numbers, vector, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh.surface import Surface

_HUMAN = 2.0  # [m]
_ON_CURVE = 50  # places per control point where vertices look for the nearest


@dataclass(frozen=True, eq=False)
class Drag:
    """x = X + Σ_k s_k p_k: vertices that follow the displacements p of k control points each."""

    points: Ints
    """Which, (n, k)."""
    shares: Floats
    """How far, (n, k)."""
    slopes: Floats
    """∂s/∂X along each axis [1/m], (3, n, k), or (0, n, k) where it is not known."""

    @classmethod
    def of(cls, shares: Floats, slopes: Floats) -> Drag:
        """From shares (n, c) and slopes (3 or 0, n, c) of all control points."""
        used = (shares != 0) | (slopes != 0).any(axis=0)
        count = max(1, int(used.sum(axis=1).max()))
        points = np.argsort(~used, axis=1, kind="stable")[:, :count]
        return cls(
            points,
            np.take_along_axis(shares, points, axis=1),
            np.take_along_axis(slopes, points[None], axis=2),
        )

    def moves(self, p: Floats, which: Ints | None = None) -> Floats:
        """How far vertices move (n, 3), or those of ``which`` (m,), for displacements p (c, 3)."""
        chosen = slice(None) if which is None else which
        return np.asarray(np.einsum("nk,nki->ni", self.shares[chosen], p[self.points[chosen]]))

    def gradients(self, p: Floats, which: Ints | None = None) -> Floats:
        """∂x/∂X there, (n, 3, 3) or (m, 3, 3)."""
        chosen = slice(None) if which is None else which
        nearby = p[self.points[chosen]]
        return np.asarray(np.eye(3) + np.einsum("ank,nki->nia", self.slopes[:, chosen], nearby))


class _DraggedRig(PoseRig):
    """Vertices follow the displacements p (c, 3) of control points."""

    rest: Surface
    dragged: Drag

    def _ready(self, dragged: Drag, count: int) -> None:
        self._set(dragged=dragged, triangles=self.rest.triangles, neutral=np.zeros(3 * count))

    def vertices(self, pose: Floats, which: Ints | None = None) -> Floats:
        p = one_pose(pose, len(self.neutral)).reshape(-1, 3)
        X = self.rest.vertices if which is None else self.rest.vertices[which]
        return np.asarray(X + self.dragged.moves(p, which))

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
    on. ``drag`` is what follows from these, if it is known.
    """

    rest: Surface
    points: Floats
    radius: float
    drag: InitVar[Drag | None] = None

    def __post_init__(self, drag: Drag | None) -> None:
        instance("rest", self.rest, Surface, 'read_surface("bear.obj")')
        points = numbers("points", self.points)
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2:
            raise InputError(f"points have shape {points.shape}; give (c, 3), two or more")
        radius = number("radius", self.radius, above=0, unit="m")
        self._set(points=points)
        self._ready(drag or drag_of_wire(self.rest.vertices, points, radius), len(points))


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
    each of them has moved [m], in the order of ``control_points``. ``drag`` is what follows from
    these, if it is known.
    """

    rest: Surface
    counts: tuple[int, int, int] = (3, 3, 3)
    basis: LatticeBasis = LatticeBasis.BERNSTEIN
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    drag: InitVar[Drag | None] = None

    def __post_init__(self, drag: Drag | None) -> None:
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
        self._set(low=low, high=high)
        if drag is None:
            trilinear = self.basis is LatticeBasis.TRILINEAR
            drag = drag_of_lattice(self.rest.vertices, self.counts, low, high, trilinear=trilinear)
        self._ready(drag, int(np.prod(self.counts)))

    def control_points(self) -> Floats:
        """Where the control points are in the neutral pose, (c, 3) [m]; z changes fastest."""
        low, high = np.asarray(self.low), np.asarray(self.high)
        steps = (np.linspace(low[k], high[k], self.counts[k]) for k in range(3))
        return np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)

    def frames(self, pose: Floats, which: Ints | None = None) -> Floats:
        return nearest_rotations(self.gradients(pose, which))

    def gradients(self, pose: Floats, which: Ints | None = None) -> Floats:
        return self.dragged.gradients(one_pose(pose, len(self.neutral)).reshape(-1, 3), which)


def drag_of_wire(X: Floats, points: Floats, radius: float) -> Drag:
    """Of a curve with these control points (c, 3) [m] on vertices X (n, 3) [m]."""
    from scipy.interpolate import BSpline  # slow to import
    from scipy.spatial import cKDTree

    degree = min(3, len(points) - 1)
    curve = BSpline(_knots(len(points), degree), points, degree)
    t = np.linspace(0.0, 1.0, _ON_CURVE * len(points))
    distance, place = cKDTree(curve(t)).query(X)
    if distance.min() >= radius:
        raise InputError(
            f"radius={radius:g} m reaches no vertex; the nearest is {distance.min():.3g} m away"
        )
    fall = np.maximum(1 - (distance / radius) ** 2, 0.0) ** 2
    basis = BSpline.design_matrix(t[place], curve.t, degree).toarray()
    return Drag.of(fall[:, None] * basis, np.empty((0, *basis.shape)))


def drag_of_lattice(
    X: Floats, counts: tuple[int, int, int], low: Floats, high: Floats, *, trilinear: bool
) -> Drag:
    """Of so many control points from ``low`` to ``high`` (3,) [m] on vertices X (n, 3) [m]."""
    from scipy.interpolate import BSpline  # slow to import

    degrees = [1 if trilinear else count - 1 for count in counts]

    def products(*orders: int) -> Floats:
        """Of the functions along the axes, each differentiated so many times, (n, c)."""
        along = []
        for k, (count, degree, order) in enumerate(zip(counts, degrees, orders, strict=True)):
            size = max(high[k] - low[k], np.finfo(float).tiny)
            t = np.clip((X[:, k] - low[k]) / size, 0.0, 1.0)
            functions = BSpline(_knots(count, degree), np.eye(count), degree)
            along.append(functions(t, nu=order) / size**order)
        product: Floats = np.einsum("na,nb,nc->nabc", *along)
        return product.reshape(len(X), -1)

    slopes = [products(*orders) for orders in np.eye(3, dtype=int).tolist()]
    return Drag.of(products(0, 0, 0), np.stack(slopes))


def _knots(count: int, degree: int) -> Floats:
    """Even ones from 0 to 1, with as many more at both ends as ``count`` control points need."""
    inner = np.linspace(0.0, 1.0, count - degree + 1)
    return np.concatenate([np.zeros(degree), inner, np.ones(degree)])
