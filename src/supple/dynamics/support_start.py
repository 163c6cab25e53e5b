"""A start for stages in which supports go so far that none of the usual ones is sound."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from supple._kernels.linear_algebra.blocks import add_scaled_identity_blocks
from supple.core.types import Floats
from supple.integrators import Stage

if TYPE_CHECKING:
    from supple.dynamics.problem import BodyProblem

_INCREMENTS = (1, 2, 4, 8)  # in how many a body is moved along
_INERTIA = 1e-6  # share of its inertia that it has then: enough for a soft hold on it


def start_from_supports(
    problem: BodyProblem,
    stage: Stage,
    latest: Floats,
    start: Floats,
    solve: Callable[[Floats, Floats], Floats],
) -> Floats | None:
    """The shape ``latest``, moved elastically with its supports to those of ``start``, (n, 3).

    ``solve`` gives A⁻¹ f for the blocks of a matrix and a force. None where supports stand still,
    or where none of the ways leads to a sound shape.
    """
    body, held = problem.body, ~problem.free
    if np.array_equal(latest[held], start[held]):
        return None
    for increments in _INCREMENTS:
        u = latest
        for left in range(increments, 0, -1):
            moved = np.where(problem.free, 0.0, (start - u) / left)
            shape = problem.shape_at(u)
            if not np.isfinite(shape.energy):
                break
            values = shape.definite_stiffness.copy()
            add_scaled_identity_blocks(values, body.mass_values, _INERTIA * stage.c_a)
            force = -body.pattern.multiply(values, moved)
            moved = moved + solve(problem.widened(values), force)
            if problem.collision_free_step(u, moved) < 1.0:
                break
            u = u + moved
        else:
            if np.isfinite(problem.shape_at(u).energy):
                return u
    return None
