"""Damping models: one file each, all dissipation functions R(x, v)."""

from supple.damping.base import DAMPINGS, BoundDamping, BoundViscousDamping, Damping
from supple.damping.caughey import Caughey
from supple.damping.cells import BoundCellDamping
from supple.damping.cloth_rate import ClothStrainRate
from supple.damping.conserving import Conserving, MomentumConserving
from supple.damping.curve import Curve, Joining
from supple.damping.drag import ClothDrag, Drag
from supple.damping.example import (
    Example,
    ExampleDamping,
    Measure,
    StrengthWarning,
    felt_strengths,
)
from supple.damping.files.damping_file import load_damping, save_damping
from supple.damping.matched import MatchedStrainRate
from supple.damping.power_law import PowerLaw
from supple.damping.principal_strain import PrincipalStrain
from supple.damping.rayleigh import Rayleigh, StiffnessAt
from supple.damping.spline import SplineDamping, SplineOver
from supple.damping.strain_rate import SpringStrainRate, StrainRate
from supple.damping.viscous import Viscous

__all__ = [
    "DAMPINGS",
    "BoundCellDamping",
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
    "StrengthWarning",
    "Viscous",
    "felt_strengths",
    "load_damping",
    "save_damping",
]
