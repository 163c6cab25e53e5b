"""The rest shape that gravity has hidden (example damping §7, the leaf): statics the other way.

Known is the shape x in which a body hangs, unknown the one X that it would have without load.
Forces balance, r(X, x) = ∇U − f = 0, as in statics, and Newton's method runs over X instead of x.
With rest positions that move by δX, and positions by δx,

    δr_a = ∫ (A : δF + P tr H − P Hᵀ) ∇N_a dV − δf_a,   δF = ∇δx − F H,   H = ∇δX.

For small strains only x − X matters and the matrix is −K, the stiffness; it preconditions GMRES,
which needs few products. Load is brought on in parts. No static problem is solved on the way.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.elasticity import elements
from supple.bodies.assembly import Asked, Part, add_up, elastic_points, gradients_at
from supple.bodies.solid import Body
from supple.core.checks import instance, number, vector
from supple.core.errors import InputError, MeshError
from supple.core.types import Floats, Ints, Progress
from supple.design.matching.caveats import MatchingWarning
from supple.mesh.tet import EDGES, QuadraticTetMesh
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear.cholesky import Factorization

_ITERATIONS = 20  # of Newton's method for a part of the load
_SMALLEST_INCREMENT = 1e-2
_HALVINGS = 12
_FORCING, _PRODUCTS = 1e-4, 50  # relative residual that GMRES leaves, and what it may take
_SLOW = 0.9  # of the residual, in a step of Newton's method: lost
_ROUNDED = 30.0  # times what rounding alone leaves of forces


@dataclass(frozen=True, eq=False)
class RestShape:
    """A body at its rest shape, and how it hangs.

    ``body`` is the body without load; ``displacements`` (n, 3) [m] lead from it to the shape that
    was given, in which it rests under the load. ``stable`` tells whether it comes back to that
    shape when it is pushed a little. ``residual`` [N] is the norm of the forces that do not balance
    there, ``iterations`` those of Newton's method.
    """

    body: Body
    displacements: Floats
    stable: bool
    residual: float
    iterations: int


def rest_shape(
    body: Body,
    forces: ArrayLike | None = None,
    *,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    tolerance: float = 1e-10,
    progress: Progress | None = None,
) -> RestShape:
    """The shape without load of a body whose mesh is its shape under a load.

    ``body`` is as observed: its mesh hangs or stands under ``gravity`` (3,) [m/s²] and ``forces``
    (n, 3) [N]; density is that of the rest shape. What holds it stays where it is. ``tolerance`` is
    what may be left of the load. Of quadratic tets, which have straight sides at rest, the corners
    hang where they were observed.
    """
    instance("body", body, Body, "Body(mesh, StVK(young=1e5, poisson=0.4), fixed=...)")
    body.require_supports("rest_shape")
    number("tolerance", tolerance, above=0)
    moved = np.zeros_like(body.mesh.vertices)
    body.held.place(moved, 0.0)
    if moved.any():
        raise InputError(
            "supports of this body displace it at time 0, so its mesh is not its shape under the "
            "load; give a body that is held by fixed= where it is"
        )
    given = None if forces is None else body.checked("forces", forces)
    search = _Search(body, given, vector("gravity", gravity), tolerance)
    reached, increment = 0.0, 1.0
    while reached < 1.0:
        part = min(1.0, reached + increment)
        problem = search.balance(part)
        if problem:
            increment /= 2
            if increment < _SMALLEST_INCREMENT:
                raise InputError(_none(reached, problem))
            continue
        reached, increment = part, 2 * increment
        if progress is not None:
            progress(round(1000 * reached), 1000, "load")
    return search.result()


def _none(reached: float, problem: str) -> str:
    return (
        f"no rest shape was found beyond {100 * reached:.3g} % of the load: {problem}. A body this "
        "soft could not hang in the shape given; take a stiffer material, less gravity, a finer "
        "mesh, or a material that resists compression, such as StableNeoHookean"
    )


@dataclass(frozen=True, eq=False)
class _Guess:
    """Rest positions and positions, both (n, 3) [m], with the body and its forces there."""

    body: Body
    x: Floats
    r: Floats
    K: Floats
    scale: float
    rounding: float

    @property
    def u(self) -> Floats:
        return self.x - self.body.mesh.vertices

    @property
    def residual(self) -> float:
        return float(np.linalg.norm(self.r))


class _Search:
    """Newton's method over rest shapes, for one part of the load after the other."""

    def __init__(
        self, body: Body, forces: Floats | None, gravity: Floats, tolerance: float
    ) -> None:
        self._forces, self._gravity, self._tolerance = forces, gravity, tolerance
        self._given, self._middles = body, _middles(body)
        self._factors = Factorization(body.pattern, body.free)
        self._held = ~body.free
        self._X, self._x = body.mesh.vertices.copy(), body.mesh.vertices.copy()
        self._part = 1.0
        self.iterations = 0

    def _guess(self, X: Floats, x: Floats) -> _Guess:
        body = replace(self._given, mesh=replace(self._given.mesh, vertices=X))
        load = self._part * body.weight(self._gravity)
        if self._forces is not None:
            load += self._part * self._forces
        found = body.evaluate(x - X, order=2)
        r: Floats = np.where(self._held, 0.0, found.gradient - load)
        scale = float(np.linalg.norm(np.where(self._held, 0.0, load)))
        return _Guess(body, x, r, found.stiffness, scale, body.rounding_force(x - X))

    def balance(self, part: float) -> str:
        """Find the rest shape under a part of the load; returns what stands in the way, or ""."""
        self._part = part
        here = self._guess(self._X, self._x)
        for _ in range(_ITERATIONS):
            if here.residual <= max(self._tolerance * here.scale, _ROUNDED * here.rounding):
                self._X, self._x = here.body.mesh.vertices, here.x
                return ""
            self.iterations += 1
            better = self._searched(here, self._direction(here))
            if isinstance(better, str):
                return better
            here = better
        return f"the forces still do not balance after {_ITERATIONS} iterations"

    def _yielding(self, r: Floats) -> float:
        """How far forces would move it [m]: steps that bend it may stretch it as well."""
        return float(np.linalg.norm(self._factors.solve(r)))

    def _searched(self, here: _Guess, w: Floats) -> _Guess | str:
        """The first of ever shorter steps that leaves less of the residual, as K⁻¹ measures it."""
        dX, dx = self._moves(w)
        before = self._yielding(here.r)
        problem = "the forces do not balance better in any shape near by"
        length = 1.0
        for _ in range(_HALVINGS):
            try:
                there = self._guess(here.body.mesh.vertices + length * dX, here.x + length * dx)
            except MeshError:
                problem = "cells of the rest shape would be flat or inside out"
            else:
                if self._yielding(there.r) < (1 - (1 - _SLOW) * length) * before:
                    return there
            length /= 2
        return problem

    def _moves(self, w: Floats) -> tuple[Floats, Floats]:
        """Moves of rest positions and of positions whose difference δx − δX is w."""
        dX = -w
        if self._middles is None:
            return dX, np.zeros_like(w)
        middles, ends = self._middles
        dX[middles] = 0.5 * (dX[ends[:, 0]] + dX[ends[:, 1]])
        dx = np.zeros_like(w)
        dx[middles] = w[middles] + dX[middles]
        return dX, dx

    def _direction(self, here: _Guess) -> Floats:
        """w = δx − δX of Newton's method, by GMRES with K as preconditioner."""
        from scipy.sparse.linalg import LinearOperator, gmres  # slow to import

        try:
            self._factors.factorize(here.K)
        except NotPositiveDefinite:  # the stiffness without load always is
            unloaded = here.body.evaluate(np.zeros_like(here.x), order=2).stiffness
            self._factors.factorize(unloaded)

        def product(y: Floats) -> Floats:
            w = self._factors.solve(y.reshape(here.r.shape))
            return self._derivative(here, w).ravel()

        operator = LinearOperator((here.r.size, here.r.size), matvec=product, dtype=float)
        y, _ = gmres(operator, -here.r.ravel(), rtol=_FORCING, restart=_PRODUCTS, maxiter=1)
        return self._factors.solve(np.asarray(y).reshape(here.r.shape))

    def _derivative(self, here: _Guess, w: Floats) -> Floats:
        """δr for moves whose difference is w, (n, 3)."""
        dX, dx = self._moves(w)
        body, u = here.body, here.u

        def model(part: Part, cut: slice, depth: int) -> tuple[Floats, Floats, Floats]:
            F = gradients_at(part, cut, u, 1.0, "F")
            psi, P, A = elastic_points(part, cut, F, 2)
            H = gradients_at(part, cut, dX, 0.0, "H")
            along = gradients_at(part, cut, dx, 0.0, "along")
            along -= F @ H
            grown = np.trace(H, axis1=-2, axis2=-1)[..., None, None] * P - P @ H.swapaxes(-1, -2)
            elements.apply_derivative(A, along, P)
            P += grown
            return psi, P, A

        forces = add_up(body.parts, body.pattern, model, Asked(order=1)).gradient
        forces -= self._part * self._weight_derivative(body, dX)
        return np.where(self._held, 0.0, forces)

    def _weight_derivative(self, body: Body, dX: Floats) -> Floats:
        """δ(M g) as cells grow; within distorted bricks evenly, near enough to converge."""
        rule = body.mesh.quadrature()
        nodes = dX[body.mesh.cells]
        grown = np.einsum("mq,mqki,mki->m", rule.weights, rule.gradients, nodes, optimize=True)
        mass = body.scaled_mass(grown / body.mesh.volumes)
        field = np.broadcast_to(self._gravity, dX.shape).copy()
        return body.pattern.multiply(mass, field)

    def result(self) -> RestShape:
        here = self._guess(self._X, self._x)
        try:
            self._factors.factorize(here.K)
            stable = True
        except NotPositiveDefinite:
            stable = False
            warnings.warn(
                "the rest shape that was found balances in the shape given, but not stably: let "
                "go, it would buckle into another. The body is softer, or the load larger, than "
                "the shape allows; check Young's modulus, density and what holds it",
                MatchingWarning,
                stacklevel=3,
            )
        return RestShape(here.body, here.u, stable, here.residual, self.iterations)


def _middles(body: Body) -> tuple[Ints, Ints] | None:
    """The middle nodes (k,) of quadratic tets, and the ends (k, 2) of their edges."""
    if not isinstance(body.mesh, QuadraticTetMesh):
        return None
    cells = body.mesh.cells
    middles, first = np.unique(cells[:, 4:], return_index=True)
    return middles, cells[:, EDGES].reshape(-1, 2)[first]
