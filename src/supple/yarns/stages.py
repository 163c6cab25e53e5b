"""Steps of woven cloth by any implicit rule: what a stage of it has to know.

The mass depends on where the crossings are, so rules are applied to the two equations of first
order q' = v and p' = ∇T − ∇V − ∇_v V_d, p = M(q) v. What a rule makes of displacements and
velocities it makes of q and v; what it makes of velocities and accelerations it makes of p and p':

    v = c_v (q − q̂)        p' = c_p (p − p̂)        c_p = c_a/c_v

Strains take part like q: ε̇ = c_v (ε − ε̂). Weights, M and ∇T are those of a forecast for the time
of the stage, right to second order, so the balance of a stage stays the minimum of a potential.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, fields
from math import sqrt
from typing import Any

import numpy as np

from supple.core.types import Floats
from supple.integrators import ImplicitIntegrator, Stage, Stages, State

_SQUEEZED = 0.5  # share of its length that a segment may lose in a forecast
_LEFT = 0.2  # of the length of a segment: what a step of too few iterations has to leave


@dataclass(frozen=True)
class YarnState:
    """Where the crossings are and how they move."""

    time: float
    q: Floats
    v: Floats
    momentum: Floats
    """M v as the last step left it."""
    dissipated: float = 0.0
    """What damping and friction have taken so far [J]."""
    a: Floats | None = None
    """v' as the rule of the last step has it; None where steps start anew."""
    force: Floats | None = None
    """p' likewise."""
    power: float | None = None
    """What damping and friction take there [W]."""

    def motion(self) -> State:
        """q, v and v' as rules know them."""
        return State(self.time, self.q, self.v, np.zeros_like(self.v) if self.a is None else self.a)

    def momenta(self) -> State:
        """p and p' in the place of velocity and acceleration."""
        force = np.zeros_like(self.v) if self.force is None else self.force
        return State(self.time, np.zeros_like(self.q), self.momentum, force)


@dataclass(frozen=True)
class History:
    """What the next step starts from."""

    now: YarnState
    before: YarnState | None = None
    """A step earlier, for rules that look back."""
    touching: bool = False
    """Whether an obstacle pressed on the cloth at the end of the last step."""

    def arrays(self) -> dict[str, Any]:
        """For checkpoints; what is not there is left out."""
        saved: dict[str, Any] = {"touching": self.touching}
        for prefix, state in (("", self.now), ("before.", self.before)):
            for each in fields(YarnState) if state is not None else ():
                value = getattr(state, each.name)
                if value is not None:
                    saved[prefix + each.name] = value
        return saved

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> History:
        """What ``arrays`` was of."""
        states: list[YarnState | None] = []
        for prefix in ("", "before."):
            found: dict[str, Any] = {}
            for each in fields(YarnState):
                if prefix + each.name in saved:
                    value = np.array(saved[prefix + each.name])
                    found[each.name] = value if value.ndim else float(value)
            states.append(YarnState(**found) if found else None)
        now, before = states
        assert now is not None
        return cls(now, before, bool(saved.get("touching", False)))


@dataclass(frozen=True, eq=False)
class YarnStage:
    """One balance of forces, c_p (M v − p̂) = ∇T − ∇V − ∇_v V_d with v = c_v (q − q̂)."""

    motion: Stage
    """With c_v and q̂."""
    c_p: float
    momentum: Floats
    """p̂, (n, 5)."""
    at: Floats
    """q of M, ∇T and all weights, (n, 5)."""
    rates: Floats
    """v of ∇T, (n, 5)."""

    @classmethod
    def backward_euler(cls, now: YarnState, h: float, end: float) -> YarnStage:
        """v = (q − q₀)/h and p' = (p − p₀)/h, with everything else as it is at the start."""
        memory = ((1.0, 0.0, now.motion()),)
        ahead = now.q + h * now.v
        motion = Stage(end, 1 / h, now.q, 1 / (h * h), ahead, ahead, memory)
        return cls(motion, 1 / h, now.momentum, now.q, now.v)

    def state(self, q: Floats, v: Floats, momentum: Floats, power: float) -> YarnState:
        """The state at the end of the stage."""
        force = self.c_p * (momentum - self.momentum)
        a = self.motion.acceleration(q)
        return YarnState(self.motion.time, q, v, momentum, 0.0, a, force, power)


@dataclass(frozen=True)
class Starter(ImplicitIntegrator):
    """The first step of rules of second order: two stages of backward Euler's kind (SDIRK2).

    It needs no acceleration to start from, and is L-stable.
    """

    order = 2

    def stages(self, now: State, before: State | None, dt: float) -> Stages:
        g = 1 - sqrt(0.5)
        first = yield _stage(now.time + g * dt, g * dt, ((1.0, now),), now.u + g * dt * now.v)
        r = (1 - g) / g
        guess = first.u + (1 - g) * dt * first.v
        yield _stage(now.time + dt, g * dt, ((1 - r, now), (r, first)), guess)


def _stage(time: float, h: float, past: tuple[tuple[float, State], ...], guess: Floats) -> Stage:
    """v = (u − u_past)/h and a = (v − v_past)/h, with the same shares of the past in both."""
    u = sum(share * state.u for share, state in past[1:]) + past[0][0] * past[0][1].u
    v = sum(share * state.v for share, state in past[1:]) + past[0][0] * past[0][1].v
    memory = tuple((share, 0.0, state) for share, state in past)
    return Stage(time, 1 / h, u, 1 / (h * h), u + h * v, guess, memory)


def yarn_stages(
    rule: ImplicitIntegrator, now: YarnState, before: YarnState | None, h: float, spans: Spans
) -> Generator[YarnStage, YarnState, None]:
    """The stages of a rule; each is sent the state that it leads to."""
    past = None if before is None else before.motion()
    past_momenta = None if before is None else before.momenta()
    motions = rule.stages(now.motion(), past, h)
    momenta = rule.stages(now.momenta(), past_momenta, h)
    motion, other, latest = next(motions), next(momenta), now
    while True:
        ahead = motion.time - latest.time
        at = latest.q + ahead * latest.v
        if not spans.keep(at, latest.q):
            at = latest.q
        rates = latest.v if latest.a is None else latest.v + ahead * latest.a
        momentum = other.c_v * (other.u_a - other.u_v)
        latest = yield YarnStage(motion, other.c_a / other.c_v, momentum, at, rates)
        try:
            motion, other = motions.send(latest.motion()), momenta.send(latest.momenta())
        except StopIteration:
            return


class Spans:
    """The arc lengths of segments."""

    def __init__(self, segments: tuple[np.ndarray, np.ndarray]) -> None:
        nodes, family = segments
        self._first, self._last, self._column = nodes[:, 0], nodes[:, 1], 3 + family

    def keep(self, q: Floats, latest: Floats) -> bool:
        """Whether no segment is at q much shorter than it was at the latest q."""
        there, here = (
            each[self._last, self._column] - each[self._first, self._column] for each in (q, latest)
        )
        return bool((there > _SQUEEZED * here).all())

    def unfolded(self, q: Floats, arcs: Floats) -> Floats:
        """q (n, 5) with arc lengths as they began, (n, 2), where a segment would lose most of its
        own. Too few iterations may leave crossings past each other, where nothing is defined.
        """
        began = np.zeros_like(q)
        began[:, 3:] = arcs
        first, last, column = self._first, self._last, self._column
        least = _LEFT * (began[last, column] - began[first, column])
        out = q
        while True:
            short = (out[last, column] - out[first, column] < least).nonzero()[0]
            if not len(short):
                return out
            out = q.copy() if out is q else out
            for end in (first, last):
                out[end[short], column[short]] = began[end[short], column[short]]
