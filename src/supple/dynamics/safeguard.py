"""Steps that get there: whole where they can be solved, else in parts, and in contact without gain.

With contact no rule of second order keeps a promise about energy. So the balance of energy is
looked at after every step, from the first one in which something touched: kinetic and stored energy
together may not grow by more than the work that was put in. A step after which they have is taken
again in halves, and by BackwardEuler, which takes energy wherever the potential is convex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.errors import StepFailed
from supple.core.types import Floats
from supple.dynamics.problem import BodyProblem
from supple.dynamics.stepping import External, Stepper
from supple.integrators import BackwardEuler, ImplicitIntegrator, State

_HALVINGS = 6  # of a step that cannot be solved, or that gains energy
_BY_THE_RULE = 1  # halvings before BackwardEuler is to help
_COMES_AND_GOES = 5e-3  # share of the energy at play: no rule keeps it to the last digit
_NOTHING = 1e-6  # of the weight times the size of the body, in addition: at rest solvers leave that


@dataclass(frozen=True)
class EnergyBalance:
    """The energy between two states [J]."""

    gain: float
    """By how much kinetic and stored energy have grown beyond the work that was put in."""
    at_play: float
    """Kinetic and stored energy at the start, and the size of the work."""


class SafeStepper:
    """Takes steps by a rule, and sees to it where they do not work out.

    ``gained`` [J] is what steps in contact have gained, less what was lost since: how far the
    energy is above the least that it was, as far as contact is to blame.
    """

    def __init__(self, stepper: Stepper, problem: BodyProblem, *, best_effort: bool) -> None:
        self._stepper, self._problem = stepper, problem
        self._best_effort = best_effort
        self._energies: list[tuple[State, float]] = []
        size = float(np.ptp(problem.body.mesh.vertices, axis=0).max())
        self._length = _NOTHING * size
        self.gained = 0.0
        self.has_touched = False
        self.just_hit = False
        """Whether an impact with restitution has ended the last step."""

    def step(
        self,
        rule: ImplicitIntegrator,
        now: State,
        before: State | None,
        dt: float,
        external: External,
        *,
        tangled: bool = False,
        depth: int = 0,
    ) -> State:
        """The state ``dt`` after ``now``; StepFailed where parts cannot be solved either.

        A rule that averages with the acceleration at the start throws a ``tangled`` body far away;
        a step of BackwardEuler smooths it.
        """
        kept = self._stepper.keep()
        for each in (rule, BackwardEuler()) if tangled else (rule,):
            past = before if each is rule else None
            try:
                return self._whole(each, now, past, dt, external, depth)
            except StepFailed:
                self._stepper.go_back(kept)
                if depth == _HALVINGS:
                    raise
        middle = self.step(rule, now, before, dt / 2, external, depth=depth + 1)
        return self.step(rule, middle, now, dt / 2, external, depth=depth + 1)

    def _whole(
        self,
        rule: ImplicitIntegrator,
        now: State,
        before: State | None,
        dt: float,
        external: External,
        depth: int,
    ) -> State:
        """A part of a step, not cut; fails where it gains energy."""
        stepper = self._stepper
        kept = stepper.keep()
        # after an impact with restitution there is stress that other rules would throw back
        rules = [BackwardEuler()] if self.just_hit else [rule]
        if not isinstance(rules[0], BackwardEuler) and depth >= _BY_THE_RULE:
            rules.append(BackwardEuler())
        for each in rules:
            stepper.go_back(kept)
            after = stepper.implicit(each, now, before if each is rule else None, dt, external)
            impact = stepper.impact(now, dt)
            self.just_hit = impact is not None
            if impact is not None:  # speeds are those that were asked for
                return stepper.step_through_impact(impact, each, now, None, dt, external)
            excess = self._excess(now, after, dt, external)
            if excess <= 0:
                return after
        raise StepFailed(
            "contact gains energy that nothing puts in",
            time=after.time,
            residual=float("nan"),
            advice="Try a smaller dt, or Newton() in place of ADMM().",
        )

    def _excess(self, now: State, after: State, dt: float, external: External) -> float:
        """What a step has gained beyond what may be [J].

        Before the first contact, and where what a solver leaves is to be taken as it is, that is
        not asked. Later on too much would escape: stress of an impact may become speed in the step
        that ends the contact, and ring on in those after it.
        """
        self.has_touched |= self._stepper.touched
        if self._best_effort or not self.has_touched:
            return 0.0
        found = self.balance(now, after, dt, external)
        weight = float(np.linalg.norm(external(now.time).sum(axis=0)))
        most = _COMES_AND_GOES * found.at_play + self._length * weight
        gained = max(self.gained + found.gain, 0.0)
        if not gained <= most:  # so too where it is not a number
            gained -= self._stepper.pushed_out(now)
            if not gained <= most:
                return gained - most
        self.gained = max(gained, 0.0)
        return 0.0

    def balance(self, now: State, after: State, dt: float, external: External) -> EnergyBalance:
        """The energy of a step, as the next one is to find it."""
        pushed = 0.5 * (external(now.time) + external(after.time))
        work = [float(np.vdot(pushed, after.u - now.u)), *self._stepper.work(dt)]
        if self._problem.body.held.moving:
            work.append(self._work_of_supports(now, after, external))
        start, end = self._energy(now), self._energy(after)
        return EnergyBalance(end - start - sum(work), start + sum(map(abs, work[1:])))

    def _energy(self, state: State) -> float:
        """Kinetic and stored energy [J]; that of the last states is known."""
        for known, energy in self._energies:
            if known is state:
                return energy
        kinetic = 0.5 * float(np.vdot(state.v, self._problem.body.mass_times(state.v)))
        energy = kinetic + self._problem.stored_energy(state.u)
        self._energies = [*self._energies[-1:], (state, energy)]
        return energy

    def _work_of_supports(self, now: State, after: State, external: External) -> float:
        """What moving supports put in, by the force that they need at both ends of a step."""
        way = np.where(self._problem.body.free, 0.0, after.u - now.u)
        return sum(
            0.5 * float(np.vdot(self._reaction(each, external), way)) for each in (now, after)
        )

    def _reaction(self, state: State, external: External) -> Floats:
        """M a + ∇₂R + ∇U − f: what supports hold against."""
        inertia = self._problem.body.mass_times(state.acceleration)
        force: Floats = inertia + self._problem.free_force(state.u, state.v)
        return force - external(state.time)
