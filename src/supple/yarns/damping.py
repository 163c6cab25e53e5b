"""Damping of yarns: by the rate of their strains, or by Rayleigh's model for comparison."""

from __future__ import annotations

from dataclasses import dataclass

from supple.core.checks import number


@dataclass(frozen=True, kw_only=True)
class YarnDamping:
    """Dissipation by strain rate, V_d = ½ β ε̇ᵀ (∂²V/∂ε²) ε̇ for each kind of strain (Eq. 12).

    Swinging, spinning and sliding are left alone. Where a yarn is bent by less than
    ``switch_angle``, its bend is measured as a vector (Eq. 22), which has a gradient for straight
    yarns too. A turn of the whole yarn turns that vector along; what damping results falls with
    the square of the angle.
    """

    stretch: float = 0.0
    """β_s [s]."""
    bending: float = 0.0
    """β_b [s]."""
    shear: float = 0.0
    """The same for the angle between crossing yarns [s]."""
    switch_angle: float = 0.05
    """[rad]."""

    def __post_init__(self) -> None:
        number("stretch", self.stretch, at_least=0, unit="s")
        number("bending", self.bending, at_least=0, unit="s")
        number("shear", self.shear, at_least=0, unit="s")
        number("switch_angle", self.switch_angle, above=0, below=1, unit="rad")


@dataclass(frozen=True, kw_only=True)
class YarnRayleigh:
    """Damping by β times the stiffness matrix at the start of each step. Brakes swinging too."""

    stiffness: float = 0.0
    """β [s]."""

    def __post_init__(self) -> None:
        number("stiffness", self.stiffness, at_least=0, unit="s")
