"""A basis from a sketch: pull at a linear body, and take the true shapes under those forces."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.core.checks import number, numbers, vector, vertex_indices, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats, Progress
from supple.dynamics.statics import static_shape
from supple.materials import StVK
from supple.reduction.basis import Basis, shape_basis
from supple.reduction.errors.shapes import mass_size
from supple.reduction.modes import Modes, combined, mass_times, vibration_modes
from supple.reduction.statics import SettledShapes, shapes_under

_SEPARATION = 0.02  # of forces and of shapes, as a share of the largest, where none is given


class Sketch:
    """Forces drawn on a linear model of a held body, which answers at once.

    ``modes`` is how many vibration modes the linear model has, or the modes themselves. The linear
    shapes are a clue while drawing, distorted where they are large; what counts are the forces.
    """

    def __init__(self, body: Body, *, modes: int | Modes = 20) -> None:
        body.require_supports("a sketch")
        self.body = body
        self.modes = modes if isinstance(modes, Modes) else vibration_modes(body, modes)
        self._forces: list[Floats] = []

    def __len__(self) -> int:
        """How many forces were drawn."""
        return len(self._forces)

    @property
    def forces(self) -> Floats:
        """Every load drawn so far [N], (k, n, 3)."""
        return np.array(self._forces).reshape(-1, *self.body.free.shape)

    @property
    def felt(self) -> Floats:
        """The loads as the linear model feels them, M Φ Φᵀ f [N], (k, n, 3).

        They have the same linear shapes, and are spread over the body: a force on one vertex would
        crush the cells around it long before it bends the body far.
        """
        phi = self.modes.shapes
        parts = np.tensordot(self.forces, phi, ((1, 2), (1, 2)))
        return combined(parts, mass_times(self.body, phi))

    def load(self, forces: ArrayLike) -> Floats:
        """Record a load (n, 3) [N]; the linear shape under it (n, 3) [m]."""
        f = self.body.checked("forces", forces)
        self._forces.append(f)
        return self.modes.static_shape(f)

    def pull(self, vertex: int, force: ArrayLike) -> Floats:
        """Record a ``force`` (3,) [N] on one vertex; the linear shape under it (n, 3) [m]."""
        index = vertex_indices("vertex", [vertex], self.body.n_vertices)
        return self.load(self.body.point_force(index, vector("force", force)))

    def drag(self, vertex: int, path: ArrayLike, *, stiffest: float = 10.0) -> Floats:
        """Record the forces with which the linear model's vertex follows ``path`` (T, 3) [m].

        The path is positions, as a mouse draws them. Gives the linear shapes (T, n, 3) [m]. A
        vertex follows only along the axes in which it gives way: those in which it is more than
        ``stiffest`` times stiffer than in its softest would need forces that crush the body.
        """
        index = vertex_indices("vertex", [vertex], self.body.n_vertices)
        points = numbers("path", path)
        if points.ndim != 2 or points.shape[1] != 3 or not len(points):
            raise InputError(f"path has shape {points.shape}; give positions (T, 3), T at least 1")
        number("stiffest", stiffest, at_least=1.0)
        phi = self.modes.shapes[:, index[0]]
        give, axes = np.linalg.eigh((phi.T / self.modes.squares) @ phi)  # metres per newton
        if give[-1] <= 0.0:
            raise InputError(
                f"vertex {vertex} is held and cannot be dragged; take one that is free to move"
            )
        soft = axes[:, give >= give[-1] / stiffest]
        wanted = points - self.body.mesh.vertices[index]
        forces = wanted @ soft / give[give >= give[-1] / stiffest] @ soft.T
        return np.stack([self.pull(vertex, f) for f in forces])


@dataclass(frozen=True, eq=False)
class SketchShapes:
    """True shapes under sketched forces, and how many were left on the way to them.

    ``shapes`` (s, n, 3) [m]; ``drawn`` forces, ``selected`` ones far enough from those before them,
    and ``failed`` ones of these for which no shape at rest was found.
    """

    shapes: Floats
    drawn: int
    selected: int
    failed: int


def sketch_shapes(
    body: Body,
    forces: Sketch | ArrayLike,
    *,
    force_distance: float | None = None,
    shape_distance: float | None = None,
    tolerance: float = 0.2,
    progress: Progress | None = None,
) -> SketchShapes:
    """The shapes at rest under sketched forces, thinned before and after (§5.2).

    ``forces`` is a Sketch, whose forces are taken as its linear model feels them, or loads
    (k, n, 3) [N] in the order drawn, taken as they are. Of these, each at least ``force_distance``
    [N] from the one taken before is solved for; of the shapes, each at least ``shape_distance``
    [√kg m] in the mass norm from all taken before is kept. Without a number, both are a fiftieth
    of the largest force and shape.

    Shapes of StVK bodies are first sought together in a subspace and thinned, and taken if they
    leave no more than a share ``tolerance`` of the load unbalanced, in the norm of the energy, or
    as much more as they are small: what is less than ``shape_distance`` does not part two shapes.
    From the others the body itself goes on for a number of iterations. Shapes of other materials,
    and all where the tolerance is 0, are found one by one in full, to rounding. Forces for which no
    shape is found, or one that is inside out, are skipped with a warning.
    """
    body.require_supports("a sketch")
    loads = _loads(body, forces)
    for name, value in (("force_distance", force_distance), ("shape_distance", shape_distance)):
        if value is not None:
            number(name, value, at_least=0.0)
    number("tolerance", tolerance, at_least=0.0)
    chosen = _selected_loads(loads, force_distance)
    felt = forces.felt if isinstance(forces, Sketch) else loads
    selected = felt[chosen]
    if tolerance > 0.0 and all(isinstance(part.material, StVK) for part in body.parts):
        found = _quickly(body, selected, tolerance, shape_distance, progress)
    else:
        found = _one_by_one(body, selected, progress)
    shapes = [u for u in found if u is not None]
    failed = len(found) - len(shapes)
    if not shapes:
        raise InputError(
            f"none of the {len(found)} forces has a shape at rest; draw weaker ones, or give a "
            "material that resists being crushed, e.g. StableNeoHookean"
        )
    if failed:
        warnings.warn(
            f"{failed} of {len(selected)} sketched forces have no shape at rest and were skipped; "
            "they may crush or buckle the body",
            RuntimeWarning,
            stacklevel=2,
        )
    kept = np.stack([shapes[k] for k in _apart(body, shapes, shape_distance)])
    return SketchShapes(kept, len(loads), len(selected), failed)


def sketch_basis(
    body: Body,
    forces: Sketch | SketchShapes | ArrayLike,
    size: int,
    *,
    force_distance: float | None = None,
    shape_distance: float | None = None,
    tolerance: float = 0.2,
    progress: Progress | None = None,
) -> Basis:
    """The ``size`` vectors that fit the true shapes under sketched forces best (§5.2).

    Every fifth vector is the body's next slowest mode, so that the model also vibrates as it does.
    ``forces`` and the options are those of ``sketch_shapes``, which also tells how many were taken;
    what it gives may be given here.
    """
    whole_number("size", size, at_least=1)
    count = max(1, size // 5)
    modes = forces.modes if isinstance(forces, Sketch) else None
    if not isinstance(forces, SketchShapes):
        forces = sketch_shapes(
            body,
            forces,
            force_distance=force_distance,
            shape_distance=shape_distance,
            tolerance=tolerance,
            progress=progress,
        )
    if modes is None or len(modes.shapes) < count:
        modes = _modes(body, count)
    return shape_basis(body, forces.shapes, size, modes)


def _modes(body: Body, count: int) -> Modes:
    return vibration_modes(body, min(count, int(body.free.sum()) - 1))


def _loads(body: Body, forces: Sketch | ArrayLike) -> Floats:
    if isinstance(forces, Sketch):
        forces = forces.forces
    loads = numbers("forces", forces)
    if loads.ndim != 3 or loads.shape[1:] != body.free.shape or not len(loads):
        raise InputError(
            f"forces has shape {loads.shape}; give loads (k, {body.n_vertices}, 3), k at least 1, "
            "or a Sketch of this body with some pulls"
        )
    return loads


def _selected_loads(loads: Floats, distance: float | None) -> list[int]:
    """Which loads are far enough from the one taken before; the first, from no load."""
    norms = np.linalg.norm(loads.reshape(len(loads), -1), axis=1)
    if not norms.any():
        raise InputError("all forces are zero; draw some that deform the body")
    least = _SEPARATION * float(norms.max()) if distance is None else distance
    taken: list[int] = []
    last = np.zeros_like(loads[0])
    for k, load in enumerate(loads):
        gap = float(np.linalg.norm(load - last))
        if gap >= least and gap > 0.0:
            taken.append(k)
            last = load
    if not taken:
        raise InputError(
            f"force_distance={distance:g} N is more than any force here, at most {norms.max():g} N;"
            " give less"
        )
    return taken


def _quickly(
    body: Body,
    loads: Floats,
    tolerance: float,
    distance: float | None,
    progress: Progress | None,
) -> list[Floats | None]:
    """Shapes sought together, and where the body settles from those that are too far from rest.

    Of shapes that would count as one, the first alone settles. None where the body does not: there
    it is about to buckle, or is crushed.
    """
    quick = shapes_under(body, loads, progress=progress)
    sizes = [mass_size(body, u) for u in quick.shapes]
    sound = [size for size, error in zip(sizes, quick.errors, strict=True) if np.isfinite(error)]
    least = _SEPARATION * max(sound or sizes) if distance is None else distance
    apart = _apart(body, quick.shapes, least)
    settling = SettledShapes(body)
    found: list[Floats | None] = []
    for k in range(len(loads)):
        if k in apart:
            shape: Floats | None = quick.shapes[k]
            enough = max(tolerance, least / sizes[k] if least > 0.0 else 0.0)
            if quick.errors[k] > enough:
                try:
                    shape = settling.under(loads[k], quick.shapes[k], quick.scales[k], enough)
                except StepFailed:
                    shape = None
            found.append(shape)
        if progress is not None:
            progress(k + 1, len(loads), "static shapes")
    return found


def _one_by_one(body: Body, loads: Floats, progress: Progress | None) -> list[Floats | None]:
    """In full, each from the one before where that is nearer than the rest shape."""
    last: tuple[Floats, Floats] | None = None
    found: list[Floats | None] = []
    for load in loads:
        starts: list[Floats | None] = [None]
        if last is not None and np.linalg.norm(load - last[0]) < np.linalg.norm(load):
            starts.insert(0, last[1])
        shape: Floats | None = None
        for start in starts:
            try:
                shape = static_shape(body, load, start=start)
            except StepFailed:
                continue
            last = load, shape
            break
        found.append(shape)
        if progress is not None:
            progress(len(found), len(loads), "static shapes")
    return found


def _apart(body: Body, shapes: Floats | list[Floats], distance: float | None) -> list[int]:
    """Which shapes are far enough in the mass norm from all taken before, and from rest."""
    sizes = [mass_size(body, u) for u in shapes]
    least = _SEPARATION * max(sizes) if distance is None else distance
    taken: list[int] = []
    for k, u in enumerate(shapes):
        if min([sizes[k], *(mass_size(body, u - shapes[j]) for j in taken)]) >= least:
            taken.append(k)
    if not taken:
        raise InputError(
            f"shape_distance={distance:g} √kg m is more than any shape here, at most "
            f"{max(sizes):g}; give less"
        )
    return taken
