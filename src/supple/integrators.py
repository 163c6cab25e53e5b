"""Time integrators: rules that turn the past of a motion into stages to be solved.

In a stage, velocity and acceleration are affine in the unknown displacement u:

    v(u) = c_v (u − û_v)        a(u) = c_a (u − û_a)

and a solver finds the u at which forces balance at the stage's time. An integrator knows no
physics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from supple.core.parameters import checked, parameter
from supple.core.registry import Registry
from supple.core.types import Floats


@dataclass(frozen=True, eq=False)
class State:
    """Displacement u [m], velocity v [m/s] and acceleration a [m/s²] at a time [s].

    Explicit rules leave the acceleration None.
    """

    time: float
    u: Floats
    v: Floats
    a: Floats | None

    @property
    def acceleration(self) -> Floats:
        if self.a is None:
            raise ValueError("this state was made without an acceleration")
        return self.a


@dataclass(frozen=True, eq=False)
class Stage:
    """One force balance: v(u) = c_v (u − û_v) and a(u) = c_a (u − û_a) at ``time``."""

    time: float
    c_v: float
    u_v: Floats
    c_a: float
    u_a: Floats
    guess: Floats
    """Where a solver may start."""
    memory: tuple[tuple[float, float, State], ...] = ()
    """What û_v is made of: Σ p u + q v over (p, q, state), for rates of what is not affine in u.

    Only Newmark with β other than γ/2 has more to it, a multiple of the acceleration.
    """

    velocity_memory: tuple[tuple[float, float, State], ...] = ()
    """What the velocity is made of beside a c_v/c_a: Σ α v + β a over (α, β, state)."""

    def velocity(self, u: Floats) -> Floats:
        return self.c_v * (u - self.u_v)

    def acceleration(self, u: Floats) -> Floats:
        return self.c_a * (u - self.u_a)

    def state(self, u: Floats) -> State:
        return State(self.time, u, self.velocity(u), self.acceleration(u))


Stages = Generator[Stage, State, None]
"""Yields a stage, is sent its solution, and ends after the last stage of the step."""

Acceleration = Callable[[float, Floats, Floats], Floats]
"""Solves M a = forces at a time [s], u and v."""


class Integrator(ABC):
    """A rule for one step, which checks its parameters."""

    def __post_init__(self) -> None:
        checked(self)

    @property
    @abstractmethod
    def order(self) -> int:
        """Order of accuracy."""


INTEGRATORS: Registry[type[Integrator]] = Registry(
    "integrator", "supple.integrators", base=Integrator, key="name"
)
"""Every integrator; tests and scene files go over it."""


class ImplicitIntegrator(Integrator):
    """A rule whose stages a solver solves."""

    is_multistep: ClassVar[bool] = False
    """Whether the state one step earlier counts."""

    @abstractmethod
    def stages(self, now: State, before: State | None, dt: float) -> Stages:
        """The stages that lead from ``now`` to ``now.time + dt``.

        ``before`` is the state one step earlier, None at a start.
        """


class ExplicitIntegrator(Integrator):
    """A rule that only needs accelerations; a reference, stable for tiny steps alone."""

    @abstractmethod
    def advance(self, now: State, dt: float, acceleration: Acceleration) -> State:
        """The state at ``now.time + dt``."""


def _extrapolated(now: State, dt: float) -> Floats:
    return now.u + dt * now.v + (0.5 * dt * dt) * now.acceleration


def _linear_multistep(
    time: float, w: float, past: tuple[tuple[float, State], ...], guess: Floats
) -> Stage:
    """The stage of v₁ = w (u₁ − u), a₁ = w (v₁ − v): û_v = u, û_a = u + v / w.

    u and v are sums over the ``past``, each state with its share.
    """
    u = sum(share * state.u for share, state in past[1:]) + past[0][0] * past[0][1].u
    v = sum(share * state.v for share, state in past[1:]) + past[0][0] * past[0][1].v
    memory = tuple((share, 0.0, state) for share, state in past)
    return Stage(time, w, u, w * w, u + v / w, guess, memory, memory)


@INTEGRATORS.register
@dataclass(frozen=True)
class BackwardEuler(ImplicitIntegrator):
    """v₁ = (u₁ − u₀)/h, a₁ = (v₁ − v₀)/h. First order; damps everything, and much."""

    order = 1

    def stages(self, now: State, before: State | None, dt: float) -> Stages:
        yield _linear_multistep(now.time + dt, 1 / dt, ((1.0, now),), _extrapolated(now, dt))


@INTEGRATORS.register
@dataclass(frozen=True)
class Newmark(ImplicitIntegrator):
    """u₁ = u₀ + h v₀ + h² ((½ − β) a₀ + β a₁), v₁ = v₀ + h ((1 − γ) a₀ + γ a₁).

    Second order for γ = ½; γ > ½ damps. β = ¼, γ = ½ is the trapezoidal rule.
    """

    beta: float = parameter(0.25, "share of the new acceleration in the displacement", above=0)
    gamma: float = parameter(0.5, "share of the new acceleration in the velocity", above=0)

    @property
    def order(self) -> int:
        return 2 if self.gamma == 0.5 else 1

    def stages(self, now: State, before: State | None, dt: float) -> Stages:
        yield _newmark_stage(now, dt, self.beta, self.gamma)


def _newmark_stage(now: State, dt: float, beta: float, gamma: float) -> Stage:
    c_a, c_v = 1 / (beta * dt * dt), gamma / (beta * dt)
    u_a = now.u + dt * now.v + (dt * dt * (0.5 - beta)) * now.acceleration
    u_v = u_a - (now.v + (dt * (1 - gamma)) * now.acceleration) / c_v
    memory = ((1.0, dt - 1 / c_v, now),)
    before = ((1.0, dt * (1 - gamma), now),)
    return Stage(now.time + dt, c_v, u_v, c_a, u_a, _extrapolated(now, dt), memory, before)


@INTEGRATORS.register
@dataclass(frozen=True)
class Trapezoidal(ImplicitIntegrator):
    """v₁ = v₀ + h (a₀ + a₁)/2, u₁ = u₀ + h (v₀ + v₁)/2. Second order, damps nothing.

    It lets the fastest vibrations ring, and can blow up in nonlinear motion at large steps.
    """

    order = 2

    def stages(self, now: State, before: State | None, dt: float) -> Stages:
        yield _newmark_stage(now, dt, 0.25, 0.5)


@INTEGRATORS.register
@dataclass(frozen=True)
class BDF2(ImplicitIntegrator):
    """Second-order backward differences over the last two steps, of unequal length if need be.

    The first step is taken with TR-BDF2, which keeps the order.
    """

    is_multistep: ClassVar[bool] = True

    order = 2

    def stages(self, now: State, before: State | None, dt: float) -> Stages:
        if before is None:
            yield from TRBDF2().stages(now, None, dt)
            return
        # y₁' = w (y₁ − p y₀ + q y₋₁) for steps h after h₋, with r = h/h₋
        r = dt / (now.time - before.time)
        w = (1 + 2 * r) / ((1 + r) * dt)
        p, q = (1 + r) ** 2 / (1 + 2 * r), r * r / (1 + 2 * r)
        past = ((p, now), (-q, before))
        yield _linear_multistep(now.time + dt, w, past, _extrapolated(now, dt))


@INTEGRATORS.register
@dataclass(frozen=True)
class TRBDF2(ImplicitIntegrator):
    """A trapezoidal stage over γ h, then a BDF2 stage to the end of the step. Second order.

    Damps the fastest vibrations and hardly anything else. With the default γ = 2 − √2 it is
    L-stable and both stages have the same matrix (dissipative optimization, Eqs. 32–36).
    """

    gamma: float = parameter(
        2 - sqrt(2), "share of the step that the first stage takes", above=0, below=1
    )

    order = 2

    def stages(self, now: State, before: State | None, dt: float) -> Stages:
        g = self.gamma
        middle = yield _newmark_stage(now, g * dt, 0.25, 0.5)
        w = (2 - g) / ((1 - g) * dt)
        p, q = 1 / (g * (2 - g)), (1 - g) ** 2 / (g * (2 - g))
        rest = _extrapolated(middle, (1 - g) * dt)
        yield _linear_multistep(now.time + dt, w, ((p, middle), (-q, now)), rest)


@INTEGRATORS.register
@dataclass(frozen=True)
class Bathe(TRBDF2):
    """Bathe's composite rule: TR-BDF2 in two equal halves (example damping, Eqs. 18–25)."""

    gamma: float = 0.5


@INTEGRATORS.register
@dataclass(frozen=True)
class SymplecticEuler(ExplicitIntegrator):
    """v₁ = v₀ + h a(u₀), u₁ = u₀ + h v₁. First order, with an energy that does not drift."""

    order = 1

    def advance(self, now: State, dt: float, acceleration: Acceleration) -> State:
        v = now.v + dt * acceleration(now.time, now.u, now.v)
        return State(now.time + dt, now.u + dt * v, v, None)


@INTEGRATORS.register
@dataclass(frozen=True)
class RK4(ExplicitIntegrator):
    """The classical Runge–Kutta rule. Fourth order."""

    order = 4

    def advance(self, now: State, dt: float, acceleration: Acceleration) -> State:
        t, u, v, h = now.time, now.u, now.v, dt
        v1, a1 = v, acceleration(t, u, v)
        v2 = v + h / 2 * a1
        a2 = acceleration(t + h / 2, u + h / 2 * v1, v2)
        v3 = v + h / 2 * a2
        a3 = acceleration(t + h / 2, u + h / 2 * v2, v3)
        v4 = v + h * a3
        a4 = acceleration(t + h, u + h * v3, v4)
        u = u + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        return State(t + h, u, v, None)
