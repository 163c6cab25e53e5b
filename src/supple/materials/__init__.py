"""Elastic materials: one file a model, with ψ, ∂ψ/∂F and ∂²ψ/∂F² next to each other."""

from .base import Material
from .corotational import Corotational
from .neo_hookean import NeoHookean
from .stable_neo_hookean import StableNeoHookean
from .stvk import StVK

MATERIALS: tuple[type[Material], ...] = (StVK, NeoHookean, StableNeoHookean, Corotational)
"""Every material model; tests and scene files go over this list."""

__all__ = ["MATERIALS", "Corotational", "Material", "NeoHookean", "StVK", "StableNeoHookean"]
