"""Cloth: thin sheets of triangles as bodies."""

from .bending import Bending, HingeBending, QuadraticBending
from .cloth import Cloth
from .limit import StrainLimit
from .material import ClothMaterial, IsotropicCloth, OrthotropicCloth
from .patterns import front_and_back

__all__ = [
    "Bending",
    "Cloth",
    "ClothMaterial",
    "HingeBending",
    "IsotropicCloth",
    "OrthotropicCloth",
    "QuadraticBending",
    "StrainLimit",
    "front_and_back",
]
