"""A simulation: a body in motion, step by step or for a while."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.contact.obstacles.base import Obstacle
from supple.contact.self_contact import SelfContact
from supple.core.checks import instance, number, several, vector, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats, Progress
from supple.damping import Damping
from supple.dynamics.motion import Frame, Motion
from supple.dynamics.problem import BodyProblem
from supple.dynamics.recording import Recorder, read_motion
from supple.dynamics.stepping import External, Stats, Stepper
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.obstacles import ObstacleContact
from supple.dynamics.terms.self_contact import SelfContactTerm
from supple.integrators import (
    TRBDF2,
    BackwardEuler,
    ExplicitIntegrator,
    ImplicitIntegrator,
    Integrator,
    State,
)
from supple.solvers.interface import StageSolver
from supple.solvers.newton import Newton

_FAR_TOO_MUCH = 2.0  # times the energy that a step lost, for damping to have taken

ForceField = Callable[[float], ArrayLike]
"""External force [N] on every vertex, (n, 3), as a function of time [s]."""


class LiveState:
    """Where a simulation is now. Assign ``u`` or ``v``, or change them in place, to set it."""

    def __init__(self, body: ElasticBody) -> None:
        self._body = body
        self.time = 0.0
        """[s]"""
        self._u = np.zeros_like(body.mesh.vertices)
        self._v = np.zeros_like(body.mesh.vertices)

    @property
    def u(self) -> Floats:
        """Displacements [m], (n, 3)."""
        return self._u

    @u.setter
    def u(self, value: ArrayLike) -> None:
        self._u = self._body.checked("u", value).copy()

    @property
    def v(self) -> Floats:
        """Velocities [m/s], (n, 3)."""
        return self._v

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._v = self._body.checked("v", value).copy()


class Simulation:
    """A body, its damping and what pushes it, moved by an integrator and a solver.

    ``dt`` is the time step [s], ``gravity`` an acceleration (3,) [m/s²], ``force`` a function of
    time that gives the external force (n, 3) [N]. ``state`` is where the body is; set its ``u`` and
    ``v`` for initial conditions. Where the integrator cannot take the first step from a state that
    was set, as from a tangled shape, BackwardEuler takes it.
    """

    def __init__(
        self,
        body: ElasticBody,
        *,
        damping: Damping | Sequence[Damping] | None = None,
        integrator: Integrator | None = None,
        solver: StageSolver | None = None,
        dt: float = 1 / 60,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        force: ForceField | None = None,
        obstacles: Obstacle | Sequence[Obstacle] = (),
        self_contact: SelfContact | None = None,
    ) -> None:
        instance("body", body, ElasticBody, "Body(mesh, StVK(young=1e6, poisson=0.4))")
        self.solver = solver if solver is not None else Newton()
        instance("solver", self.solver, StageSolver, "Newton()")
        if force is not None and not callable(force):
            raise InputError(
                f"force={force!r}: give a function of time that returns (n, 3) newtons"
            )
        self.integrator = integrator if integrator is not None else TRBDF2()
        instance("integrator", self.integrator, Integrator, "TRBDF2()")
        self.body = body
        self.dt = number("dt", dt, above=0, unit="s")
        self.gravity = vector("gravity", gravity)
        self.force = force
        self.dissipated = 0.0
        """Energy that damping has taken since the start [J]."""
        self.state = LiveState(body)
        checked = _checked_self_contact(self_contact, self.solver)
        self.stats = Stats()
        """What the last step took: iterations, factorizations, contacts; ``total`` of all steps."""
        self._set_up(damping, _several_obstacles(obstacles), checked)
        self._pushed: tuple[Any, ...] = (self.gravity, None, force)
        self._just_hit = False
        self._elastic = 0.0  # energy, where ``_now`` is
        self._power = 0.0  # of damping, where ``_now`` is
        self._steps_done, self._run_start = 0, 0.0
        body.held.place(self.state.u, 0.0)
        body.held.set_velocity(self.state.v, 0.0)

    @property
    def damping(self) -> Damping | Sequence[Damping] | None:
        """The damping; assign another and go on."""
        return self._damping

    @damping.setter
    def damping(self, damping: Damping | Sequence[Damping] | None) -> None:
        self._set_up(damping, self._obstacles, self._self_contact)

    def _set_up(
        self,
        damping: Damping | Sequence[Damping] | None,
        obstacles: tuple[Obstacle, ...],
        self_contact: SelfContact | None,
    ) -> None:
        """Make the terms; where they are refused, all stays as it is."""
        models = several("damping", damping or (), Damping, "Rayleigh(mass=0.1)")
        terms = terms_of(self.body, models, obstacles, self_contact)
        self._problem = BodyProblem(self.body, terms)
        self._stepper = Stepper(self._problem, self.solver)
        self._damping, self._obstacles, self._self_contact = damping, obstacles, self_contact
        self._now: State | None = None  # the acceleration jumps with the damping
        self._before: State | None = None

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What the body cannot enter; assign others and go on."""
        return self._obstacles

    @obstacles.setter
    def obstacles(self, obstacles: Obstacle | Sequence[Obstacle]) -> None:
        self._set_up(self._damping, _several_obstacles(obstacles), self._self_contact)

    @property
    def self_contact(self) -> SelfContact | None:
        """What keeps the body from passing through itself; assign another, or None, and go on."""
        return self._self_contact

    @self_contact.setter
    def self_contact(self, self_contact: SelfContact | None) -> None:
        checked = _checked_self_contact(self_contact, self.solver)
        self._set_up(self._damping, self._obstacles, checked)

    @property
    def self_contact_forces(self) -> Floats:
        """Force of the body on itself, through contact, at the end of the last step [N], (n, 3)."""
        for term in self._problem.terms:
            if isinstance(term, SelfContactTerm):
                return term.forces(self.state.u, self.state.v)
        return np.zeros_like(self.state.u)

    @property
    def contact_forces(self) -> Floats:
        """Force of the obstacles on every vertex at the end of the last step [N], (n, 3)."""
        for term in self._problem.terms:
            if isinstance(term, ObstacleContact):
                return term.forces()
        return np.zeros_like(self.state.u)

    # -- stepping ----------------------------------------------------------------------

    def step(self, *, force: ArrayLike | None = None, dt: float | None = None) -> None:
        """Advance by one time step, with an extra force (n, 3) [N] during it.

        A force that differs from the last step's acts in full from the start of this one (and makes
        BDF2, which looks back, start anew).

        Raises StepFailed where the step cannot be solved; the state is then as it was.
        """
        h = self.dt if dt is None else number("dt", dt, above=0, unit="s")
        extra = None if force is None else self.body.checked("force", force)
        instance("integrator", self.integrator, Integrator, "TRBDF2()")
        now, before, untouched = self._current(extra)

        def external(time: float) -> Floats:
            return self._external(time, extra)

        kept = self._stepper.state()
        try:
            after, hit = self._advanced(now, before, h, external, untouched)
        except Exception:
            self._stepper.restore(kept)
            self._stepper.spent()
            raise
        self._just_hit = hit
        touches = self.obstacles or self.self_contact is not None
        if self._damping or touches:
            power = self._problem.power(after.u, after.v)
            cached = now is self._now
            power_before = self._power if cached else self._problem.power(now.u, now.v)
            taken, lost = 0.5 * h * (power_before + power), self._lost(now, after, extra)
            most = lost if touches else _FAR_TOO_MUCH * lost  # friction stops things
            self.dissipated += taken if taken <= most else lost
            self._power = power
        self.stats = self.stats.after(self._stepper.spent())
        self._before, self._now = now, after
        self._pushed = self.gravity, extra, self.force
        self.state.u, self.state.v, self.state.time = after.u, after.v, after.time

    def _advanced(
        self, now: State, before: State | None, h: float, external: External, untouched: bool
    ) -> tuple[State, bool]:
        """The state a step after ``now``, and whether there was an impact with restitution."""
        stepper, rule = self._stepper, self.integrator
        if isinstance(rule, ExplicitIntegrator):
            if self.obstacles or self.self_contact is not None:
                raise InputError(
                    f"{type(rule).__name__} is explicit and cannot hold a body out of obstacles or "
                    "of itself; use an implicit integrator such as TRBDF2()"
                )
            return stepper.explicit(rule, now, h, external), False
        if self._just_hit:  # stress of the impact, which other rules would throw back
            rule = BackwardEuler()
        rule = cast(ImplicitIntegrator, rule)
        stepper.begin_step()
        try:
            after = stepper.implicit(rule, now, before, h, external)
        except StepFailed:
            if untouched or isinstance(rule, BackwardEuler):
                raise
            # A rule that averages with the acceleration at the start throws a tangled body far
            # away; one step of BackwardEuler smooths it.
            stepper.begin_step()
            after = stepper.implicit(BackwardEuler(), now, None, h, external)
        impact = stepper.impact(now, h)
        if impact is None:
            return stepper.end_step(after), False
        return stepper.step_through_impact(impact, rule, now, before, h, external), True

    def _lost(self, now: State, after: State, extra: Floats | None) -> float:
        """The most energy [J] that damping can have taken in a step, as far as is known.

        Where damping stops a motion within a step, its power at the ends of the step says little.
        """
        if self.body.supports or any(each.moves for each in self._obstacles):
            return np.inf  # they do work
        mass_times, stored_energy = self.body.mass_times, self._problem.stored_energy
        elastic = stored_energy(after.u)
        lost = (self._elastic if now is self._now else stored_energy(now.u)) - elastic
        self._elastic = elastic
        lost += 0.5 * float(np.vdot(now.v - after.v, mass_times(now.v + after.v)))
        push = 0.5 * (self._external(now.time, extra) + self._external(after.time, extra))
        lost += float(np.vdot(push, after.u - now.u))
        return max(lost, 0.0)

    def _current(self, extra: Floats | None) -> tuple[State, State | None, bool]:
        """The state to step from, the one before it, and whether nobody has set the state since.

        A force that jumps changes the acceleration and ends the history that BDF2 looks back on.
        """
        time, now = self.state.time, self._now
        untouched = (
            now is not None
            and now.time == time
            and np.array_equal(now.u, self.state.u)
            and np.array_equal(now.v, self.state.v)
        )
        pushed = self.gravity, extra, self.force
        steady = all(_equal(a, b) for a, b in zip(pushed, self._pushed, strict=True))
        if now is not None and now.a is not None and untouched and steady:
            return now, self._before, True
        u = self.body.checked("state.u", self.state.u)
        v = self.body.checked("state.v", self.state.v)
        self.body.held.place(u, time)
        self.body.held.set_velocity(v, time)
        a: Floats | None = None
        if isinstance(self.integrator, ImplicitIntegrator):
            a = self._stepper.acceleration(time, u, v, lambda t: self._external(t, extra))
        return State(time, u, v, a), None, untouched

    def _external(self, time: float, extra: Floats | None) -> Floats:
        total = self.body.weight(self.gravity)
        if self.force is not None:
            total += self.body.checked("force(t)", self.force(time))
        return total if extra is None else total + extra

    # -- running -----------------------------------------------------------------------

    def run(
        self,
        duration: float,
        *,
        every: int = 1,
        record: str | os.PathLike[str] | None = None,
        resume: bool = False,
        overwrite: bool = False,
        metadata: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> Motion:
        """Move on for ``duration`` [s] and return the motion, a frame after every ``every`` steps.

        The run ends at the whole number of steps nearest to ``duration``, at least one.

        ``record`` names a motion file that is written as the run goes: whatever stops it, at most
        the frame at hand is lost. ``resume=True`` goes on with such a file from its last frame;
        build the simulation as for the run that was stopped. ``overwrite=True`` replaces the file.
        A file whose run is complete is extended where ``duration`` is longer; otherwise it is only
        read, and the simulation stays where it is.
        """
        steps = max(1, round(number("duration", duration, above=0, unit="s") / self.dt))
        whole_number("every", every, at_least=1)
        if progress is not None and not callable(progress):
            raise InputError(
                f"progress={progress!r}: give a function, called as progress(done, total, what)"
            )
        if record is None:
            if resume:
                raise InputError("resume=True needs record=, the motion file to go on with")
            frames = list(self._frames(steps, every, progress))
            return Motion.from_frames(self.body.mesh, frames)
        settings = {
            **(metadata or {}),
            "time step": repr(self.dt),
            "steps a frame": repr(every),
            "integrator": repr(self.integrator),
        }
        with Recorder(
            record, self.body.mesh, metadata=settings, resume=resume, overwrite=overwrite
        ) as recorder:
            if recorder.goes_on(steps, every=every, dt=self.dt):
                saved = recorder.checkpoint()
                done = None if saved is None else self._restore(saved)
                for frame in self._frames(steps, every, progress, done):
                    recorder.append(frame, self._checkpoint())
                recorder.finish()
        return read_motion(record)

    def frame(self) -> Frame:
        """The body as it is now, with its energies and momenta."""
        u, v, body = self.state.u, self.state.v, self.body
        x, momentum = body.mesh.vertices + u, body.mass_times(v)
        return Frame(
            time=self.state.time,
            displacements=u.copy(),
            kinetic=0.5 * float(np.vdot(v, momentum)),
            elastic=self._problem.stored_energy(u),
            gravitational=-float(np.vdot(body.weight(self.gravity), x)),
            dissipated=self.dissipated,
            linear_momentum=momentum.sum(axis=0),
            angular_momentum=np.cross(x, momentum).sum(axis=0),
        )

    def _frames(
        self, steps: int, every: int, progress: Progress | None, done: int | None = None
    ) -> Iterator[Frame]:
        """The frame now, then one after every few steps; of a resumed run, ``done`` are past."""
        self._steps_done = done or 0
        if done is None:
            self._run_start = self.state.time
            self.body.held.place(self.state.u, self.state.time)
            self.body.held.set_velocity(self.state.v, self.state.time)
            yield self.frame()
            done = 0
        for step in range(done + 1, steps + 1):
            self.step()
            self._steps_done = step
            self._set_time(self._run_start + step * self.dt)  # a running sum would drift
            if progress is not None:
                progress(step, steps, "steps")
            if step % every == 0 or step == steps:
                yield self.frame()

    def _set_time(self, time: float) -> None:
        self.state.time = time
        if self._now is not None:
            self._now = replace(self._now, time=time)

    def _checkpoint(self) -> dict[str, Any]:
        """Everything that the next step depends on."""
        now = self._now or State(self.state.time, self.state.u, self.state.v, None)
        saved: dict[str, Any] = {"steps": self._steps_done, "start": self._run_start}
        saved |= {"dissipated": self.dissipated, "power": self._power}
        saved |= {"just hit": self._just_hit, "elastic": self._elastic}
        looks_back = getattr(self.integrator, "is_multistep", False)
        for prefix, state in (("now", now), ("before", self._before if looks_back else None)):
            if state is not None:
                saved[f"{prefix}.time"] = state.time
                for name in "uva":
                    if (array := getattr(state, name)) is not None:
                        saved[f"{prefix}.{name}"] = array
        return saved | self._stepper.state()

    def _restore(self, saved: Mapping[str, Any]) -> int:
        states: dict[str, State | None] = {"now": None, "before": None}
        for prefix in states:
            if f"{prefix}.u" in saved:
                u, v, a = (saved.get(f"{prefix}.{name}") for name in "uva")
                states[prefix] = State(float(saved[f"{prefix}.time"]), u, v, a)  # type: ignore[arg-type]
        now = states["now"]
        if now is None:
            raise InputError("the checkpoint does not hold a state; start the run again")
        self.state.u, self.state.v, self.state.time = now.u, now.v, now.time
        self._now, self._before = now, states["before"]
        self._pushed = self.gravity, None, self.force
        self.dissipated, self._power = float(saved["dissipated"]), float(saved["power"])
        self._run_start = float(saved["start"])
        self._just_hit = bool(saved.get("just hit", False))
        self._elastic = float(saved.get("elastic", 0.0))
        self._stepper.restore(saved)
        return int(saved["steps"])


def _several_obstacles(given: Obstacle | Sequence[Obstacle]) -> tuple[Obstacle, ...]:
    return several("obstacles", given, Obstacle, "Plane(normal=(0, 0, 1))")


def _checked_self_contact(given: SelfContact | None, solver: StageSolver) -> SelfContact | None:
    if given is not None:
        instance("self_contact", given, SelfContact, "SelfContact(friction=0.3)")
        if not isinstance(solver, Newton):
            raise InputError(
                f"self_contact needs solver=Newton(), which never lets a trial shape pass through "
                f"itself; {type(solver).__name__} cannot promise that"
            )
    return given


def _equal(a: Any, b: Any) -> bool:
    arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return a is b or (arrays and np.array_equal(a, b))
