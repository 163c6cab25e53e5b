"""Woven cloth, yarn by yarn, whose crossings slide (Cirio et al. 2014; strain rate paper, §5)."""

from supple.dynamics.motion import YarnMotion
from supple.yarns.body import WovenBody
from supple.yarns.cloth import WovenCloth, YarnEnergies
from supple.yarns.curves import YarnCurves
from supple.yarns.material import Yarn, YarnDamping, YarnRayleigh
from supple.yarns.net import YarnNet
from supple.yarns.self_contact import YarnSelfContact
from supple.yarns.simulation import YarnSimulation
from supple.yarns.weave import Weave

__all__ = [
    "Weave",
    "WovenBody",
    "WovenCloth",
    "Yarn",
    "YarnCurves",
    "YarnDamping",
    "YarnEnergies",
    "YarnMotion",
    "YarnNet",
    "YarnRayleigh",
    "YarnSelfContact",
    "YarnSimulation",
]
