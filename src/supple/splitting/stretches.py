"""Power-law damping of the stretch as local terms, exact down to exponent zero."""

from __future__ import annotations

import numpy as np

from .._kernels.local_stretch import minimise_power_law, stretches_of
from ..assembly import Part
from ..damping.power_law import BoundPowerLaw
from ..types import Floats
from .gradients import GradientTerms


class StretchTerms(GradientTerms):
    """Φ(S) = β/c_v ‖c_v (S − Ŝ)‖^(p+1), S the stretch in F = R S (Eqs. 75–78)."""

    def __init__(
        self, part: Part, damping: BoundPowerLaw, stiffness: Floats, *, c_v: float
    ) -> None:
        super().__init__(part, stiffness)
        self._p = damping.exponent
        self._b = damping.strength[part.cells] * c_v**damping.exponent
        self._before = np.zeros(self.by_point)
        self._tension = np.zeros(self.by_point)  # w ū by volume, of the last stage [Pa]

    def begin(self, u_v: Floats, start_velocity: Floats) -> None:
        F = np.empty(self.by_point)
        self.gradients(u_v, 1.0, F)
        self.share(lambda cut: stretches_of(F[cut], self._before[cut]))

    def warm(self, z: Floats, s: Floats) -> None:
        ratio = self._tension / self.stiffness[:, None, None, None]
        s[:] = z + ratio.reshape(self.shape)

    def minimise(self, s: Floats, z: Floats) -> None:
        S, Z = s.reshape(self.by_point), z.reshape(self.by_point)
        self.share(
            lambda cut: minimise_power_law(
                S[cut], self._before[cut], self._b[cut], self._p, self.stiffness[cut], Z[cut]
            )
        )

    def finish(self, s: Floats, z: Floats) -> None:
        self._tension = self.stiffness[:, None, None, None] * (s - z).reshape(self.by_point)
