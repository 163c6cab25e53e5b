"""Coefficients of damping models: a number, one a cell, or numbers by region name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.parameters import Kind, Parameter, parameter
from supple.core.types import Floats

Coefficient = float | ArrayLike | Mapping[str, float]


def _coefficient(of: Parameter, value: Any) -> Any:
    """Zero or more everywhere, in a form that can be compared and not be changed."""
    if isinstance(value, Mapping):
        for each in value.values():
            _checked(of.name, each)
        return value
    array = _checked(of.name, value)
    return tuple(array.tolist()) if array.ndim else value


COEFFICIENT = Kind("one, one a cell, or a table of one a region", _coefficient)


def coefficient(text: str, unit: str, *, default: float | None = 0.0) -> Any:
    """A field that is a coefficient of the body, none unless given."""
    return parameter(default, text, kind=COEFFICIENT, unit=unit, at_least=0)


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


def spread_over_cells(name: str, given: Coefficient, body: ElasticBody) -> Floats:
    """The same, one number a cell in any case."""
    return np.broadcast_to(coefficient_of_cells(name, given, body), body.n_cells)


def _checked(name: str, given: ArrayLike) -> Floats:
    array = numbers(name, given)
    if array.ndim > 1 or (array < 0).any():
        raise InputError(
            f"{name}={given!r}: a damping coefficient is a number, zero or more, or one number "
            "for each cell"
        )
    return array
