"""A reduced model moved by an explicit rule: no equations to solve, and a largest time step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance, number, numbers, vector, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats
from supple.damping import Damping
from supple.integrators import ExplicitIntegrator, State, SymplecticEuler
from supple.reduction.coordinates import expand
from supple.reduction.damping.rules import reduced_damping
from supple.reduction.model import ReducedModel

_GROWTH = 1e-6  # by which rounding may make an amplification exceed one
_BISECTIONS = 30


class ExplicitReducedSimulation:
    """A reduced model of a held body, moved by an explicit ``integrator`` (subspace StVK, §6.1).

    A step is one evaluation of the forces (four with RK4) and nothing else. It stays bounded only
    below ``critical_dt`` [s], which the fastest coordinate sets; a larger ``dt`` is refused, and
    0.5 of it taken where none is given, since bodies stiffen as they bend. ``gravity`` is an
    acceleration (3,) [m/s²]; assign ``q`` and ``v`` (r,) for initial conditions.
    """

    def __init__(
        self,
        model: ReducedModel,
        *,
        damping: Damping | Sequence[Damping] | None = None,
        integrator: ExplicitIntegrator | None = None,
        dt: float | None = None,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        instance("model", model, ReducedModel, "reduce(body, basis)")
        if model.floating is not None:
            raise InputError("explicit rules move models of held bodies; use model.simulation()")
        self.integrator = integrator if integrator is not None else SymplecticEuler()
        instance("integrator", self.integrator, ExplicitIntegrator, "SymplecticEuler()")
        self.model, self.damping, self.time = model, damping, 0.0
        self.gravity = vector("gravity", gravity)
        self._damping = reduced_damping(damping, model)
        self._inverse_mass = np.linalg.inv(model.mass)
        self._steady = model.weight(self.gravity) + self._damping.push()
        self._q, self._v = np.zeros((2, model.size))
        self.critical_dt = self._critical_dt()
        """The largest step that small vibrations about rest allow [s]."""
        self.dt = 0.5 * self.critical_dt if dt is None else number("dt", dt, above=0, unit="s")
        if self.dt > self.critical_dt:
            raise InputError(
                f"dt={self.dt:g} s is more than {self.critical_dt:.3g} s, above which "
                f"{type(self.integrator).__name__} does not stay bounded on a model with "
                f"{model.frequencies[-1]:.3g} Hz; give less, or use an implicit integrator with "
                "model.simulation()"
            )

    @property
    def q(self) -> Floats:
        """Coordinates, (r,)."""
        return self._q.copy()

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._q = self.model.checked("q", value).copy()

    @property
    def v(self) -> Floats:
        """Rates of the coordinates, (r,)."""
        return self._v.copy()

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._v = self.model.checked("v", value).copy()

    def displacements(self) -> Floats:
        """Displacements of the volume mesh [m], (n, 3)."""
        return expand(self._q, self.model.vectors)

    def step(self, *, force: ArrayLike | None = None) -> None:
        """One step, with the reduced force (r,) that ``model.pull`` or ``project`` give."""
        self.run_steps(1, force=force)

    def run_steps(self, steps: int, *, force: ArrayLike | None = None) -> None:
        """Steps under one force (r,). Raises StepFailed where the motion is no longer finite."""
        push = self._steady
        if force is not None:
            push = push + numbers("force", force, ((self.model.size,),))

        def acceleration(_: float, q: Floats, v: Floats) -> Floats:
            R = self.model.evaluate(q)[1]
            return np.asarray(self._inverse_mass @ (push - R - self._damping.force(q, v)))

        for _ in range(whole_number("steps", steps, at_least=0)):
            with np.errstate(over="ignore", invalid="ignore"):
                now = State(self.time, self._q, self._v, None)
                after = self.integrator.advance(now, self.dt, acceleration)
            if not (np.isfinite(after.u).all() and np.isfinite(after.v).all()):
                raise StepFailed(
                    "the motion is no longer finite",
                    time=self.time + self.dt,
                    residual=float("inf"),
                    advice=f"At this swing dt={self.dt:.3g} s is too long; give less, or use an "
                    "implicit integrator with model.simulation().",
                )
            self._q, self._v, self.time = after.u, after.v, after.time

    def _critical_dt(self) -> float:
        """Where the rule's amplification of small vibrations first exceeds one, by bisection."""
        r = self.model.size
        zero = np.zeros(r)
        K = self.model.stiffness(zero)
        C = np.stack([self._damping.force(zero, unit) for unit in np.eye(r)], axis=1)

        def acceleration(_: float, q: Floats, v: Floats) -> Floats:
            return np.asarray(-self._inverse_mass @ (K @ q + C @ v))

        def is_bounded(dt: float) -> bool:
            units = np.eye(2 * r)  # all states at once, as columns
            after = self.integrator.advance(
                State(0.0, units[:r], units[r:], None), dt, acceleration
            )
            amplification = np.concatenate([after.u, after.v])
            return bool(np.abs(np.linalg.eigvals(amplification)).max() <= 1 + _GROWTH)

        low, high = 0.0, 10.0 / (2 * np.pi * float(self.model.frequencies[-1]))
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if is_bounded(middle) else (low, middle)
        return low
