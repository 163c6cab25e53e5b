"""Shapes at rest under a load."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.core.checks import whole_number
from supple.core.errors import StepFailed
from supple.core.types import Floats, Progress
from supple.dynamics.problem import BodyProblem
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.base import StageStart
from supple.integrators import Stage
from supple.solvers.interface import LinearSolver
from supple.solvers.linear.cholesky import Cholesky
from supple.solvers.newton import Newton

_SMALLEST_INCREMENT = 1e-4


def static_shape(
    body: ElasticBody,
    forces: ArrayLike | None = None,
    *,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    start: ArrayLike | None = None,
    increments: int = 1,
    tolerance: float = 1e-8,
    linear: LinearSolver | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Displacements (n, 3) [m] at which the body rests under ``forces`` (n, 3) [N] and gravity.

    The load, and the displacement of moving supports at time 0, are brought on in ``increments``
    equal parts, and in smaller ones where the body does not follow. ``start`` (n, 3) is the shape
    without the load, if it is not the rest shape; ``linear`` the linear solver, Cholesky if none
    is given.
    """
    body.require_supports("static_shape")
    whole_number("increments", increments, at_least=1)
    rest = np.zeros_like(body.mesh.vertices) if start is None else body.checked("start", start)
    placed = rest.copy()
    body.held.place(placed, 0.0)
    load = body.weight(gravity)
    if forces is not None:
        load = load + body.checked("forces", forces)
    problem = BodyProblem(body, terms_of(body))
    newton = Newton(tolerance=tolerance, max_iterations=60, linear=linear or Cholesky())
    solver = newton.bind(problem)
    reached, u, increment = 0.0, rest, 1.0 / increments
    previous: tuple[float, Floats] | None = None
    while reached < 1.0:
        target = min(1.0, reached + increment)
        stage = Stage(0.0, 0.0, u, 0.0, u, u)
        problem.begin(StageStart(stage, target * load))
        moved = rest + target * (placed - rest)
        starts = [np.where(body.free, u, moved)]
        if previous is not None:  # first try to go on as from the last increment to this one
            ahead = (target - reached) / (reached - previous[0])
            starts.insert(0, np.where(body.free, u + ahead * (u - previous[1]), moved))
        try:
            found = solver.solve(stage, starts)
        except StepFailed as failure:
            increment /= 2
            if increment < _SMALLEST_INCREMENT:
                raise StepFailed(
                    f"no shape found beyond {100 * reached:.4g} % of the load",
                    time=0.0,
                    residual=failure.residual,
                    advice="The body may buckle or fold there, or a part of it turn on a hinge, a "
                    "single edge: try smaller loads, a finer mesh, or a dynamic simulation with "
                    "damping.",
                ) from failure
            continue
        previous = reached, u
        reached, u = target, found
        increment = min(2 * increment, 1.0 / increments)
        if progress is not None:
            progress(round(1000 * reached), 1000, "load")
    return u
