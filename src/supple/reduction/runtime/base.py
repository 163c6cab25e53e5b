"""What every simulation of a reduced model has: a model, a rule, a solver and a clock.

All of these may be changed between two steps, and a moment kept and gone back to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.contact import Obstacle
from supple.core.checks import instance, number, vector
from supple.core.errors import InputError
from supple.core.guarded import Timed
from supple.core.types import Floats
from supple.damping import Damping
from supple.integrators import ImplicitIntegrator, Integrator, Newmark
from supple.reduction.detail import change_of_coordinates
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.newton import DenseNewton
from supple.reduction.runtime.snapshots import ReducedSnapshot, Settings
from supple.reduction.runtime.stage_table import StageTable

MOST_TABLES = 64  # of a rule that are kept, for as many lengths of a step


class Stepper(Timed, ABC):
    """Options, the tables of the integrator and the time. All options may change between steps."""

    _of_free_bodies: ClassVar[bool] = False
    _obstacles: tuple[Obstacle, ...] = ()
    _values: ClassVar[tuple[str, ...]] = ("_settled", "_has_past", "_steps", "_start_time", "_step")
    """What the next step depends on beside arrays, by name."""

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
        self._solver = solver if solver is not None else DenseNewton()
        instance("solver", self._solver, DenseNewton, "DenseNewton(iterations=1)")
        self._model, self._damping_model = model, damping
        self._gravity = vector("gravity", gravity)
        self._dt = self._step = number("dt", dt, above=0, unit="s")
        self._settled = False  # whether the accelerations belong to the state
        self._has_past = False  # whether the state one step ago is known
        self._steps, self._start_time = 0, 0.0
        self._known_settings: Settings | None = None
        self._check_design(model)
        self._use_rule(integrator if integrator is not None else Newmark())

    @abstractmethod
    def _use(self, model: ReducedModel) -> None:
        """Take on ``model``, with the damping and the gravity that hold now."""

    @property
    def model(self) -> ReducedModel:
        """The model; assign an edited one, or one with more or less detail, and go on.

        A shape that the new model cannot show becomes the nearest that it can, by mass.
        """
        return self._model

    @model.setter
    def model(self, model: ReducedModel) -> None:
        self._check(model)
        self._check_design(model)
        before = self._model
        same = model.vectors is before.vectors or np.array_equal(model.vectors, before.vectors)
        into = None if same else change_of_coordinates(before, model)
        self._use(model)
        if into is not None:
            self._carry(into)
        self._model = model
        self._settled = self._has_past = False
        self._known_settings = None

    @abstractmethod
    def _carry(self, into: Floats) -> None:
        """Take on other coordinates: ``into`` (new r, old r) times those that there are."""

    def _check(self, model: ReducedModel) -> None:
        instance("model", model, ReducedModel, "reduce(body, basis)")
        if (model.floating is not None) != self._of_free_bodies:
            kind = "free" if model.floating is not None else "held"
            raise InputError(
                f"this model is of a body that is {kind}, which a {type(self).__name__} does not "
                "move; model.simulation() gives the one that does"
            )

    def _check_design(self, model: ReducedModel) -> None:
        """Say so where the damping was designed for another material."""
        damping = self._damping_model
        for each in damping if isinstance(damping, Sequence) else (damping,):
            designed = getattr(each, "designed", None)
            if designed is not None:
                designed.check(model)

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

    def _note_gravity(self) -> None:
        self.model = self._model

    @property
    def solver(self) -> DenseNewton:
        """How a step is solved; assign another and go on."""
        return self._solver

    @solver.setter
    def solver(self, solver: DenseNewton) -> None:
        instance("solver", solver, DenseNewton, "DenseNewton(iterations=1)")
        self._solver, self._known_settings = solver, None

    # -- the rule and its steps ------------------------------------------------------------

    def _note_dt(self) -> None:
        self._known_settings = None

    @property
    def integrator(self) -> Integrator:
        """The rule that makes the steps; assign another and go on."""
        return self._integrator

    @integrator.setter
    def integrator(self, integrator: Integrator) -> None:
        self._use_rule(integrator)
        self._fit_history()
        self._has_past = False
        self._known_settings = None

    def _use_rule(self, integrator: Integrator) -> None:
        tables: dict[float, tuple[StageTable, StageTable]] = {}
        found = _tables(integrator, self._step, tables)
        assert isinstance(integrator, ImplicitIntegrator)  # or there would be no table
        self._check_rule(integrator, found)
        self._integrator, self._tables = integrator, tables
        self._start_table, self._table = found
        self._looks_back = integrator.is_multistep

    def _check_rule(self, rule: ImplicitIntegrator, tables: tuple[StageTable, StageTable]) -> None:
        """Stop at a rule that does not suit."""

    @abstractmethod
    def _fit_history(self) -> None:
        """Make room for the stages of the rule."""

    def _use_step(self, dt: float | None) -> None:
        """Take steps of ``dt`` [s] from now on; ``None`` for those that were set."""
        h = self._dt if dt is None else number("dt", dt, above=0, unit="s")
        if h == self._step:
            return
        # a guess goes on as between the last two displacements: these are put as far apart in time
        self._stretch_past(h / self._step)
        self._start_time, self._steps = self.time, 0
        self._step = h
        self._start_table, self._table = _tables(self._integrator, h, self._tables)
        self._has_past = False

    @abstractmethod
    def _stretch_past(self, ratio: float) -> None:
        """Put the displacement one step ago as far back as it was, times ``ratio``."""

    @property
    def _vectors(self) -> int:
        """How many vectors the history needs."""
        return max(self._table.vectors, self._start_table.vectors)

    @property
    def time(self) -> float:
        """[s]; assign another, which is the start that steps are counted from."""
        return self._start_time + self._steps * self._step

    @time.setter
    def time(self, value: float) -> None:
        self._start_time, self._steps = number("time", value, unit="s"), 0

    # -- going back ------------------------------------------------------------------------

    @abstractmethod
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        """All arrays that the next step depends on, themselves."""

    def _settings(self) -> Settings:
        if self._known_settings is None:
            given = self._model, self._damping_model, self._gravity, self._integrator
            self._known_settings = Settings(*given, self._dt, self._solver, self._obstacles)
        return self._known_settings

    def snapshot(self, *, out: ReducedSnapshot | None = None) -> ReducedSnapshot:
        """The moment, to ``restore``: bit for bit, the motion after it is the same again.

        A snapshot that is no longer needed can be given as ``out`` and is written over.
        """
        live = self._arrays()
        values = tuple([getattr(self, name) for name in self._values])
        if out is None or not out.fits(live):
            copies = tuple([array.copy() for array in live])
            settings, contacts = self._settings(), self._contact_memory()
            return ReducedSnapshot(type(self), self.time, settings, copies, values, contacts)
        for kept, array in zip(out.arrays, live, strict=True):
            np.copyto(kept, array)
        out.kind, out.time, out.settings, out.values = (
            type(self),
            self.time,
            self._settings(),
            values,
        )
        out.contacts = self._contact_memory()
        return out

    def restore(self, snapshot: ReducedSnapshot) -> None:
        """Go back to a snapshot, with the model, the damping and all settings that it had."""
        instance("snapshot", snapshot, ReducedSnapshot, "simulation.snapshot()")
        if snapshot.settings is not self._known_settings or snapshot.kind is not type(self):
            snapshot.check(type(self), self._model)
            self._adopt(snapshot.settings)
        live = self._arrays()
        if not snapshot.fits(live):
            raise InputError(
                f"this snapshot is of another set-up than this {type(self).__name__}, such as "
                "another number of copies; restore it in one like that it was taken of"
            )
        for array, kept in zip(live, snapshot.arrays, strict=True):
            np.copyto(array, kept)
        self._recall_contacts(snapshot.contacts)
        step = self._step
        for name, value in zip(self._values, snapshot.values, strict=True):
            object.__setattr__(self, name, value)
        if self._step != step:
            self._start_table, self._table = _tables(self._integrator, self._step, self._tables)

    def _contact_memory(self) -> Any:
        """What contacts start from in the next step."""
        return None

    def _recall_contacts(self, memory: Any) -> None:
        """Go back to what ``_contact_memory`` gave."""

    def _set_obstacles(self, obstacles: tuple[Obstacle, ...]) -> None:
        """Take on obstacles."""

    def _adopt(self, settings: Settings) -> None:
        """Take on settings; the state is about to be written over."""
        model, damping, gravity, integrator, dt, solver, obstacles = settings
        old = self._settings()
        same = model is old.model and damping is old.damping
        if integrator is not old.integrator:
            self._use_rule(integrator)
            self._fit_history()
        self._dt, self._solver = dt, solver
        if not same or not np.array_equal(gravity, self._gravity):
            self._damping_model, self._gravity = damping, gravity
            self.model = model
        self._set_obstacles(obstacles)
        self._known_settings = settings

    def __copy__(self) -> Self:
        """Another simulation in the same state, with a state of its own; the model is shared."""
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self).__new__(type(self))
        shared = {id(each): each for each in (*self._settings(), self._tables)}
        other.__dict__.update(deepcopy(self.__getstate__(), memo | shared))
        return other

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()


def _tables(
    rule: Integrator, dt: float, known: dict[float, tuple[StageTable, StageTable]]
) -> tuple[StageTable, StageTable]:
    """The tables of a first step and of later ones, which are kept."""
    if dt not in known:
        if len(known) >= MOST_TABLES:
            known.clear()
        later = StageTable.of(rule, dt, start=False)
        looks_back = getattr(rule, "is_multistep", False)
        known[dt] = StageTable.of(rule, dt, start=True) if looks_back else later, later
    return known[dt]
