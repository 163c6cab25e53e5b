"""Woven cloth in motion."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.supports import HeldComponents, Support
from supple.contact.obstacles.base import Obstacle
from supple.core.checks import instance, number, numbers, several, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.guarded import Timed
from supple.core.types import Bools, Floats, Progress
from supple.dynamics.motion import YarnFrame, YarnMotion
from supple.dynamics.recording import Recorder, read_motion
from supple.integrators import BackwardEuler, ImplicitIntegrator, Integrator
from supple.mesh import YarnMesh
from supple.solvers.interface import LinearSolver
from supple.solvers.linear.choice import AutomaticSolver
from supple.solvers.newton import Newton
from supple.yarns.cloth import WovenCloth, YarnEnergies
from supple.yarns.material import YarnDamping, YarnRayleigh
from supple.yarns.problem import YarnProblem
from supple.yarns.self_contact import YarnSelfContact
from supple.yarns.snapshots import YarnSnapshot
from supple.yarns.stages import History, YarnState
from supple.yarns.stepping import YarnStepper

_SHORTEST = 2.0**-10  # of dt
_EASY = 5  # Newton iterations after which the next step may be longer


class YarnSimulation(Timed):
    """A woven cloth that moves: implicit steps, Newton's method, as short as they have to be.

    ``fixed`` are crossings that stay where they are, ``supports`` move others as prescribed; the
    yarns still slide through both. At the edge of the cloth, where yarns end, they do not slide.
    Crossings stay out of ``obstacles`` by the radii of their two yarns, and with ``self_contact``
    out of other parts of the cloth. ``dt`` [s] is the step that
    is tried; where Newton's method does not get through, the step is taken in parts. ``integrator``
    is any implicit rule; while an obstacle presses on the cloth, steps are backward Euler's.
    ``iterations`` takes that many full steps of Newton's method in place of converging.
    """

    def __init__(
        self,
        cloth: WovenCloth,
        *,
        damping: YarnDamping | YarnRayleigh | None = None,
        gravity: ArrayLike = (0, 0, 0),
        fixed: ArrayLike = (),
        supports: Support | Sequence[Support] = (),
        obstacles: Obstacle | Sequence[Obstacle] = (),
        self_contact: YarnSelfContact | None = None,
        integrator: ImplicitIntegrator | None = None,
        dt: float = 1e-3,
        tolerance: float = 1e-6,
        max_iterations: int = 50,
        iterations: int | None = None,
        linear: LinearSolver | None = None,
    ) -> None:
        instance("cloth", cloth, WovenCloth, "WovenCloth(net, warp=yarn)")
        self._cloth = cloth
        if self_contact is not None:
            instance("self_contact", self_contact, YarnSelfContact, "YarnSelfContact()")
        self._self_contact = self_contact
        self.damping, self.dt = damping, dt
        self.integrator = BackwardEuler() if integrator is None else integrator
        self.gravity = gravity
        self._tolerance = number("tolerance", tolerance, above=0, below=1)
        whole_number("max_iterations", max_iterations, at_least=1)
        linear = AutomaticSolver() if linear is None else linear
        instance("linear", linear, LinearSolver, "ConjugateGradients()")
        moved: tuple[Support, ...] = several(
            "supports", supports, Support, "Support(vertices, lambda t: (0, 0, t))"
        )
        given = np.asarray(fixed)
        self._held = HeldComponents.of(given if given.size else None, moved, cloth.n_nodes)
        self._free: Bools = np.ones((cloth.n_nodes, 5), dtype=bool)
        self._free[:, :3] = self._held.free
        self._free[cloth.net.edge, 3:] = False
        self._newton = Newton(
            tolerance=tolerance, max_iterations=max_iterations, iterations=iterations, linear=linear
        )
        self._use(_several_obstacles(obstacles))
        rest = cloth.rest_state
        self._history = History(YarnState(0.0, rest, np.zeros_like(rest), np.zeros_like(rest)))
        self.set_state(q=rest)
        self._h = self._tried = self._dt
        self._steps_done = 0
        self._newton_iterations = self._parts = 0

    # -- what can be changed between two steps ------------------------------------------------

    _fixed = dict.fromkeys(
        (
            "cloth",
            "fixed",
            "supports",
            "free",
            "tolerance",
            "max_iterations",
            "iterations",
            "linear",
            "self_contact",
        ),
        "start another simulation, and go on with set_state(q=..., v=...)",
    ) | dict.fromkeys(("q", "v"), "use set_state(q=..., v=...)")

    @property
    def cloth(self) -> WovenCloth:
        """The cloth."""
        return self._cloth

    @property
    def free(self) -> Bools:
        """Which unknowns move, (n, 5)."""
        return self._free

    @property
    def damping(self) -> YarnDamping | YarnRayleigh | None:
        """The damping; assign another and go on."""
        return self._damping

    @damping.setter
    def damping(self, damping: YarnDamping | YarnRayleigh | None) -> None:
        if damping is not None:
            instance("damping", damping, (YarnDamping, YarnRayleigh), "YarnDamping(stretch=0.03)")
        self._damping = damping

    @property
    def integrator(self) -> ImplicitIntegrator:
        """The rule of steps; assign another and go on."""
        return self._integrator

    @integrator.setter
    def integrator(self, integrator: ImplicitIntegrator) -> None:
        instance("integrator", integrator, Integrator, "TRBDF2()")
        if not isinstance(integrator, ImplicitIntegrator):
            raise InputError(
                f"integrator={integrator!r}: yarns are too stiff for rules without a balance of "
                "forces; give one that has it, such as TRBDF2() or BackwardEuler()"
            )
        self._integrator = integrator

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What the cloth cannot enter; assign others and go on."""
        return self._obstacles

    @obstacles.setter
    def obstacles(self, obstacles: Obstacle | Sequence[Obstacle]) -> None:
        self._use(_several_obstacles(obstacles))

    def _use(self, obstacles: tuple[Obstacle, ...]) -> None:
        self._problem = YarnProblem(
            self._cloth, self._free, obstacles, self._tolerance, self._self_contact
        )
        solver = self._newton.bind(self._problem)
        self._stepper = YarnStepper(self._cloth, self._held, self._problem, solver)
        self._obstacles = obstacles

    # -- going back ---------------------------------------------------------------------------

    def snapshot(self) -> YarnSnapshot:
        """The moment, to ``restore``: bit for bit, the motion after it is the same again."""
        values = {name: getattr(self, name) for name in _VALUES}
        contacts, solver = self._problem.memory(), self._stepper.solver.memory()
        history, obstacles = self._history, self._obstacles
        return YarnSnapshot(self._cloth, history, obstacles, contacts, solver, values)

    def restore(self, snapshot: YarnSnapshot) -> None:
        """Go back to a snapshot, with the damping and all settings that it had."""
        instance("snapshot", snapshot, YarnSnapshot, "simulation.snapshot()")
        if snapshot.cloth is not self._cloth:
            raise InputError(
                "this snapshot is of another cloth; restore it in a simulation of the one that it "
                "was taken of"
            )
        if snapshot.obstacles is not self._obstacles:
            self._use(snapshot.obstacles)
        self._history = snapshot.history
        self._problem.recall(snapshot.contacts)
        self._stepper.solver.recall(snapshot.solver)
        for name, value in snapshot.values.items():
            setattr(self, name, value)

    def __copy__(self) -> Self:
        """Another simulation in the same state, with a state of its own; the cloth is shared."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._use(self._obstacles)
        other.restore(self.snapshot())
        return other

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Self:
        return self.__copy__()

    # -- state -------------------------------------------------------------------------------

    @property
    def mesh(self) -> YarnMesh:
        """The yarns at rest."""
        return self.cloth.mesh

    @property
    def _state(self) -> YarnState:
        return self._history.now

    @property
    def time(self) -> float:
        """[s]."""
        return self._state.time

    @property
    def q(self) -> Floats:
        """Positions and arc lengths [m], (n, 5)."""
        return self._state.q.copy()

    @property
    def v(self) -> Floats:
        """Their rates [m/s], (n, 5)."""
        return self._state.v.copy()

    def set_state(self, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Go on from other positions and arc lengths q (n, 5) [m], or with other rates v [m/s].

        Rates of positions alone, (n, 3) or one (3,) for all, leave yarns without sliding. Held
        crossings go where their supports have them.
        """
        old = self._state
        n = len(old.q)
        new_q = old.q.copy() if q is None else numbers("q", q, ((n, 5),)).copy()
        new_v = old.v.copy()
        if v is not None:
            given = numbers("v", v, ((n, 5), (n, 3), (3,)))
            new_v[:, 3:] = 0.0
            new_v[:, : given.shape[-1]] = given
        self._stepper.place(new_q, old.time)
        in_space = np.ascontiguousarray(new_v[:, :3])
        self._held.set_velocity(in_space, old.time)
        new_v[:, :3] = in_space
        new_v[:, 3:][~self.free[:, 3:]] = 0.0
        momentum = self.cloth.kinetic(new_q, new_v)[1]
        now = YarnState(old.time, new_q, new_v, momentum, old.dissipated)
        self._history = History(now, touching=self._history.touching)

    @property
    def linear_momentum(self) -> Floats:
        """Of the crossings, as the last step left it [kg m/s], (3,)."""
        total: Floats = self._state.momentum[:, :3].sum(axis=0)
        return total

    @property
    def kinetic_energy(self) -> float:
        """[J]."""
        return self.cloth.kinetic(self._state.q, self._state.v)[0]

    @property
    def energies(self) -> YarnEnergies:
        """What is stored where [J]."""
        q = self._state.q
        stored = self.cloth.energies(q, self._gravity)
        return replace(stored, contact=stored.contact + self._problem.stored_between_layers(q))

    # -- time --------------------------------------------------------------------------------

    @property
    def newton_iterations(self) -> int:
        """Of the last call of ``step``, all its parts together."""
        return self._newton_iterations

    @property
    def parts(self) -> int:
        """In how many parts the last step was taken."""
        return self._parts

    @property
    def stood_in(self) -> int:
        """How many steps, or parts of them, backward Euler has taken for another integrator."""
        return self._stepper.stood_in

    def step(self, *, dt: float | None = None) -> None:
        """Advance by ``dt`` [s], as set unless given."""
        whole = self._dt if dt is None else number("dt", dt, above=0, unit="s")
        if whole != self._tried:  # parts of the last step are no guide
            self._h = self._tried = whole
        end = self._state.time + whole
        self._newton_iterations = self._parts = 0
        while True:
            left = end - self._state.time
            if left <= 1e-9 * whole:
                return
            h = left if self._h >= 0.999 * left else self._h
            try:
                iterations = self._part(h, end if h == left else self._state.time + h)
            except StepFailed as error:
                self._h = 0.5 * h
                if self._h < _SHORTEST * whole:
                    self._h = whole
                    folded = error.residual == np.inf
                    raise StepFailed(
                        "a yarn would fold back on itself" if folded else error.reason,
                        time=error.time,
                        residual=error.residual,
                        advice="Try a smaller dt, more damping or softer yarns.",
                    ) from error
                continue
            self._newton_iterations += iterations
            self._parts += 1
            if iterations <= _EASY:
                self._h = min(2.0 * max(h, self._h), whole)

    def _part(self, h: float, end: float) -> int:
        """One implicit step; the Newton iterations it took."""
        pushed = self._damping, self._gravity
        self._history, iterations = self._stepper.advance(
            self._history, self._integrator, h, end, pushed
        )
        return iterations

    @property
    def contact_forces(self) -> Floats:
        """Force of the obstacles on every crossing at the end of the last step [N], (n, 3)."""
        return self._problem.contact_forces(self._state.q)

    @property
    def layer_gaps(self) -> Floats:
        """How far apart layers are where the cloth touches itself [m], crossing from cloth, (k,).

        None has come to 0; they touch from the ``distance`` of ``YarnSelfContact`` on.
        """
        return self._problem.layer_gaps(self._state.q)

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
    ) -> YarnMotion:
        """Advance by ``duration`` [s] and keep every so many steps, the start included.

        ``record``, ``resume``, ``overwrite``, ``metadata`` and ``dt`` are those of
        ``Simulation.run``.
        """
        h = self._dt if dt is None else number("dt", dt, above=0, unit="s")
        number("duration", duration, at_least=0, unit="s")
        whole_number("every", every, at_least=1)
        steps = round(duration / h)
        if record is None:
            if resume:
                raise InputError("resume=True needs record=, the motion file to go on with")
            return YarnMotion.from_frames(self.mesh, self._frames(steps, every, h, progress))
        settings = {**(metadata or {}), "time step": repr(h), "steps a frame": repr(every)}
        with Recorder(
            record, self.mesh, metadata=settings, resume=resume, overwrite=overwrite
        ) as recorder:
            if recorder.goes_on(steps, every=every, dt=h):
                saved = recorder.checkpoint()
                done = None if saved is None else self._resume(saved)
                for frame in self._frames(steps, every, h, progress, done):
                    recorder.append(frame, self._checkpoint())
                recorder.finish()
        return cast(YarnMotion, read_motion(record))

    def _frames(
        self, steps: int, every: int, dt: float, progress: Progress | None, done: int | None = None
    ) -> Iterator[YarnFrame]:
        """The frame now, then one after every few steps; of a resumed run, ``done`` are past."""
        self._steps_done = done or 0
        if done is None:
            yield self.frame()
        for step in range(self._steps_done + 1, steps + 1):
            self.step(dt=dt)
            self._steps_done = step
            if progress is not None:
                progress(step, steps, "steps")
            if step % every == 0 or step == steps:
                yield self.frame()

    def _checkpoint(self) -> dict[str, Any]:
        """Everything that the next step depends on."""
        return {
            "steps": self._steps_done,
            "part": self._h,
            "tried": self._tried,
            **self._history.arrays(),
            **{f"contact.{name}": array for name, array in self._problem.contact_state().items()},
        }

    def _resume(self, saved: Mapping[str, Any]) -> int:
        self._history = History.of(saved)
        self._h = float(saved["part"])
        self._tried = float(saved.get("tried", self._dt))
        self._problem.restore_contact(saved)
        return int(saved["steps"])

    def frame(self) -> YarnFrame:
        """The cloth as it is now, with its energies and momenta."""
        now = self._state
        kinetic, momentum, _ = self.cloth.kinetic(now.q, now.v)
        stored, x, p = self.energies, now.q[:, :3], momentum[:, :3]
        return YarnFrame(
            time=now.time,
            displacements=x - self.mesh.vertices,
            kinetic=kinetic,
            elastic=stored.total - stored.gravity,
            gravitational=stored.gravity,
            dissipated=now.dissipated,
            linear_momentum=p.sum(axis=0),
            angular_momentum=np.cross(x, p).sum(axis=0),
            arc_lengths=now.q[:, 3:].copy(),
        )


_VALUES = (
    "_h", "_tried", "_steps_done", "_newton_iterations", "_parts", "_damping", "_gravity", "_dt",
    "_integrator",
)  # fmt: skip
"""What a simulation keeps from step to step beside its state."""


def _several_obstacles(given: Obstacle | Sequence[Obstacle]) -> tuple[Obstacle, ...]:
    found: tuple[Obstacle, ...] = several("obstacles", given, Obstacle, "Plane(normal=(0, 0, 1))")
    if any(each.vertex_restitution for each in found):
        raise InputError("cloth does not bounce; leave vertex_restitution out of its obstacles")
    return found
