"""How far to go along a step of Newton's method."""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats
from supple.integrators import Stage
from supple.solvers.interface import Balance, Problem

_SHORTEST_STEP = 2.0**-14
_LONGEST_STEP = 2.0**10
_SUFFICIENT = 1e-4  # share of the promised decrease that a step must bring
_CLEARLY_CLOSER = 0.5  # share of the residual that a step must remove where the potential rose
_TOO_FAR = 0.5  # times the slope that a step started on, beyond which it ends too far up again
_STILL_STEEP = 0.5  # share of the slope left after a step, above which it was too short


class LineSearch:
    """The residual of one problem as a number, and the share of a step that makes it smaller."""

    def __init__(self, problem: Problem, tolerance: float) -> None:
        self._problem, self._tolerance = problem, tolerance
        self._index = np.flatnonzero(problem.free)

    def target(self, balance: Balance) -> float:
        """Norm of the residual [N] that counts as balance."""
        return max(self._tolerance * balance.scale, balance.floor)

    def norm(self, balance: Balance) -> float:
        """Norm of the residual [N]."""
        return float(np.linalg.norm(self._on_free(balance.residual)))

    def _on_free(self, field: Floats) -> Floats:
        return field.reshape(-1).take(self._index)

    def _slope(self, balance: Balance, step: Floats) -> float:
        """Derivative of the potential along a step."""
        return float(np.vdot(self._on_free(balance.residual), self._on_free(step)))

    def finite_length(self, stage: Stage, u: Floats, step: Floats) -> float:
        """The share of a step, halved and halved again, that leads to finite forces."""
        length = self._problem.collision_free_step(u, step)
        while length > _SHORTEST_STEP:
            if finite(self._problem.balance(stage, u + length * step, with_matrix=True)):
                break
            length /= 2
        return length

    def along(
        self, stage: Stage, u: Floats, here: Balance, step: Floats, *, strictly: bool = False
    ) -> tuple[Floats, Balance] | None:
        """Halve the step until the residual clearly falls or the potential does; None if neither.

        Close to balance the potential is level to its last digits, and only the residual can tell.
        ``strictly`` asks that the residual falls, too, where the potential does.
        """
        self._problem.anchor()
        norm, slope = self.norm(here), self._slope(here, step)
        length = self._problem.collision_free_step(u, step)
        shortest = _SHORTEST_STEP * length
        while length >= shortest > 0.0:
            trial = u + length * step
            there = self._problem.balance(stage, trial)
            if finite(there):
                enough = max(self.target(there), (1 - _CLEARLY_CLOSER * length) * norm)
                fall = here.current_potential - there.potential if self._problem.nonsmooth else 0.0
                if self.norm(there) <= enough and fall >= -here.potential_rounding:
                    return trial, there
                fall = here.current_potential - there.potential
                lower = slope < 0 and fall >= -_SUFFICIENT * length * slope
                if strictly or not self._problem.matrix_is_hessian:  # the potential may mislead
                    lower = lower and self.norm(there) < norm
                timid = lower and self._slope(there, step) < _STILL_STEEP * slope
                if timid and length == 1.0 and self._problem.matrix_is_hessian:
                    return self._farther(stage, u, step, trial, there)
                if lower and self._slope(there, step) > -_TOO_FAR * slope:
                    return self._nearer(stage, u, step, length, slope, trial, there)
                if lower:
                    return trial, there
            length /= 2
        return None

    def _nearer(
        self,
        stage: Stage,
        u: Floats,
        step: Floats,
        length: float,
        slope: float,
        trial: Floats,
        there: Balance,
    ) -> tuple[Floats, Balance]:
        """Cut a step that ends up the far slope of a valley back to where its bottom may be.

        Friction that turns round has such valleys, and steps that just clear them go to and fro.
        """
        length *= slope / (slope - self._slope(there, step))
        nearer = u + length * step
        found = self._problem.balance(stage, nearer)
        if finite(found) and found.potential < there.potential:
            return nearer, found
        self._problem.balance(stage, trial)
        return trial, there

    def _farther(
        self, stage: Stage, u: Floats, step: Floats, trial: Floats, there: Balance
    ) -> tuple[Floats, Balance]:
        """Double a step that ends on a steep slope, while the potential keeps falling.

        A definite stand-in for an indefinite matrix is too stiff where a cell buckles; without
        this, leaving such a place takes tens of timid steps.
        """
        length, slope = 2.0, self._slope(there, step)
        while slope < 0.0 and length <= _LONGEST_STEP:
            beyond = u + length * step
            if self._problem.collision_free_step(u, beyond - u) < 1.0:
                break
            found = self._problem.balance(stage, beyond)
            if not finite(found) or found.potential >= there.potential:
                self._problem.balance(stage, trial)
                break
            trial, there = beyond, found
            slope = self._slope(there, step)
            length *= 2
        return trial, there


def finite(balance: Balance) -> bool:
    """Whether forces and potential are finite."""
    return bool(np.isfinite(balance.current_potential) and np.isfinite(balance.residual).all())
