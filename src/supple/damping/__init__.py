"""Damping models: one file each, all dissipation functions R(x, v)."""

from .base import BoundDamping, BoundViscousDamping, Damping
from .caughey import Caughey
from .cloth_drag import ClothDrag
from .cloth_rate import ClothStrainRate
from .conserving import Conserving, MomentumConserving
from .curve import Curve, Joining
from .damping_file import load_damping, save_damping
from .deformations import shape_between, shape_of_frame, shape_within
from .drag import Drag
from .example import Example, ExampleDamping, Measure
from .matched import MatchedStrainRate
from .power_law import PowerLaw
from .principal_strain import PrincipalStrain
from .rayleigh import Rayleigh, StiffnessAt
from .spline import SplineDamping, SplineOver
from .spring_rate import SpringStrainRate
from .strain_rate import StrainRate
from .viscous import Viscous

DAMPINGS: tuple[type[Damping], ...] = (
    Rayleigh,
    Caughey,
    Viscous,
    ExampleDamping,
    SpringStrainRate,
    ClothDrag,
    ClothStrainRate,
    StrainRate,
    PowerLaw,
    MomentumConserving,
    Drag,
    MatchedStrainRate,
    PrincipalStrain,
    SplineDamping,
)
"""Every damping model."""

__all__ = [
    "DAMPINGS",
    "BoundDamping",
    "BoundViscousDamping",
    "Caughey",
    "ClothDrag",
    "ClothStrainRate",
    "Conserving",
    "Curve",
    "Damping",
    "Drag",
    "Example",
    "ExampleDamping",
    "Joining",
    "MatchedStrainRate",
    "Measure",
    "MomentumConserving",
    "PowerLaw",
    "PrincipalStrain",
    "Rayleigh",
    "SplineDamping",
    "SplineOver",
    "SpringStrainRate",
    "StiffnessAt",
    "StrainRate",
    "Viscous",
    "load_damping",
    "save_damping",
    "shape_between",
    "shape_of_frame",
    "shape_within",
]
