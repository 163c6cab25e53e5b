"""Bodies that are released from their examples again and again, with any damping (§5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import vector
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats
from supple.damping import ExampleDamping
from supple.design.journal import Journal
from supple.design.targets import Unloading
from supple.design.unloading import UnloadingTest, turning_ends
from supple.integrators import Bathe, Integrator

_BALANCED = 0.05  # share of the forces at play that may be out of balance
_LONGEST = 12.0  # periods of the linear body that a cycle may take
_CREEPING = 4.0  # periods without a pass through zero after which, if next to nothing is left,
_NOTHING = 0.02  # as a share of the start, whatever comes then is too small to matter
_RIPPLE = 0.1  # of a period: passes through zero that are closer are none
_HALVINGS = 4  # of a step that cannot be taken as it is


@dataclass(frozen=True)
class Watch:
    """How long a release is watched: for so many cycles, and for so many seconds."""

    cycles: int = 1
    seconds: float = 0.0
    faint: float = _NOTHING
    """Share of the start below which what comes is too small to matter."""

    @classmethod
    def of(cls, target: Unloading, period: float) -> Watch:
        """For as long as a target speaks of, where a cycle takes ``period`` [s]."""
        aims = target.aims(period)
        cycles = [int(aim.when) for aim in aims if aim.unit == "cycles"]
        seconds = [aim.when for aim in aims if aim.unit == "s"]
        least = min(1.0, *(aim.share ** (aim.when if aim.each else 1) for aim in aims), 1.0)
        return cls(max(cycles, default=1), max(seconds, default=0.0), min(_NOTHING, 0.2 * least))


class Testbed(ABC):
    """A body that can be released from its examples.

    ``dt`` [s] and ``integrator`` are those of the motions that the damping is designed for: what
    they dissipate themselves is then part of the result. ``relaxed`` lets the body go from the
    equilibrium with the excitations of an example in place of the example itself.
    """

    __test__ = False  # not for pytest
    is_slow: ClassVar[bool] = False
    """Whether releases take so long that few should do."""
    _X: Floats
    _duals: Floats
    _about: Floats

    def __init__(
        self,
        damping: ExampleDamping,
        *,
        integrator: Integrator | None = None,
        dt: float = 1 / 60,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        relaxed: bool = False,
        journal: Journal | None = None,
    ) -> None:
        gravity = vector("gravity", gravity)
        if gravity.any() and damping.about is None:
            raise InputError(
                "with gravity, examples are released from the shape in which the body rests: give "
                "the damping about=static_shape(body, gravity=...)"
            )
        self.damping, self.dt, self._relaxed = damping, dt, relaxed
        self.journal = Journal() if journal is None else journal
        self._options: dict[str, Any] = {
            "integrator": Bathe() if integrator is None else integrator,
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
        self._starts: dict[tuple[int, float], Floats] = {}
        self._took: dict[tuple[int, float], float] = {}  # [s], as a hint
        self._simulation: Any = None
        self._finer: dict[int, Any] = {}

    def in_steps_of(self, dt: float) -> Self:
        """The same, with steps of ``dt`` [s]."""
        other = copy(self)
        other.dt = dt
        other._took, other._simulation, other._finer = {}, None, {}
        return other

    def fingerprint(self) -> list[object]:
        """What releases depend on, but for the strengths."""
        curves = [(each.measure, self.damping.overall) for each in self.damping.examples]
        bends = [each.bend for each in self.damping.examples if each.bend is not None]
        forces = [self._force(self._about + x) for x in self._X]
        products = [self._X, self._duals, self._about, *bends, *self.base_products(), *forces]
        options = [self.dt, self._relaxed, self._options["gravity"], repr(self._options)]
        return [*products, *self._period, *options, repr(curves), repr(self.damping.base)]

    @abstractmethod
    def _force(self, u: Floats) -> Floats:
        """The elastic force at a shape."""

    @property
    def integrator(self) -> Integrator:
        """The rule of the motions."""
        rule: Integrator = self._options["integrator"]
        return rule

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
    def base_products(self) -> tuple[Floats, Floats]:
        """XᵀCX (k, k) of the base damping at the shape counted from, and XᵀMX."""

    @abstractmethod
    def _simulation_of(self, damping: ExampleDamping, dt: float) -> Any:
        """A simulation with steps of ``dt`` [s]."""

    @abstractmethod
    def _put(self, simulation: Any, u: Floats, v: Floats) -> None:
        """Set shape and velocity."""

    @abstractmethod
    def _read(self, simulation: Any) -> tuple[Floats, Floats]:
        """Shape and velocity, in arrays of their own."""

    @abstractmethod
    def _relax(self, straight: Floats, label: str) -> Floats:
        """The equilibrium with the excitations of a shape."""

    def _step(self, simulation: Any) -> None:
        simulation.step()

    def _trajectory(self, example: int, steps: int) -> tuple[Floats, Floats]:
        """χ and χ̇ of an example after each of so many steps more, (steps,) each."""
        x, v = np.empty((2, steps))
        for k in range(steps):
            self._step(self._simulation)
            x[k], v[k] = self._excitation(example, self._simulation)
        return x, v

    def _excitation(self, example: int, simulation: Any) -> tuple[float, float]:
        u, v = self._read(simulation)
        dual = self._duals[example]
        return float(np.vdot(dual, u - self._about)), float(np.vdot(dual, v))

    def _deformation(self, example: int, start: float) -> Floats:
        """An example at an excitation, bent if it bends."""
        deformation: Floats = start * self._X[example]
        return deformation

    def start_shape(self, example: int, start: float) -> Floats:
        """What the body is let go from, as displacements or coordinates."""
        key = example, start
        if key not in self._starts:
            shape = self._about + self._deformation(example, start)
            if self._relaxed:
                shape = self._relax(shape, f"example {example} from {start:g}")
            self._starts[key] = shape
        return self._starts[key]

    def try_unloading(
        self,
        damping: ExampleDamping,
        example: int,
        start: float,
        watch: Watch = Watch(),
    ) -> UnloadingTest:
        """As ``unload``, but where a step fails the test says so; taken from the journal if there.

        Only the strengths of the damping may differ from one release to the next.
        """
        key = (damping.curves, example, start, watch, self.dt)
        test = self.journal.find(key)
        if test is None:
            try:
                test = self.unload(damping, example, start, watch)
            except StepFailed as failure:
                test = UnloadingTest.failed(start, failure.reason)
            self.journal.keep(key, test)
        if len(test.turns) >= watch.cycles:
            self._took[example, start] = float(test.turns[-1, 0])
        return test

    def unload(
        self,
        damping: ExampleDamping,
        example: int,
        start: float,
        watch: Watch = Watch(),
    ) -> UnloadingTest:
        """Release an example from excitation ``start`` and watch it for one cycle, or longer.

        A cycle ends at the turn after two passes through zero. Steps that cannot be taken are taken
        in smaller ones; StepFailed where that does not help.
        """
        self._release(damping, example, start)
        try:
            return self._watched(example, start, watch, self._trajectory)
        except StepFailed:
            self._release(damping, example, start)
            self._finer = {}
            substeps = [0]

            def careful(example: int, steps: int) -> tuple[Floats, Floats]:
                return self._careful_trajectory(damping, example, steps, substeps)

            test = self._watched(example, start, watch, careful)
            object.__setattr__(test, "substeps", substeps[0])
            return test

    def _release(self, damping: ExampleDamping, example: int, start: float) -> None:
        """Set the body to where it is let go from, at rest."""
        shape = self.start_shape(example, start)
        self._simulation = self._simulation_of(damping, self.dt)
        self._put(self._simulation, shape, np.zeros_like(shape))

    def _watched(self, example: int, start: float, watch: Watch, follow: Any) -> UnloadingTest:
        period = self._period[example]
        x, v = np.array([start]), np.array([0.0])

        def steps(seconds: float) -> int:
            return max(4, int(np.ceil(seconds / self.dt)))

        longest = steps((_LONGEST + 2 * watch.cycles - 2) * period + 1.5 * watch.seconds)
        creeping = steps(_CREEPING * period)
        # about as long as the last time, or as a linear body
        chunk = steps(self._took.get((example, start), 1.05 * watch.cycles * period) + 2 * self.dt)
        ends: Floats = np.empty((0, 2))
        while len(x) <= longest:
            elapsed = (len(x) - 1) * self.dt
            if len(ends) >= watch.cycles and (
                ends[-1, 0] >= watch.seconds or ends[-1, 1] < 1e-3 * watch.faint * start
            ):
                break
            if elapsed >= watch.seconds and len(x) > creeping:
                stuck = (x > 0).all() and x[-1] < watch.faint * start
                if stuck or np.abs(x[-creeping // 2 :]).max() < 0.1 * watch.faint * start:
                    break
            more_x, more_v = follow(example, min(chunk, longest + 1))
            x, v = np.concatenate([x, more_x]), np.concatenate([v, more_v])
            ends = turning_ends(x, v, self.dt, least=_RIPPLE * period)
            chunk = steps(0.1 * period)
        return self._test(x, v, ends, watch)

    def _test(self, x: Floats, v: Floats, ends: Floats, watch: Watch) -> UnloadingTest:
        times: Floats = self.dt * np.arange(len(x), dtype=float)
        if not len(ends):
            return UnloadingTest(times, x, 0.0, np.nan, v, ends)
        if len(ends) > watch.cycles:  # up to the turn after the last moment asked for
            needed = max(watch.cycles, int(np.searchsorted(ends[:, 0], watch.seconds)) + 1)
            ends = ends[:needed]
        last = len(x)
        if len(ends) >= watch.cycles and ends[-1, 0] >= watch.seconds:
            last = int(np.ceil(ends[-1, 0] / self.dt)) + 1
        period, residual = float(ends[0, 0]), float(ends[0, 1])
        return UnloadingTest(times[:last], x[:last], residual, period, v[:last], ends)

    def _careful_trajectory(
        self, damping: ExampleDamping, example: int, steps: int, substeps: list[int]
    ) -> tuple[Floats, Floats]:
        """The same, with steps that fail taken in 2, 4, … parts."""
        x, v = np.empty((2, steps))
        for k in range(steps):
            try:
                self._step(self._simulation)
            except StepFailed as failure:
                self._substep(damping, failure)
                substeps[0] += 1
            x[k], v[k] = self._excitation(example, self._simulation)
        return x, v

    def _substep(self, damping: ExampleDamping, failure: StepFailed) -> None:
        state = self._read(self._simulation)
        for halving in range(1, _HALVINGS + 1):
            if halving not in self._finer:
                self._finer[halving] = self._simulation_of(damping, self.dt / 2**halving)
            finer = self._finer[halving]
            self._put(finer, *state)
            try:
                for _ in range(2**halving):
                    self._step(finer)
            except StepFailed:
                continue
            self._put(self._simulation, *self._read(finer))
            return
        raise failure
