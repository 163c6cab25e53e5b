"""One step: the stages of a rule, solved one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from supple.contact.contacts import Impact
from supple.core.errors import StepFailed
from supple.core.types import Floats
from supple.dynamics.dissipation import DissipationQuadrature
from supple.dynamics.problem import BodyProblem
from supple.dynamics.terms.base import StageStart
from supple.integrators import BackwardEuler, ExplicitIntegrator, ImplicitIntegrator, State
from supple.solvers.interface import BoundSolver, BoundStageSolver, NotPositiveDefinite, StageSolver
from supple.solvers.linear.conjugate_gradients import ConjugateGradients

External = Callable[[float], Floats]
"""External force [N] on every vertex, (n, 3), as a function of time [s]."""


@dataclass(frozen=True, eq=False)
class StepPart:
    """A step that is to be taken, or a part of one."""

    rule: ImplicitIntegrator
    now: State
    """Where it begins."""
    before: State | None
    """One such part earlier, if it counts."""
    dt: float
    """[s]"""
    external: External

    def by(self, rule: ImplicitIntegrator) -> StepPart:
        """The same by another rule, to which what was before is nothing."""
        return self if rule is self.rule else replace(self, rule=rule, before=None)

    @property
    def first_half(self) -> StepPart:
        return replace(self, dt=self.dt / 2)

    def second_half(self, middle: State) -> StepPart:
        """From the end of the first half."""
        return replace(self, now=middle, before=self.now, dt=self.dt / 2)


@dataclass(frozen=True, kw_only=True)
class Stats:
    """What the last step of a simulation cost, on any machine; ``total`` counts all of them."""

    stages: int = 0
    """Stages of the integrator that were solved."""
    iterations: int = 0
    """Iterations of the stage solver."""
    factorizations: int = 0
    """Factorizations of the linear solver."""
    substeps: int = 0
    """Parts that the step was taken in."""
    contacts: int = 0
    """Contacts with obstacles that press, and pairs of the body's own surface that are near, where
    they were most in the step."""
    residuals: tuple[float, ...] = ()
    """What the last stage left, of the forces at play: of Newton's method the residual, of ADMM the
    primal and the dual one."""
    total: Stats | None = None
    """Sums over all steps; ``contacts`` are the most in one."""

    def after(self, step: Stats) -> Stats:
        """The statistics once ``step`` is the last one."""
        before = self.total or Stats()
        counts = ("stages", "iterations", "factorizations", "substeps")
        sums = {name: getattr(before, name) + getattr(step, name) for name in counts}
        most = max(before.contacts, step.contacts)
        return replace(step, total=Stats(**sums, contacts=most))


class Kept(NamedTuple):
    """What a part of a step changes."""

    terms: dict[str, Floats]
    taken: float
    power: float
    powers: list[tuple[State, float]] | None
    substeps: int
    contacts: int


class Stepper:
    """Takes a body with its terms from one state to the next."""

    def __init__(self, problem: BodyProblem, solver: StageSolver) -> None:
        self._problem, self._options, self._body = problem, solver, problem.body
        self._external: Floats = np.zeros_like(problem.body.mesh.vertices)  # of the last stage
        self._stages = self._iterations = self._substeps = self._factorizations = 0
        self._contacts = 0
        self._powers: list[tuple[State, float]] | None = None  # None where nothing is measured
        self._taken_before: tuple[float, float] | None = None
        self.power = 0.0
        """Of damping and friction where the last step ended [W]."""
        self.taken = 0.0
        """What they have taken in the last step [J]."""
        self.touched = False
        """Whether anything was in contact in the last part of a step."""

    def measure(self, now: State, power: float | None, before: tuple[float, float] | None) -> None:
        """Measure what damping takes in the steps to come, the first of them from ``now``.

        ``power`` [W] is that there, if known, and ``before`` the length of the last step [s] with
        what was taken in it [J].
        """
        self._powers = [] if power is None else [(now, power)]
        self._taken_before = before
        self.taken = 0.0

    def begin_step(self) -> None:
        """Get ready for a step, or for another try at it."""
        self.taken = 0.0
        for term in self._problem.terms:
            term.begin_step()

    def state(self) -> dict[str, Floats]:
        """What terms keep from step to step."""
        return {name: array for term in self._problem.terms for name, array in term.state().items()}

    def restore(self, saved: Mapping[str, Floats]) -> None:
        """Go back to, or on from, what ``state`` gave."""
        for term in self._problem.terms:
            term.restore(saved)

    def solver_memory(self) -> Any:
        """What the solver keeps from stage to stage; None if it has solved none."""
        solver = self.__dict__.get("solver")
        return None if solver is None else solver.memory()

    def recall_solver(self, memory: Any) -> None:
        """Go back to what ``solver_memory`` gave."""
        if memory is not None:
            self.solver.recall(memory)
        elif self.__dict__.pop("solver", None) is not None:
            self._factorizations = 0  # those of a new one are counted from none

    @cached_property
    def solver(self) -> BoundStageSolver:
        """Bound when an implicit step first needs it: that may analyse a large matrix."""
        return self._options.bind(self._problem)

    @cached_property
    def _mass_solver(self) -> BoundSolver:
        solver = ConjugateGradients().bind(self._body.pattern, self._body.free)
        solver.take(self._body.mass_values)
        return solver

    def implicit(self, part: StepPart) -> State:
        """The state at the end of a part."""
        now, external = part.now, part.external
        self.touched = False
        held = self._body.held
        stages = part.rule.stages(now, part.before, part.dt)
        stage = next(stages)
        latest = now.u
        sum_ = self._quadrature(part)
        while True:
            self._external = external(stage.time)
            self._problem.begin(StageStart(stage, self._external, now, latest))
            starts = [np.where(self._body.free, u, latest) for u in (stage.guess, latest)]
            for start in starts:
                held.place(start, stage.time)
            solution = stage.state(self.solver.solve(stage, starts))
            self._stages += 1
            self._iterations += self.solver.iterations
            held.set_velocity(solution.v, stage.time)
            held.set_acceleration(solution.acceleration, stage.time)
            latest = solution.u
            for term in self._problem.terms:
                solution = term.end_stage(solution)
            contacts = sum(term.contacts for term in self._problem.terms)
            self.touched |= contacts > 0
            self._contacts = max(self._contacts, contacts)
            if sum_ is not None:
                self.power = self._problem.power(solution.u, solution.v)
                sum_.add(self.power)
            try:
                stage = stages.send(solution)
            except StopIteration:
                if sum_ is not None:
                    self.taken += sum_.energy
                    self._powers = [*(self._powers or [])[:1], (solution, self.power)]
                self._substeps += 1
                return solution

    def _quadrature(self, part: StepPart) -> DissipationQuadrature | None:
        """What adds up the energy that is taken on the way."""
        if self._powers is None:
            return None
        now, before = part.now, part.before
        known = (power for state, power in self._powers if state is now)
        power = next(known, None)
        if power is None:
            power = self._problem.power(now.u, now.v)
            self._powers = [(now, power)]
        past = None
        if before is not None:
            last = now.time - before.time
            past = self._taken_before or (last, last * power)
        return DissipationQuadrature(part.rule, part.dt, power, past)

    def step_through_impact(self, impact: Impact, part: StepPart) -> State:
        """A step with an impact: up to it by the rule, then on by BackwardEuler.

        Rules of second order throw back what they meet (dissipative optimization, §8);
        BackwardEuler does not, and a bounce that is wanted can be asked of it.
        """
        if impact.delay > 0:
            part = replace(part, now=self.implicit(replace(part, dt=impact.delay)), before=None)
        try:
            self._set_restitution_speeds(impact.speeds)
            left = part.dt - impact.delay
            after = self.implicit(replace(part, rule=BackwardEuler(), before=None, dt=left))
        finally:
            self._set_restitution_speeds({})
        return replace(after, a=None)  # the impact is over: the next step finds out anew

    def _set_restitution_speeds(self, speeds: Mapping[tuple[int, int], float]) -> None:
        for term in self._problem.terms:
            term.set_restitution_speeds(speeds)

    def impact(self, now: State, dt: float) -> Impact | None:
        """The first impact, with restitution, of the step just tried from ``now``."""
        found = (term.impact(now, dt, self._external) for term in self._problem.terms)
        return next((impact for impact in found if impact is not None), None)

    def end_step(self) -> None:
        """Let terms take note of a step that is done."""
        for term in self._problem.terms:
            term.end_step()

    def carried(self) -> list[tuple[Floats, Floats]]:
        """Forces [N] and velocities [m/s], (k, 3) each, of obstacles that move and may press."""
        found = (term.carried() for term in self._problem.terms)
        return [each for each in found if each is not None and len(each[0])]

    def pushed_out(self, now: State) -> float:
        """The work of contacts on what began inside obstacles [J]."""
        return sum(term.pushed_out(now) for term in self._problem.terms)

    def keep(self) -> Kept:
        """What a part of a step changes, to ``go_back`` to."""
        parts = self._powers, self._substeps, self._contacts
        return Kept(self.state(), self.taken, self.power, *parts)

    def go_back(self, kept: Kept) -> None:
        """Forget what was done since ``keep``, but for what it cost."""
        self.restore(kept.terms)
        self.taken, self.power, self._powers = kept.taken, kept.power, kept.powers
        self._substeps, self._contacts = kept.substeps, kept.contacts

    def spent(self) -> Stats:
        """What was done since this was last asked for."""
        solver = self.__dict__.get("solver")  # it may not have been needed
        factorizations = 0 if solver is None else solver.factorizations
        found = Stats(
            stages=self._stages,
            iterations=self._iterations,
            factorizations=factorizations - self._factorizations,
            substeps=self._substeps,
            contacts=self._contacts,
            residuals=() if solver is None else solver.residuals,
        )
        self._stages = self._iterations = self._substeps = self._contacts = 0
        self._factorizations = factorizations
        return found

    def explicit(
        self, rule: ExplicitIntegrator, now: State, dt: float, external: External
    ) -> State:
        """The same by a rule that needs accelerations alone."""
        self._substeps += 1
        unstable = StepFailed(
            "the explicit integrator is unstable",
            time=now.time + dt,
            residual=float("inf"),
            advice="Try a much smaller dt, or an implicit integrator such as TRBDF2().",
        )
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                after = self._advanced(rule, now, dt, external)
        except StepFailed as error:
            if self._problem.shape_at(now.u).energy < np.inf:  # sound at the start of the step
                raise unstable from error
            raise
        if not (np.isfinite(after.u).all() and np.isfinite(after.v).all()):
            raise unstable
        self._body.held.place(after.u, after.time)
        self._body.held.set_velocity(after.v, after.time)
        if self._powers is not None:
            self.power = self._problem.power(after.u, after.v)
        return after

    def _advanced(
        self, rule: ExplicitIntegrator, now: State, dt: float, external: External
    ) -> State:
        """One more row goes along whose velocity is the energy taken, and its acceleration P."""
        if self._powers is None:
            return rule.advance(now, dt, lambda t, u, v: self.acceleration(t, u, v, external))
        row = np.zeros((1, 3))

        def acceleration(t: float, u: Floats, v: Floats) -> Floats:
            u, v = u[:-1], v[:-1]
            a = self.acceleration(t, u, v, external)
            return np.concatenate([a, np.full((1, 3), self._problem.power(u, v))])

        wide = State(now.time, np.concatenate([now.u, row]), np.concatenate([now.v, row]), None)
        after = rule.advance(wide, dt, acceleration)
        self.taken = float(after.v[-1, 0])
        return State(after.time, after.u[:-1].copy(), after.v[:-1].copy(), None)

    def acceleration(self, time: float, u: Floats, v: Floats, external: External) -> Floats:
        """a with M a = f − ∇₂R − ∇U, held components following their supports."""
        force = external(time) - self._problem.free_force(u, v)
        failed = StepFailed(
            "the forces are not finite at the start of the step",
            time=time,
            residual=float("inf"),
            advice="A cell may be inside out; check the initial displacements and external forces.",
        )
        if not np.isfinite(force).all():
            raise failed
        held = np.zeros_like(u)
        self._body.held.set_acceleration(held, time)
        try:
            a = held + self._mass_solver.solve(force - self._body.mass_times(held))
        except NotPositiveDefinite as error:  # forces so large that the mass solve overflows
            raise failed from error
        for term in self._problem.terms:
            a = term.accelerated(u, v, force, a)
        return a
