"""The inertia of a body: M a."""

from __future__ import annotations

import numpy as np

from supple._kernels.linear_algebra.blocks import add_scaled_identity_blocks
from supple.bodies.elastic_body import ElasticBody
from supple.dynamics.terms.base import BlockSum, Point, Share, Term
from supple.solvers.interface import Tangent


class Inertia(Term):
    """½ ‖a‖²_M / c_a, whose gradient by u is M a."""

    def __init__(self, body: ElasticBody) -> None:
        self._body = body

    def evaluate(self, at: Point) -> Share:
        force, c_a = self._body.mass_times(at.a), at.stage.c_a
        kinetic = 0.5 * float(np.vdot(at.a, force)) / c_a if c_a else 0.0
        floor = self._body.rounding_inertia(at.u, c_a)
        return Share(force, kinetic, magnitude=kinetic, floor=floor)

    def add_matrix(self, at: Point, share: Share, tangent: Tangent, to: BlockSum) -> None:
        add_scaled_identity_blocks(to.values, self._body.mass_values, at.stage.c_a)
