"""Shapes at rest under a load."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .body import Body
from .checks import whole_number
from .dynamics import Dynamics
from .errors import StepFailed
from .integrators import Stage
from .solvers.cholesky import Cholesky
from .solvers.newton import Newton
from .types import Floats, Progress

_SMALLEST_INCREMENT = 1e-4


def static_shape(
    body: Body,
    forces: ArrayLike | None = None,
    *,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    start: ArrayLike | None = None,
    increments: int = 1,
    tolerance: float = 1e-8,
    progress: Progress | None = None,
) -> Floats:
    """Displacements (n, 3) [m] at which the body rests under ``forces`` (n, 3) [N] and gravity.

    The load is brought on in ``increments`` equal parts, and in smaller ones where the body does
    not follow. ``start`` (n, 3) is the shape without the load, if it is not the rest shape.
    """
    body.require_supports("static_shape")
    whole_number("increments", increments, at_least=1)
    u = np.zeros_like(body.mesh.vertices) if start is None else body.checked("start", start).copy()
    body.held.place(u, 0.0)
    load = body.weight(gravity)
    if forces is not None:
        load = load + body.checked("forces", forces)
    problem = Dynamics(body, ())
    solver = Newton(tolerance=tolerance, max_iterations=60, linear=Cholesky()).bind(problem)
    reached, increment = 0.0, 1.0 / increments
    previous: Sequence[tuple[float, Floats]] = ()
    while reached < 1.0:
        target = min(1.0, reached + increment)
        problem.external = target * load
        stage = Stage(0.0, 0.0, u, 0.0, u, u)
        try:
            found = solver.solve(stage, [_extrapolate(previous, target, u), u])
        except StepFailed as failure:
            increment /= 2
            previous = ()
            if increment < _SMALLEST_INCREMENT:
                raise StepFailed(
                    f"no shape found beyond {100 * reached:.4g} % of the load",
                    time=0.0,
                    residual=failure.residual,
                    advice="The body may buckle or fold there: try smaller loads, a finer mesh, or "
                    "a dynamic simulation with damping.",
                ) from failure
            continue
        previous = ((reached, u), (target, found))
        reached, u = target, found
        if progress is not None:
            progress(round(1000 * reached), 1000, "load")
    return u


def _extrapolate(past: Sequence[tuple[float, Floats]], target: float, u: Floats) -> Floats:
    """Go on as from the last increment to this one, where there was one."""
    if len(past) < 2:
        return u
    (t0, u0), (t1, u1) = past
    return u1 + (target - t1) / (t1 - t0) * (u1 - u0)
