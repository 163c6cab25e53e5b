"""What a yarn is made of, and what damps it: the rate of its strains, or Rayleigh's model."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi

from supple.bodies.elastic_body import ElasticBody
from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.parameters import checked, described, parameter
from supple.damping.base import BoundDamping, Damping


@dataclass(frozen=True, kw_only=True)
class Yarn:
    """A round yarn that stretches and bends; twist is not resisted.

    A yarn is a bundle of fibres that slide past each other, so its bending stiffness is far below
    that of a solid rod with the same stretch stiffness.
    """

    radius: float = field(metadata=described("of its round section", unit="m", above=0))
    linear_density: float = field(metadata=described("mass of a metre", unit="kg/m", above=0))
    stretch: float = field(metadata=described("EA, tension at a strain of one", unit="N", above=0))
    bending: float = field(
        metadata=described("EI, moment at a curvature of one", unit="N m²", at_least=0)
    )

    def __post_init__(self) -> None:
        checked(self)

    @classmethod
    def of_moduli(
        cls, *, radius: float, density: float, young: float, bending_young: float | None = None
    ) -> Yarn:
        """A yarn by its volume density [kg/m³] and Young's moduli [Pa] for stretch and bending.

        Without a modulus of its own for bending, the yarn bends like a solid rod.
        """
        number("radius", radius, above=0, unit="m")
        number("density", density, above=0, unit="kg/m³")
        number("young", young, above=0, unit="Pa")
        bends = young if bending_young is None else bending_young
        number("bending_young", bends, at_least=0, unit="Pa")
        area = pi * radius**2
        return cls(
            radius=radius,
            linear_density=density * area,
            stretch=young * area,
            bending=bends * pi * radius**4 / 4,
        )


class _OfYarns(Damping):
    """What damps yarns alone."""

    def bind(self, body: ElasticBody) -> BoundDamping:
        raise InputError(
            f"{type(self).__name__} damps woven cloth, and the body is a {type(body).__name__}; in "
            "a world give a table, damping={cloth: YarnDamping(...), other: StrainRate(...)}"
        )


@dataclass(frozen=True, kw_only=True)
class YarnDamping(_OfYarns):
    """Dissipation by strain rate, V_d = ½ β ε̇ᵀ (∂²V/∂ε²) ε̇ for each kind of strain (Eq. 12).

    Swinging, spinning and sliding are left alone. Where a yarn is bent by less than half of
    ``switch_angle``, its bend is measured as a vector (Eq. 22), which has a gradient for straight
    yarns too; from ``switch_angle`` on it is measured as an angle (Eq. 20), and in between by both,
    smoothly blended. A turn of the whole yarn turns that vector along; what damping results falls
    with the square of the angle.
    """

    stretch: float = parameter(0.0, "β_s", unit="s", at_least=0)
    bending: float = parameter(0.0, "β_b", unit="s", at_least=0)
    shear: float = parameter(0.0, "β for the angle between yarns", unit="s", at_least=0)
    switch_angle: float = parameter(
        0.05,
        "up to half of it a bend is measured as a vector, from it on as an angle; blended between",
        unit="rad",
        above=0,
        below=1,
    )


@dataclass(frozen=True, kw_only=True)
class YarnRayleigh(_OfYarns):
    """Damping by β times the stiffness matrix at the start of each step. Brakes swinging too."""

    stiffness: float = parameter(0.0, "β, times the stiffness", unit="s", at_least=0)
