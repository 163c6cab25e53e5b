"""Drag of the air, or of a liquid, on the surface of a body."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.cloth import Cloth
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.parameters import Vector, described, parameter
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

    def bind(self, body: ElasticBody) -> BoundDamping:
        if isinstance(body, Cloth):
            return _BoundDrag(self, body, body.mesh.vertex_areas)
        solid = body_for(self, Body, body)
        return _BoundDrag(self, solid, solid.surface_force(None, (1.0, 0.0, 0.0))[:, 0])


class _BoundDrag(BoundDamping):
    depends_on_shape = False

    def __init__(self, damping: Drag, body: ElasticBody, areas: Floats) -> None:
        self._weights = float(damping.strength) * areas
        self._wind = np.asarray(damping.wind, dtype=float)
        self._p = float(damping.exponent)
        self._diagonal = body.pattern.indptr[:-1]
        self.is_linear = self._p == 1

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


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class ClothDrag(Damping):
    """R = ρ/6 Σ A (C_n ‖w·n‖³ + C_t ‖w − (w·n) n‖³) over triangles, w = v − wind.

    The force ½ ρ A C w² on every triangle as it faces now: that of moving air on a plate, across it
    and along it. Cloth falls edge on and hardly flat, and flags stream. A wind feeds energy.
    """

    normal: float = parameter(1.2, "C_n, about 1.2 for a plate that faces the flow", at_least=0)
    tangential: float = parameter(0.02, "C_t, a few hundredths for cloth", at_least=0)
    wind: ArrayLike = parameter(
        (0.0, 0.0, 0.0), "velocity of the air", kind=Vector(as_tuple=True), unit="m/s"
    )
    air_density: float = parameter(1.2, "ρ; water has 1000", unit="kg/m³", at_least=0)

    def bind(self, body: ElasticBody) -> BoundDamping:
        return _BoundClothDrag(self, body_for(self, Cloth, body))


@dataclass(frozen=True, eq=False)
class _Flow:
    """The air as each triangle meets it."""

    n: Floats
    """Unit normals, (m, 3); zero where a triangle has collapsed."""
    weights: Floats
    """½ ρ A [kg/m], (m,)."""
    across: Floats
    """w·n [m/s], (m,)."""
    along: Floats
    """w − (w·n) n [m/s], (m, 3)."""
    slip: Floats
    """Its length, (m,)."""


class _BoundClothDrag(BoundDamping):
    is_linear = False

    def __init__(self, damping: ClothDrag, body: Cloth) -> None:
        self._body, self._cells = body, body.mesh.cells
        self._normal, self._tangential = float(damping.normal), float(damping.tangential)
        self._wind = np.asarray(damping.wind, dtype=float)
        self._half_density = 0.5 * float(damping.air_density)
        slots = body.triangle_slots
        self._slots = np.where(slots < 0, ~slots, slots)  # its blocks are symmetric

    def _flow(self, shape: Shape, v: Floats) -> _Flow:
        a, b, c = (self._body.mesh.vertices + shape.u)[self._cells].transpose(1, 0, 2)
        N = np.cross(b - a, c - a)
        length = np.linalg.norm(N, axis=1)
        n = np.divide(N, length[:, None], out=np.zeros_like(N), where=length[:, None] > 0)
        w = v[self._cells].mean(axis=1) - self._wind
        across = np.einsum("ei,ei->e", w, n)
        along = w - across[:, None] * n
        weights = self._half_density * 0.5 * length
        return _Flow(n, weights, across, along, np.linalg.norm(along, axis=1))

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        at = self._flow(shape, v)
        facing = self._normal * np.abs(at.across)
        skin_friction = self._tangential * at.slip
        pull = (facing * at.across)[:, None] * at.n + skin_friction[:, None] * at.along
        force = np.zeros_like(v)
        np.add.at(force, self._cells, (at.weights[:, None] * pull / 3)[:, None])
        R = float(at.weights @ (facing * at.across**2 + skin_friction * at.slip**2)) / 3
        return R, force

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        at = self._flow(shape, v)
        nn = at.n[:, :, None] * at.n[:, None, :]
        t = np.divide(
            at.along, at.slip[:, None], out=np.zeros_like(at.along), where=at.slip[:, None] > 0
        )
        plane = np.eye(3) - nn + t[:, :, None] * t[:, None, :]
        across, along = 2 * self._normal * np.abs(at.across), self._tangential * at.slip
        blocks = across[:, None, None] * nn + along[:, None, None] * plane
        shares = (factor / 9 * at.weights)[:, None, None] * blocks
        np.add.at(values, self._slots, shares[:, None])
