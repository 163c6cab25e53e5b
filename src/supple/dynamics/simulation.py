"""A simulation: a body in motion, step by step or for a while."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import number, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.dynamics.live import LiveSimulation
from supple.dynamics.motion import Frame, Motion
from supple.dynamics.recording import Recorder, read_motion
from supple.dynamics.safeguard import Memory
from supple.dynamics.stepping import External, StepPart
from supple.dynamics.terms.rigid import RigidMotion
from supple.integrators import ExplicitIntegrator, ImplicitIntegrator, State

_FAR_TOO_MUCH = 2.0  # times the energy that a step lost, for damping to have taken


class Simulation(LiveSimulation):
    """A body, its damping and what pushes it, moved by an integrator and a solver.

    ``dt`` is the time step [s], ``gravity`` an acceleration (3,) [m/s²], ``force`` a function of
    time that gives the external force (n, 3) [N]. ``state`` is where the body is; set its ``u`` and
    ``v`` for initial conditions. Where the integrator cannot take the first step from a state that
    was set, as from a tangled shape, BackwardEuler takes it.
    """

    # -- stepping ----------------------------------------------------------------------

    def step(self, *, force: ArrayLike | None = None, dt: float | None = None) -> None:
        """Advance by one time step, with an extra force (n, 3) [N] during it.

        A force that differs from the last step's acts in full from the start of this one (and makes
        BDF2, which looks back, start anew).

        Raises StepFailed where the step cannot be solved; the state is then as it was.
        """
        h = self.dt if dt is None else number("dt", dt, above=0, unit="s")
        extra = None if force is None else self.body.checked("force", force)
        now, before, untouched = self._current(extra)

        def external(time: float) -> Floats:
            return self._external(time, extra)

        kept = self._stepper.state()
        touches = self.obstacles or self.self_contact is not None
        if self._damping or touches:
            last = (self._power, self._taken) if now is self._now else (None, None)
            self._stepper.measure(now, *last)
        try:
            after = self._advanced(now, before, h, external, untouched)
        except Exception:
            self._stepper.restore(kept)
            self._stepper.spent()
            raise
        if self._damping or touches:
            taken, lost = self._stepper.taken, self._lost(now, after, extra)
            most = lost if touches else _FAR_TOO_MUCH * lost  # friction stops things
            taken = taken if taken <= most else lost
            self._dissipated += taken
            self._power, self._taken = self._stepper.power, (h, taken)
        self._stats = self._stats.after(self._stepper.spent())
        self._before, self._now = now, after
        self._pushed = self._gravity, extra, self._force
        self._state.move(after.time, after.u, after.v)

    def _advanced(
        self, now: State, before: State | None, h: float, external: External, untouched: bool
    ) -> State:
        """The state a step after ``now``."""
        stepper, rule = self._stepper, self._integrator
        if isinstance(rule, ExplicitIntegrator):
            if RigidMotion.parts_of(self.body):
                raise InputError(
                    f"{type(rule).__name__} is explicit and cannot keep a body rigid, "
                    "nor a reduced one that is free to the shapes of its model; use an "
                    "implicit integrator such as TRBDF2()"
                )
            if self.obstacles or self.self_contact is not None:
                raise InputError(
                    f"{type(rule).__name__} is explicit and cannot hold a body out of obstacles or "
                    "of itself; use an implicit integrator such as TRBDF2()"
                )
            return stepper.explicit(rule, now, h, external)
        stepper.begin_step()
        part = StepPart(cast(ImplicitIntegrator, rule), now, before, h, external)
        after = self._safe.step(part, tangled=not untouched)
        stepper.end_step()
        return after

    def _lost(self, now: State, after: State, extra: Floats | None) -> float:
        """The most energy [J] that damping can have taken in a step, as far as is known.

        Where damping stops a motion within a step, its power at the ends of the step says little.
        """
        if self.body.supports or any(each.moves for each in self._obstacles):
            return np.inf  # they do work
        if any(term.does_work for term in self._problem.terms):
            return np.inf
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
        pushed = self._gravity, extra, self._force
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
        total = self.body.weight(self._gravity)
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
        dt: float | None = None,
        progress: Progress | None = None,
    ) -> Motion:
        """Move on for ``duration`` [s] and return the motion, a frame after every ``every`` steps.

        The run ends at the whole number of steps nearest to ``duration``, at least one. They are
        ``dt`` [s] long, as set unless given.

        ``record`` names a motion file that is written as the run goes: whatever stops it, at most
        the frame at hand is lost. ``resume=True`` goes on with such a file from its last frame;
        build the simulation as for the run that was stopped. ``overwrite=True`` replaces the file.
        A file whose run is complete is extended where ``duration`` is longer; otherwise it is only
        read, and the simulation stays where it is.
        """
        h = self.dt if dt is None else number("dt", dt, above=0, unit="s")
        steps = max(1, round(number("duration", duration, above=0, unit="s") / h))
        whole_number("every", every, at_least=1)
        if progress is not None and not callable(progress):
            raise InputError(
                f"progress={progress!r}: give a function, called as progress(done, total, what)"
            )
        if record is None:
            if resume:
                raise InputError("resume=True needs record=, the motion file to go on with")
            frames = list(self._frames(steps, every, h, progress))
            return Motion.from_frames(self.body.mesh, frames)
        settings = {
            **(metadata or {}),
            "time step": repr(h),
            "steps a frame": repr(every),
            "integrator": repr(self.integrator),
        }
        with Recorder(
            record, self.body.mesh, metadata=settings, resume=resume, overwrite=overwrite
        ) as recorder:
            if recorder.goes_on(steps, every=every, dt=h):
                saved = recorder.checkpoint()
                done = None if saved is None else self._resume(saved)
                for frame in self._frames(steps, every, h, progress, done):
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
            gravitational=-float(np.vdot(body.weight(self._gravity), x)),
            dissipated=self.dissipated,
            linear_momentum=momentum.sum(axis=0),
            angular_momentum=np.cross(x, momentum).sum(axis=0),
        )

    def _frames(
        self, steps: int, every: int, dt: float, progress: Progress | None, done: int | None = None
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
            self.step(dt=dt)
            self._steps_done = step
            self._set_time(self._run_start + step * dt)  # a running sum would drift
            if progress is not None:
                progress(step, steps, "steps")
            if step % every == 0 or step == steps:
                yield self.frame()

    def _set_time(self, time: float) -> None:
        self._state.time = time
        if self._now is not None:
            self._now = replace(self._now, time=time)

    def _checkpoint(self) -> dict[str, Any]:
        """Everything that the next step depends on."""
        now = self._now or State(self.state.time, self.state.u, self.state.v, None)
        saved: dict[str, Any] = {"steps": self._steps_done, "start": self._run_start}
        saved |= {"dissipated": self.dissipated, "power": self._power}
        saved |= {"elastic": self._elastic}
        saved |= self._safety._asdict()
        if self._taken is not None:
            saved["last step"], saved["taken"] = self._taken
        looks_back = getattr(self.integrator, "is_multistep", False)
        for prefix, state in (("now", now), ("before", self._before if looks_back else None)):
            if state is not None:
                saved[f"{prefix}.time"] = state.time
                for name in "uva":
                    if (array := getattr(state, name)) is not None:
                        saved[f"{prefix}.{name}"] = array
        return saved | self._stepper.state()

    def _resume(self, saved: Mapping[str, Any]) -> int:
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
        self._pushed = self._gravity, None, self._force
        self._dissipated, self._power = float(saved["dissipated"]), float(saved["power"])
        if "taken" in saved:
            self._taken = float(saved["last step"]), float(saved["taken"])
        self._run_start = float(saved["start"])
        none = Memory()._asdict()
        self._safety = Memory(**{k: type(v)(saved.get(k, v)) for k, v in none.items()})
        self._elastic = float(saved.get("elastic", 0.0))
        self._stepper.restore(saved)
        return int(saved["steps"])


def _equal(a: Any, b: Any) -> bool:
    arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return a is b or (arrays and np.array_equal(a, b))
