"""Woven cloth in motion."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.supports import HeldComponents, Support
from supple.contact.obstacles.base import Obstacle
from supple.core.checks import instance, number, numbers, several, vector, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Bools, Floats, Progress
from supple.dynamics.motion import YarnFrame, YarnMotion
from supple.dynamics.recording import Recorder, read_motion
from supple.integrators import Stage
from supple.mesh import YarnMesh
from supple.solvers.interface import LinearSolver
from supple.solvers.linear.choice import AutomaticSolver
from supple.solvers.newton import Newton
from supple.yarns.cloth import WovenCloth, YarnEnergies
from supple.yarns.material import YarnDamping, YarnRayleigh
from supple.yarns.problem import YarnProblem
from supple.yarns.step import StepPotential, YarnState

_SHORTEST = 2.0**-10  # of dt
_EASY = 5  # Newton iterations after which the next step may be longer


class YarnSimulation:
    """A woven cloth that moves: backward Euler, Newton's method, steps as short as they have to be.

    ``fixed`` are crossings that stay where they are, ``supports`` move others as prescribed; the
    yarns still slide through both. At the edge of the cloth, where yarns end, they do not slide.
    Crossings stay out of ``obstacles`` by the radii of their two yarns. ``dt`` [s] is the step that
    is tried; where Newton's method does not get through, the step is taken in parts.
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
        dt: float = 1e-3,
        tolerance: float = 1e-6,
        max_iterations: int = 50,
        linear: LinearSolver | None = None,
    ) -> None:
        instance("cloth", cloth, WovenCloth, "WovenCloth(net, warp=yarn)")
        if damping is not None:
            instance("damping", damping, (YarnDamping, YarnRayleigh), "YarnDamping(stretch=0.03)")
        self.cloth, self.damping = cloth, damping
        self.gravity = vector("gravity", gravity)
        self.dt = number("dt", dt, above=0, unit="s")
        number("tolerance", tolerance, above=0, below=1)
        whole_number("max_iterations", max_iterations, at_least=1)
        linear = AutomaticSolver() if linear is None else linear
        instance("linear", linear, LinearSolver, "ConjugateGradients()")
        moved: tuple[Support, ...] = several(
            "supports", supports, Support, "Support(vertices, lambda t: (0, 0, t))"
        )
        given = np.asarray(fixed)
        self._held = HeldComponents.of(given if given.size else None, moved, cloth.n_nodes)
        self.free: Bools = np.ones((cloth.n_nodes, 5), dtype=bool)
        """Which unknowns move, (n, 5)."""
        self.free[:, :3] = self._held.free
        self.free[cloth.net.edge, 3:] = False
        self.obstacles: tuple[Obstacle, ...] = several(
            "obstacles", obstacles, Obstacle, "Plane(normal=(0, 0, 1))"
        )
        """What the cloth cannot enter."""
        if any(each.restitution for each in self.obstacles):
            raise InputError("cloth does not bounce; leave restitution out of its obstacles")
        self._problem = YarnProblem(cloth, self.free, self.obstacles, tolerance)
        newton = Newton(tolerance=tolerance, max_iterations=max_iterations, linear=linear)
        self._solver = newton.bind(self._problem)
        rest = cloth.rest_state
        self._state = YarnState(0.0, rest, np.zeros_like(rest), np.zeros_like(rest))
        self.set_state(q=rest)
        self._h = self.dt
        self._steps_done = 0
        self.newton_iterations = 0
        """Of the last call of ``step``, all its parts together."""
        self.parts = 0
        """In how many parts the last step was taken."""

    # -- state -------------------------------------------------------------------------------

    @property
    def mesh(self) -> YarnMesh:
        """The yarns at rest."""
        return self.cloth.mesh

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
        self._place(new_q, old.time)
        in_space = np.ascontiguousarray(new_v[:, :3])
        self._held.set_velocity(in_space, old.time)
        new_v[:, :3] = in_space
        new_v[:, 3:][~self.free[:, 3:]] = 0.0
        momentum = self.cloth.kinetic(new_q, new_v)[1]
        self._state = replace(old, q=new_q, v=new_v, momentum=momentum)

    def _place(self, q: Floats, time: float) -> None:
        """Put crossings on moving supports where they are at ``time``."""
        if self._held.moving:
            away = q[:, :3] - self.cloth.net.positions
            self._held.place(away, time)
            q[:, :3] = self.cloth.net.positions + away

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
        return self.cloth.energies(self._state.q, self.gravity)

    # -- time --------------------------------------------------------------------------------

    def step(self) -> None:
        """Advance by ``dt``."""
        end = self._state.time + self.dt
        self.newton_iterations = self.parts = 0
        while True:
            left = end - self._state.time
            if left <= 1e-9 * self.dt:
                return
            h = left if self._h >= 0.999 * left else self._h
            try:
                iterations = self._part(h, end if h == left else self._state.time + h)
            except StepFailed as error:
                self._h = 0.5 * h
                if self._h < _SHORTEST * self.dt:
                    self._h = self.dt
                    folded = error.residual == np.inf
                    raise StepFailed(
                        "a yarn would fold back on itself" if folded else error.reason,
                        time=error.time,
                        residual=error.residual,
                        advice="Try a smaller dt, more damping or softer yarns.",
                    ) from error
                continue
            self.newton_iterations += iterations
            self.parts += 1
            if iterations <= _EASY:
                self._h = min(2.0 * max(h, self._h), self.dt)

    def _part(self, h: float, end: float) -> int:
        """One implicit step; the Newton iterations it took."""
        now = self._state
        potential = StepPotential(self.cloth, self.damping, self.gravity, now, h)
        starts = [np.where(self.free, q, now.q) for q in (now.q + h * now.v, now.q)]
        for start in starts:
            self._place(start, end)
        stage = Stage(end, 1 / h, now.q, 1 / (h * h), now.q + h * now.v, starts[0])
        with self._problem.step(potential, stage, now.time):
            q = self._solver.solve(stage, starts)
        after = potential.finish(q, end)
        friction_work = self._problem.friction_work(q)
        self._state = replace(after, dissipated=after.dissipated + friction_work)
        return self._solver.iterations

    @property
    def contact_forces(self) -> Floats:
        """Force of the obstacles on every crossing at the end of the last step [N], (n, 3)."""
        return self._problem.contact_forces(self._state.q)

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
    ) -> YarnMotion:
        """Advance by ``duration`` [s] and keep every so many steps, the start included.

        ``record``, ``resume``, ``overwrite`` and ``metadata`` are those of ``Simulation.run``.
        """
        number("duration", duration, at_least=0, unit="s")
        whole_number("every", every, at_least=1)
        steps = round(duration / self.dt)
        if record is None:
            if resume:
                raise InputError("resume=True needs record=, the motion file to go on with")
            return YarnMotion.from_frames(self.mesh, self._frames(steps, every, progress))
        settings = {**(metadata or {}), "time step": repr(self.dt), "steps a frame": repr(every)}
        with Recorder(
            record, self.mesh, metadata=settings, resume=resume, overwrite=overwrite
        ) as recorder:
            if recorder.goes_on(steps, every=every, dt=self.dt):
                saved = recorder.checkpoint()
                done = None if saved is None else self._restore(saved)
                for frame in self._frames(steps, every, progress, done):
                    recorder.append(frame, self._checkpoint())
                recorder.finish()
        return cast(YarnMotion, read_motion(record))

    def _frames(
        self, steps: int, every: int, progress: Progress | None, done: int | None = None
    ) -> Iterator[YarnFrame]:
        """The frame now, then one after every few steps; of a resumed run, ``done`` are past."""
        self._steps_done = done or 0
        if done is None:
            yield self.frame()
        for step in range(self._steps_done + 1, steps + 1):
            self.step()
            self._steps_done = step
            if progress is not None:
                progress(step, steps, "steps")
            if step % every == 0 or step == steps:
                yield self.frame()

    def _checkpoint(self) -> dict[str, Any]:
        """Everything that the next step depends on."""
        now = self._state
        return {
            "steps": self._steps_done,
            "part": self._h,
            **{each.name: getattr(now, each.name) for each in fields(now)},
            **{f"contact.{name}": array for name, array in self._problem.contact_state().items()},
        }

    def _restore(self, saved: Mapping[str, Any]) -> int:
        arrays = {name: np.array(saved[name]) for name in ("q", "v", "momentum")}
        self._state = YarnState(
            time=float(saved["time"]), **arrays, dissipated=float(saved["dissipated"])
        )
        self._h = float(saved["part"])
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
