"""An integrator as a table of numbers, for compiled loops.

Every stage is linear in the states it comes from, so the weights are found by handing the rule
unit vectors in place of states. A rule that is not linear in this sense cannot be tabulated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..integrators import ImplicitIntegrator, Integrator, Stage, State
from ..types import Floats

_NOW, _BEFORE, _STAGES = 0, 3, 6


@dataclass(frozen=True, eq=False)
class StageTable:
    """Stages s with v = c_v (q − q̂_v) and a = c_a (q − q̂_a).

    q̂_v, q̂_a and the guess are sums, with the weights given, of nine or more vectors: displacement,
    velocity and acceleration now, one step ago, and after each stage of this step.
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

    @classmethod
    def of(cls, integrator: Integrator, dt: float, *, start: bool) -> StageTable:
        """The table of one step; ``start`` where there is no state one step ago."""
        if not isinstance(integrator, ImplicitIntegrator):
            raise InputError(
                f"integrator={integrator!r}: a reduced model is moved by an implicit rule, such as "
                "Newmark(), TRBDF2() or BackwardEuler()"
            )
        count = 1
        while True:  # the number of stages is known only at the end
            stages = _stages(integrator, dt, start, count)
            if len(stages) <= count:
                break
            count = len(stages)
        return cls(
            c_v=np.array([s.c_v for s in stages]),
            c_a=np.array([s.c_a for s in stages]),
            w_v=np.array([s.u_v for s in stages]),
            w_a=np.array([s.u_a for s in stages]),
            w_guess=np.array([s.guess for s in stages]),
            times=np.array([s.time for s in stages]),
        )


def _stages(rule: ImplicitIntegrator, dt: float, start: bool, expected: int) -> list[Stage]:
    unit = np.eye(_STAGES + 3 * expected)

    def state(time: float, first: int) -> State:
        return State(time, unit[first], unit[first + 1], unit[first + 2])

    before = None if start else state(-dt, _BEFORE)
    generator = rule.stages(state(0.0, _NOW), before, dt)
    stages = [next(generator)]
    while True:
        place = _STAGES + 3 * (len(stages) - 1)
        if place >= len(unit):  # more stages than expected: count them with what there is
            place = len(unit) - 3
        try:
            stages.append(generator.send(state(stages[-1].time, place)))
        except StopIteration:
            return stages
