"""Woven cloth in motion."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ...checks import instance, number, numbers, vector, vertex_indices, whole_number
from ...errors import StepFailed
from ...solvers.choice import AutomaticSolver
from ...solvers.interface import LinearSolver
from ...types import Bools, Floats, Progress
from .cloth import WovenCloth
from .damping import YarnDamping, YarnRayleigh
from .energies import YarnEnergies
from .step import StepPotential, Unsolved, YarnState

_SHORTEST = 2.0**-10  # of dt
_EASY = 5  # Newton iterations after which the next step may be longer


@dataclass(frozen=True, eq=False)
class YarnMotion:
    """What a run left behind, frame by frame."""

    times: Floats
    """[s], (frames,)."""
    positions: Floats
    """Of the crossings [m], (frames, n, 3)."""
    arc_lengths: Floats
    """Where the crossings are along warp and weft [m], (frames, n, 2)."""
    kinetic: Floats
    """[J], (frames,)."""
    potential: Floats
    """Stored energy, that of weight included [J], (frames,)."""


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
        self.newton_iterations = 0
        """Of the last call of ``step``, all its parts together."""
        self.parts = 0
        """In how many parts the last step was taken."""

    # -- state -------------------------------------------------------------------------------

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
        self, duration: float, *, every: int = 1, progress: Progress | None = None
    ) -> YarnMotion:
        """Advance by ``duration`` [s] and keep every so many steps, the start included."""
        number("duration", duration, at_least=0, unit="s")
        whole_number("every", every, at_least=1)
        steps = round(duration / self.dt)
        frames = [self._frame()]
        for k in range(1, steps + 1):
            self.step()
            if k % every == 0 or k == steps:
                frames.append(self._frame())
            if progress is not None:
                progress(k, steps, "steps")
        times, q, kinetic, potential = zip(*frames, strict=True)
        states = np.array(q)
        return YarnMotion(
            np.array(times),
            states[..., :3],
            states[..., 3:],
            np.array(kinetic),
            np.array(potential),
        )

    def _frame(self) -> tuple[float, Floats, float, float]:
        return self.time, self.q, self.kinetic_energy, self.energies.total
