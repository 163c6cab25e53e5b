"""The shares that curves and lattices of control points have in a surface."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline
from scipy.spatial import cKDTree

from supple.character.rigs.drag import Drag
from supple.core.errors import InputError
from supple.core.types import Floats

_ON_CURVE = 50  # places per control point where vertices look for the nearest


def drag_of_wire(X: Floats, points: Floats, radius: float) -> Drag:
    """Of a curve with these control points (c, 3) [m] on vertices X (n, 3) [m]."""
    degree = min(3, len(points) - 1)
    curve = BSpline(_knots(len(points), degree), points, degree)
    t = np.linspace(0.0, 1.0, _ON_CURVE * len(points))
    distance, place = cKDTree(curve(t)).query(X)
    if distance.min() >= radius:
        raise InputError(
            f"radius={radius:g} m reaches no vertex; the nearest is {distance.min():.3g} m away"
        )
    fall = np.maximum(1 - (distance / radius) ** 2, 0.0) ** 2
    basis = BSpline.design_matrix(t[place], curve.t, degree).toarray()
    return Drag.of(fall[:, None] * basis, np.empty((0, *basis.shape)))


def drag_of_lattice(
    X: Floats, counts: tuple[int, int, int], low: Floats, high: Floats, *, trilinear: bool
) -> Drag:
    """Of so many control points from ``low`` to ``high`` (3,) [m] on vertices X (n, 3) [m]."""
    degrees = [1 if trilinear else count - 1 for count in counts]

    def products(*orders: int) -> Floats:
        """Of the functions along the axes, each differentiated so many times, (n, c)."""
        along = []
        for k, (count, degree, order) in enumerate(zip(counts, degrees, orders, strict=True)):
            size = max(high[k] - low[k], np.finfo(float).tiny)
            t = np.clip((X[:, k] - low[k]) / size, 0.0, 1.0)
            functions = BSpline(_knots(count, degree), np.eye(count), degree)
            along.append(functions(t, nu=order) / size**order)
        product: Floats = np.einsum("na,nb,nc->nabc", *along)
        return product.reshape(len(X), -1)

    slopes = [products(*orders) for orders in np.eye(3, dtype=int).tolist()]
    return Drag.of(products(0, 0, 0), np.stack(slopes))


def _knots(count: int, degree: int) -> Floats:
    """Even ones from 0 to 1, with as many more at both ends as ``count`` control points need."""
    inner = np.linspace(0.0, 1.0, count - degree + 1)
    return np.concatenate([np.zeros(degree), inner, np.ones(degree)])
