"""Moduli of materials with three axes: how they are given, when they are stable, how they turn.

Strains are (E₀₀, E₁₁, E₂₂, 2 E₁₂, 2 E₀₂, 2 E₀₁), stresses (S₀₀, S₁₁, S₂₂, S₁₂, S₀₂, S₀₁).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.parameters import CELL_NUMBERS, Kind, Parameter
from supple.core.types import Floats

VOIGT = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])
"""Which of the six E_ij is."""
PAIRS = ((0, 1), (1, 2), (2, 0))
"""Of axes, in the order of ratios and shear moduli."""


def _along_axes(of: Parameter, value: Any) -> Any:
    """One, one a cell, three, or three a cell (cells, 3)."""
    try:
        shape = np.shape(value)
    except ValueError:
        shape = ()
    if shape[-1:] != (3,) or len(shape) > 2:
        return CELL_NUMBERS.check(of, value)
    found = numbers(of.name, value)
    if of.unit and not (found > 0).all():
        raise InputError.of(of.name, found.tolist(), f": {of.too_low}")
    found.flags.writeable = False
    return found


ALONG_AXES = Kind("one, three, or either a cell", _along_axes)


def _axes(of: Parameter, value: Any) -> Floats:
    """Rotations with the axes in rows, (3, 3) or (cells, 3, 3)."""
    given = numbers(of.name, value)
    if given.ndim == 2 and len(given) > 3:
        given = given[:, None]  # the fibres of the cells
    elif given.ndim == 1:
        given = given[None]
    if given.ndim not in (2, 3) or given.shape[-1] != 3 or not 1 <= given.shape[-2] <= 3:
        raise InputError(
            f"{of.name} has shape {np.shape(value)}; give the direction of the fibres (3,), with "
            "one across (2, 3), three axes (3, 3), or such of every cell: (cells, 3), "
            "(cells, 2, 3), (cells, 3, 3)",
            parameter=of.name,
        )
    found = _orthonormal(of.name, given)
    if given.shape[-2] == 3:
        unit = given / np.linalg.norm(given, axis=-1, keepdims=True)
        cosines = np.abs(unit @ unit.swapaxes(-1, -2) - np.eye(3)).max()
        if not cosines < 1e-6:
            raise InputError(
                f"{of.name} are not at right angles (cosine {cosines:.2g}); give two of them, of "
                "which the second is made perpendicular to the first",
                parameter=of.name,
            )
    found.flags.writeable = False
    return found


def _orthonormal(name: str, given: Floats) -> Floats:
    """Axes in rows, of which the first is as given and the second next to it."""
    length = np.linalg.norm(given, axis=-1, keepdims=True)
    if not (length > 0).all():
        where = f" in cell {np.argwhere(length == 0)[0, 0]}" if given.ndim == 3 else ""
        raise InputError(
            f"{name} has a direction without length{where}; give one such as (1, 0, 0)",
            parameter=name,
        )
    first = (given / length)[..., 0, :]
    if given.shape[-2] == 1:  # any direction across: the axis that is most so
        across = np.eye(3)[np.abs(first).argmin(axis=-1)]
    else:
        across = (given / length)[..., 1, :]
    across = across - (across * first).sum(axis=-1, keepdims=True) * first
    length = np.linalg.norm(across, axis=-1, keepdims=True)
    if not (length > 1e-6).all():
        raise InputError(
            f"{name} has a second direction along the first; give one across", parameter=name
        )
    across = across / length
    return np.stack([first, across, np.cross(first, across)], axis=-2)


AXES = Kind("three numbers, two or three times three, or such a cell", _axes)


def moduli_along_axes(E: Floats, nu: Floats, G: Floats) -> Floats:
    """C (m, 6, 6) from E_i, ν₁₂ ν₂₃ ν₃₁ and G₁₂ G₂₃ G₃₁, each (m, 3), in the frame of the axes."""
    C = np.zeros((len(E), 6, 6))
    C[:, :3, :3] = np.linalg.inv(_compliance(E, nu))
    C[:, :3, :3] = 0.5 * (C[:, :3, :3] + C[:, :3, :3].swapaxes(1, 2))
    C[:, 3, 3], C[:, 4, 4], C[:, 5, 5] = G[:, 1], G[:, 2], G[:, 0]
    return C


def _compliance(E: Floats, nu: Floats) -> Floats:
    """Strains along the axes from stresses along them, (m, 3, 3)."""
    S = np.zeros((len(E), 3, 3))
    for k, (i, j) in enumerate(PAIRS):
        S[:, k, k] = 1 / E[:, k]
        S[:, i, j] = S[:, j, i] = -nu[:, k] / E[:, i]  # ν_ij/E_i = ν_ji/E_j
    return S


def turned(C: Floats, Q: Floats) -> Floats:
    """C (m, 6, 6) of the axes in the rows of Q, (3, 3) or (m, 3, 3), along x, y and z."""
    order = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    T = np.empty((*Q.shape[:-2], 6, 6))  # from strains along x, y and z to those along the axes
    for row, (a, b) in enumerate(order):
        for column, (i, j) in enumerate(order):
            term = Q[..., a, i] * Q[..., b, j]
            if i != j:
                term = 0.5 * (term + Q[..., a, j] * Q[..., b, i])
            T[..., row, column] = term if a == b else 2 * term
    product: Floats = T.swapaxes(-1, -2) @ C @ T
    return 0.5 * (product + product.swapaxes(-1, -2))


def four_fold(C: Floats) -> Floats:
    """C (m, 6, 6) as a tensor of fourth order, (m, 3, 3, 3, 3)."""
    return C[:, VOIGT[:, :, None, None], VOIGT]


def check_stable(E: Floats, nu: Floats, G: Floats) -> None:
    """Stop unless C is positive definite, and name the bound that is not kept."""
    names = [f"{i + 1}{j + 1}" for i, j in PAIRS]
    for k, (i, j) in enumerate(PAIRS):
        most = np.sqrt(E[:, i] / E[:, j])
        bad = np.flatnonzero(~(np.abs(nu[:, k]) < most))
        if len(bad):
            where = f" in cell {bad[0]}" if len(E) > 1 else ""
            raise InputError(
                f"poisson: ν{names[k]} = {nu[bad[0], k]:g}{where}, but a stable material has less "
                f"than √(E{i + 1}/E{j + 1}) = {most[bad[0]]:.4g} on either side of 0; give less, "
                f"or one ratio for all, poisson=0.3",
                parameter="poisson",
            )
    root = [nu[:, k] * np.sqrt(E[:, j] / E[:, i]) for k, (i, j) in enumerate(PAIRS)]
    left = 1 - sum(x * x for x in root) - 2 * root[0] * root[1] * root[2]
    bad = np.flatnonzero(~(left > 1e-9))
    if len(bad):
        where = f" in cell {bad[0]}" if len(E) > 1 else ""
        raise InputError(
            "poisson: 1 − ν12 ν21 − ν23 ν32 − ν31 ν13 − 2 ν21 ν32 ν13 is "
            f"{left[bad[0]]:.3g}{where}, but a stable material has more than 0; give smaller "
            "ratios, or one for all, poisson=0.3",
            parameter="poisson",
        )
