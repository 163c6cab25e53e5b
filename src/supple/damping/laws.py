"""Dissipation densities as compiled loops call them, by address (``_kernels/damping/law_call``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from supple._kernels.compiling import Function
from supple._kernels.damping import law_call
from supple.core.types import Floats
from supple.damping.curve import Curve

WIDTH = 6
"""Numbers that a law has of every cell."""


@dataclass(frozen=True, eq=False)
class CellLaw:
    """A density at some c cells: compiled code, and the numbers that it takes."""

    kernel: Function
    coefficients: Floats
    """(6, c)"""
    numbers: Floats
    """(k,)"""
    directions: Floats | None = None
    """Of fibres in the rest shape (c, 3), if coefficients 3 to 5 are such."""
    needs_elasticity: bool = False
    """Whether it takes the elastic stress and its derivative."""

    @classmethod
    def of(
        cls,
        kernel: Function,
        rows: Sequence[Floats],
        numbers: Sequence[float] | Floats = (),
        directions: Floats | None = None,
        *,
        needs_elasticity: bool = False,
    ) -> CellLaw:
        """With rows (c,) of coefficients, the others 0."""
        coefficients = np.zeros((WIDTH, len(rows[0])))
        coefficients[: len(rows)] = rows
        if directions is not None:
            coefficients[3:6] = directions.T
        given = np.array(numbers, dtype=float)
        return cls(kernel, coefficients, given, directions, needs_elasticity)

    def within(self, kernel: Function, numbers: Sequence[float] | Floats) -> CellLaw:
        """A law of this one: with its address, then these numbers, then its own."""
        own = [float(self.address), *numbers, *self.numbers]
        return replace(self, kernel=kernel, numbers=np.array(own))

    @property
    def address(self) -> int:
        """Where its machine code is; it is compiled when first asked for."""
        return law_call.address_of(self.kernel)


def curve_numbers(curve: Curve) -> Floats:
    """A curve as laws read it: its number of pieces, breaks and cubics."""
    breaks, pieces = curve.cubics
    return np.concatenate([[len(pieces)], breaks, np.ravel(pieces)])
