"""Elastic materials: one file a model, with ψ, ∂ψ/∂F and ∂²ψ/∂F² next to each other."""

from supple.materials.base import MATERIALS, Material, MaterialWarning
from supple.materials.corotational import Corotational
from supple.materials.neo_hookean import NeoHookean
from supple.materials.orthotropic import OrthotropicStVK
from supple.materials.spline import SplineMaterial
from supple.materials.stable_neo_hookean import StableNeoHookean
from supple.materials.stvk import StVK

__all__ = [
    "MATERIALS",
    "Corotational",
    "Material",
    "MaterialWarning",
    "NeoHookean",
    "OrthotropicStVK",
    "SplineMaterial",
    "StVK",
    "StableNeoHookean",
]
