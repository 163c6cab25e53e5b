"""Calls of a dissipation density from compiled loops, by address: one loop serves every law.

A law is ``law(F, D, P_elastic, A_elastic, coefficients, numbers, r, P, A, order, factor, stress)``.
It adds to r, P = ∂r/∂Ḟ if order ≥ 1, and factor · ∂²r/∂Ḟ² to A if order ≥ 2, positive semidefinite;
with ``stress`` also the positive part of how P turns with the shape. ``coefficients`` (6, c) belong
to the cells and ``numbers`` (k,) to the law.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit, objmode, types
from numba.extending import intrinsic

from supple._kernels import by_address
from supple._kernels.compiling import Function

_POINTS: Any = types.float64[:, :, :, ::1]
_BLOCKS: Any = types.float64[:, :, :, :, ::1]
_ARGUMENTS: Any = (
    _POINTS,  # F
    _POINTS,  # Ḟ
    _POINTS,  # P_elastic
    _BLOCKS,  # A_elastic
    types.float64[:, ::1],  # coefficients
    types.float64[::1],  # numbers
    types.float64[:, ::1],  # r
    _POINTS,  # P
    _BLOCKS,  # A
    types.int64,  # order
    types.float64,  # factor
    types.boolean,  # stress
)


def _add_law_at(
    typing_context, address, F, D, P0, A0, coefficients, numbers, r, P, A, order, factor, stress
):
    """The law with this address; what it raises is raised here."""
    return types.none(types.intp, *_ARGUMENTS), by_address.call_of(_ARGUMENTS)


add_law_at: Any = intrinsic(_add_law_at)


def address_of(law: Function) -> int:
    """Where the machine code of a law is, for ``add_law_at``."""
    return by_address.address_of(law, _ARGUMENTS)


@cache  # keeps the machine code in memory
def law_in_python(run: Callable[..., None]) -> Any:
    """A law that calls ``run`` with all of its arguments but the coefficients."""

    @njit
    def in_python(F, D, P0, A0, coefficients, numbers, r, P, A, order, factor, stress):
        with objmode():
            run(F, D, P0, A0, numbers, r, P, A, order, factor, stress)

    return in_python
