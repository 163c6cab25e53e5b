"""Damping by example at work on one body (example damping, Eqs. 8–11, 16–17)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.sparse import LowRank, joined
from supple.core.types import Floats
from supple.damping.base import BoundDamping
from supple.damping.examples.base import LinearBase
from supple.damping.examples.deformation import Measure
from supple.damping.examples.excitation import Excitations
from supple.damping.examples.felt import coupling, felt, strengths

if TYPE_CHECKING:
    from supple.damping.example import ExampleDamping

_LEAST = 1e-8  # of xᵀCx at rest: where the base hardly damps an example, no more is made of it
_NOTHING = 1e-12  # of what the base does to any motion: what it does to one that it ignores


@dataclass(frozen=True, eq=False)
class _At:
    """The examples at one shape."""

    X: Floats
    """(k, n, 3)"""
    CX: Floats
    """(k, n, 3)"""
    G: Floats
    """XᵀCX (k, k)."""


class BoundExampleDamping(BoundDamping):
    """Ĉ = g (C + C X W (C X)ᵀ), with X bent and turned along with the body."""

    is_gradient = False

    def __init__(self, damping: ExampleDamping, body: ElasticBody) -> None:
        about = None if damping.about is None else body.checked("about", damping.about)
        self._damping = damping
        self._motion = Excitations(body, damping.examples, about)
        self._k = len(damping.examples)
        self._base = LinearBase(damping.bases, body, self._k)
        base = self._base.bound
        varying = [example for example in damping.examples if not example.curve.is_constant]
        self._measures = {example.measure for example in varying}
        self._by_rate = np.array([e.measure is Measure.RATE for e in damping.examples], dtype=bool)
        self.is_linear = Measure.RATE not in self._measures
        self.depends_on_shape = bool(varying) or damping.overall is not None
        self.depends_on_shape |= base.depends_on_shape or self._motion.follows
        self.uses_stiffness, self.pattern = base.uses_stiffness, base.pattern
        self.uses_stiffness_matrix = base.uses_stiffness_matrix
        self.uses_stiffness_matrix |= base.uses_stiffness and self._k > 0
        self._follows = base.depends_on_shape
        rest = Shape(body, np.zeros_like(body.mesh.vertices), order=2 if self._follows else 1)
        self._least = np.zeros(self._k)
        self._rest = self._products(rest, self._motion.interleaved)
        self._least = _LEAST * np.diag(self._rest.G)

    @property
    def gram_at_rest(self) -> Floats:
        """XᵀCX (k, k) at rest."""
        return self._rest.G

    def powers_at_rest(self) -> Floats:
        """xᵀCx (k,) at rest, 0 where the base does nothing to an example but rounding."""
        X, powers = self._motion.shapes, np.diag(self._rest.G).copy()
        if len(X):
            v = np.where(X.any(axis=0), np.random.default_rng(0).normal(size=X[0].shape), 0.0)
            rest = Shape(self._motion.body, np.zeros_like(v), order=1)
            any_motion = float(np.vdot(v, self._base.bound.evaluate(rest, v)[1]) / np.vdot(v, v))
            sizes = np.einsum("kni,kni->k", X, X)
            powers[powers <= _NOTHING * any_motion * sizes] = 0.0
        return powers

    def felt_strengths(self, sizes: Floats | None = None) -> Floats:
        """xᵢᵀĈxᵢ / xᵢᵀCxᵢ (k,) of the rest shape, for sizes (k,) of what curves are of."""
        damping, G = self._damping, self._rest.G
        gamma = strengths(damping.examples, np.zeros(self._k) if sizes is None else sizes)
        return felt(G, self._coupled(G, gamma))

    # -- what a damping offers ---------------------------------------------------------------

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        force = self._force(shape, v, near=v)
        return 0.5 * float(np.vdot(v, force)), force

    def potential(self, shape: Shape, v: Floats, near: Floats) -> float:
        # Ĉ need not be symmetric and may change with v, so that no R has Ĉv as its gradient;
        # with Ĉ frozen, dv·Ĉ(near + ½ dv) has it at ``near``, and is convex
        dv = v - near
        return float(np.vdot(dv, self._force(shape, near + 0.5 * dv, near=near)))

    def _force(self, shape: Shape, v: Floats, *, near: Floats) -> Floats:
        """Ĉ v with Ĉ as it is at velocity ``near`` (Eqs. 9 and 16)."""
        force = self._base.evaluate(shape, v)
        if self._k:
            force = force + LowRank(self._at(shape).CX, self._coupling(shape, near)).multiply(v)
        return force * self._overall(shape)

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        self._base.add_matrix(shape, v, factor * self._overall(shape), values, definite=definite)

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        # Ĉ v = C(u) z with z = v + X W (C X)ᵀ v, of which C is what follows the shape most
        z = v
        if self._k:
            at, rows = self._at(shape), (self._k, v.size)
            amounts = self._coupling(shape, v) @ (at.CX.reshape(rows) @ v.ravel())
            z = v + (amounts @ at.X.reshape(rows)).reshape(v.shape)
        self._base.bound.add_shape_derivative(shape, z, factor * self._overall(shape), values)

    def low_rank(self, shape: Shape, v: Floats) -> LowRank | None:
        parts = [self._base.low_rank(shape, v)]
        if self._k:
            parts.append(LowRank(self._at(shape).CX, self._coupling(shape, v, of_derivative=True)))
        return joined(parts, self._overall(shape))

    # -- Ĉ at a shape ------------------------------------------------------------------------

    def _overall(self, shape: Shape) -> float:
        """g = γ(‖u‖) (Eq. 17)."""
        overall = self._damping.overall
        return 1.0 if overall is None else float(overall(self._motion.displacement(shape)))

    def _coupling(self, shape: Shape, v: Floats, *, of_derivative: bool = False) -> Floats:
        """W with Ĉ = C + C X W (C X)ᵀ or, about, that of the derivative of Ĉ v by v.

        Along an example with a curve of the rate, γ(|χ̇|) χ̇ has the derivative γ + γ' |χ̇|.
        """
        sizes = np.zeros(self._k)
        if Measure.EXCITATION in self._measures:
            sizes = self._motion.excitations(shape)
        if Measure.RATE in self._measures:
            sizes = np.where(self._by_rate, self._motion.rates(shape, v), sizes)
        examples = self._damping.examples
        gamma = strengths(examples, sizes)
        if of_derivative and Measure.RATE in self._measures:
            for i in np.flatnonzero(self._by_rate).tolist():
                steeper = gamma[i] + examples[i].curve.with_slope(sizes[i])[1] * abs(sizes[i])
                gamma[i] = max(steeper, 0.1 * gamma[i])  # a drag that falls is kept definite
        return self._coupled(self._at(shape).G, gamma)

    def _coupled(self, G: Floats, gamma: Floats) -> Floats:
        damping = self._damping
        return coupling(G, gamma, symmetric=damping.symmetric, definite=damping.definite)

    def _at(self, shape: Shape) -> _At:
        """The examples at a shape; worked out once."""
        if not self._follows and self._motion.is_as_given(shape):
            return self._rest
        if self not in shape.known:
            shape.known[self] = self._products(shape, self._motion.at(shape))
        found: _At = shape.known[self]
        return found

    def _products(self, shape: Shape, X: Floats) -> _At:
        CX = self._base.multiply(shape, X)
        rows = len(CX), CX[0].size if len(CX) else 0
        G = X.reshape(rows) @ CX.reshape(rows).T
        G = 0.5 * (G + G.T)
        # Where C x goes to nothing so does F W Fᵀ, F = C x, but only as long as W stays within
        # bounds; a larger G takes less away, so that Ĉ stays definite.
        powers = np.diag(G)
        raised = (powers > 0) & (powers < self._least)
        if raised.any():
            G[raised, raised] = self._least[raised]
        return _At(X, CX, G)
