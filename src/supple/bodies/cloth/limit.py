"""Strain limiting: cloth that gives way at first, and hardly any further from some stretch on."""

from __future__ import annotations

from dataclasses import dataclass, field

from supple.core.parameters import checked, described, parameter


@dataclass(frozen=True, kw_only=True)
class StrainLimit:
    """Adds the energy k/2 Σ max(0, e − ℓ)² by area, e the two principal strains of Green.

    Up to ``stretch`` in any direction, nothing changes; past it the cloth is stiffer by
    ``firmness`` times the larger of its stiffnesses along warp and weft. It may be crushed as
    before: cloth folds.
    """

    stretch: float = field(
        metadata=described("how much longer it may get, as a share, e.g. 0.05", at_least=0)
    )
    firmness: float = parameter(
        10.0, "ten hold the weight of cloth; far more needs short or well converged steps", above=0
    )

    def __post_init__(self) -> None:
        checked(self)

    @property
    def strain(self) -> float:
        """ℓ, Green's strain at that stretch."""
        return 0.5 * ((1 + self.stretch) ** 2 - 1)
