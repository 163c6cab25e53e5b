"""Cloth: thin sheets of triangles as bodies."""

from supple.bodies.cloth.bending import Bending, HingeBending, QuadraticBending
from supple.bodies.cloth.cloth import Cloth
from supple.bodies.cloth.material import (
    ClothMaterial,
    IsotropicCloth,
    OrthotropicCloth,
    StrainLimit,
)
from supple.bodies.cloth.patterns import front_and_back

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
