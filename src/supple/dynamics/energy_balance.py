"""The energy between two states: what is there, and what was put in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.shape import Shape
from supple.core.types import Floats
from supple.dynamics.problem import BodyProblem
from supple.dynamics.stepping import External, StepPart, Stepper
from supple.integrators import State


@dataclass(frozen=True)
class EnergyBalance:
    """The energy between two states [J]."""

    gain: float
    """By how much kinetic and stored energy have grown beyond the work that was put in."""
    at_play: float
    """Kinetic and stored energy at the start, and the size of the work."""
    end: float
    """Kinetic and stored energy at the end."""
    uncertain: float
    """How far the work may be off, where obstacles move or a wind blows."""


class EnergyAccount:
    """Balances of a body with its terms, right after a stepper has taken a step."""

    def __init__(self, problem: BodyProblem, stepper: Stepper) -> None:
        self._problem, self._stepper, self._body = problem, stepper, problem.body
        self._energies: list[tuple[State, float]] = []

    def balance(self, part: StepPart, after: State, taken: float) -> EnergyBalance:
        """The energy of a step to ``after``, as the next one is to find it.

        ``taken`` [J] is what damping took in it; less than nothing is what a wind has put in.
        """
        now, dt, external = part.now, part.dt, part.external
        pushed = 0.5 * (external(now.time) + external(after.time))
        load = float(np.vdot(pushed, after.u - now.u))
        work, uncertain = self._work_of_obstacles(now, after, dt, external)
        for term in self._problem.terms:
            if term.does_work:
                extra = term.work(now, after)
                work, uncertain = work + extra, uncertain + abs(extra)
        if self._body.held.moving:
            work += self._work_of_supports(now, after, external)
        blown = max(-taken, 0.0)
        start, end = self._energy(now), self._energy(after)
        gain, at_play = end - start - load - work - blown, start + abs(work) + blown
        return EnergyBalance(gain, at_play, end, uncertain + blown)

    def _energy(self, state: State) -> float:
        """Kinetic and stored energy [J]; that of the last states is known."""
        for known, energy in self._energies:
            if known is state:
                return energy
        kinetic = self._problem.kinetic(state.u, state.v)
        shape = Shape(self._body, state.u, order=0)  # the problem's own are left as they are
        stored = sum(term.stored_energy(shape) for term in self._problem.terms)
        energy = kinetic + stored
        self._energies = [*self._energies[-1:], (state, energy)]
        return energy

    def _work_of_obstacles(
        self, now: State, after: State, dt: float, external: External
    ) -> tuple[float, float]:
        """What obstacles that move put in, and how far that may be off [J].

        Forces are known at the ends of stages alone, and an impact is over between two of them. But
        where nothing is held the momentum tells what their sum has been, J = ∫ Σ f dt: with v̄ the
        mean velocity of the obstacles there, the work is v̄·J and a part from how v_i − v̄ differ.
        """
        carried = self._stepper.carried()
        if not carried:
            return 0.0, 0.0
        f, v = (np.concatenate([each[k] for each in carried]) for k in (0, 1))
        if not v.any():
            return 0.0, 0.0
        weights = np.linalg.norm(f, axis=1)
        mean = np.average(v, axis=0, weights=weights if weights.any() else None)
        apart = dt * float(np.vdot(f, v - mean))
        if self._body.free.all():
            return float(mean @ self._impulse(now, after, dt, external)) + apart, abs(apart)
        work = dt * float(np.vdot(f, v))
        p = self._momentum_gained(now, after)
        return work, abs(work) + float(np.abs(p).sum(axis=0) @ np.abs(mean))

    def _impulse(self, now: State, after: State, dt: float, external: External) -> Floats:
        """∫ Σ f dt (3,) [N s] of what is neither a load nor damping: p₁ − p₀ less theirs."""
        total = self._momentum_gained(now, after).sum(axis=0)
        for each in (now, after):
            own = self._free_force(each) - external(each.time)
            total += 0.5 * dt * own.sum(axis=0)
        return np.asarray(total)

    def _momentum_gained(self, now: State, after: State) -> Floats:
        """p₁ − p₀ [N s], (n, 3)."""
        gained = self._body.mass_times(after.v - now.v)
        for term in self._problem.terms:
            ends = [term.momentum(each.u, each.v) for each in (now, after)]
            if ends[0] is not None and ends[1] is not None:
                gained += ends[1] - ends[0]
        return gained

    def _work_of_supports(self, now: State, after: State, external: External) -> float:
        """What moving supports put in, by the force that they need at both ends of a step."""
        way = np.where(self._body.free, 0.0, after.u - now.u)
        return sum(
            0.5 * float(np.vdot(self._reaction(each, external), way)) for each in (now, after)
        )

    def _reaction(self, state: State, external: External) -> Floats:
        """M a + ∇₂R + ∇U − f: what supports hold against."""
        return self._problem.inertia(state) + self._free_force(state) - external(state.time)

    def _free_force(self, state: State) -> Floats:
        """∇₂R + ∇U [N], (n, 3)."""
        return self._problem.free_force_at(Shape(self._body, state.u), state.v)
