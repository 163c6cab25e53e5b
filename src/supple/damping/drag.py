"""Drag of the air, or of a liquid, on the surface of a body."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies import loads
from supple.bodies.cloth import Cloth
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.parameters import Vector, checked, described, parameter
from supple.core.types import Floats
from supple.damping.base import DAMPINGS, BoundDamping, Damping, body_for


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class Drag(Damping):
    """R = d/(p + 1) ∫ ‖v − w‖^(p+1) dA over the surface, w the wind.

    The surface is that of the rest shape, its area shared out to its vertices; of cloth it is one
    side. The force on each piece of it is against its own velocity relative to the wind, wherever
    it faces. Drag conserves nothing: bodies slow down until they go with the wind, and a wind feeds
    energy.
    """

    strength: float = field(
        metadata=described("d, with p = 1; [N sᵖ/m^(2+p)] in general", unit="N s/m³", at_least=0)
    )
    wind: ArrayLike = parameter(
        (0.0, 0.0, 0.0), "w, velocity of the air", kind=Vector(as_tuple=True), unit="m/s"
    )
    exponent: float = parameter(1.0, "p: 1 in slow flow, 2 in fast flow", at_least=1)

    def __post_init__(self) -> None:
        checked(self)

    def bind(self, body: ElasticBody) -> BoundDamping:
        if isinstance(body, Cloth):
            return _BoundDrag(self, body, body.mesh.vertex_areas)
        solid = body_for(self, Body, body)
        areas = loads.surface_force(solid.mesh, None, (1.0, 0.0, 0.0))[:, 0]
        return _BoundDrag(self, solid, areas)


class _BoundDrag(BoundDamping):
    def __init__(self, damping: Drag, body: ElasticBody, areas: Floats) -> None:
        self._weights = float(damping.strength) * areas
        self._wind = np.asarray(damping.wind, dtype=float)
        self._p = float(damping.exponent)
        self._diagonal = body.pattern.indptr[:-1]

    @property
    def depends_on_shape(self) -> bool:
        return False

    @property
    def is_linear(self) -> bool:
        return self._p == 1

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        relative = v - self._wind
        speed = np.linalg.norm(relative, axis=1)
        slope = self._weights * speed ** (self._p - 1)
        return float(np.vdot(slope, speed**2)) / (self._p + 1), slope[:, None] * relative

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        relative = v - self._wind
        speed = np.linalg.norm(relative, axis=1)
        slope = factor * self._weights * speed ** (self._p - 1)
        along = np.divide(relative, speed[:, None], out=np.zeros_like(v), where=speed[:, None] > 0)
        outer = along[:, :, None] * along[:, None, :]
        values[self._diagonal] += slope[:, None, None] * (np.eye(3) + (self._p - 1) * outer)
