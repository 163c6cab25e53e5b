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

from supple.core.types import Floats
from supple.yarns.cloth import NO_GRADIENT, NO_VALUES, STRAINS, WovenCloth
from supple.yarns.material import YarnDamping, YarnRayleigh


@dataclass(frozen=True)
class YarnState:
    """Where the crossings are and how they move."""

    time: float
    q: Floats
    v: Floats
    momentum: Floats
    """M v as the last step left it."""
    dissipated: float = 0.0
    """What damping and friction have taken so far [J]."""


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
        self._q, self._dissipated_before = state.q, state.dissipated
        self._momentum = state.momentum + h * cloth.kinetic(state.q, state.v)[2]
        rated = damping if isinstance(damping, YarnDamping) else None
        self._before = None if rated is None else cloth.before(state.q, rated, h)
        self._rayleigh: Floats | None = None
        if isinstance(damping, YarnRayleigh) and damping.stiffness > 0:
            self._rayleigh = np.zeros((cloth.pattern.n_blocks, 5, 5))
            for kind in STRAINS:
                cloth.strain_potential(kind, state.q, np.zeros_like(state.q), self._rayleigh)
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

        def strained(kind: str) -> float:
            return self._cloth.strain_potential(
                kind, q, gradient, values, before=self._before, definite=definite
            )

        total = strained("stretch")
        if not np.isfinite(total):
            return np.inf
        pulled = float(np.linalg.norm(gradient))
        total += strained("bending")
        total += strained("shear")
        total += self._cloth.contact_potential(q, gradient, values)
        total += self._cloth.gravity_potential(q, self._gravity, gradient)
        if self._pressure is not None:
            total += self._cloth.friction_potential(
                q, self._q, self._slope, self._pressure, h, gradient, values, majorized=definite
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

    def dissipated(self, q: Floats) -> float:
        """What damping and friction take in a step that ends at q [J]: h ε̇·∂V_d/∂ε̇, and so on."""
        cloth, way, taken = self._cloth, q - self._q, 0.0
        if self._before is not None:
            for kind in STRAINS:
                # The potential of the step has h V_d beside the energy, and 2 V_d is lost a second.
                damped = cloth.strain_potential(kind, q, before=self._before)
                taken += 2 * (damped - cloth.strain_potential(kind, q))
        if self._rayleigh is not None:
            taken += float(np.vdot(way, cloth.pattern.multiply(self._rayleigh, way)))
        if self._pressure is not None:
            push = np.zeros_like(q)
            cloth.friction_potential(q, self._q, self._slope, self._pressure, self._h, push)
            taken += float(np.vdot(way, push))
        return taken

    def finish(self, q: Floats, time: float) -> YarnState:
        """The state after a step that ends at q."""
        v = (q - self._q) / self._h
        momentum = self._cloth.kinetic(self._q, v)[1]
        return YarnState(time, q, v, momentum, self._dissipated_before + self.dissipated(q))
