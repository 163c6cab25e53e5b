"""The balance of forces that ends a stage of woven cloth, as a minimum.

Eq. 2 is d/dt (M v) = ∇T − ∇V − ∇_v V_d. Backward Euler with M and ∇T of the start of the step,

    M(q₀) v = p + h ∇T(q₀, v₀) − h ∇V(q) − h ∇_v V_d,    v = (q − q₀)/h,    p = M v of before,

makes q the minimum of a potential: strains of the step take the place of their rates,
ε̇ = (ε(q) − ε(q₀))/h, with the weights of the start. So a turn, however far, is not damped; the
matrix has the first term of Eq. 19 and, over h, that of Eq. 8; and what the paper discards of Eq.
19 is not there. Stages of other rules (``stages.py``) differ in what stands for q₀, ε(q₀), p and
the weights.
"""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats
from supple.yarns.cloth import NO_GRADIENT, NO_VALUES, STRAINS, WovenCloth
from supple.yarns.material import YarnDamping, YarnRayleigh
from supple.yarns.stages import YarnStage


class StepPotential:
    """The potential whose minimum ends a stage, with its derivatives."""

    def __init__(
        self,
        cloth: WovenCloth,
        damping: YarnDamping | YarnRayleigh | None,
        gravity: Floats,
        stage: YarnStage,
    ) -> None:
        self._cloth, self._gravity = cloth, gravity
        self._past, self._at = stage.motion.u_v, stage.at
        self._c_v, self._c_p = stage.motion.c_v, stage.c_p
        self._momentum = stage.momentum + cloth.kinetic(stage.at, stage.rates)[2] / stage.c_p
        rated = damping if isinstance(damping, YarnDamping) else None
        self._before = None
        if rated is not None:
            self._before = cloth.before_stage(stage.motion, stage.at, rated)
        self._rayleigh: Floats | None = None
        if isinstance(damping, YarnRayleigh) and damping.stiffness > 0:
            self._rayleigh = cloth.stiffness_values(stage.at)
            self._rayleigh *= damping.stiffness * self._c_v
        self._slope = cloth.slopes(stage.at)
        self._pressure = cloth.pressure(stage.at) if cloth.friction > 0 else None
        self.scale = 0.0
        """Size of the forces [N] where derivatives were last taken."""

    def evaluate(
        self,
        q: Floats,
        gradient: Floats = NO_GRADIENT,
        values: Floats = NO_VALUES,
        *,
        definite: bool = False,
        stored: bool = True,
    ) -> float:
        """Φ(q) [J]; arrays that are not empty are overwritten by ∇Φ and ∇²Φ.

        A definite matrix is a stand-in for ∇²Φ that is safe to follow from afar. What yarns store,
        and damping by its strains, may be left out.
        """
        c_v, c_p = self._c_v, self._c_p
        v = (q - self._past) * c_v
        Mv = self._cloth.kinetic(self._at, v)[1]
        gradient[:] = 0.0
        if len(values):
            values[:] = 0.0 if self._rayleigh is None else self._rayleigh
            self._cloth.add_mass(self._at, c_p * c_v, values)

        def strained(kind: str) -> float:
            return self._cloth.strain_potential(
                kind, q, gradient, values, before=self._before, definite=definite
            )

        total, pulled = 0.0, 0.0
        if stored:
            total += strained("stretch")
            if not np.isfinite(total):
                return np.inf
            pulled = float(np.linalg.norm(gradient))
            total += strained("bending")
            total += strained("shear")
            total += self._cloth.contact_potential(q, gradient, values)
        total += self._cloth.gravity_potential(q, self._gravity, gradient)
        if self._pressure is not None:
            total += self._rubbed(q, gradient, values, majorized=definite)
        total += c_p / c_v * (0.5 * float(np.vdot(v, Mv)) - float(np.vdot(v, self._momentum)))
        if self._rayleigh is not None:
            braking = self._cloth.pattern.multiply(self._rayleigh, q - self._past)
            total += 0.5 * float(np.vdot(q - self._past, braking))
        if len(gradient):
            inertia = c_p * (Mv - self._momentum)
            gradient += inertia
            self.scale = pulled + c_p * float(np.linalg.norm(Mv)) + float(np.linalg.norm(inertia))
            if self._rayleigh is not None:
                gradient += braking
        return total

    def _rubbed(
        self,
        q: Floats,
        gradient: Floats,
        values: Floats = NO_VALUES,
        *,
        majorized: bool = False,
    ) -> float:
        """The potential of friction between yarns that cross [J]."""
        assert self._pressure is not None
        return self._cloth.friction_potential(
            q, self._past, self._slope, self._pressure, 1 / self._c_v, gradient, values,
            majorized=majorized,
        )  # fmt: skip

    def taken(self, q: Floats) -> float:
        """The power of damping and friction at the end of the stage, over c_v [J].

        For backward Euler that is what they take in the step.
        """
        cloth, way, taken = self._cloth, q - self._past, 0.0
        if self._before is not None:
            for kind in STRAINS:
                # The potential of a step has h V_d beside the energy, and 2 V_d is lost a second.
                damped = cloth.strain_potential(kind, q, before=self._before)
                taken += 2 * (damped - cloth.strain_potential(kind, q))
        if self._rayleigh is not None:
            taken += float(np.vdot(way, cloth.pattern.multiply(self._rayleigh, way)))
        if self._pressure is not None:
            push = np.zeros_like(q)
            self._rubbed(q, push)
            taken += float(np.vdot(way, push))
        return taken

    def momentum(self, v: Floats) -> Floats:
        """M v at the end of the stage (n, 5), for rates v."""
        return self._cloth.kinetic(self._at, v)[1]
