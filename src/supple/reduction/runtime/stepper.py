"""What simulations of reduced models share: a model, a rule, a solver, a clock, and motions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.reduction.newton import NOT_CONVERGED, NOT_DEFINITE, NOT_FINITE
from supple.core.checks import instance, number, vector, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats, Progress
from supple.damping import Damping
from supple.dynamics.motion import Frame, Motion
from supple.integrators import ImplicitIntegrator, Integrator, Newmark
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.model import ReducedModel, expand
from supple.reduction.polynomial import NO_POLYNOMIAL
from supple.reduction.runtime.newton import DenseNewton
from supple.reduction.runtime.stage_table import StageTable

_REASONS = {
    NOT_FINITE: "the forces are not finite",
    NOT_CONVERGED: "the Newton iteration did not converge",
    NOT_DEFINITE: "the matrix of the step is not positive definite",
}
"""Why kernels gave up a step."""

MOST_CUTS = 10
"""Of a step that fails, in two each: up to 1024 shorter ones."""


class Stepper(ABC):
    """Options, the tables of the integrator and the time. ``dt`` and ``integrator`` stay."""

    _of_free_bodies: ClassVar[bool] = False

    def __init__(
        self,
        model: ReducedModel,
        *,
        damping: Damping | Sequence[Damping] | None = None,
        integrator: Integrator | None = None,
        dt: float = 1e-3,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        solver: DenseNewton | None = None,
    ) -> None:
        self._check(model)
        self.solver = solver if solver is not None else DenseNewton()
        instance("solver", self.solver, DenseNewton, "DenseNewton(iterations=1)")
        self._model, self._damping_model = model, damping
        self._integrator = integrator if integrator is not None else Newmark()
        self._dt = number("dt", dt, above=0, unit="s")
        self._gravity = vector("gravity", gravity)
        self._start_table = StageTable.of(self._integrator, self._dt, start=True)
        self._table = StageTable.of(self._integrator, self._dt, start=False)
        assert isinstance(self._integrator, ImplicitIntegrator)  # or there would be no table
        self._looks_back = self._integrator.is_multistep
        self._settled = False  # whether the accelerations belong to the state
        self._has_past = False  # whether the state one step ago is known
        self._steps, self._start_time = 0, 0.0

    @abstractmethod
    def _use(self, model: ReducedModel) -> None:
        """Take on ``model``, with the damping and the gravity that hold now."""

    @property
    def model(self) -> ReducedModel:
        """The model; assign another of the same basis, such as an edited one, and go on."""
        return self._model

    @model.setter
    def model(self, model: ReducedModel) -> None:
        self._check(model)
        if model.size != self._model.size:
            raise InputError(
                f"the new model has {model.size} coordinates, this simulation {self._model.size}; "
                "start a new simulation"
            )
        self._use(model)
        self._model = model
        self._settled = self._has_past = False

    def _check(self, model: ReducedModel) -> None:
        instance("model", model, ReducedModel, "reduce(body, basis)")
        if (model.floating is not None) != self._of_free_bodies:
            kind = "free" if model.floating is not None else "held"
            raise InputError(
                f"this model is of a body that is {kind}, which a {type(self).__name__} does not "
                "move; model.simulation() gives the one that does"
            )

    def edit(
        self,
        region: str | None = None,
        *,
        young: float | None = None,
        poisson: float | None = None,
        density: float | None = None,
    ) -> None:
        """Change the material of a region, or of all of the body, and go on from where it is."""
        self.model = self.model.edited(region, young=young, poisson=poisson, density=density)

    @property
    def damping(self) -> Damping | Sequence[Damping] | None:
        """The damping, or a list of them; assign another and go on."""
        return self._damping_model

    @damping.setter
    def damping(self, damping: Damping | Sequence[Damping] | None) -> None:
        before, self._damping_model = self._damping_model, damping
        try:
            self.model = self._model
        except InputError:
            self._damping_model = before
            raise

    @property
    def gravity(self) -> Floats:
        """An acceleration (3,) [m/s²]; assign another and go on."""
        return self._gravity.copy()

    @gravity.setter
    def gravity(self, gravity: ArrayLike) -> None:
        self._gravity = vector("gravity", gravity)
        self.model = self._model

    @property
    def dt(self) -> float:
        """Time step [s]."""
        return self._dt

    @property
    def integrator(self) -> Integrator:
        """The rule that makes the steps."""
        return self._integrator

    @property
    def _vectors(self) -> int:
        """How many vectors the history needs."""
        return max(self._table.vectors, self._start_table.vectors)

    @property
    def time(self) -> float:
        """[s]"""
        return self._start_time + self._steps * self._dt

    @time.setter
    def time(self, value: float) -> None:
        self._start_time, self._steps = number("time", value, unit="s"), 0


class RecordedStepper(Stepper):
    """A stepper of one body, moved by kernels, which can hand out its motion."""

    _damping: ReducedDamping
    _contexts: dict[StageTable, Any]
    """What kernels need, for the tables in use; emptied where it changes."""
    _made_for: DenseNewton
    _advice: ClassVar[str]
    """Where a step failed."""

    def __init__(self, model: ReducedModel, **options: Any) -> None:
        super().__init__(model, **options)
        self._history: Floats = np.zeros((self._vectors, model.size))
        self._parts: dict[int, tuple[StageTable, StageTable]] = {}

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

    # -- kernels ---------------------------------------------------------------------------

    @abstractmethod
    def _make_context(self, table: StageTable) -> Any:
        """All that a kernel needs, behind pointers."""

    def _context(self, table: StageTable) -> Any:
        """The same, kept: it takes longer to make than a small step."""
        if self._contexts and self._made_for is not self.solver:
            self._contexts.clear()
        if table not in self._contexts:
            self._made_for = self.solver
            self._contexts[table] = self._make_context(table)
        return self._contexts[table]

    def _cut_tables(self, parts: int) -> tuple[StageTable, StageTable]:
        """The tables of the first and of later ones of so many parts of a step."""
        if parts not in self._parts:
            dt = self._dt / parts
            start = StageTable.of(self._integrator, dt, start=True)
            later = StageTable.of(self._integrator, dt, start=False)
            self._parts[parts] = start, later
        return self._parts[parts]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_contexts": {}}  # pointers cannot be copied; they are made anew

    def _use_polynomial(self, model: ReducedModel) -> None:
        """Steps are compiled where energy and damping are one polynomial."""
        quartic = model.quartic if self._damping.is_compiled else None
        self._is_compiled = quartic is not None
        self._polynomial = NO_POLYNOMIAL if quartic is None else quartic.compiled.arrays()
        self._contexts = {}

    def _count(self, done: int, reason: int) -> None:
        """Note steps that a kernel has taken; StepFailed unless it took all."""
        self._steps += int(done)
        if reason in _REASONS:
            raise self._failure(reason)

    def _failure(self, reason: int) -> StepFailed:
        return StepFailed(
            _REASONS[int(reason)],
            time=self.time + self.dt,
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
    def step(self, *, force: Any = None) -> None:
        """One step."""

    @abstractmethod
    def displacements(self, *, out: Floats | None = None) -> Floats:
        """Of the volume mesh [m], (n, 3)."""

    @property
    @abstractmethod
    def damping_power(self) -> float:
        """Power that damping takes from the motion [W]."""

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
        progress: Progress | None = None,
    ) -> Motion:
        """Move on for ``duration`` [s] under a steady ``force`` and return the motion.

        A frame is kept after every ``every`` steps; for long motions of large meshes keep few, or
        use ``run_steps`` and ``displacements``.
        """
        steps = max(1, round(number("duration", duration, above=0, unit="s") / self.dt))
        whole_number("every", every, at_least=1)
        return Motion.from_frames(self.model.mesh, self._frames(steps, every, force, progress))

    def _frames(
        self, steps: int, every: int, force: Any, progress: Progress | None
    ) -> Iterator[Frame]:
        dissipated, power = 0.0, self.damping_power
        yield self.frame()
        for step in range(1, steps + 1):
            self.step(force=force)
            before, power = power, self.damping_power
            dissipated += 0.5 * self.dt * (before + power)
            if progress is not None:
                progress(step, steps, "steps")
            if step % every == 0 or step == steps:
                yield self.frame(dissipated=dissipated)


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
