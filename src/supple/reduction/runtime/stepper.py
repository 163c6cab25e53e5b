"""What simulations of one reduced body share: a history, compiled loops, and motions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple._kernels.reduction.newton import (
    GAINS,
    NOT_CONVERGED,
    NOT_DEFINITE,
    NOT_FINITE,
)
from supple._kernels.reduction.polynomial import Polynomial, RateForm
from supple.core.checks import number, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.memory import apart, zeros_apart
from supple.core.types import Floats, Progress
from supple.dynamics.dissipation import DissipationQuadrature
from supple.dynamics.motion import Frame, Motion
from supple.integrators import ImplicitIntegrator
from supple.reduction.coordinates import expand
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.damping.strain_rate import NO_RATE
from supple.reduction.model import ReducedModel
from supple.reduction.polynomial import NO_POLYNOMIAL
from supple.reduction.runtime.base import MOST_TABLES, Stepper
from supple.reduction.runtime.newton import DenseNewton
from supple.reduction.runtime.stage_table import StageTable

_REASONS = {
    NOT_FINITE: "the forces are not finite",
    NOT_CONVERGED: "the Newton iteration did not converge",
    NOT_DEFINITE: "the matrix of the step is not positive definite",
    GAINS: "contact gains energy that nothing puts in",
}
"""Why kernels gave up a step."""

MOST_CUTS = 10
"""Of a step that fails, in two each: up to 1024 shorter ones."""
_BEFORE, _STAGES = 3, 6  # rows of the history: one step ago, and after each stage


class RecordedStepper(Stepper):
    """A stepper of one body, moved by kernels, which can hand out its motion."""

    _damping: ReducedDamping
    _polynomial: Polynomial = NO_POLYNOMIAL
    _rate: RateForm = NO_RATE
    _contexts: dict[int, Any]
    """What kernels need, for each table of stages; emptied where it changes."""
    _made_for: DenseNewton

    def __init__(self, model: ReducedModel, **options: Any) -> None:
        super().__init__(model, **options)
        self._history: Floats = zeros_apart(self._vectors, model.size)
        self._parts: dict[Any, tuple[StageTable, StageTable]] = {}
        self._cut = 0  # steps that were taken in parts

    @property
    def q(self) -> Floats:
        """Coordinates of the deformation, (r,)."""
        return still(self._history[0])

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._assign(0, "q", value)

    @property
    def v(self) -> Floats:
        """Rates of the coordinates, (r,)."""
        return still(self._history[1])

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._assign(1, "v", value)

    def _assign(self, row: int, name: str, value: ArrayLike) -> None:
        self._history[row] = self.model.checked(name, value)
        self._settled = self._has_past = False

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (self._history,)

    def _carry(self, into: Floats) -> None:
        carried = zeros_apart(len(self._history), len(into))
        np.dot(self._history, into.T, out=carried)
        self._history = carried

    def _fit_history(self) -> None:
        self._contexts = {}
        if len(self._history) != self._vectors:  # as a snapshot of this rule has it
            fitted = zeros_apart(self._vectors, self._history.shape[1])
            both = min(len(fitted), len(self._history))
            fitted[:both] = self._history[:both]
            self._history = fitted
        self._history[_STAGES] = self._on_path()

    def _stretch_past(self, ratio: float) -> None:
        now, before = self._history[0], self._history[_BEFORE]
        before[:] = now - ratio * (now - before)
        self._history[_STAGES] = self._on_path()

    def _on_path(self) -> Floats:
        """Where a first stage was, on a straight path between the last two displacements."""
        now, before = self._history[0], self._history[_BEFORE]
        share = self._table.times[0] / self._table.times[-1]
        return np.asarray(before + share * (now - before))

    # -- kernels ---------------------------------------------------------------------------

    @property
    @abstractmethod
    def _advice(self) -> str:
        """Where a step failed."""

    @abstractmethod
    def _make_context(self, table: StageTable) -> Any:
        """All that a kernel needs, behind pointers."""

    def _context(self, table: StageTable) -> Any:
        """The same, kept: it takes longer to make than a small step."""
        if self._contexts and (
            self._made_for is not self._solver or len(self._contexts) >= 2 * MOST_TABLES
        ):
            self._contexts.clear()
        key = id(table)
        if key not in self._contexts:
            self._made_for = self._solver
            self._contexts[key] = self._make_context(table), table  # which stays while this does
        return self._contexts[key][0]

    _patience: ClassVar[int] = 200
    """Iterations, with a step that was not solved in fewer."""

    def _most_iterations(self, table: StageTable) -> int:
        """Of a stage, in steps of a table."""
        most = self.solver.most
        usual = table is self._table or table is self._start_table
        return most if usual or self.solver.is_best_effort else max(most, self._patience)

    def _cut_tables(self, parts: int, rule: ImplicitIntegrator) -> tuple[StageTable, StageTable]:
        """The tables of the first and of later ones of so many parts of a step, by a rule."""
        key = rule, self._step, parts
        if key not in self._parts:
            if len(self._parts) >= MOST_TABLES:
                self._parts.clear()
            dt = self._step / parts
            start = StageTable.of(rule, dt, start=True)
            later = StageTable.of(rule, dt, start=False)
            self._parts[key] = start, later
        return self._parts[key]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_contexts": {}}  # pointers cannot be copied; they are made anew

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = super().__deepcopy__(memo)
        for name, value in list(other.__dict__.items()):
            other.__dict__[name] = apart(value)  # copies of arrays are where they happen to be
        other._use_polynomial(other._model)  # whose coefficients are shared
        return other

    @property
    def is_compiled(self) -> bool:
        """Whether steps run without Python, so that several bodies can do so at once."""
        return self._is_compiled

    @property
    def _knows_damping(self) -> bool:
        """Whether kernels know all of the damping."""
        return self._damping.is_closed_form

    def _use_polynomial(self, model: ReducedModel) -> None:
        """Steps are compiled where the energy is one polynomial."""
        quartic = model.quartic if self._knows_damping else None
        self._is_compiled = quartic is not None
        before = self._polynomial
        self._polynomial = NO_POLYNOMIAL if quartic is None else quartic.compiled.arrays(before)
        self._contexts = {}

    def _count(self, done: int, reason: int) -> None:
        """Note steps that a kernel has taken; StepFailed unless it took all."""
        self._steps += int(done)
        if reason in _REASONS:
            raise self._failure(reason)

    def _failure(self, reason: int) -> StepFailed:
        return StepFailed(
            _REASONS[int(reason)],
            time=self.time + self._step,
            residual=float("nan"),
            advice=self._advice,
        )

    def _no_start(self) -> StepFailed:
        return StepFailed(
            "the forces are not finite at the start of the step",
            time=self.time,
            residual=float("inf"),
            advice="Check the coordinates that were set; they may be far too large.",
        )

    # -- motions ---------------------------------------------------------------------------

    @abstractmethod
    def step(self, *, force: Any = None, dt: float | None = None) -> None:
        """One step."""

    @abstractmethod
    def displacements(self, *, out: Floats | None = None) -> Floats:
        """Of the volume mesh [m], (n, 3)."""

    @property
    def damping_power(self) -> float:
        """Power that damping takes from the motion [W]."""
        return self._power_at(0)

    @abstractmethod
    def _power_at(self, row: int) -> float:
        """The power of damping [W] in the state from ``row`` of the history on."""

    @property
    @abstractmethod
    def kinetic(self) -> float:
        """Kinetic energy [J]."""

    @property
    def elastic(self) -> float:
        """Elastic energy [J]."""
        return self.model.evaluate(self._history[0])[0]

    @abstractmethod
    def _weight_and_momenta(self) -> tuple[float, Floats, Floats]:
        """Potential energy in gravity [J], linear and angular momentum about the origin."""

    def frame(self, *, dissipated: float = 0.0) -> Frame:
        """The body as it is now, with its energies and momenta."""
        gravitational, linear, angular = self._weight_and_momenta()
        return Frame(
            time=self.time,
            displacements=self.displacements(),
            kinetic=self.kinetic,
            elastic=self.elastic,
            gravitational=gravitational,
            dissipated=dissipated,
            linear_momentum=linear,
            angular_momentum=angular,
        )

    def run(
        self,
        duration: float,
        *,
        every: int = 1,
        force: Any = None,
        dt: float | None = None,
        progress: Progress | None = None,
    ) -> Motion:
        """Move on for ``duration`` [s] under a steady ``force`` and return the motion.

        A frame is kept after every ``every`` steps, which are ``dt`` [s] long, as set unless given;
        for long motions of large meshes keep few, or use ``run_steps`` and ``displacements``.
        """
        h = self._dt if dt is None else number("dt", dt, above=0, unit="s")
        steps = max(1, round(number("duration", duration, above=0, unit="s") / h))
        whole_number("every", every, at_least=1)
        return Motion.from_frames(self.model.mesh, self._frames(steps, every, force, h, progress))

    def _frames(
        self, steps: int, every: int, force: Any, dt: float, progress: Progress | None
    ) -> Iterator[Frame]:
        dissipated, power = 0.0, self.damping_power
        yield self.frame()
        taken: float | None = None
        for step in range(1, steps + 1):
            self._use_step(dt)
            past = None if taken is None or not self._has_past else (dt, taken)
            cut = self._cut
            self.step(force=force, dt=dt)
            power, taken = self._dissipated(self._cut > cut, power, past)
            dissipated += taken
            if progress is not None:
                progress(step, steps, "steps")
            if step % every == 0 or step == steps:
                yield self.frame(dissipated=dissipated)

    def _dissipated(
        self, cut: bool, power: float, past: tuple[float, float] | None
    ) -> tuple[float, float]:
        """The power of damping now [W], and what it took in the last step [J], ``cut`` or not."""
        after = self.damping_power
        rule, h = self._integrator, self._step
        assert isinstance(rule, ImplicitIntegrator)
        table = self._table if past is not None or not self._looks_back else self._start_table
        if cut:  # its stages are not those of the whole step
            return after, 0.5 * h * (power + after)
        sum_ = DissipationQuadrature(rule, h, power, past if self._looks_back else None)
        for s in range(len(table.times) - 1):
            sum_.add(self._power_at(_STAGES + 3 * s))
        sum_.add(after)
        return after, sum_.energy


def still(array: Floats) -> Floats:
    """A copy that says so when someone tries to change the state in place."""
    copy = np.array(array, dtype=float)
    copy.setflags(write=False)
    return copy


def skin_shape(model: ReducedModel, q: Floats, out: Floats | None) -> Floats:
    """Where the vertices of the skin are in the body's own frame [m], (s, 3)."""
    skin = model.skin
    if skin is None:
        raise InputError(
            "this model has no skin; make it with reduce(body, basis, skin=Embedding(...))"
        )
    result = expand(q, skin.vectors, out)
    result += skin.vertices
    return result
