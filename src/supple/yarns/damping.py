"""Damping of yarns: by the rate of their strains, or by Rayleigh's model for comparison."""

from __future__ import annotations

from dataclasses import dataclass

from supple.core.parameters import checked, parameter


@dataclass(frozen=True, kw_only=True)
class YarnDamping:
    """Dissipation by strain rate, V_d = ½ β ε̇ᵀ (∂²V/∂ε²) ε̇ for each kind of strain (Eq. 12).

    Swinging, spinning and sliding are left alone. Where a yarn is bent by less than
    ``switch_angle``, its bend is measured as a vector (Eq. 22), which has a gradient for straight
    yarns too. A turn of the whole yarn turns that vector along; what damping results falls with
    the square of the angle.
    """

    stretch: float = parameter(0.0, "β_s", unit="s", at_least=0)
    bending: float = parameter(0.0, "β_b", unit="s", at_least=0)
    shear: float = parameter(0.0, "β for the angle between yarns", unit="s", at_least=0)
    switch_angle: float = parameter(
        0.05, "below which a bend is measured as a vector", unit="rad", above=0, below=1
    )

    def __post_init__(self) -> None:
        checked(self)


@dataclass(frozen=True, kw_only=True)
class YarnRayleigh:
    """Damping by β times the stiffness matrix at the start of each step. Brakes swinging too."""

    stiffness: float = parameter(0.0, "β, times the stiffness", unit="s", at_least=0)

    def __post_init__(self) -> None:
        checked(self)
