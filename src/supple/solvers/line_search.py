"""How far to go along a step of Newton's method."""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats
from supple.solvers.interface import Linearization, Problem

_SHORTEST_STEP = 2.0**-14
_LONGEST_STEP = 2.0**10
_SUFFICIENT = 1e-4  # share of the promised decrease that a step must bring
_CLEARLY_CLOSER = 0.5  # share of the residual that a step must remove where the potential rose
_TOO_FAR = 0.5  # times the slope that a step started on, beyond which it ends too far up again
_BISECTIONS = 8  # of what lies between a step and twice as long a one that runs into a barrier
_STILL_STEEP = 0.5  # share of the slope left after a step, above which it was too short


class LineSearch:
    """The residual of one problem as a number, and the share of a step that makes it smaller."""

    def __init__(self, problem: Problem, tolerance: float) -> None:
        self._problem, self._tolerance = problem, tolerance
        self._index = np.flatnonzero(problem.free)
        self.free = 1.0
        """The share of the last step that could be gone without an impact."""

    def target(self, here: Linearization) -> float:
        """Norm of the residual [N] that counts as balance."""
        return max(self._tolerance * here.scale, here.floor)

    def norm(self, here: Linearization) -> float:
        """Norm of the residual [N]."""
        return float(np.linalg.norm(self._on_free(here.residual)))

    def relative_norm(self, here: Linearization) -> float:
        """The same, of the forces at play."""
        return self.norm(here) / here.scale if here.scale else 0.0

    def _on_free(self, field: Floats) -> Floats:
        return field.reshape(-1).take(self._index)

    def _slope(self, here: Linearization, step: Floats) -> float:
        """Derivative of the potential along a step."""
        return float(np.vdot(self._on_free(here.residual), self._on_free(step)))

    def finite_length(self, here: Linearization, step: Floats) -> float:
        """The share of a step, halved and halved again, that leads to finite forces."""
        length = self._problem.collision_free_step(here.u, step)
        while length > _SHORTEST_STEP:
            trial = here.u + length * step
            if self._problem.linearize(here.stage, trial, with_matrix=True).is_finite:
                break
            length /= 2
        return length

    def along(
        self, here: Linearization, step: Floats, *, strictly: bool = False
    ) -> Linearization | None:
        """Halve the step until the residual clearly falls or the potential does; None if neither.

        Close to balance the potential is level to its last digits, and only the residual can tell.
        ``strictly`` asks that the residual falls, too, where the potential does. Potentials are
        those with damping lagged at ``here``.
        """
        problem, active_set = self._problem, self._problem.active_set
        barriers = active_set.has_barriers
        norm, slope = self.norm(here), self._slope(here, step)
        length = self.free = problem.collision_free_step(here.u, step)
        shortest, too_long = _SHORTEST_STEP * length, length
        while length >= shortest > 0.0:
            there = problem.linearize(here.stage, here.u + length * step)
            barriers = barriers or active_set.has_barriers
            if there.is_finite:
                enough = max(self.target(there), (1 - _CLEARLY_CLOSER * length) * norm)
                closer = self.norm(there) <= enough
                if closer and not (barriers or active_set.nonsmooth):
                    return there
                fall = here.potential - there.lagged_potential(here)
                closer = closer and fall >= -here.potential_rounding
                lower = slope < 0 and fall >= -_SUFFICIENT * length * slope
                if strictly or not problem.matrix_is_hessian:  # the potential may mislead
                    lower = lower and self.norm(there) < norm
                cut = barriers and length < too_long and slope < 0
                if closer and not cut:
                    return there
                timid = lower and self._slope(there, step) < _STILL_STEEP * slope
                if timid and length == 1.0 and problem.matrix_is_hessian:
                    return self._farther(here, step, there)
                if lower and self._slope(there, step) > -_TOO_FAR * slope:
                    return self._nearer(here, step, length, slope, there)
                if cut and (closer or lower):
                    falls = strictly or not problem.matrix_is_hessian
                    least = norm if falls else np.inf
                    return self._between(here, step, slope, there, (length, too_long), least)
                if lower:
                    return there
            too_long = length
            length /= 2
        return None

    def _between(
        self,
        here: Linearization,
        step: Floats,
        slope: float,
        there: Linearization,
        lengths: tuple[float, float],
        below: float,
    ) -> Linearization:
        """A step between a good one and one that ran too far into a barrier, by bisection.

        A barrier begins just before its end. Where half the way is gone it is out of reach again,
        and the next direction, which knows nothing of it, is cut in the same way. So go on as long
        as the slope is steep.
        """
        low, high = lengths
        lowest = there.lagged_potential(here)
        for _ in range(_BISECTIONS):
            if self._slope(there, step) >= _STILL_STEEP * slope:
                break
            middle = 0.5 * (low + high)
            found = self._problem.linearize(here.stage, here.u + middle * step)
            lower = found.is_finite and (potential := found.lagged_potential(here)) <= lowest
            if lower and self.norm(found) < below:
                there, low, lowest = found, middle, potential
            else:
                high = middle
        return there

    def _nearer(
        self, here: Linearization, step: Floats, length: float, slope: float, there: Linearization
    ) -> Linearization:
        """Cut a step that ends up the far slope of a valley back to where its bottom may be.

        Friction that turns round has such valleys, and steps that just clear them go to and fro.
        """
        length *= slope / (slope - self._slope(there, step))
        found = self._problem.linearize(here.stage, here.u + length * step)
        if found.is_finite and found.lagged_potential(here) < there.lagged_potential(here):
            return found
        return there

    def _farther(self, here: Linearization, step: Floats, there: Linearization) -> Linearization:
        """Double a step that ends on a steep slope, while the potential keeps falling.

        A positive definite matrix in place of an indefinite one is too stiff where a cell buckles;
        without this, leaving such a place takes tens of timid steps.
        """
        length, slope = 2.0, self._slope(there, step)
        lowest = there.lagged_potential(here)
        while slope < 0.0 and length <= _LONGEST_STEP:
            if self._problem.collision_free_step(here.u, length * step) < 1.0:
                break
            found = self._problem.linearize(here.stage, here.u + length * step)
            if not found.is_finite or not (fallen := found.lagged_potential(here)) < lowest:
                break
            there, lowest = found, fallen
            slope = self._slope(there, step)
            length *= 2
        return there
