"""Woven cloth, yarn by yarn, whose crossings slide (Cirio et al. 2014; strain rate paper, §5)."""

from .cloth import WovenCloth
from .damping import YarnDamping, YarnRayleigh
from .energies import YarnEnergies
from .material import Yarn
from .net import YarnNet
from .simulation import YarnMotion, YarnSimulation
from .weave import Weave

__all__ = [
    "Weave",
    "WovenCloth",
    "Yarn",
    "YarnDamping",
    "YarnEnergies",
    "YarnMotion",
    "YarnNet",
    "YarnRayleigh",
    "YarnSimulation",
]
