"""What a step has to know of the strains it starts from."""

from __future__ import annotations

from dataclasses import dataclass

from supple.core.types import Floats


@dataclass(frozen=True)
class Before:
    """Strains and their weights at the start of a step of h, and how much of a change is damped."""

    stretch: Floats
    """(ε, Δs) of the segments."""
    bending: Floats
    """(ε_θ, L, χ, ε_k) of the triples."""
    shear: Floats
    """Angles at the corners."""
    stitches: Floats
    """ε of the stitches of seams."""
    stretch_rate: Floats
    """β_s/h of warp and weft."""
    bending_rate: Floats
    """β_b/h of warp and weft."""
    shear_rate: float
    """β/h of the angle between them."""
