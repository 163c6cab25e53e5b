"""Contacts around Newton's method: an active set, multipliers and lagged friction.

Newton's method balances forces with the active set held still: which contacts press, stick or
slide, the planes they lie in, their multipliers and the limits of friction. Two ways lead to the
right ones. The *primal–dual active set method* takes full Newton steps, after each of which every
multiplier is what the matrix has promised; it ends within a few steps, or cycles. The *augmented
Lagrangian method* converges with a line search for given multipliers, then updates these and what
is lagged, and so on; it is slower and does not cycle. The first is tried, the second is the way
out.
"""

from __future__ import annotations

import numpy as np

from supple.core.errors import StepFailed
from supple.core.types import Floats
from supple.solvers.interface import Linearization
from supple.solvers.newton_iteration import NewtonIteration, forcing_term

_CLEARLY_CLOSER = 0.5  # share of the residual that full steps must remove to go on
_MOST_TRIES = 4  # of the primal–dual method,
_FEW_FULL_STEPS = 12  # with so many steps,
_MOST_FULL_STEPS = 25  # and more while they bring forces closer to balance
_SEARCHING = 0.2  # share of the weights of contacts by which full steps find out what holds,
_FOUND = 0.02  # until so much of the forces at play is left: then weights are what is exact sooner
_ROUGHLY = 0.05  # of the forces at play: a residual so small is near to balance
_MAX_OUTER_ITERATIONS = 50  # of the augmented Lagrangian
_CLOSER_BY_ROUND = 0.1  # share of the residual that a round may leave where others follow
_MOST_CUT_SHORT = 8  # times as many steps, where a fixed number of full ones is asked for
_FIXED_ACCURACY = 1e-4  # relative residual of linear solves where their number is fixed,
_FIXED_AMONG_BARRIERS = 1e-5  # and where what is soft has little say in it


class ActiveSetLoop:
    """Finds the balance of a stage and the active set that belongs to it."""

    def __init__(self, newton: NewtonIteration) -> None:
        self._newton, self._problem, self._line = newton, newton.problem, newton.line

    def solve(self, here: Linearization) -> Linearization:
        """Forces in balance, from a start."""
        active_set = self._problem.active_set
        primal_dual = active_set.nonsmooth and not active_set.has_smoothed_friction
        tries, settled = _MOST_TRIES if primal_dual else 0, False
        for _ in range(_MAX_OUTER_ITERATIONS):
            done, roughly = False, 0.0
            if tries:
                here, done = self._primal_dual(here)
            if not done:
                roughly = _ROUGHLY if tries > 1 and not self._is_near(here) else 0.0
                if active_set.nonsmooth and not (tries or settled):
                    roughly = self._inexact_tolerance(here)
                tries = max(tries - 1, 0)
                here = self._newton.converge(here, roughly)
            settled = not active_set.refresh(here, self._line.target(here))
            if settled and not roughly:
                return here
            here = self._problem.linearize(here.stage, here.u, with_matrix=True)
        raise self._newton.failed("contacts kept changing", here.stage, self._line.norm(here))

    def _primal_dual(self, here: Linearization) -> tuple[Linearization, bool]:
        """Full steps alone, with multipliers updated after each: the primal–dual active set method.

        No potential falls with every step, so this may come to nothing. Then all is as before, or
        near to a balance that needs smaller steps. Returns whether there is balance.
        """
        problem, line = self._problem, self._line
        begin, restore = here, problem.active_set.snapshot()
        change, previous, searching = 0.0, np.inf, line.norm(here) > _FOUND * here.scale
        here = self._weighed(here, _SEARCHING if searching else 1.0)
        for iteration in range(_MOST_FULL_STEPS):
            if searching and iteration and line.norm(here) <= _FOUND * here.scale:
                here, searching, previous = self._weighed(here, 1.0), False, np.inf
            norm, target = line.norm(here), line.target(here)
            if norm <= target and change <= target:
                return here, True
            if iteration >= _FEW_FULL_STEPS and norm > _CLEARLY_CLOSER * previous:
                if self._is_near(here):
                    return self._weighed(here, 1.0), False
                break
            previous = norm
            self._newton.iterations += 1
            try:
                step = self._newton.direction(here, forcing_term(norm, target))
            except StepFailed:  # far astray
                break
            length = line.finite_length(here, step)
            here.update_duals(step, length)
            change = problem.active_set.update_multipliers(here, step, length)
            here = problem.linearize(here.stage, here.u + length * step, with_matrix=True)
            if not here.is_finite:
                break
        restore()
        return begin, False

    def _weighed(self, here: Linearization, share: float) -> Linearization:
        """The same place with a share of the weights of contacts."""
        if not self._problem.active_set.weigh(share):
            return here
        return self._problem.linearize(here.stage, here.u, with_matrix=True)

    def fixed_count(self, here: Linearization, count: int) -> Floats:
        """u (n, b) after so many full primal–dual steps, as real-time codes take them."""
        problem, stage, u, left = self._problem, here.stage, here.u, float(count)
        for iteration in range(_MOST_CUT_SHORT * count):
            if iteration:
                here = problem.linearize(stage, u, with_matrix=True)
            if not here.is_finite:
                raise self._newton.failed("the forces are not finite", stage, np.inf)
            among_barriers = problem.active_set.has_barriers
            accuracy = _FIXED_AMONG_BARRIERS if among_barriers else _FIXED_ACCURACY
            step = self._newton.direction(here, accuracy, majorized=True)
            length = problem.collision_free_step(here.u, step)
            here.update_duals(step, length)
            problem.active_set.update_multipliers(here, step, length)
            u = here.u + length * step
            self._newton.iterations += 1
            left -= length
            if left <= 0.0:
                break
        out = problem.active_set.projected_out(stage, u) - u
        u = u + problem.collision_free_step(u, out) * out if out.any() else u
        if not np.isfinite(u).all():
            raise self._newton.failed("the displacements are not finite", stage, np.inf)
        return u

    def _inexact_tolerance(self, here: Linearization) -> float:
        """How far from balance, of the forces at play, a round may end that is not the last."""
        share = _CLOSER_BY_ROUND * self._line.norm(here) / here.scale
        return share if share * here.scale > self._line.target(here) else 0.0

    def _is_near(self, here: Linearization) -> bool:
        return self._line.norm(here) <= _ROUGHLY * here.scale
