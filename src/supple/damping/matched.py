"""Strain rate dissipation matched to the stiffness: r = β/2 Ė:C:Ė, C = ∂²ψ/∂E².

It is Rayleigh's stiffness damping without the part that brakes rotation (strain rate, Eq. 12).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple._kernels.damping.principal import add_matched
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.solid import Body
from supple.core.parameters import checked
from supple.damping.base import DAMPINGS, BoundDamping, Damping, body_for
from supple.damping.cells import Points, PointSums
from supple.damping.coefficients import Coefficient, coefficient, coefficient_of_cells
from supple.damping.isotropic import BoundIsotropicDamping


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class MatchedStrainRate(Damping):
    """r = β/2 Ė:C:Ė with the elasticity C = ∂²ψ/∂E² of the material where it is (Eq. 12).

    E is Green's strain, Ė = ½ (FᵀḞ + ḞᵀF). For StVK it is ``StrainRate`` with shear β μ and bulk
    β λ; other materials damp more where they are stiffer. At the rest shape it is Rayleigh damping
    of the same β, for every material; elsewhere it spares rotation, as Rayleigh damping does not.

    C may lose definiteness in large strain. Then the nearest definite form takes its place: what
    the form in the rates of the three stretches has of negative eigenvalues is left out, and so
    are negative shear moduli. Conserves linear and angular momentum.
    """

    stiffness: Coefficient = coefficient("β, times the elasticity of the material", "s")

    def __post_init__(self) -> None:
        checked(self)

    def bind(self, body: ElasticBody) -> BoundDamping:
        solid = body_for(self, Body, body)
        return _BoundMatched(self, solid)


class _BoundMatched(BoundIsotropicDamping):
    def __init__(self, damping: MatchedStrainRate, body: Body) -> None:
        super().__init__(body)
        beta = coefficient_of_cells("stiffness", damping.stiffness, body)
        self._stiffness = np.broadcast_to(beta, body.mesh.n_cells)

    @property
    def needs_elasticity(self) -> bool:
        return True

    def add_points(self, points: Points, to: PointSums) -> None:
        beta = self._stiffness[points.part.cells[points.cut]]
        add_matched(points.F, points.rate, points.P, points.A, beta, to.compiled)
