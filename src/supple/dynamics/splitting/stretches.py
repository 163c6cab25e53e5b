"""Power-law damping of the stretch as local terms, exact down to exponent zero."""

from __future__ import annotations

import numpy as np

from supple._kernels.local_steps.stretch import add_stretches, minimise_power_law
from supple.bodies.assembly import Part
from supple.core.types import Floats
from supple.damping.power_law import BoundStretchPower
from supple.dynamics.splitting.base import GradientTerms
from supple.integrators import Stage


class StretchTerms(GradientTerms):
    """Φ(S) = β/c_v ‖c_v (S − Ŝ)‖^(p+1), S the stretch in F = R S (Eqs. 75–78)."""

    def __init__(
        self, part: Part, damping: BoundStretchPower, stiffness: Floats, *, c_v: float
    ) -> None:
        super().__init__(part, stiffness)
        self._p = damping.exponent
        self._b = damping.strength[part.cells] * c_v**damping.exponent
        self._before = np.zeros(self.by_point)
        self._tension = np.zeros(self.by_point)  # w ū by volume, of the last stage [Pa]

    def begin(self, stage: Stage, u_v: Floats, start_velocity: Floats) -> None:
        """Ŝ is made of past stretches as û_v is of past displacements.

        The stretch of û_v would do, but for rotation: extrapolated, that is a swelling.
        """
        self._before[:] = 0.0
        for past in self.past(stage):
            self._add(*past)

    def _add(self, p: float, q: float, F: Floats, rate: Floats) -> None:
        self.share(lambda cut: add_stretches(F[cut], rate[cut], p, q, self._before[cut]))

    def warm_start(self, z: Floats, s: Floats) -> None:
        ratio = self._tension / self.stiffness[:, None, None, None]
        s[:] = z + ratio.reshape(self.shape)
        self.minimise(s, z)

    def minimise(self, s: Floats, z: Floats) -> None:
        S, Z = s.reshape(self.by_point), z.reshape(self.by_point)
        self.share(
            lambda cut: minimise_power_law(
                S[cut], self._before[cut], self._b[cut], self._p, self.stiffness[cut], Z[cut]
            )
        )

    def finish(self, s: Floats, z: Floats) -> None:
        self._tension = self.stiffness[:, None, None, None] * (s - z).reshape(self.by_point)
