"""Unloading tests: release a body from an example deformation and watch one cycle (§5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.damping import NeutralModel, PoseDamping
from supple.character.runtime.simulation import PoseSimulation
from supple.core.checks import vector
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats
from supple.damping import Damping, ExampleDamping
from supple.damping.example import examples_on, excitation_duals
from supple.dynamics.simulation import Simulation
from supple.integrators import Bathe, Integrator
from supple.reduction import ReducedModel
from supple.reduction.modes import SmallVibrations, mass_times

_BALANCED = 0.05  # share of the forces at play that may be out of balance
_LONGEST = 12.0  # periods of the linear body that a cycle may take
_CREEPING = 4.0  # periods without a pass through zero after which, if next to nothing is left,
_NOTHING = 0.02  # as a share of the start, whatever comes then is too small to matter


@dataclass(frozen=True, eq=False)
class UnloadingTest:
    """How an excitation went on after a release, up to the end of one cycle."""

    times: Floats
    """[s], (steps + 1,)."""
    excitations: Floats
    """χ, (steps + 1,)."""
    residual: float
    """χ where the cycle ends; 0 if it never came back, so strong was the damping."""
    period: float
    """Time of the cycle [s]; NaN if it never came back."""

    @classmethod
    def failed(cls, start: float) -> UnloadingTest:
        """A test that could not be computed: nothing but its start is known."""
        return cls(np.zeros(2), np.array([start, start]), np.nan, np.nan)

    @property
    def is_failed(self) -> bool:
        """Whether a step of the motion failed."""
        return bool(np.isnan(self.residual))

    @property
    def oscillates(self) -> bool:
        """Whether the cycle was completed."""
        return bool(np.isfinite(self.period))


class Testbed(ABC):
    """A body that can be released from its examples again and again, with one damping or another.

    ``dt`` [s] and ``integrator`` are those of the motions that the damping is designed for: what
    they dissipate themselves is then part of the result.
    """

    __test__ = False  # not for pytest

    def __init__(
        self,
        damping: ExampleDamping,
        *,
        integrator: Integrator | None = None,
        dt: float = 1 / 60,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        gravity = vector("gravity", gravity)
        if gravity.any() and damping.about is None:
            raise InputError(
                "with gravity, examples are released from the shape in which the body rests: give "
                "the damping about=static_shape(body, gravity=...)"
            )
        self.damping, self.dt = damping, dt
        self._options: dict[str, Any] = {
            "integrator": Bathe() if integrator is None else integrator,
            "dt": dt,
            "gravity": gravity,
        }
        elastic, weight = self._forces(gravity)
        force = np.linalg.norm(elastic - weight)
        if force > _BALANCED * (np.linalg.norm(elastic) + np.linalg.norm(weight)):
            raise InputError(
                f"at the shape that examples are counted from, forces of {force:.3g} N are out of "
                "balance: the body would not swing about it. Give the damping about=static_shape("
                "body, gravity=...) with the gravity of the design, or neither"
            )
        self._period = []
        for i, square in enumerate(self._squares()):
            if not square > 0:
                raise InputError(
                    f"example {i} meets no resistance (ω² = {square:.3g} 1/s²): the body does not "
                    "vibrate along it; give another shape"
                )
            self._period.append(2 * np.pi / np.sqrt(square))

    def linear_period(self, example: int) -> float:
        """About how long a small vibration along an example takes [s]."""
        return float(self._period[example])

    @abstractmethod
    def _squares(self) -> Floats:
        """ω² of each example [1/s²], (k,): xᵀMx / xᵀM K⁻¹ M x, exact for modes.

        Unlike xᵀKx / xᵀMx it hardly notices the stretch of an arc that is taken for a straight way.
        """

    @abstractmethod
    def _forces(self, gravity: Floats) -> tuple[Floats, Floats]:
        """The elastic force at the shape counted from, and the weight that should cancel it [N]."""

    @abstractmethod
    def _release(self, damping: Damping, example: int, start: float) -> None:
        """Set the body to ``start`` times an example, at rest."""

    @abstractmethod
    def _trajectory(self, example: int, steps: int) -> tuple[Floats, Floats]:
        """χ and χ̇ of an example after each of so many steps more, (steps,) each."""

    def try_unloading(self, damping: Damping, example: int, start: float) -> UnloadingTest:
        """As ``unload``, but where a step fails the test says so."""
        try:
            return self.unload(damping, example, start)
        except StepFailed:
            return UnloadingTest.failed(start)

    def unload(self, damping: Damping, example: int, start: float) -> UnloadingTest:
        """Release an example from excitation ``start`` and follow it for one cycle.

        A cycle ends at the turn after two passes through zero.
        """
        self._release(damping, example, start)
        x, v = np.array([start]), np.array([0.0])
        chunk = max(4, int(np.ceil(1.15 * self._period[example] / self.dt)))
        longest = int(np.ceil(_LONGEST * self._period[example] / self.dt))
        creeping = int(np.ceil(_CREEPING * self._period[example] / self.dt))
        end = None
        while end is None and len(x) <= longest:
            if len(x) > creeping and (x > 0).all() and x[-1] < _NOTHING * start:
                break
            more_x, more_v = self._trajectory(example, chunk)
            x, v = np.concatenate([x, more_x]), np.concatenate([v, more_v])
            end = cycle_end(x, v, self.dt)
            chunk = max(4, chunk // 4)
        times: Floats = self.dt * np.arange(len(x), dtype=float)
        if end is None:
            return UnloadingTest(times, x, 0.0, np.nan)
        period, residual = end
        last = int(np.ceil(period / self.dt)) + 1
        return UnloadingTest(times[:last], x[:last], residual, period)


def cycle_end(x: Floats, v: Floats, dt: float) -> tuple[float, float] | None:
    """Time [s] and height of the turn after two passes of x through zero, if there is one.

    ``x`` and its rate ``v`` are known at steps of ``dt`` [s], from a start at rest; between steps
    they are joined by cubics.
    """
    passes = np.flatnonzero(np.sign(x[1:]) * np.sign(x[:-1]) <= 0)
    passes = passes[np.sign(x[passes + 1]) != 0]
    if len(passes) < 2:
        return None
    way = np.sign(x[passes[1] + 1])
    rising = way * v[passes[1] :]
    turns = np.flatnonzero((rising[:-1] > 0) & (rising[1:] <= 0))
    if not len(turns):
        return None
    k = passes[1] + int(turns[0])
    # cubic through (x, v) at both ends: its derivative, a parabola, is zero at the turn
    a, b = v[k] * dt, v[k + 1] * dt
    rise = x[k + 1] - x[k]
    c2, c3 = 3 * rise - 2 * a - b, a + b - 2 * rise
    roots = np.roots([3 * c3, 2 * c2, a]) if c3 or c2 else np.array([0.0])
    inside = roots.real[(abs(roots.imag) < 1e-12) & (roots.real >= 0) & (roots.real <= 1)]
    s = float(inside[0]) if len(inside) else float(a / (a - b))
    return dt * (k + s), float(way * (x[k] + s * (a + s * (c2 + s * c3))))


class FullTestbed(Testbed):
    """Unloading tests in full space."""

    def __init__(self, body: Body, damping: ExampleDamping, **options: Any) -> None:
        self._body = body
        body.require_supports("an unloading test")
        if body.held.moving:
            raise InputError(
                "the supports of this body move, which would shake the releases that a damping is "
                "designed by; design with a body held still: Body(..., fixed=...)"
            )
        self._X, self._duals = examples_on(body, damping)
        self._about = np.zeros_like(body.mesh.vertices) if damping.about is None else damping.about
        super().__init__(damping, **options)
        self._simulation: Simulation | None = None

    def _squares(self) -> Floats:
        momenta = mass_times(self._body, self._X)
        answers = SmallVibrations(self._body, self._about).solve(momenta)
        squares: Floats = np.sum(self._X * momenta, axis=(1, 2))
        squares /= np.sum(momenta * answers, axis=(1, 2))
        return squares

    def _forces(self, gravity: Floats) -> tuple[Floats, Floats]:
        free = self._body.free
        return self._body.force(self._about)[free], self._body.weight(gravity)[free]

    def _release(self, damping: Damping, example: int, start: float) -> None:
        self._simulation = Simulation(self._body, damping=damping, **self._options)
        self._simulation.state.u = self._about + start * self._X[example]

    def _trajectory(self, example: int, steps: int) -> tuple[Floats, Floats]:
        assert self._simulation is not None
        state, dual = self._simulation.state, self._duals[example]
        x, v = np.empty((2, steps))
        for k in range(steps):
            self._simulation.step()
            x[k], v[k] = np.vdot(dual, state.u - self._about), np.vdot(dual, state.v)
        return x, v


class ReducedTestbed(Testbed):
    """Unloading tests with a reduced model."""

    def __init__(self, model: ReducedModel, damping: ExampleDamping, **options: Any) -> None:
        self._model = model
        found = [model.coordinates(example.shape) for example in damping.examples]
        self._X = np.reshape(found, (-1, model.size))
        self._duals = excitation_duals(self._X, self._X @ model.mass)
        self._about = np.zeros(model.size)
        if damping.about is not None:
            self._about = model.coordinates(damping.about)
        super().__init__(damping, **options)
        self._simulation = model.simulation(damping=damping, **self._options)

    def _squares(self) -> Floats:
        K = self._model.stiffness(self._about)
        return _squares_in_coordinates(self._X, self._model.mass, K)

    def _forces(self, gravity: Floats) -> tuple[Floats, Floats]:
        return self._model.force(self._about), self._model.weight(gravity)

    def _release(self, damping: Damping, example: int, start: float) -> None:
        self._simulation.damping = damping
        self._simulation.q = self._about + start * self._X[example]
        self._simulation.v = np.zeros(self._model.size)
        self._simulation.time = 0.0

    def _trajectory(self, example: int, steps: int) -> tuple[Floats, Floats]:
        q, v = self._simulation.trace(steps)
        dual = self._duals[example]
        return (q[1:] - self._about) @ dual, v[1:] @ dual


class PoseTestbed(Testbed):
    """Unloading tests with a pose-space model, whose rig stands still."""

    def __init__(self, model: PoseSpaceModel, damping: ExampleDamping, **options: Any) -> None:
        self._model, self._neutral = model, NeutralModel(model)
        designed = PoseDamping.of(damping, model).designed
        assert designed is not None  # as it is ExampleDamping
        self._X, self._duals, self._about = designed.X, designed.D, designed.about
        self._simulation = PoseSimulation(model)
        self._simulation.q = self._about
        super().__init__(damping, **options)

    def _squares(self) -> Floats:
        return _squares_in_coordinates(self._X, self._neutral.mass, self._simulation.stiffness)

    def _forces(self, gravity: Floats) -> tuple[Floats, Floats]:
        weight = self._neutral.gathered(self._model.masses[:, None] * gravity)
        return self._simulation.elastic_force, weight

    def _release(self, damping: Damping, example: int, start: float) -> None:
        self._simulation = PoseSimulation(self._model, damping=damping, **self._options)
        self._simulation.q = self._about + start * self._X[example]

    def _trajectory(self, example: int, steps: int) -> tuple[Floats, Floats]:
        simulation, dual = self._simulation, self._duals[example]
        x, v = np.empty((2, steps))
        for k in range(steps):
            simulation.step(simulation.pose)
            x[k], v[k] = dual @ (simulation.q - self._about), dual @ simulation.v
        return x, v


def _squares_in_coordinates(X: Floats, M: Floats, K: Floats) -> Floats:
    """ω² [1/s²] of examples X (k, r), of which ``Testbed._squares`` tells."""
    momenta = X @ M
    answers = np.linalg.solve(K, momenta.T).T
    squares: Floats = np.sum(X * momenta, axis=1)
    squares /= np.sum(momenta * answers, axis=1)
    return squares


def make_testbed(
    body: Body | ReducedModel | PoseSpaceModel, damping: ExampleDamping, **options: Any
) -> Testbed:
    """Unloading tests of a body, of its reduced model, or of a character."""
    if isinstance(body, ReducedModel):
        return ReducedTestbed(body, damping, **options)
    if isinstance(body, PoseSpaceModel):
        return PoseTestbed(body, damping, **options)
    return FullTestbed(body, damping, **options)
