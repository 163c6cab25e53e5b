"""The energy that damping takes, integrated by the rule that moves the body."""

from __future__ import annotations

from typing import Any

from supple.integrators import ImplicitIntegrator, Stage, State


class DissipationQuadrature:
    """∫ P dt over one step, P the power of damping [W] at the end of each stage.

    Ė = P is one more equation of first order, as is v' = a: what a rule makes of velocities, given
    accelerations, it makes of E, given P. So the energy is as accurate as the motion, for any rule;
    and by BackwardEuler it is the work of the damping force along the step, h v₁·∇₂R.

    ``power`` is P at the start of the step, and ``before``, for rules that look back, the length of
    the last step [s] and what was taken in it [J].
    """

    def __init__(
        self,
        rule: ImplicitIntegrator,
        dt: float,
        power: float,
        before: tuple[float, float] | None = None,
    ) -> None:
        past = None if before is None else _state(-before[0], 0.0, -before[1], 0.0)
        self._stages = rule.stages(_state(0.0, 0.0, 0.0, power), past, dt)
        self._stage: Stage = next(self._stages)
        self.energy = 0.0
        """What has been taken up to the last stage [J]."""

    def add(self, power: float) -> None:
        """Take the power [W] at the end of the next stage."""
        stage = self._stage
        u: Any = stage.u_a + power / stage.c_a  # where the "acceleration" is P
        self.energy = float(stage.velocity(u))
        try:
            self._stage = self._stages.send(_state(stage.time, u, self.energy, power))
        except StopIteration:
            return


def _state(time: float, u: Any, v: Any, a: Any) -> State:
    """Of a single number in place of fields."""
    return State(time, u, v, a)
