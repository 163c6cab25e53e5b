"""How woven cloth goes from one state to the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.bodies.supports import HeldComponents
from supple.core.errors import StepFailed
from supple.core.types import Floats
from supple.dynamics.dissipation import DissipationQuadrature
from supple.integrators import BackwardEuler, ImplicitIntegrator
from supple.solvers.interface import BoundStageSolver
from supple.yarns.cloth import STRAINS, WovenCloth
from supple.yarns.material import YarnDamping, YarnRayleigh
from supple.yarns.problem import YarnProblem
from supple.yarns.stages import History, Spans, Starter, YarnStage, YarnState, yarn_stages
from supple.yarns.step import StepPotential

_GAIN = 1e-3  # of the kinetic energy: what the errors of a rule may add in a step
_LONGER = 2.0  # times the last step: a step for which rules that look back start anew

Pushed = tuple[YarnDamping | YarnRayleigh | None, Floats]
"""The damping, and gravity [m/s²], (3,)."""


class YarnStepper:
    """Takes a cloth from one state to the next, by any implicit rule.

    A rule of second order carries forces on from one step to the next, and those of an impact would
    push the cloth off again. Steps in which an obstacle presses on it are backward Euler's, and so
    are those in which the rule fails, or gains energy by more than its errors.
    """

    def __init__(
        self,
        cloth: WovenCloth,
        held: HeldComponents,
        problem: YarnProblem,
        solver: BoundStageSolver,
    ) -> None:
        self._cloth, self._held, self._problem = cloth, held, problem
        self.solver = solver
        self.stood_in = 0
        """Steps so far that were backward Euler's in place of another rule's."""
        self._spans = Spans(cloth.net.segments)

    def place(self, q: Floats, time: float) -> None:
        """Put crossings on moving supports where they are at ``time`` [s]."""
        if self._held.moving:
            away = q[:, :3] - self._cloth.net.positions
            self._held.place(away, time)
            q[:, :3] = self._cloth.net.positions + away

    def advance(
        self, then: History, rule: ImplicitIntegrator, h: float, end: float, pushed: Pushed
    ) -> tuple[History, int]:
        """What is h [s] later, at ``end``, and the Newton iterations it took."""
        if isinstance(rule, BackwardEuler):
            return self._backward_euler(then.now, h, end, pushed)
        iterations = 0
        if not then.touching:
            contacts = self._problem.memory()
            try:
                after, iterations = self._by_rule(then, rule, h, end, pushed)
            except StepFailed:
                after = None
            fine = after is not None and not self._problem.touches
            if after is not None and fine and not self._gains(then.now, after, pushed[1]):
                return History(after, then.now), iterations
            self._problem.recall(contacts)
        self.stood_in += 1
        history, more = self._backward_euler(then.now, h, end, pushed)
        return history, iterations + more

    def _gains(self, now: YarnState, after: YarnState, gravity: Floats) -> bool:
        """Whether energy grows by more than a small share of what moves, and nothing drives it."""
        if self._held.moving:
            return False
        T, V = zip(*(self._energy(each, gravity) for each in (now, after)), strict=True)
        return bool(T[1] + V[1] - T[0] - V[0] > _GAIN * max(T))

    def _energy(self, state: YarnState, gravity: Floats) -> tuple[float, float]:
        cloth = self._cloth
        stored = sum(cloth.strain_potential(kind, state.q) for kind in STRAINS)
        stored += cloth.contact_potential(state.q) + cloth.gravity_potential(state.q, gravity)
        stored += self._problem.stored_between_layers(state.q)
        return cloth.kinetic(state.q, state.v)[0], stored

    def _backward_euler(
        self, now: YarnState, h: float, end: float, pushed: Pushed
    ) -> tuple[History, int]:
        stage = YarnStage.backward_euler(now, h, end)
        q, potential = self._balanced(stage, now, pushed)
        v = stage.motion.velocity(q)
        lost = now.dissipated + potential.taken(q) + self._problem.friction_work(q)
        after = YarnState(end, q, v, potential.momentum(v), lost)
        return History(after, touching=self._problem.touches), self.solver.iterations

    def _by_rule(
        self, then: History, rule: ImplicitIntegrator, h: float, end: float, pushed: Pushed
    ) -> tuple[YarnState, int]:
        now, before = then.now, then.before
        if before is not None and h > _LONGER * (now.time - before.time):
            before = None
        if now.a is None:
            rule, before = Starter(), None
        past = None
        if before is not None:
            past = now.time - before.time, now.dissipated - before.dissipated
        sum_ = DissipationQuadrature(rule, h, now.power or 0.0, past)
        stages = yarn_stages(rule, now, before, h, self._spans)
        stage, latest, iterations = next(stages), now, 0
        while True:
            q, potential = self._balanced(stage, latest, pushed)
            iterations += self.solver.iterations
            v = stage.motion.velocity(q)
            in_space = np.ascontiguousarray(v[:, :3])
            self._held.set_velocity(in_space, stage.motion.time)
            v[:, :3] = in_space
            taken = potential.taken(q) + self._problem.friction_work(q)
            power = stage.motion.c_v * taken
            sum_.add(power)
            latest = stage.state(q, v, potential.momentum(v), power)
            try:
                stage = stages.send(latest)
            except StopIteration:
                lost = now.dissipated + sum_.energy
                return replace(latest, time=end, dissipated=lost), iterations

    def _balanced(
        self, stage: YarnStage, latest: YarnState, pushed: Pushed
    ) -> tuple[Floats, StepPotential]:
        """q (n, 5) at the end of a stage that starts at the latest state."""
        motion, free = stage.motion, self._problem.free
        potential = StepPotential(self._cloth, *pushed, stage)
        starts = [np.where(free, q, latest.q) for q in (motion.guess, latest.q)]
        for start in starts:
            self.place(start, motion.time)
        begun = replace(motion, guess=starts[0])
        with self._problem.step(potential, begun, latest.q, latest.time):
            q = self.solver.solve(begun, starts)
        return q, potential
