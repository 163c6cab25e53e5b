"""Damping matched to the stiffness of a body: β times the material part of its tangent stiffness.

K(u) has two parts. The material part is how stresses change with the strain, F ∘ ∂²ψ/∂E² ∘ F; it
is positive semidefinite where ∂²ψ/∂E² is, and spares rigid motion. The geometric part is how
stresses turn with the body; it makes K(u) indefinite under compression, brakes the rotation of a
stressed body, and vanishes without stress. β times the first alone,

    r = β/2 Ė : ∂²ψ/∂E² : Ė        (strain rate, Eq. 12)

with the rate Ė of Green's strain, is β K at the rest shape and takes energy at every shape.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from supple._kernels.damping.laws import matched_law
from supple._kernels.damping.matched import (
    add_matched,
    add_matched_change,
    add_matched_force,
    add_matched_geometric,
)
from supple._kernels.damping.quadratic import (
    add_quadratic,
    add_quadratic_by_shape,
    add_quadratic_change,
    add_quadratic_force,
    add_quadratic_geometric,
)
from supple._kernels.elasticity import elements
from supple._kernels.linear_algebra.blocks import add_scaled, add_scaled_identity_blocks
from supple.bodies.assembly import (
    Chunk,
    Part,
    chunks_by_thread,
    elastic_points,
    gradients_at,
    point_array,
)
from supple.bodies.cloth import Cloth
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.bodies.springs import SpringNetwork
from supple.core.errors import InputError
from supple.core.threads import run_all, workspace
from supple.core.types import Floats, Ints
from supple.damping.base import DAMPINGS, BoundDamping, Damping, DampingTangent
from supple.damping.cells import BoundIsotropicDamping, Points, PointSums
from supple.damping.cloth_rate import BoundClothStrainRate
from supple.damping.coefficients import Coefficient, coefficient, coefficient_of_cells
from supple.damping.laws import CellLaw
from supple.damping.strain_rate import BoundSpringStrainRate

_SHIFT_OF_F = float(np.finfo(float).eps) ** (1 / 3)  # to either side: central differences
_SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class MatchedStrainRate(Damping):
    """r = β/2 Ė:C:Ė with the elasticity C = ∂²ψ/∂E² of the material where it is (Eq. 12).

    E is Green's strain, Ė = ½ (FᵀḞ + ḞᵀF). It is what ``Rayleigh(stiffness=β)`` has beside the
    mass, under a name that says what it does. For StVK it is ``StrainRate`` with shear β μ and bulk
    β λ; other materials damp more where they are stiffer. Springs and cloth have the like with
    their own strains.

    C may lose definiteness in large strain. Then the nearest definite form takes its place: what
    the form in the rates of the three stretches has of negative eigenvalues is left out, and so
    are negative shear moduli. Where a cell is pressed to less than a fifth, materials that survive
    inversion would have a C without bounds; it is held back there. Conserves linear and angular
    momentum.
    """

    stiffness: Coefficient = coefficient("β, times the elasticity of the material", "s")

    @property
    def spares_rigid_motion(self) -> bool:
        return True

    def bind(self, body: ElasticBody) -> BoundDamping:
        return matched_to(body, coefficient_of_cells("stiffness", self.stiffness, body))


def matched_to(body: ElasticBody, beta: float | Floats) -> BoundDamping:
    """β [s] times the material part of a body's tangent stiffness; β is a number or (cells,)."""
    if isinstance(body, Body):
        return BoundMatched(body, beta)
    if isinstance(body, SpringNetwork):
        # V_d = ½ β ε̇ᵀ ∂²V/∂ε² ε̇ with ∂²V/∂ε² = L k (strain rate, Eq. 12)
        return BoundSpringStrainRate(body, beta * body.spring_stiffness)
    if isinstance(body, Cloth):
        return BoundClothStrainRate.matched_to(body, np.broadcast_to(beta, body.n_cells))
    raise InputError(
        f"a {type(body).__name__} has no strains that damping could be matched to; give "
        "Rayleigh(stiffness=..., at=StiffnessAt.REST)"
    )


@dataclass(eq=False)
class _Geometric:
    """What to take off β K at a shape."""

    scalars: Floats
    """The geometric part of β K, multiples of the identity (blocks,)."""
    left_out: list[tuple[Part, Ints]]
    """Cells that have no share in it."""
    beside: Floats | None = None
    """To be added: what the material part of these cells has more than K, (blocks, 3, 3)."""


class BoundMatched(BoundIsotropicDamping):
    """β times the material part of K(u) in a solid, as K less its geometric part.

    The geometric part is one number for every pair of vertices, so that the matrix is hardly more
    work than K, which is there anyway. Cells whose elasticity is not definite are done one by one.
    """

    def __init__(self, body: Body, beta: float | Floats) -> None:
        super().__init__(body)
        self.beta: Floats = np.broadcast_to(beta, body.n_cells)
        """β [s], (cells,)."""
        self._everywhere = float(beta) if np.ndim(beta) == 0 else None
        self.uses_stiffness = self._everywhere is not None
        self._constant = tuple(_constant_elasticity(part) for part in body.parts)
        self.needs_elasticity = any(C is None for C in self._constant)

    # -- at points -----------------------------------------------------------------------

    def add_points(self, points: Points, to: PointSums) -> None:
        self._add_rate(points, to, stress=False)

    def add_tangent_points(self, points: Points, to: PointSums) -> None:
        self._add_rate(points, to, stress=True)

    def add_stress_points(self, points: Points, A: Floats) -> None:
        unused = PointSums.zeros("matched", points, order=1)
        self._add_rate(points, replace(unused, A=A, order=2, factor=0.0), stress=True)

    def _add_rate(self, points: Points, to: PointSums, *, stress: bool) -> None:
        beta, C = self._at(points)
        F, rate = points.F, points.rate
        if C is not None:
            add_quadratic(F, rate, C, beta, to.compiled, stress)
        else:
            add_matched(F, rate, points.P, points.A, beta, to.compiled, stress)

    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        beta, C = self._at(points)
        if C is not None:
            add_quadratic_by_shape(points.F, points.rate, C, beta, G, factor)
        else:
            super().add_shape_gradient_points(points, G, factor)

    def _at(self, points: Points) -> tuple[Floats, Floats | None]:
        """β of some points (c,), and their elasticity (c, 6, 6) if it is constant."""
        C = self._constant_of(points.part)
        beta = self.beta[points.part.cells[points.cut]]
        return beta, None if C is None else C[points.cut]

    def _constant_of(self, part: Part) -> Floats | None:
        for each, C in zip(self.body.parts, self._constant, strict=True):
            if each is part:
                return C
        raise AssertionError("a part of another body")

    def laws(self, cells: Ints) -> tuple[CellLaw, ...] | None:
        if not all(part.material.is_isotropic for part in self.body.parts):
            return None
        return (CellLaw.of(matched_law, [self.beta[cells]], needs_elasticity=True),)

    # -- all over the body ---------------------------------------------------------------

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        if self._has_stiffness(shape):
            pattern, (factor, K) = self.body.pattern, self._stiffness(shape)
            less = self._geometric(shape)
            force = factor * pattern.multiply(K, v)
            force -= pattern.multiply(less.scalars, v)
            if less.beside is not None:
                force += pattern.multiply(less.beside, v)
            return 0.5 * float(np.vdot(v, force)), force
        R, force, shape.known[self] = self._parts(shape.u, v)
        return R, force

    def multiply(self, shape: Shape, shapes: Floats) -> Floats:
        return self.multiply_beside(shape, shapes, np.zeros(self.body.pattern.n_blocks))

    def multiply_beside(self, shape: Shape, shapes: Floats, mass: Floats) -> Floats:
        """The same for C(u) and multiples of the identity (blocks,) beside it, in one go."""
        less, pattern = self._geometric(shape), self.body.pattern
        factor, K = self._stiffness(shape)
        product = pattern.multiply_many(K, shapes, factor=factor, scalars=mass - less.scalars)
        if less.beside is not None:
            product = product + pattern.multiply_many(less.beside, shapes)
        return product

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        less = self._geometric(shape)
        scale, K = self._stiffness(shape)
        add_scaled(K.reshape(-1), factor * scale, values.reshape(-1))
        add_scaled_identity_blocks(values, less.scalars, -factor)
        if less.beside is not None:
            add_scaled(less.beside.reshape(-1), factor, values.reshape(-1))

    def add_tangent(self, shape: Shape, v: Floats, of: DampingTangent, values: Floats) -> None:
        BoundDamping.add_tangent(self, shape, v, of, values)

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        def add(points: Points, to: PointSums) -> None:
            beta, C = self._at(points)
            if C is not None:
                add_quadratic_change(points.F, points.rate, C, factor * beta, to.A)
            else:
                self._add_change(points, factor * beta, to.A)

        if v.any():
            self._add(self._model(shape, v, add), values)

    def _add_change(self, points: Points, beta: Floats, A: Floats) -> None:
        part, cut, F, rate = points.part, points.cut, points.F, points.rate
        speed = np.linalg.norm(rate, axis=(2, 3))
        reach = np.full(speed.shape, _SHIFT_OF_F)
        if not part.material.survives_inversion:  # stay within F of one sign
            size = np.linalg.norm(F, axis=(2, 3))
            reach *= np.minimum(1.0, np.abs(np.linalg.det(F)) / size**2)
        reach = np.divide(reach, speed, out=np.zeros_like(speed), where=speed > 0)
        sides = []
        for sign, name in ((1.0, " ahead"), (-1.0, " behind")):
            there = F + (sign * reach)[:, :, None, None] * rate
            sides.append(elastic_points(part, cut, there, 2, name)[2])
        given = F, rate, points.P, points.A
        add_matched_change(*given, *sides, reach, beta, A)

    def _stiffness(self, shape: Shape) -> tuple[float, Floats]:
        """A number and a matrix (blocks, 3, 3) whose product is β K."""
        if self._everywhere is not None:
            return self._everywhere, shape.stiffness
        key = (self, "stiffness")
        if key not in shape.known:
            found = self.body.evaluate(shape.u, order=2, cell_factors=self.beta)
            shape.known[key] = found.stiffness
        return 1.0, shape.known[key]

    def _has_stiffness(self, shape: Shape) -> bool:
        if self._everywhere is not None:
            return shape.has_stiffness
        return (self, "stiffness") in shape.known

    def _geometric(self, shape: Shape) -> _Geometric:
        if self not in shape.known:
            shape.known[self] = self._parts(shape.u, None)[2]
        found: _Geometric = shape.known[self]
        if found.left_out and found.beside is None:
            found.beside = np.zeros((self.body.pattern.n_blocks, 3, 3))
            for part, cells in found.left_out:
                self._add_definite(shape.u, part, cells, found.beside)
        return found

    def _parts(self, u: Floats, v: Floats | None) -> tuple[float, Floats, _Geometric]:
        """R [W] and ∇₂R [N], (n, 3), if v is given, and the geometric part."""
        n = 0 if v is None else len(u)
        blocks = self.body.pattern.n_blocks
        work = chunks_by_thread(self.body.parts)
        shares = [_Share(np.empty(blocks), np.empty(3 * n))]
        for t in range(1, len(work)):
            scalars, force = workspace(f"geometric {t}", blocks), workspace(f"rate {t}", 3 * n)
            shares.append(_Share(scalars, force))
        run_all([partial(self._add_parts, u, v, *of) for of in zip(work, shares, strict=True)])
        first = shares[0]
        for other in shares[1:]:
            first.power += other.power
            first.left_out += other.left_out
            add_scaled(other.scalars, 1.0, first.scalars)
            add_scaled(other.force, 1.0, first.force)
        force = first.force.reshape(n, 3)
        if v is not None:
            for part, cells in first.left_out:
                first.power += self._add_definite_force(u, v, part, cells, force)
        return first.power, force, _Geometric(first.scalars, first.left_out)

    def _add_parts(self, u: Floats, v: Floats | None, chunks: list[Chunk], to: _Share) -> None:
        to.scalars[:], to.force[:] = 0.0, 0.0
        force = to.force.reshape(-1, 3)
        for part, cut in chunks:
            F = gradients_at(part, cut, u, 1.0, "F")
            rate = None if v is None else gradients_at(part, cut, v, 0.0, "rate")
            weights = part.weights[cut] * self.beta[part.cells[cut], None]
            gradients, slots, C = part.gradients[cut], part.slots[cut], self._constant_of(part)
            there = part.nodes[cut], gradients, weights
            if C is not None:
                add_quadratic_geometric(gradients, weights, F, C[cut], slots, to.scalars)
                if rate is not None:
                    to.power += add_quadratic_force(*there, F, rate, C[cut], force)
                continue
            _, P, A = elastic_points(part, cut, F, 2)
            S, unsound = point_array("S", part, cut, 3, 3), np.zeros(len(F), dtype=bool)
            add_matched_geometric(gradients, weights, F, P, A, slots, to.scalars, S, unsound)
            if rate is not None:
                to.power += add_matched_force(*there, rate, A, S, unsound, force)
            if unsound.any():
                to.left_out.append((part, cut.start + np.flatnonzero(unsound)))

    def _points_of(self, u: Floats, v: Floats | None, part: Part, cells: Ints) -> Points:
        F = gradients_at(part, cells, u, 1.0, "F")
        rate = np.zeros_like(F) if v is None else gradients_at(part, cells, v, 0.0, "rate")
        return Points.of(part, cells, F, rate, elasticity=True)

    def _add_definite_force(
        self, u: Floats, v: Floats, part: Part, cells: Ints, force: Floats
    ) -> float:
        """Add the force of some cells, their elasticity made definite; returns their share of R."""
        points = self._points_of(u, v, part, cells)
        sums = PointSums.zeros("definite", points, order=1)
        self.add_points(points, sums)
        weights = part.weights[cells]
        elements.add_nodal_forces(part.nodes[cells], part.gradients[cells], weights, sums.P, force)
        return float(np.vdot(weights, sums.r))

    def _add_definite(self, u: Floats, part: Part, cells: Ints, values: Floats) -> None:
        """Add what the material part of some cells has more than K, once it is made definite."""
        points = self._points_of(u, None, part, cells)
        sums = PointSums.zeros("definite", points, order=2)
        self.add_points(points, sums)
        sums.A[:] -= self.beta[part.cells[cells], None, None, None, None] * points.A
        elements.add_stiffness(
            part.gradients[cells], part.weights[cells], sums.A, part.slots[cells], values
        )


@dataclass(eq=False)
class _Share:
    """What one thread adds up."""

    scalars: Floats
    force: Floats
    power: float = 0.0
    left_out: list[tuple[Part, Ints]] = field(default_factory=list)


def _constant_elasticity(part: Part) -> Floats | None:
    """∂²ψ/∂E² [Pa] of a part's cells (c, 6, 6), if it is the same at every shape."""
    if not part.material.quadratic_in_strain:
        return None
    whole = slice(0, len(part.cells))
    F = np.zeros((*part.weights.shape, 3, 3))
    F[:] = np.eye(3)
    return strain_elasticity(elastic_points(part, whole, F, 2)[2][:, 0])


def strain_elasticity(A: Floats) -> Floats:
    """∂²ψ/∂E² (c, 6, 6) from ∂P/∂F at rest (c, 6, 3, 3): without stress they are the same."""
    C = np.empty((len(A), 6, 6))
    for a, (m, j) in enumerate(_SIX):
        for b, (n, l) in enumerate(_SIX):
            C[:, a, b] = _component(A, m, j, n, l)
    return C


def _component(A: Floats, m: int, j: int, n: int, l: int) -> Floats:
    """∂P_mj/∂F_nl of derivatives (c, 6, 3, 3), of which j ≤ l are kept."""
    if j > l:
        m, j, n, l = n, l, m, j
    entry: Floats = A[:, (0, 2, 3)[j] + l, m, n]
    return entry
