"""Woven cloth in motion."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...checks import instance, number, numbers, vector, vertex_indices, whole_number
from ...errors import InputError, StepFailed
from ...mesh import YarnMesh
from ...motion import YarnFrame, YarnMotion
from ...recording import Recorder, read_motion
from ...solvers.choice import AutomaticSolver
from ...solvers.interface import LinearSolver
from ...types import Bools, Floats, Progress
from .cloth import WovenCloth, YarnEnergies
from .damping import YarnDamping, YarnRayleigh
from .step import StepPotential, Unsolved, YarnState

_SHORTEST = 2.0**-10  # of dt
_EASY = 5  # Newton iterations after which the next step may be longer


class YarnSimulation:
    """A woven cloth that moves: backward Euler, Newton's method, steps as short as they have to be.

    ``fixed`` are crossings that stay where they are. At the edge of the cloth, where yarns end,
    they do not slide. ``dt`` [s] is the step that is tried; where Newton's method does not get
    through, the step is taken in parts.
    """

    def __init__(
        self,
        cloth: WovenCloth,
        *,
        damping: YarnDamping | YarnRayleigh | None = None,
        gravity: ArrayLike = (0, 0, 0),
        fixed: ArrayLike = (),
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
        self._tolerance = number("tolerance", tolerance, above=0, below=1)
        self._limit = whole_number("max_iterations", max_iterations, at_least=1)
        linear = AutomaticSolver() if linear is None else linear
        instance("linear", linear, LinearSolver, "ConjugateGradients()")
        self.free: Bools = np.ones((cloth.n_nodes, 5), dtype=bool)
        """Which unknowns move, (n, 5)."""
        given = np.asarray(fixed)
        if given.size:
            self.free[vertex_indices("fixed", given, cloth.n_nodes), :3] = False
        self.free[cloth.net.edge, 3:] = False
        self._linear = linear.bind(cloth.pattern, self.free)
        rest = cloth.rest_state
        self._state = YarnState(0.0, rest, np.zeros_like(rest), np.zeros_like(rest))
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
        """Go on from other positions and arc lengths, or with other rates. Held ones rest."""
        shape = (self._state.q.shape,)
        new_q = self._state.q if q is None else numbers("q", q, shape)
        new_v = self._state.v if v is None else numbers("v", v, shape)
        new_v = np.where(self.free, new_v, 0.0)
        momentum = self.cloth.kinetic(new_q, new_v)[1]
        self._state = replace(self._state, q=new_q, v=new_v, momentum=momentum)

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
            except Unsolved as error:
                self._h = 0.5 * h
                if self._h < _SHORTEST * self.dt:
                    self._h = self.dt
                    raise StepFailed(
                        str(error),
                        time=self._state.time + h,
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
        potential = StepPotential(self.cloth, self.damping, self.gravity, self._state, h)
        guess = np.where(self.free, self._state.q + h * self._state.v, self._state.q)
        q, iterations = potential.minimum(
            guess, self.free, self._linear, self._tolerance, self._limit
        )
        self._state = potential.finish(q, end)
        return iterations

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
            saved = recorder.checkpoint()
            done = None if saved is None else self._restore(saved)
            if recorder.frames == 0 or saved is not None:
                for frame in self._frames(steps, every, progress, done):
                    recorder.append(frame, self._checkpoint())
                recorder.finish()
        motion = read_motion(record)
        assert isinstance(motion, YarnMotion)
        return motion

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
        }

    def _restore(self, saved: Mapping[str, Any]) -> int:
        arrays = {name: np.array(saved[name]) for name in ("q", "v", "momentum")}
        self._state = YarnState(
            time=float(saved["time"]), **arrays, dissipated=float(saved["dissipated"])
        )
        self._h = float(saved["part"])
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
