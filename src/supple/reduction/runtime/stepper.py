"""What every simulation of a reduced model has: a model, a rule, a solver and a clock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance, number, vector
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import Damping
from supple.integrators import ImplicitIntegrator, Integrator, Newmark
from supple.reduction.model import ReducedModel, expand
from supple.reduction.runtime.newton import DenseNewton
from supple.reduction.runtime.stage_table import StageTable


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
        instance("solver", self.solver, DenseNewton, "DenseNewton(max_iterations=1)")
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
