"""An integrator as a table of numbers, for compiled loops.

Every stage is linear in the states it comes from, so the weights are found by handing the rule
unit vectors in place of states. A rule that is not linear in this sense cannot be tabulated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple._kernels.reduction.stepping import Stages
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.integrators import ImplicitIntegrator, Integrator, Stage, State

_NOW, _BEFORE, _STAGES = 0, 3, 6
_LASTING = 0.5  # of wrong rates: what is left of them after a step


@dataclass(frozen=True, eq=False)
class StageTable:
    """Stages s with v = c_v (q − q̂_v) and a = c_a (q − q̂_a).

    q̂_v, q̂_a and the guess are sums, with the weights given, of nine or more vectors: displacement,
    velocity and acceleration now, one step ago, and after each stage of this step. Where there is
    no past, the displacement one step ago is that of now.
    """

    c_v: Floats
    c_a: Floats
    w_v: Floats
    w_a: Floats
    w_guess: Floats
    times: Floats
    """Time of each stage after the start of the step [s]."""

    @property
    def vectors(self) -> int:
        """How many vectors the sums go over."""
        return int(self.w_v.shape[1])

    @property
    def v_of_guess(self) -> Floats:
        """Weights of the velocity at the guess; free of the cancellation in q − q̂_v."""
        return self.c_v[:, None] * (self.w_guess - self.w_v)

    @property
    def a_of_guess(self) -> Floats:
        """Weights of the acceleration at the guess."""
        return self.c_a[:, None] * (self.w_guess - self.w_a)

    @cached_property
    def keeps_rates(self) -> bool:
        """Whether rates that displacements do not bear out are kept for long.

        Where displacements are given, a rule finds rates that fit. Some of what was wrong with the
        rates before may be left in them, from step to step, as with Newmark's rule.
        """
        rates = [1, 2, 4, 5]  # velocity and acceleration now, and one step ago
        kept = np.zeros((self.vectors, 4))
        kept[rates] = np.eye(4)
        for s in range(len(self.times)):
            place = _STAGES + 3 * s
            v = -self.c_v[s] * self.w_v[s] @ kept
            a = -self.c_a[s] * self.w_a[s] @ kept
            kept[place + 1], kept[place + 2] = v, a
        h = self.times[-1]
        units = np.diag([1.0, h, 1.0, h])  # all in the units of a velocity
        after = np.stack([v, a, *np.eye(4)[:2]])
        shares = np.linalg.eigvals(units @ after @ np.linalg.inv(units))
        return bool(np.abs(shares).max() > _LASTING)

    @cached_property
    def w_curved_guess(self) -> Floats:
        """Weights of a guess for smooth motions: on along a parabola through three displacements.

        In the first stage one of them is what its own row of the sums still holds, from the step
        before. A rule of a single stage has no three, and keeps ``w_guess``.
        """
        weights = self.w_guess.copy()
        if len(self.times) < 2 or not weights[0, _BEFORE]:
            return weights
        weights[:] = 0.0
        dt = self.times[-1]
        nodes = [(_BEFORE, -dt), (_STAGES, self.times[0] - dt), (_NOW, 0.0)]
        for s, time in enumerate(self.times):
            for place, t in nodes:
                others = np.array([other for _, other in nodes if other != t])
                weights[s, place] = np.prod((time - others) / (t - others))
            if s == 0:
                del nodes[1]  # overwritten by now
            nodes = [*nodes, (_STAGES + 3 * s, time)][-3:]
        return weights

    def compiled(self, *, curved: bool = False) -> Stages:
        """The table for compiled loops, with the plain guess or the ``curved`` one."""
        guess = self.w_curved_guess if curved else self.w_guess
        return Stages(self.c_v, self.c_a, self.w_v, self.w_a, guess, self.times)

    @classmethod
    def of(cls, integrator: Integrator, dt: float, *, start: bool) -> StageTable:
        """The table of one step; ``start`` where there is no state one step ago."""
        if not isinstance(integrator, ImplicitIntegrator):
            raise InputError(
                f"integrator={integrator!r}: a reduced model is moved by an implicit rule, such as "
                "Newmark(), TRBDF2() or BackwardEuler()"
            )
        stages = _stages(integrator, dt, start, 1)
        if len(stages) > 1:  # how many there are is known only at the end
            stages = _stages(integrator, dt, start, len(stages))
        return cls(
            c_v=np.array([s.c_v for s in stages]),
            c_a=np.array([s.c_a for s in stages]),
            w_v=np.array([s.u_v for s in stages]),
            w_a=np.array([s.u_a for s in stages]),
            w_guess=_guesses([s.time for s in stages], dt, len(stages[0].u_v), start),
            times=np.array([s.time for s in stages]),
        )


def _guesses(times: list[float], dt: float, vectors: int, start: bool) -> Floats:
    """Weights of the displacements from which the stages start: on, as between the last two.

    A rule's own guess looks ahead by v and a. Where a body is stiff for the step these are huge,
    and the displacements are not.
    """
    unit = np.eye(vectors)
    places = [_BEFORE, _NOW, *(_STAGES + 3 * s for s in range(len(times) - 1))]
    moments = [-dt, 0.0, *times]
    weights = np.empty((len(times), vectors))
    for s in range(len(times)):
        before, now = unit[places[s]], unit[places[s + 1]]
        ahead = (moments[s + 2] - moments[s + 1]) / (moments[s + 1] - moments[s])
        weights[s] = now if start and s == 0 else now + ahead * (now - before)
    return weights


def _stages(rule: ImplicitIntegrator, dt: float, start: bool, expected: int) -> list[Stage]:
    unit = np.eye(_STAGES + 3 * expected)

    def state(time: float, first: int) -> State:
        return State(time, unit[first], unit[first + 1], unit[first + 2])

    before = None if start else state(-dt, _BEFORE)
    generator = rule.stages(state(0.0, _NOW), before, dt)
    stages = [next(generator)]
    while True:
        # where there are more stages than expected, count them with what there is
        place = min(_STAGES + 3 * (len(stages) - 1), len(unit) - 3)
        try:
            stages.append(generator.send(state(stages[-1].time, place)))
        except StopIteration:
            return stages
