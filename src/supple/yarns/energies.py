"""What woven cloth stores."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class YarnEnergies:
    """What is stored where [J]."""

    stretch: float
    bending: float
    shear: float
    contact: float
    gravity: float

    @property
    def total(self) -> float:
        return self.stretch + self.bending + self.shear + self.contact + self.gravity
