"""What a step has to know of the strains it starts from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...types import Floats
from .damping import YarnDamping


@dataclass(frozen=True)
class Before:
    """Strains and their weights at the start of a step."""

    stretch: Floats
    """(ε, Δs) of the segments."""
    bending: Floats
    """(ε_θ, L, χ, ε_k) of the triples."""
    shear: Floats
    """Angles at the corners."""
    stitches: Floats
    """ε of the stitches of seams."""


@dataclass(frozen=True)
class Rates:
    """β/h of each kind of strain; of stretch and bending for warp and weft."""

    stretch: Floats
    bending: Floats
    shear: float

    @classmethod
    def of(cls, damping: YarnDamping | None, h: float) -> Rates:
        given = YarnDamping() if damping is None else damping
        return cls(np.full(2, given.stretch / h), np.full(2, given.bending / h), given.shear / h)


NO_RATES = Rates(np.zeros(2), np.zeros(2), 0.0)
