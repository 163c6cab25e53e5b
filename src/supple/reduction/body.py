"""A reduced model as a body among others."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.assembly import Asked, Evaluation
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.supports import HeldComponents
from supple.core.checks import instance, numbers, vector
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh.embedding import carriers
from supple.mesh.points import CarriedPoint, CarriedPoints
from supple.mesh.reduced import ReducedMesh
from supple.reduction.model import ReducedModel

_STILL = 1e-3  # of the direction in which a point moves most: one in which it does not


class ReducedBody(ElasticBody):
    """A ``ReducedModel`` as a body of a world: ``Simulation([ReducedBody(model), ball], ...)``.

    It moves as ``model.simulation()`` does, and touches others and obstacles with its skin, or the
    surface of its mesh where it has none; not itself. Its state has three coordinates to a vertex:
    ``coordinates(u)`` are q (r,), ``displaced(q)`` is u, and ``positions(u)`` is where its skin is.
    It takes any damping that a reduced model takes.
    """

    mesh: ReducedMesh

    def __init__(self, model: ReducedModel) -> None:
        instance("model", model, ReducedModel, "reduce(body, basis)")
        if model.floating is not None:
            raise InputError(
                "this model is of a body without supports, whose frame moves freely; give "
                "FloatingBody(model)"
            )
        self.model, self.fixed, self.supports = model, None, ()
        count = -(-model.size // 3)
        # y of q = T y: a mass of the same size for all, as if each vertex had its share of it
        L = np.linalg.cholesky(model.mass)
        self._T = np.linalg.inv(L).T * np.sqrt(model.total_mass / count)
        X, triangles, shapes = skin_of(model)
        self.mesh = ReducedMesh.of(X, triangles, np.tensordot(self._T.T, shapes, axes=1))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    # -- coordinates -------------------------------------------------------------------

    def coordinates(self, u: ArrayLike) -> Floats:
        """q (r,) of the model at a state u (n, 3), or q̇ of its v."""
        return np.asarray(self._T @ self.checked("u", u).ravel()[: self.model.size])

    def displaced(self, q: ArrayLike) -> Floats:
        """The state u (n, 3) at coordinates q (r,), or the v of velocities."""
        y = np.linalg.solve(self._T, numbers("q", q, ((self.model.size,),)))
        return self._padded(y)

    def positions(self, u: ArrayLike) -> Floats:
        """Where the vertices of the skin are [m], (s, 3), at a state u (n, 3)."""
        return self.mesh.points.moved(self.checked("u", u))

    def point_at(self, place: Floats) -> CarriedPoint:
        """The point of the body, inside or of its surface, that is at a place at rest (3,) [m]."""
        nodes, weights = carriers(self.model.mesh, place[None])
        shapes = np.einsum("k,rki->ri", weights[0], self.model.vectors[:, nodes[0]])
        there = weights[0] @ self.model.mesh.vertices[nodes[0]]
        return CarriedPoints.of_shapes(there[None], (self._T.T @ shapes)[:, None]).one(0)

    def point_stiffness(self, point: CarriedPoint) -> float:
        """That against the smallest motion that takes the point along; none where it is held."""
        B = np.hstack(list(point.maps))[:, : self.model.size]
        stiffest = self.total_mass * float(self.model.vibrations[0][-1])
        if not B.any():
            return stiffest
        way = self._T @ np.linalg.pinv(B, rcond=_STILL)
        rank = np.linalg.matrix_rank(B, tol=_STILL * np.linalg.norm(B, 2))
        own = np.trace(way.T @ self.model.rest_stiffness @ way) / rank
        return min(float(own), stiffest)

    def push(self, force: ArrayLike) -> Floats:
        """A force (r,) on the coordinates, as ``model.project`` gives it, on the state (n, 3)."""
        return self._padded(self._T.T @ numbers("force", force, ((self.model.size,),)))

    def _padded(self, y: Floats) -> Floats:
        filled = np.zeros(self.mesh.vertices.size)
        filled[: len(y)] = y
        return np.asarray(filled.reshape(-1, 3))

    def blocks_of(self, matrix: Floats) -> Floats:
        """A matrix (r, r) on the coordinates as blocks on the pattern, (blocks, 3, 3)."""
        n, r = self.n_vertices, self.model.size
        filled = np.zeros((3 * n, 3 * n))
        filled[:r, :r] = self._T.T @ matrix @ self._T
        four = filled.reshape(n, 3, n, 3).transpose(0, 2, 1, 3)
        return np.ascontiguousarray(four[self.pattern.rows, self.pattern.cols])

    # -- what a body has to say --------------------------------------------------------

    @cached_property
    def contact_vertices(self) -> Ints:
        """All of the skin."""
        return np.arange(self.mesh.points.count)

    @cached_property
    def held(self) -> HeldComponents:
        """The components of the last vertex that stand for no coordinate stay at nothing."""
        free = np.zeros(self.mesh.vertices.size, dtype=bool)
        free[: self.model.size] = True
        return HeldComponents(free.reshape(-1, 3), ())

    def scaled_mass(self, cell_factors: Floats) -> Floats:
        values = np.zeros(self.pattern.n_blocks)
        values[self.pattern.indptr[:-1]] = self.total_mass / self.n_vertices
        return np.asarray(values * cell_factors[0])

    @property
    def total_mass(self) -> float:
        return float(self.model.total_mass)

    def weight(self, gravity: ArrayLike) -> Floats:
        return self.push(self.model.weight(vector("gravity", gravity)))

    @property
    def _rounding(self) -> tuple[float, float]:
        largest = float(np.abs(self.blocks_of(self.model.rest_stiffness)).max())
        return 0.0, float(np.finfo(float).eps) * largest * self.model.size

    def _evaluate(self, u: Floats, asked: Asked) -> Evaluation:
        T, r = self._T, self.model.size
        energy, force, K = self.model.evaluate(T @ u.ravel()[:r])
        factor = 1.0 if asked.cell_factors is None else float(asked.cell_factors[0])
        gradient, product = np.zeros((2, 0, 3))
        if asked.order >= 1:
            gradient = self._padded(factor * (T.T @ force))
        if asked.direction is not None:
            product = self._padded(factor * (T.T @ (K @ (T @ asked.direction.ravel()[:r]))))
        values = np.empty((0, 3, 3))
        if asked.order >= 2:
            values = factor * self.blocks_of(_definite(K) if asked.definite else K)
            if asked.stiffness is not None:
                asked.stiffness[...] = values
                values = asked.stiffness
        return Evaluation(factor * energy, gradient, product, values)

    def damped_by(self, damping: Any) -> Any:
        from supple.reduction.damping.bound import BoundReducedDamping
        from supple.reduction.damping.rules import reduced_damping

        return BoundReducedDamping(self, reduced_damping(damping, self.model))


def skin_of(model: ReducedModel) -> tuple[Floats, Ints, Floats]:
    """Vertices (s, 3), triangles (t, 3) and shapes (r, s, 3) of its skin, or of its surface."""
    if model.skin is not None:
        return model.skin.vertices, model.skin.triangles, model.skin.vectors
    surface = model.mesh.boundary()
    return surface.vertices, surface.triangles, model.vectors[:, surface.vertex_ids]


def _definite(K: Floats) -> Floats:
    """The nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    if values[0] >= 0:
        return K
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
