"""Strain limiting: cloth that gives way at first, and hardly any further from some stretch on."""

from __future__ import annotations

from dataclasses import dataclass

from supple.core.checks import number


@dataclass(frozen=True, kw_only=True)
class StrainLimit:
    """Adds the energy k/2 Σ max(0, e − ℓ)² by area, e the two principal strains of Green.

    Up to ``stretch`` in any direction, nothing changes; past it the cloth is stiffer by
    ``firmness`` times the larger of its stiffnesses along warp and weft. It may be crushed as
    before: cloth folds.
    """

    stretch: float
    """How much longer the cloth may get as a share of its length, e.g. 0.05."""
    firmness: float = 10.0
    """Ten hold the weight of cloth; with far more, steps need to be short or well converged."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stretch", number("stretch", self.stretch, at_least=0))
        object.__setattr__(self, "firmness", number("firmness", self.firmness, above=0))

    @property
    def strain(self) -> float:
        """ℓ, Green's strain at that stretch."""
        return 0.5 * ((1 + self.stretch) ** 2 - 1)
