"""What every simulation of a reduced model has: a rule, a step, a solver and a clock."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..checks import instance, number, vector
from ..damping import Damping
from ..errors import InputError
from ..integrators import ImplicitIntegrator, Integrator, Newmark
from ..types import Floats
from .model import ReducedModel, Skin, expand
from .newton import DenseNewton
from .stage_table import StageTable


class Stepper:
    """Options, the tables of the integrator and the time."""

    def __init__(
        self,
        model: ReducedModel,
        *,
        damping: Damping | None = None,
        integrator: Integrator | None = None,
        dt: float = 1e-3,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        solver: DenseNewton | None = None,
    ) -> None:
        instance("model", model, ReducedModel, "reduce(body, basis)")
        self.solver = solver if solver is not None else DenseNewton()
        instance("solver", self.solver, DenseNewton, "DenseNewton(max_iterations=1)")
        self.integrator = integrator if integrator is not None else Newmark()
        self.dt = number("dt", dt, above=0, unit="s")
        self.gravity = vector("gravity", gravity)
        self.damping = damping
        self._start_table = StageTable.of(self.integrator, self.dt, start=True)
        self._table = StageTable.of(self.integrator, self.dt, start=False)
        assert isinstance(self.integrator, ImplicitIntegrator)  # or there would be no table
        self._looks_back = self.integrator.looks_back
        self._settled = False  # whether the accelerations belong to the state
        self._has_past = False  # whether the state one step ago is known
        self._steps, self._start_time = 0, 0.0

    @property
    def _vectors(self) -> int:
        """How many vectors the history needs."""
        return max(self._table.vectors, self._start_table.vectors)

    @property
    def time(self) -> float:
        """[s]"""
        return self._start_time + self._steps * self.dt

    @time.setter
    def time(self, value: float) -> None:
        self._start_time, self._steps = number("time", value, unit="s"), 0


def skin_of(model: ReducedModel) -> Skin:
    """The model's skin, or an error that says how to get one."""
    if model.skin is None:
        raise InputError(
            "this model has no skin; make it with reduce(body, basis, skin=Embedding(...))"
        )
    return model.skin


def skin_shape(model: ReducedModel, q: Floats, out: Floats | None) -> Floats:
    """Where the vertices of the skin are in the body's own frame [m], (s, 3)."""
    skin = skin_of(model)
    result = expand(q, skin.vectors, out)
    result += skin.vertices
    return result
