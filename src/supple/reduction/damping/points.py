"""Dampings in few coordinates that have no closed form: summed over points, or projected.

Those that are sums over quadrature points take the points of a cubature, as the energy of a model
with a cubature does. All others are evaluated on the whole body, which is exact and slow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple._kernels.damping.matched import add_matched
from supple._kernels.damping.principal import Sums
from supple._kernels.damping.quadratic import add_quadratic
from supple._kernels.reduction.cubature import add_reduced_stiffness
from supple.bodies.assembly import Part
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.types import Floats, Ints
from supple.damping.base import BoundDamping
from supple.damping.cells import BoundCellDamping, Points, PointSums
from supple.damping.laws import CellLaw
from supple.damping.matched import strain_elasticity
from supple.materials import Material
from supple.reduction.coordinates import expand
from supple.reduction.cubature.cubature import (
    Cubature,
    CubatureGroup,
    gradients_of_basis,
    points_a_cell,
)


class PointDamping(ABC):
    """A force on the coordinates that follows shape and velocity, evaluated in Python."""

    is_linear: bool
    """In the velocity."""
    laws: tuple[CellLaw, ...] | None = None
    """The same for compiled loops; None if only Python knows it."""

    @abstractmethod
    def evaluate(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The force (r,) and its derivative by v (r, r)."""

    def matrix(self, q: Floats) -> Floats:
        """C(q) of a linear one."""
        return self.evaluate(q, np.zeros_like(q))[1]


class MatchedDamping(PointDamping):
    """β/2 Ė : ∂²ψ/∂E² : Ė at the points of a cubature, for Rayleigh damping; needs no body."""

    is_linear = True

    def __init__(self, cubature: Cubature, beta: Floats) -> None:
        self.cubature, self.beta = cubature, beta
        cuts = np.cumsum([len(group.lam) for group in cubature.groups])[:-1]
        betas = np.split(np.ascontiguousarray(beta), cuts)  # one a cell of the cubature
        self._groups = [
            (group, each, _constant_elasticity(group))
            for group, each in zip(cubature.groups, betas, strict=True)
            if each.any()
        ]

    def evaluate(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        r = len(q)
        C = np.zeros((1, r, r))
        for group, beta, elasticity in self._groups:
            m = len(group.volumes)
            F, rate = (_gradients(group, x) for x in (q, v))
            F[..., np.arange(3), np.arange(3)] += 1.0
            sums = Sums(*_room(F.shape[:2]), 2, 1.0)
            if elasticity is None:
                P, A = _elastic(group, F)
                add_matched(F, rate, P, A, beta, sums, False)
            else:
                add_quadratic(F, rate, elasticity, beta, sums, False)
            add_reduced_stiffness(sums.A.reshape(1, m, 6, 3, 3), group.volumes, group.G, C)
        return C[0] @ v, C[0]


def _gradients(group: CubatureGroup, q: Floats) -> Floats:
    """Σ_i q_i ∇φ_i at the points of a group, (c, points, 3, 3)."""
    c, m = len(group.lam), len(group.volumes)
    return (group.G.reshape(9 * m, -1) @ q).reshape(c, m // c, 3, 3)


def _room(shape: tuple[int, int]) -> tuple[Floats, Floats, Floats]:
    return np.zeros(shape), np.zeros((*shape, 3, 3)), np.zeros((*shape, 6, 3, 3))


def _elastic(group: CubatureGroup, F: Floats) -> tuple[Floats, Floats]:
    """The elastic stress of a group and its derivative."""
    psi, P, A = _room(F.shape[:2])
    group.material.evaluate(F, group.lam, group.mu, psi, P, A, 2, *group.extra)
    return P, A


def _constant_elasticity(group: CubatureGroup) -> Floats | None:
    """∂²ψ/∂E² of a group's cells (c, 6, 6), if it is the same at every shape."""
    if not group.material.quadratic_in_strain:
        return None
    F = np.tile(np.eye(3), (len(group.lam), 1, 1, 1))
    return strain_elasticity(_elastic(group, F)[1][:, 0])


@dataclass(frozen=True, eq=False)
class _Points:
    """Some cells of a part with their weights, and the gradients of the basis there."""

    part: Part
    at: Ints
    volumes: Floats
    """(c, points)"""
    G: Floats
    """(c · points, 9, r)"""


@dataclass(frozen=True, eq=False)
class WeighedPoints:
    """The points of a sum that have a weight, m of them, part by part."""

    cells: Ints
    """Of the mesh, in which they are, (m,)."""
    volumes: Floats
    """(m,) times weights"""
    G: Floats
    """(9 m, r)"""
    lam: Floats
    """(m,)"""
    mu: Floats
    """(m,)"""
    materials: list[tuple[Material, int]]
    """Of each part, and how many points are of it."""

    @classmethod
    def of(cls, points: list[_Points]) -> WeighedPoints:
        weighed = [here.volumes.ravel() != 0.0 for here in points]

        def joined(fields: list[NDArray[Any]]) -> NDArray[Any]:
            both = zip(fields, points, weighed, strict=True)
            return np.concatenate([np.repeat(x, here.volumes.shape[1])[k] for x, here, k in both])

        cells = joined([here.part.cells[here.at] for here in points])
        lam, mu = (joined([here.part.lame[i][here.at] for here in points]) for i in (0, 1))
        both = list(zip(points, weighed, strict=True))
        G = np.concatenate([here.G[k].reshape(-1, here.G.shape[2]) for here, k in both])
        volumes = np.concatenate([here.volumes.ravel()[k] for here, k in both])
        materials = [(here.part.material, int(k.sum())) for here, k in both]
        return cls(cells, volumes, G, lam, mu, materials)

    def is_same(self, other: WeighedPoints) -> bool:
        """Whether these are the same points of the same model."""
        return np.array_equal(self.cells, other.cells) and np.array_equal(
            self.volumes, other.volumes
        )


class CubatureDamping(PointDamping):
    """A dissipation density, summed over the cells of a cubature; over all cells if None."""

    def __init__(self, bound: BoundCellDamping, vectors: Floats, cubature: Cubature | None) -> None:
        self._bound, self.is_linear = bound, bound.is_linear
        self._points = _chosen_points(bound.body, vectors, cubature)

    @cached_property
    def at(self) -> WeighedPoints:
        """The points for compiled loops."""
        return WeighedPoints.of(self._points)

    @cached_property
    def laws(self) -> tuple[CellLaw, ...] | None:  # type: ignore[override]
        """At these points; None where a material or the density is known to Python alone."""
        found = self._bound.laws(self.at.cells) if self._points else None
        takes_more = any(len(here.part.extra) for here in self._points)  # than λ and μ
        if found is None or (takes_more and any(law.needs_elasticity for law in found)):
            return None
        return found

    def evaluate(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        r = len(q)
        force, C = np.zeros(r), np.zeros((1, r, r))
        for here in self._points:
            shape = *here.volumes.shape, 3, 3
            F, rate = ((here.G.reshape(-1, r) @ x).reshape(shape) for x in (q, v))
            F[..., np.arange(3), np.arange(3)] += 1.0
            elasticity = self._bound.needs_elasticity
            points = Points.of(here.part, here.at, F, rate, elasticity=elasticity)
            sums = PointSums.zeros("reduced dissipation", points, order=2, definite=False)
            self._bound.add_points(points, sums)
            w = here.volumes.reshape(-1)
            force += (w[:, None] * sums.P.reshape(-1, 9)).ravel() @ here.G.reshape(-1, r)
            add_reduced_stiffness(sums.A.reshape(1, -1, 6, 3, 3), w, here.G, C)
        return force, C[0]


def _chosen_points(body: Body, vectors: Floats, cubature: Cubature | None) -> list[_Points]:
    """The cells of a cubature with their weights, point by point; those of no weight are there."""
    found = []
    share = np.ones((body.mesh.n_cells, points_a_cell(body)))
    if cubature is not None:
        share[:] = 0.0
        if cubature.points is None:
            share[cubature.cells] = cubature.weights[:, None]
        else:
            share[cubature.cells, cubature.points] = cubature.weights
    for part in body.parts:
        at = np.flatnonzero(share[part.cells].any(axis=1))
        if len(at):
            volumes = share[part.cells[at]] * part.weights[at]
            G = gradients_of_basis(part, at, vectors)
            found.append(_Points(part, at, volumes, G.reshape(-1, 9, len(vectors))))
    return found


class ProjectedDamping(PointDamping):
    """Any damping, evaluated on the whole body: Uᵀ ∇₂R and Uᵀ ∂∇₂R/∂v U."""

    def __init__(self, bound: BoundDamping, body: Body, vectors: Floats) -> None:
        self._bound, self._body, self._vectors = bound, body, vectors
        self.is_linear = bound.is_linear

    def evaluate(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        bound, vectors, body = self._bound, self._vectors, self._body
        order = 2 if bound.uses_stiffness_matrix else 1
        shape, velocity = Shape(body, expand(q, vectors), order=order), expand(v, vectors)
        force = bound.evaluate(shape, velocity)[1]
        pattern = bound.pattern or body.pattern
        values = np.zeros((len(pattern.keys), 3, 3))
        bound.add_matrix(shape, velocity, 1.0, values, definite=False)
        flat = vectors.reshape(len(vectors), -1)
        products = pattern.multiply_many(values, vectors)
        low_rank = bound.low_rank(shape, velocity)
        if low_rank is not None:
            products = products + np.array([low_rank.multiply(phi) for phi in vectors])
        return flat @ force.ravel(), flat @ products.reshape(len(vectors), -1).T
