"""Steps that get there: whole where they can be solved, else in parts, and in contact without gain.

With contact no rule of second order keeps a promise about energy. So the balance of energy is
looked at after every step, from the first one in which something touched: kinetic and stored energy
together may not grow by more than the work that was put in. A step after which they have is taken
again in halves, and by BackwardEuler, which takes energy wherever the potential is convex. Where a
rule of second order loses much in a step with contact, halves find out what an elastic body keeps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.contact.contacts import Impact
from supple.core.errors import StepFailed
from supple.dynamics.energy_balance import EnergyAccount, EnergyBalance
from supple.dynamics.problem import BodyProblem
from supple.dynamics.stepping import Kept, StepPart, Stepper
from supple.integrators import BackwardEuler, State
from supple.solvers.interface import StageSolver

_HALVINGS = 8  # of a step that cannot be solved, or that gains energy
_BY_THE_RULE = 1  # halvings before BackwardEuler is to help
_COMES_AND_GOES = 5e-3  # share of the energy at play: no rule keeps it to the last digit
_NOISE = 1e-4  # of that: what a solver leaves in any step
_NOTHING = 1e-6  # of the weight times the size of the body, in addition: at rest solvers leave that
_ACCURATE = 1e-4  # tolerance of a solver above which speed is wanted, and not accuracy
_FOR_ACCURACY = 7  # halvings of a step in contact that loses energy
_LOST = 0.02  # share of the energy at play that a step in contact may lose by itself
_UNSEEN = 1e-3  # of the weight times the size of the body: a loss that nobody sees
_ASTRAY = 0.5  # share of the energy at the end that came from nowhere, above which a step is void
_SHARES = (1.0, 0.9, 0.75, 0.5, 0.25, 0.0)  # of the speeds after an impact with restitution


class Memory(NamedTuple):
    """What decides, beside the state, how a step is taken."""

    has_touched: bool = False
    """Whether anything was ever in contact."""
    touched: bool = False
    """Whether anything was in the last part of a step."""
    just_hit: bool = False
    gained: float = 0.0


_Start = tuple[Kept, Memory]


class SafeStepper:
    """Takes steps by a rule, and sees to it where they do not work out.

    ``gained`` [J] is what steps in contact have gained, less what was lost since: how far the
    energy is above the least that it was, as far as contact is to blame.
    """

    def __init__(self, stepper: Stepper, problem: BodyProblem, solver: StageSolver) -> None:
        self._stepper, self._problem = stepper, problem
        self._best_effort = solver.is_best_effort
        given = getattr(solver, "tolerance", 0.0), getattr(solver, "iterations", None)
        self._accurate = given[0] <= _ACCURATE and given[1] is None
        self._cut_short = given[1] is not None and not self._best_effort
        self._account = EnergyAccount(problem, stepper)
        self._size = float(np.ptp(problem.body.mesh.vertices, axis=0).max())
        self.gained = 0.0
        self.has_touched = False
        self.just_hit = False
        """Whether an impact with restitution has ended the last step."""

    @property
    def memory(self) -> Memory:
        """What it keeps from one step to the next."""
        return Memory(self.has_touched, self._stepper.touched, self.just_hit, self.gained)

    @memory.setter
    def memory(self, kept: Memory) -> None:
        self.has_touched, self._stepper.touched, self.just_hit, self.gained = kept

    def step(self, part: StepPart, *, tangled: bool = False, depth: int = 0) -> State:
        """The state at the end of a step; StepFailed where parts cannot be solved either.

        A rule that averages with the acceleration at the start throws a ``tangled`` body far away;
        a step of BackwardEuler smooths it.
        """
        start = self._keep()
        whole: State | None = None
        failed: StepFailed | None = None
        for rule in (part.rule, BackwardEuler()) if tangled else (part.rule,):
            try:
                whole, balance = self._whole(part.by(rule), depth)
            except StepFailed as error:
                self._go_back(start)
                if depth == _HALVINGS:
                    raise
                failed = failed or error
            else:
                lossy = self._is_lossy(part.by(rule), whole, balance, start)
                if depth >= _FOR_ACCURACY or not lossy:
                    return whole
                break
        end = self._keep()
        self._go_back(start)
        try:
            middle = self.step(part.first_half, depth=depth + 1)
            if middle.a is None:
                a = self._stepper.acceleration(middle.time, middle.u, middle.v, part.external)
                middle = replace(middle, a=a)
            return self.step(part.second_half(middle), depth=depth + 1)
        except StepFailed as error:
            if whole is not None:
                self._go_back(end)
                return whole
            raise failed or error from error  # of the whole step: what a person has asked for

    def _keep(self) -> _Start:
        return self._stepper.keep(), self.memory

    def _go_back(self, kept: _Start) -> None:
        stepper, self.memory = kept
        self._stepper.go_back(stepper)

    def _whole(self, part: StepPart, depth: int) -> tuple[State, EnergyBalance | None]:
        """A part of a step, not cut, and its energy if it is known; fails where it gains any."""
        stepper, start = self._stepper, self._keep()
        # after an impact with restitution there is stress that other rules would throw back
        rules = [BackwardEuler()] if self.just_hit else [part.rule]
        if not isinstance(rules[0], BackwardEuler) and depth >= _BY_THE_RULE:
            rules.append(BackwardEuler())
        for rule in rules:
            self._go_back(start)
            tried = part.by(rule)
            after = stepper.implicit(tried)
            impact = stepper.impact(tried.now, tried.dt)
            self.just_hit = impact is not None
            if impact is not None:
                return self._through(impact, tried), None
            sound, balance = self._without_gain(tried, after, start)
            if sound:
                return after, balance
        if balance is not None and balance.uncertain and depth == _HALVINGS:
            return after, balance  # by BackwardEuler; who is to blame cannot be told
        raise _gains_energy(after)

    def _through(self, impact: Impact, part: StepPart) -> State:
        """A step with an impact whose vertices part as they are asked to, as far as energy allows.

        What vertices give back one by one may be more than they had together, where others were in
        contact before them.
        """
        start = self._keep()
        for share in _SHARES:
            self._go_back(start)
            speeds = {pair: share * speed for pair, speed in impact.speeds.items()}
            asked = Impact(impact.delay, speeds)
            after = self._stepper.step_through_impact(asked, part)
            if self._without_gain(part, after, start)[0]:
                return after
        raise _gains_energy(after)

    def _without_gain(
        self, part: StepPart, after: State, start: _Start
    ) -> tuple[bool, EnergyBalance | None]:
        """Whether a step has not gained more than may be, and its energy if that was asked.

        It is not before the first contact, nor where what a solver leaves is to be taken as it is.
        Later on too much would escape: stress of an impact may become speed in the step that ends
        the contact, and ring on in those after it. A solver that stops after so many iterations is
        looked after from the start: what it makes of too large a step may be far from any motion.
        """
        self.has_touched |= self._stepper.touched
        if self._best_effort or not (self.has_touched or self._cut_short):
            return True, None
        found = self._account.balance(part, after, self._stepper.taken - start[0].taken)
        if not self.has_touched:
            most = _ASTRAY * found.end + _NOTHING * self._weight(part)
            return bool(np.isfinite(found.end) and found.gain <= most), None
        most = _COMES_AND_GOES * found.at_play + _NOTHING * self._weight(part)
        allowed = most + found.uncertain
        gained = max(self.gained + found.gain, 0.0)
        # while a body flies up less and less is at play; what it has gained before may stay
        if not (gained <= allowed or found.gain <= _NOISE * most):  # so too if it is no number
            gained -= self._stepper.pushed_out(part.now)
            if not gained <= allowed:
                return False, found
        self.gained = max(gained, 0.0) if not found.uncertain else min(max(gained, 0.0), most)
        return True, found

    def _is_lossy(
        self, part: StepPart, whole: State, balance: EnergyBalance | None, start: _Start
    ) -> bool:
        """Whether a step by a rule of second order has lost in contact what an elastic body keeps.

        What damping and friction took is not lost in that sense, nor what rigid bodies left: there
        is nothing in them to spring back.
        """
        touched = self._stepper.touched or start[1].touched  # what lets go counts too
        if balance is None or part.rule.order < 2 or not (touched and self._accurate):
            return False
        lost = -balance.gain - max(self._stepper.taken - start[0].taken, 0.0)
        most = _LOST * balance.at_play + _UNSEEN * self._weight(part)
        if lost <= most:
            return False
        terms = self._problem.terms
        return lost - sum(term.taken_by_impacts(part.now, whole) for term in terms) > most

    def _weight(self, part: StepPart) -> float:
        """What pulls at the body as a whole, times its size [J]."""
        return float(np.linalg.norm(part.external(part.now.time).sum(axis=0))) * self._size


def _gains_energy(after: State) -> StepFailed:
    return StepFailed(
        "the step gains energy that nothing puts in",
        time=after.time,
        residual=float("nan"),
        advice="Try a smaller dt, and with ADMM() more iterations, or Newton() in its place.",
    )
