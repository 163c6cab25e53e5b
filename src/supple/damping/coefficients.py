"""Coefficients of damping models: a number, one a cell, or numbers by region name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.types import Floats

Coefficient = float | ArrayLike | Mapping[str, float]


def checked_coefficient(name: str, given: Coefficient) -> Any:
    """``given``, zero or more everywhere, in a form that can be compared and not be changed."""
    if isinstance(given, Mapping):
        for value in given.values():
            _checked(name, value)
        return given
    array = _checked(name, given)
    return tuple(array.tolist()) if array.ndim else given


def coefficient_of_cells(name: str, given: Coefficient, body: ElasticBody) -> float | Floats:
    """A scalar, or one number a cell; cells in none of the regions named get none."""
    cells = body.n_cells
    if isinstance(given, Mapping):
        values = np.zeros(cells)
        for region, value in given.items():
            values[body.mesh.region(region)] = value
        return values
    array = np.asarray(given, dtype=float)
    if array.ndim == 0:
        return float(array)
    if array.shape != (cells,):
        raise InputError(f"{name} has shape {array.shape}; give a scalar or shape ({cells},)")
    return array


def _checked(name: str, given: ArrayLike) -> Floats:
    array = numbers(name, given)
    if array.ndim > 1 or (array < 0).any():
        raise InputError(
            f"{name}={given!r}: a damping coefficient is a number, zero or more, or one number "
            "for each cell"
        )
    return array
