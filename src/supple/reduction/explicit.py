"""A reduced model moved by an explicit rule: no equations to solve, and a largest time step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance, number, numbers, vector, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.guarded import Timed, read_only
from supple.core.types import Floats
from supple.damping import Damping
from supple.integrators import ExplicitIntegrator, State, SymplecticEuler
from supple.reduction.coordinates import expand
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.damping.rules import reduced_damping
from supple.reduction.detail import change_of_coordinates
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.stepper import skin_shape

_GROWTH = 1e-6  # by which rounding may make an amplification exceed one
_BISECTIONS = 30


@dataclass(frozen=True, eq=False, repr=False)
class ExplicitSnapshot:
    """A moment of a simulation by an explicit rule, with its settings."""

    model: ReducedModel
    damping: Any
    gravity: Floats
    integrator: ExplicitIntegrator
    dt: float | None
    """As it was set; None where it follows the fastest coordinate."""
    time: float
    """[s]"""
    q: Floats
    v: Floats

    def __repr__(self) -> str:
        return f"{type(self).__name__}(at {self.time:.6g} s)"


class ExplicitReducedSimulation(Timed):
    """A reduced model of a held body, moved by an explicit ``integrator`` (subspace StVK, §6.1).

    A step is one evaluation of the forces (four with RK4) and nothing else. It stays bounded only
    below ``critical_dt`` [s], which the fastest coordinate sets; a larger ``dt`` is refused, and
    0.5 of it taken where none is given, since bodies stiffen as they bend. ``gravity`` is an
    acceleration (3,) [m/s²]; assign ``q`` and ``v`` (r,) for initial conditions. All of it may
    change between two steps.
    """

    _integrator: ExplicitIntegrator
    _damping_model: Damping | Sequence[Damping] | None
    _given_dt: float | None

    def __init__(
        self,
        model: ReducedModel,
        *,
        damping: Damping | Sequence[Damping] | None = None,
        integrator: ExplicitIntegrator | None = None,
        dt: float | None = None,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        rule = integrator if integrator is not None else SymplecticEuler()
        self._gravity, self._given_dt = vector("gravity", gravity), dt
        self._use(model, damping, rule)
        self._q, self._v = np.zeros((2, model.size))
        self._time = 0.0

    # -- what can be changed between two steps ---------------------------------------------

    _fixed = {"critical_dt": "it follows from the model, the damping and the rule"}  # noqa: RUF012

    def _use(
        self,
        model: ReducedModel,
        damping: Damping | Sequence[Damping] | None,
        rule: ExplicitIntegrator,
    ) -> None:
        """Take on a model, a damping and a rule; where they are refused, all stays as it is."""
        instance("model", model, ReducedModel, "reduce(body, basis)")
        if model.floating is not None:
            raise InputError("explicit rules move models of held bodies; use model.simulation()")
        instance("integrator", rule, ExplicitIntegrator, "SymplecticEuler()")
        designed = getattr(damping, "designed", None)
        if designed is not None:
            designed.check(model)
        reduced = reduced_damping(damping, model)
        inverse = np.asarray(np.linalg.inv(model.mass), dtype=float)
        most = critical_dt(model, reduced, inverse, rule)
        if self._given_dt is not None:
            self._given_dt = _bounded(self._given_dt, most, model, rule)
        self._model, self._damping_model, self._integrator = model, damping, rule
        self._damping, self._inverse_mass, self._most = reduced, inverse, most
        self._dt = 0.5 * most if self._given_dt is None else self._given_dt
        self._note_gravity()

    @property
    def model(self) -> ReducedModel:
        """The model; assign an edited one, or one with more or less detail, and go on."""
        return self._model

    @model.setter
    def model(self, model: ReducedModel) -> None:
        before = self._model
        self._use(model, self._damping_model, self._integrator)
        if model.vectors is not before.vectors:
            into = change_of_coordinates(before, model)
            self._q, self._v = into @ self._q, into @ self._v

    def edit(
        self,
        region: str | None = None,
        *,
        young: float | None = None,
        poisson: float | None = None,
        density: float | None = None,
    ) -> None:
        """Change the material of a region, or of all of the body, and go on from where it is."""
        self.model = self._model.edited(region, young=young, poisson=poisson, density=density)

    @property
    def damping(self) -> Damping | Sequence[Damping] | None:
        """The damping, or a list of them; assign another and go on."""
        return self._damping_model

    @damping.setter
    def damping(self, damping: Damping | Sequence[Damping] | None) -> None:
        self._use(self._model, damping, self._integrator)

    @property
    def integrator(self) -> ExplicitIntegrator:
        """The rule that makes the steps; assign another and go on."""
        return self._integrator

    @integrator.setter
    def integrator(self, integrator: ExplicitIntegrator) -> None:
        self._use(self._model, self._damping_model, integrator)

    @property
    def critical_dt(self) -> float:
        """The largest step that small vibrations about rest allow [s]."""
        return self._most

    def _note_dt(self) -> None:
        given, self._dt = self._dt, self._given_dt or 0.5 * self._most
        self._dt = self._given_dt = _bounded(given, self._most, self._model, self._integrator)

    def _note_gravity(self) -> None:
        self._steady = self._model.weight(self._gravity) + self._damping.push()

    # -- where it is -----------------------------------------------------------------------

    @property
    def time(self) -> float:
        """[s]; assign another and go on."""
        return self._time

    @time.setter
    def time(self, value: float) -> None:
        self._time = number("time", value, unit="s")

    @property
    def q(self) -> Floats:
        """Coordinates, (r,)."""
        return read_only(self._q)

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._q = self.model.checked("q", value).copy()

    @property
    def v(self) -> Floats:
        """Rates of the coordinates, (r,)."""
        return read_only(self._v)

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._v = self.model.checked("v", value).copy()

    @property
    def kinetic(self) -> float:
        """Kinetic energy [J]."""
        return 0.5 * float(self._v @ self._model.mass @ self._v)

    @property
    def elastic(self) -> float:
        """Elastic energy [J]."""
        return float(self._model.evaluate(self._q)[0])

    def displacements(self, *, out: Floats | None = None) -> Floats:
        """Displacements of the volume mesh [m], (n, 3)."""
        return expand(self._q, self.model.vectors, out)

    def skin_vertices(self, *, out: Floats | None = None) -> Floats:
        """Where the vertices of the model's skin are [m], (s, 3)."""
        return skin_shape(self.model, self._q, out)

    # -- going back ------------------------------------------------------------------------

    def snapshot(self) -> ExplicitSnapshot:
        """The moment, to ``restore``: bit for bit, the motion after it is the same again."""
        settings = self._model, self._damping_model, self._gravity, self._integrator
        state = self._time, self._q.copy(), self._v.copy()
        return ExplicitSnapshot(*settings, self._given_dt, *state)

    def restore(self, snapshot: ExplicitSnapshot) -> None:
        """Go back to a snapshot, with the model, the damping and all settings that it had."""
        instance("snapshot", snapshot, ExplicitSnapshot, "simulation.snapshot()")
        mine, its = self._model.mesh, snapshot.model.mesh
        if mine is not its and not np.array_equal(mine.vertices, its.vertices):
            raise InputError(
                f"this snapshot is of another body ({its!r}, here {mine!r}); restore it in a "
                "simulation of the model that it was taken of"
            )
        self._gravity, self._given_dt = snapshot.gravity, snapshot.dt
        self._use(snapshot.model, snapshot.damping, snapshot.integrator)
        self._time, self._q, self._v = snapshot.time, snapshot.q.copy(), snapshot.v.copy()

    def __copy__(self) -> Self:
        """Another simulation in the same state, with a state of its own; the model is shared."""
        other = type(self)(self._model)
        other.restore(self.snapshot())
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    # -- stepping --------------------------------------------------------------------------

    def step(self, *, force: ArrayLike | None = None, dt: float | None = None) -> None:
        """One step, with the reduced force (r,) that ``model.pull`` or ``project`` give.

        It is ``dt`` [s] long, as set unless given.
        """
        h = self._dt if dt is None else _bounded(dt, self._most, self._model, self._integrator)
        self._run(1, force, h)

    def run_steps(self, steps: int, *, force: ArrayLike | None = None) -> None:
        """Steps under one force (r,). Raises StepFailed where the motion is no longer finite."""
        self._run(whole_number("steps", steps, at_least=0), force, self._dt)

    def _run(self, steps: int, force: ArrayLike | None, dt: float) -> None:
        push = self._steady
        if force is not None:
            push = push + numbers("force", force, ((self.model.size,),))

        def acceleration(_: float, q: Floats, v: Floats) -> Floats:
            R = self._model.evaluate(q)[1]
            return np.asarray(self._inverse_mass @ (push - R - self._damping.force(q, v)))

        for _ in range(steps):
            with np.errstate(over="ignore", invalid="ignore"):
                now = State(self._time, self._q, self._v, None)
                after = self._integrator.advance(now, dt, acceleration)
            if not (np.isfinite(after.u).all() and np.isfinite(after.v).all()):
                raise StepFailed(
                    "the motion is no longer finite",
                    time=self._time + dt,
                    residual=float("inf"),
                    advice=f"At this swing dt={dt:.3g} s is too long; give less, or use an "
                    "implicit integrator with model.simulation().",
                )
            self._q, self._v, self._time = after.u, after.v, after.time


def _bounded(dt: float, most: float, model: ReducedModel, rule: ExplicitIntegrator) -> float:
    """A step that vibrations stay bounded with."""
    number("dt", dt, above=0, unit="s")
    if dt > most:
        raise InputError(
            f"dt={dt:g} s is more than {most:.3g} s, above which {type(rule).__name__} does not "
            f"stay bounded on a model with {model.frequencies[-1]:.3g} Hz; give less, or use an "
            "implicit integrator with model.simulation()"
        )
    return dt


def critical_dt(
    model: ReducedModel, damping: ReducedDamping, inverse_mass: Floats, rule: ExplicitIntegrator
) -> float:
    """Where the rule's amplification of small vibrations first exceeds one [s], by bisection."""
    r = model.size
    zero = np.zeros(r)
    K = model.stiffness(zero)
    C = np.stack([damping.force(zero, unit) for unit in np.eye(r)], axis=1)

    def acceleration(_: float, q: Floats, v: Floats) -> Floats:
        return np.asarray(-inverse_mass @ (K @ q + C @ v))

    def is_bounded(dt: float) -> bool:
        units = np.eye(2 * r)  # all states at once, as columns
        after = rule.advance(State(0.0, units[:r], units[r:], None), dt, acceleration)
        amplification = np.concatenate([after.u, after.v])
        return bool(np.abs(np.linalg.eigvals(amplification)).max() <= 1 + _GROWTH)

    low, high = 0.0, 10.0 / (2 * np.pi * float(model.frequencies[-1]))
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_bounded(middle) else (low, middle)
    return low
