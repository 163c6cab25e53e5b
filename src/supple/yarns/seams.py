"""Seams of a woven garment: stitches that hold the crossings of two panels together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple._kernels.yarns import stitch as yarn_stitch
from supple.core.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Seams:
    """Stitches as springs; they bend freely and weigh nothing."""

    nodes: Ints
    """(k, 2)"""
    lengths: Floats
    """At rest [m], (k,)."""
    slots: Ints
    """Of the blocks of their pairs, (k, 3)."""
    stretch: float
    """Tension at a strain of one [N]."""

    def strain(self, q: Floats) -> Floats:
        """ε of every stitch, (k,)."""
        out = np.empty(len(self.nodes))
        yarn_stitch.strain(q, self.nodes, self.lengths, out)
        return out

    def potential(
        self,
        q: Floats,
        gradient: Floats,
        values: Floats,
        before: Floats,
        rate: float,
        definite: bool,
    ) -> float:
        """Energy [J] and dissipation of a step with strains ``before`` (k,) and β/h = ``rate``."""
        return float(
            yarn_stitch.potential(
                q, self.nodes, self.lengths, self.slots, self.stretch,
                before, rate, definite, gradient, values,
            )
        )  # fmt: skip

    def dissipation(self, q: Floats, v: Floats, damping: float, force: Floats) -> float:
        """V_d [W] with β = ``damping`` [s]; its force is added to ``force`` (n, 5)."""
        viscosity = damping * self.stretch
        return float(yarn_stitch.dissipation(q, v, self.nodes, self.lengths, viscosity, force))
