"""Bodies that control points drag along: curves and lattices."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from supple.character.rigs.base import PoseRig
from supple.character.rigs.drag import Drag
from supple.character.rigs.poses import one_pose
from supple.core.checks import instance, number, numbers, vector, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh.surface import Surface

_HUMAN = 2.0  # [m]


class _DraggedRig(PoseRig):
    """Vertices follow the displacements p (c, 3) of control points."""

    rest: Surface
    dragged: Drag

    def _ready(self, dragged: Drag, count: int) -> None:
        object.__setattr__(self, "dragged", dragged)
        object.__setattr__(self, "triangles", self.rest.triangles)
        object.__setattr__(self, "neutral", np.zeros(3 * count))

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
        object.__setattr__(self, "points", points)
        if drag is None:
            from supple.character.rigs.dragging import drag_of_wire  # not to run a model

            drag = drag_of_wire(self.rest.vertices, points, radius)
        self._ready(drag, len(points))


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
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if drag is None:
            from supple.character.rigs.dragging import drag_of_lattice  # not to run a model

            trilinear = self.basis is LatticeBasis.TRILINEAR
            drag = drag_of_lattice(self.rest.vertices, self.counts, low, high, trilinear=trilinear)
        self._ready(drag, int(np.prod(self.counts)))

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
        return self.dragged.gradients(one_pose(pose, len(self.neutral)).reshape(-1, 3), which)
