"""Equilibria at given excitations: shapes that are bent as far as an example, and no more strained.

A straight displacement stretches a body that bends on an arc, which then rings beside the swing it
was let go for. The relaxed shape has the same excitations and the least energy,

    min U(u) − f·u    subject to    D u = χ,

with the forces of its constraints along the examples alone; so what it is let go from is a swing
along them, as later cycles are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.core.errors import InputError
from supple.core.types import Bools, Floats
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear.cholesky import Factorization

_INCREMENTS = 4
_ITERATIONS = 60
_DECREASE = 1e-4  # of what a straight line promises that a step must bring (Armijo)
_DECREMENT = 1e-15  # of the energy that is left to gain where a shape counts as found
_ROUNDING = 1e-12  # of the energy: where less is promised and it falls no more, it is rounding
_SHORTEST = 1e-10  # share of a Newton step

Energy = Callable[[Floats], tuple[float, Floats]]
"""U − f·u and its gradient at a shape."""
Direction = Callable[[Floats, Floats], Floats]
"""A descent direction within D δ = 0, from the shape and the gradient there."""


def relaxed_shape(
    energy: Energy, direction: Direction, about: Floats, straight: Floats, example: str
) -> Floats:
    """The shape of least energy with the excitations of ``straight``, in any coordinates."""
    u, offset = about, np.zeros_like(about)
    for k in range(1, _INCREMENTS + 1):
        share = k / _INCREMENTS
        # what relaxing adds to an arc grows with the square of its size
        ahead = offset * (k / max(k - 1, 1)) ** 2
        way = about + share * (straight - about)
        u = minimised(energy, direction, way + ahead, way, example)
        offset = u - way
    return u


def minimised(
    energy: Energy, direction: Direction, u: Floats, otherwise: Floats, example: str
) -> Floats:
    """The shape of least energy from u on, or from ``otherwise`` where that has less of it."""
    E, g = energy(u)
    plain, slope = energy(otherwise)
    if not np.isfinite(E) or plain < E:
        u, E, g = otherwise, plain, slope
    if not np.isfinite(E):
        raise InputError(_not_found(example))
    before = np.inf
    for _ in range(_ITERATIONS):
        delta = direction(u, g)
        promised = -float(np.vdot(g, delta))
        stalls = promised <= _ROUNDING * abs(E) and promised > 0.1 * before
        if promised <= _DECREMENT * abs(E) or stalls:
            return u
        before = promised
        length = 1.0
        while True:
            there = u + length * delta
            value, slope = energy(there)
            if value <= E - _DECREASE * length * promised:
                u, E, g = there, value, slope
                break
            length *= 0.5
            if length < _SHORTEST:  # rounding is all that is left to gain, or the body folds
                if promised <= 1e-9 * abs(E):
                    return u
                raise InputError(_not_found(example))
    raise InputError(_not_found(example))


def _not_found(example: str) -> str:
    return (
        f"{example}: there is no shape at rest that is bent so far; give a smaller start, or let "
        "it go from the example as it is with relaxed=False"
    )


def in_coordinates(
    evaluate: Callable[[Floats], tuple[float, Floats, Floats]], load: Floats, D: Floats
) -> tuple[Energy, Direction]:
    """Energy and Newton's direction of a reduced model under a load, D (k, r)."""
    k = len(D)
    Q, _ = np.linalg.qr(D.T, mode="complete")
    Z = Q[:, k:]  # D Z = 0

    def energy(q: Floats) -> tuple[float, Floats]:
        U, R, _ = evaluate(q)
        return U - float(load @ q), R - load

    def direction(q: Floats, g: Floats) -> Floats:
        K = Z.T @ evaluate(q)[2] @ Z
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        # downhill also where the energy is not convex
        curved = np.maximum(np.abs(values), 1e-8 * max(float(np.abs(values).max(initial=0)), 1e-30))
        step: Floats = -Z @ (vectors @ ((vectors.T @ (Z.T @ g)) / curved))
        return step

    return energy, direction


def in_full(
    body: ElasticBody, load: Floats, D: Floats, free: Bools | None = None
) -> tuple[Energy, Direction]:
    """Energy and Newton's direction of a body under a load (n, 3), D (k, n, 3).

    Components that are not ``free`` (n, 3) stay; by default those that are held.
    """
    moves = body.free if free is None else free
    factorization = Factorization(body.pattern, moves)
    rows = D.reshape(len(D), -1)

    def energy(u: Floats) -> tuple[float, Floats]:
        at = body.evaluate(u, order=1)
        return at.energy - float(np.vdot(load, u)), np.where(moves, at.gradient - load, 0.0)

    def direction(u: Floats, g: Floats) -> Floats:
        try:
            factorization.factorize(body.evaluate(u, order=2).stiffness)
        except NotPositiveDefinite:
            factorization.factorize(body.evaluate(u, order=2, definite=True).stiffness)
        y, *answers = factorization.solve(np.stack([-g, *D]))
        Y = np.reshape(answers, rows.shape)
        amounts = np.linalg.solve(rows @ Y.T, rows @ y.ravel())
        step: Floats = y - (amounts @ Y).reshape(y.shape)
        return step

    return energy, direction
