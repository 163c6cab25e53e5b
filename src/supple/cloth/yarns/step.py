"""One implicit step of woven cloth, as a minimum.

Eq. 2 is d/dt (M v) = ∇T − ∇V − ∇_v V_d. Backward Euler with M and ∇T of the start of the step,

    M(q₀) v = p + h ∇T(q₀, v₀) − h ∇V(q) − h ∇_v V_d,    v = (q − q₀)/h,    p = M v of before,

makes q the minimum of a potential: strains of the step take the place of their rates,
ε̇ = (ε(q) − ε(q₀))/h, with the weights of the start. So a turn, however far, is not damped; the
matrix has the first term of Eq. 19 and, over h, that of Eq. 8; and what the paper discards of Eq.
19 is not there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.interface import BoundSolver, NotPositiveDefinite
from ...types import Bools, Floats
from .cloth import NO_GRADIENT, NO_VALUES, WovenCloth
from .damping import YarnDamping, YarnRayleigh
from .strains import NO_RATES, Rates

_ENOUGH = 1e-4  # of the promised decrease, for a step of the line search
_HALVINGS = 12
_INEXACT = 1e-3  # relative residual that linear solvers may leave
_WARY, _SHORT = 4, 0.3  # so many iterations after a step as short as this
_ROUNDING = 2 * np.finfo(float).eps


class Unsolved(Exception):
    """A step that has to be shorter."""

    def __init__(self, reason: str, residual: float = np.nan) -> None:
        super().__init__(reason)
        self.residual = residual


@dataclass(frozen=True)
class YarnState:
    """Where the crossings are and how they move."""

    time: float
    q: Floats
    v: Floats
    momentum: Floats
    """M v as the last step left it."""


class StepPotential:
    """The potential whose minimum ends a step, with its derivatives."""

    def __init__(
        self,
        cloth: WovenCloth,
        damping: YarnDamping | YarnRayleigh | None,
        gravity: Floats,
        state: YarnState,
        h: float,
    ) -> None:
        self._cloth, self._gravity, self._h = cloth, gravity, h
        self._q = state.q
        self._momentum = state.momentum + h * cloth.kinetic(state.q, state.v)[2]
        rated = damping if isinstance(damping, YarnDamping) else None
        self._rates = NO_RATES if rated is None else Rates.of(rated, h)
        self._before = None if rated is None else cloth.before(state.q, rated.switch_angle)
        self._rayleigh: Floats | None = None
        if isinstance(damping, YarnRayleigh) and damping.stiffness > 0:
            self._rayleigh = np.zeros((cloth.pattern.n_blocks, 5, 5))
            for term in (cloth.stretch_potential, cloth.bending_potential, cloth.shear_potential):
                term(state.q, np.zeros_like(state.q), self._rayleigh)
            self._rayleigh *= damping.stiffness / h
        self._slope = cloth.slopes(state.q)
        self._pressure = cloth.pressure(state.q) if cloth.friction > 0 else None
        self.scale = 0.0
        """Size of the forces [N] where derivatives were last taken."""

    def evaluate(
        self,
        q: Floats,
        gradient: Floats = NO_GRADIENT,
        values: Floats = NO_VALUES,
        *,
        definite: bool = False,
    ) -> float:
        """Φ(q) [J]; arrays that are not empty are overwritten by ∇Φ and ∇²Φ.

        A definite matrix is a stand-in for ∇²Φ that is safe to follow from afar.
        """
        h = self._h
        v = (q - self._q) / h
        Mv = self._cloth.kinetic(self._q, v)[1]
        gradient[:] = 0.0
        if len(values):
            values[:] = 0.0 if self._rayleigh is None else self._rayleigh
            self._cloth.add_mass(self._q, 1 / (h * h), values)
        before, rates = self._before, self._rates
        total = self._cloth.stretch_potential(
            q, gradient, values, before=before, rates=rates, definite=definite
        )
        if not np.isfinite(total):
            return np.inf
        pulled = float(np.linalg.norm(gradient))
        total += self._cloth.bending_potential(
            q, gradient, values, before=before, rates=rates, definite=definite
        )
        total += self._cloth.shear_potential(
            q, gradient, values, before=before, rates=rates, definite=definite
        )
        total += self._cloth.contact_potential(q, gradient, values)
        total += self._cloth.gravity_potential(q, self._gravity, gradient)
        if self._pressure is not None:
            total += self._cloth.friction_potential(
                q, self._q, self._slope, self._pressure, h, gradient, values, careful=definite
            )
        total += 0.5 * float(np.vdot(v, Mv)) - float(np.vdot(v, self._momentum))
        if self._rayleigh is not None:
            braking = self._cloth.pattern.multiply(self._rayleigh, q - self._q)
            total += 0.5 * float(np.vdot(q - self._q, braking))
        if len(gradient):
            inertia = (Mv - self._momentum) / h
            gradient += inertia
            self.scale = pulled + float(np.linalg.norm(Mv)) / h + float(np.linalg.norm(inertia))
            if self._rayleigh is not None:
                gradient += braking
        return total

    def minimum(
        self, guess: Floats, free: Bools, linear: BoundSolver, tolerance: float, limit: int
    ) -> tuple[Floats, int]:
        """q where forces balance, and the Newton iterations it took."""
        q = guess if np.isfinite(self.evaluate(guess)) else np.where(free, self._q, guess)
        gradient = np.empty_like(q)
        values = np.empty((self._cloth.pattern.n_blocks, 5, 5))
        wary = 0  # for so many iterations a definite matrix is used
        if not np.isfinite(self.evaluate(q, gradient)):
            raise Unsolved("a yarn would fold back on itself")
        left = float(np.linalg.norm(gradient[free]))
        for iteration in range(limit + 1):
            if left <= tolerance * self.scale:
                return q, iteration
            if iteration == limit:
                break
            definite = wary > 0
            level = self.evaluate(q, gradient, values, definite=definite)
            gradient[~free] = 0.0
            if left <= self._rounding_force(q, values, free):
                return q, iteration
            step = _solved(linear, values, gradient)
            if step is None and not definite:
                wary = _WARY + 1
                self.evaluate(q, gradient, values, definite=True)
                gradient[~free] = 0.0
                step = _solved(linear, values, gradient)
            if step is None:
                raise Unsolved("the matrix is not positive definite", left)
            slope = float(np.vdot(gradient, step))
            length, left = self._search(q, step, level, slope, left, free)
            q = q + length * step
            wary = _WARY if length < _SHORT and wary == 0 else max(wary - 1, 0)
        raise Unsolved(f"no balance after {limit} Newton iterations", left)

    def _rounding_force(self, q: Floats, values: Floats, free: Bools) -> float:
        """What rounding of q alone may leave of ∇Φ [N]."""
        diagonal = np.einsum("nii->ni", values[self._cloth.pattern.indptr[:-1]])
        return _ROUNDING * float(np.linalg.norm((diagonal * q)[free]))

    def _search(
        self, q: Floats, step: Floats, level: float, slope: float, left: float, free: Bools
    ) -> tuple[float, float]:
        """How far along the step there is enough less potential, or half the force left.

        The force left there comes with it.
        """
        length = 1.0
        trial = np.empty_like(q)
        for _ in range(_HALVINGS):
            found = self.evaluate(q + length * step, trial)
            now = float(np.linalg.norm(trial[free])) if np.isfinite(found) else np.inf
            # So close to balance that rounding hides the decrease, the force tells.
            if found <= level + _ENOUGH * length * slope or now <= 0.5 * left:
                return length, now
            length *= 0.5
        raise Unsolved("no step along Newton's direction helps", left)

    def finish(self, q: Floats, time: float) -> YarnState:
        """The state after a step that ends at q."""
        v = (q - self._q) / self._h
        return YarnState(time, q, v, self._cloth.kinetic(self._q, v)[1])


def _solved(linear: BoundSolver, values: Floats, gradient: Floats) -> Floats | None:
    """Newton's step, or nothing where the matrix is not positive definite."""
    try:
        linear.take(values)
        return linear.solve(-gradient, _INEXACT)
    except NotPositiveDefinite:
        return None
