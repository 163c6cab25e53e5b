"""What a character in motion is set up with, and moments to go back to.

All but the model may be changed between two steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.reduction.stepping import Stages
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.snapshots import PoseSnapshot
from supple.character.runtime.solver import Bounds, StepSolver
from supple.contact import Obstacle
from supple.core.checks import instance, number, vector, whole_number
from supple.core.errors import InputError
from supple.core.guarded import Guarded, read_only
from supple.core.types import Floats
from supple.damping import Damping
from supple.integrators import BackwardEuler, Integrator
from supple.reduction.runtime.newton import DenseNewton
from supple.reduction.runtime.stage_table import StageTable

_CUT = 0.2  # of the body's diagonal: a frame that leaves the path by more is a cut
_CUT_SPEED = 2.5  # diagonals a second: and one that changes the speed of parts by more
_RULES = 64  # tables of a rule that are kept, for as many lengths of a step
_REACH = 0.25  # of the diagonal: as far as inertia may carry the slowest vibration


class LiveCharacter(Guarded):
    """The settings of a character; all but its steps."""

    _model: PoseSpaceModel
    _solver: StepSolver
    _integrator: Integrator
    _dt: float
    _substeps: int
    _given_bounds: tuple[float | None, float | None, float | None]
    _rules: dict[tuple[float, bool], Stages]
    _time: float
    _has_past: bool
    _settled: bool
    _obstacles: tuple[Obstacle, ...] = ()

    def _take_obstacles(self, obstacles: tuple[Obstacle, ...]) -> None:
        """Take on obstacles."""

    # -- what can be changed between two steps ---------------------------------------------

    _fixed = {"model": "start another simulation of the other model"}  # noqa: RUF012

    @property
    def model(self) -> PoseSpaceModel:
        """The character."""
        return self._model

    @property
    def damping(self) -> Damping | Sequence[Damping] | None:
        """The damping, or several; assign others and go on."""
        return self._solver.damping

    @damping.setter
    def damping(self, damping: Damping | Sequence[Damping] | None) -> None:
        self._solver = self._solver.changed(damping=damping)
        self._settled = self._has_past = False

    @property
    def gravity(self) -> Floats:
        """An acceleration (3,) [m/s²]; assign another and go on."""
        return read_only(self._solver.gravity)

    @gravity.setter
    def gravity(self, gravity: ArrayLike) -> None:
        self._solver = self._solver.changed(gravity=vector("gravity", gravity))
        self._settled = self._has_past = False

    @property
    def solver(self) -> DenseNewton:
        """How a step is solved; assign another and go on."""
        return self._solver.newton

    @solver.setter
    def solver(self, solver: DenseNewton) -> None:
        instance("solver", solver, DenseNewton, "DenseNewton(iterations=1)")
        self._solver = self._solver.changed(newton=solver)

    @property
    def integrator(self) -> Integrator:
        """The rule of the steps; assign another and go on."""
        return self._integrator

    @integrator.setter
    def integrator(self, integrator: Integrator) -> None:
        StageTable.of(integrator, self.dt, start=True)  # or it does not suit
        self._integrator, self._rules = integrator, {}
        self._solver = self._solver.changed(**self._of_rule())
        self._has_past = False

    @property
    def dt(self) -> float:
        """Time from frame to frame [s]; assign another and go on, or give ``step`` its own."""
        return self._dt

    @dt.setter
    def dt(self, dt: float) -> None:
        self._dt = number("dt", dt, above=0, unit="s")

    @property
    def substeps(self) -> int:
        """Into how many steps a frame is cut; assign another and go on."""
        return self._substeps

    @substeps.setter
    def substeps(self, substeps: int) -> None:
        self._substeps = whole_number("substeps", substeps, at_least=1)

    # -- going back ------------------------------------------------------------------------

    def snapshot(self) -> PoseSnapshot:
        """The moment, to ``restore``: bit for bit, the motion after it is the same again."""
        solver = self._solver
        values = {name: getattr(self, name) for name in _VALUES}
        arrays = tuple([array.copy() for array in solver.state()])
        rest = solver.options, solver.taken, arrays, values, self._obstacles
        return PoseSnapshot(self._model, self._time, *rest)

    def restore(self, snapshot: PoseSnapshot) -> None:
        """Go back to a snapshot, with the damping and all settings that it had."""
        instance("snapshot", snapshot, PoseSnapshot, "simulation.snapshot()")
        if snapshot.model is not self._model:
            raise InputError(
                f"this snapshot is of another character ({snapshot.model!r}); restore it in a "
                "simulation of the model that it was taken of"
            )
        now = self._solver.options
        if any(value is not now[name] for name, value in snapshot.options.items()):
            self._solver = self._solver.changed(**snapshot.options)
        for array, kept in zip(self._solver.state(), snapshot.arrays, strict=True):
            array[...] = kept
        if self._solver.taken is not snapshot.taken:  # what kernels know of a pose is of another
            self._solver.take_pose(snapshot.taken)
        if snapshot.values["_integrator"] is not self._integrator:
            self._rules = {}
        for name, value in snapshot.values.items():
            setattr(self, name, value)
        self._take_obstacles(snapshot.obstacles)

    # -- bounds and rules ---------------------------------------------------------------

    @property
    def cut_distance(self) -> float:
        """[m]; assign another and go on, or None for that which fits the body."""
        return self._solver.bounds.cut

    @cut_distance.setter
    def cut_distance(self, value: float | None) -> None:
        self._given_bounds = value, *self._given_bounds[1:]
        self._solver = self._solver.changed(bounds=self._bounds)

    @property
    def cut_speed(self) -> float:
        """[m/s]; assign another and go on, or None for that which fits the body."""
        return self._solver.bounds.speed

    @cut_speed.setter
    def cut_speed(self, value: float | None) -> None:
        self._given_bounds = *self._given_bounds[:2], value
        self._solver = self._solver.changed(bounds=self._bounds)

    @property
    def max_acceleration(self) -> float:
        """[m/s²]; assign another and go on, or None for that which fits the body."""
        bounds = self._solver.bounds
        return max(bounds.acceleration, bounds.jump / self.dt)

    @max_acceleration.setter
    def max_acceleration(self, value: float | None) -> None:
        self._given_bounds = self._given_bounds[0], value, self._given_bounds[2]
        self._solver = self._solver.changed(bounds=self._bounds)

    @property
    def _bounds(self) -> Bounds:
        cut_distance, max_acceleration, cut_speed = self._given_bounds
        model = self._model
        size = float(np.linalg.norm(np.ptp(model.tet_rig.mesh.vertices, axis=0)))
        slowest = float(np.sqrt(max(model.squares[:, 0].min(), 0.0)))
        jump = _REACH * size * slowest if slowest else np.inf
        return Bounds(
            _or("cut_distance", cut_distance, _CUT * size),
            _or("max_acceleration", max_acceleration, slowest * jump if slowest else np.inf),
            jump if max_acceleration is None else 0.0,
            _or("cut_speed", cut_speed, _CUT_SPEED * size),
        )

    def _of_rule(self) -> dict[str, Any]:
        """What the solver has to know of the rule."""
        rule = [self._stages(self.dt / self.substeps, start=start) for start in (True, False)]
        keeps = StageTable.of(self._integrator, self.dt, start=False).keeps_rates
        vectors = max(stages.w_v.shape[1] for stages in rule)
        # the balance of energy of backward Euler is its own, also among rules of first order
        order = 1 if isinstance(self._integrator, BackwardEuler) else 2
        return {"vectors": vectors, "path_acceleration": keeps, "order": order}

    def _stages(self, h: float, *, start: bool = False) -> Stages:
        key = h, start
        if key not in self._rules:
            if len(self._rules) >= _RULES:
                self._rules.clear()
            self._rules[key] = stages_of(self._integrator, h, start=start)
        return self._rules[key]


def stages_of(integrator: Integrator, h: float, *, start: bool) -> Stages:
    """The stages of a step of h [s], for compiled loops."""
    table = StageTable.of(integrator, h, start=start)
    return Stages(*(getattr(table, name) for name in Stages._fields))


_VALUES = (
    "_pose", "_path", "_pushed", "_time", "_last", "_shown", "_has_past", "_settled",
    "_integrator", "_dt", "_substeps", "_given_bounds", "_surface_path", "_pressed", "_softened",
)  # fmt: skip
"""What a character keeps from step to step beside arrays; none of it changes once it is made."""


def _or(name: str, given: float | None, otherwise: float) -> float:
    return otherwise if given is None else number(name, given, above=0)
