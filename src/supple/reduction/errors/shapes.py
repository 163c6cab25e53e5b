"""The few shapes that say most of what many shapes have beside known vectors."""

from __future__ import annotations

import numpy as np

from supple.bodies.solid import Body
from supple.core.types import Floats
from supple.reduction.modes import SmallVibrations, combined, mass_times, products, without

_WEAK = 1e-5  # of the largest, below which shapes are rounding
_DEPENDENT = 1e-6  # of a shape, below which what is new in it is rounding


def principal_shapes(rest: SmallVibrations, shapes: Floats, known: Floats, most: int) -> Floats:
    """Up to ``most`` mass-orthonormal shapes (m, n, 3) that fit ``shapes`` best beside the known.

    Best in the energy of small deformations; rigid motions are left out.
    """
    squares, turns = np.linalg.eigh(products(shapes, rest.times(shapes)))
    kept = np.flatnonzero(squares > _WEAK**2 * squares[-1])[::-1][:most]
    if not len(kept) or squares[-1] <= 0.0:
        return np.empty((0, *shapes.shape[1:]))
    new = combined(turns.T[kept] / np.sqrt(squares[kept, None]), shapes)
    known = np.concatenate([rest.rigid, known])
    return _orthonormal_in_order(rest.body, new, known)


def _orthonormal_in_order(body: Body, shapes: Floats, known: Floats) -> Floats:
    """Mass-orthonormal shapes beside the known vectors, the first ones first."""
    along, measures = known, duals(body, known)
    for shape in shapes:
        left = shape[None]
        for _ in range(3):  # what rounding leaves of the first pass, the others take
            left = without(left, along, measures)
        size = mass_size(body, left[0])
        if size > _DEPENDENT * mass_size(body, shape):
            new = left / size
            along = np.concatenate([along, new])
            measures = np.concatenate([measures, mass_times(body, new)])
    return along[len(known) :]


def duals(body: Body, known: Floats) -> Floats:
    """What measures the parts along vectors, which need not be orthonormal after edits."""
    momenta = mass_times(body, known)
    if not len(known):
        return momenta
    measures = np.linalg.solve(products(known, momenta), momenta.reshape(len(known), -1))
    return np.asarray(measures, dtype=float).reshape(known.shape)


def mass_size(body: Body, u: Floats) -> float:
    """The root of uᵀ M u [√kg m]."""
    return float(np.sqrt(max(float(np.vdot(u, body.mass_times(u))), 0.0)))
