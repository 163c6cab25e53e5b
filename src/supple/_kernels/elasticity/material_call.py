"""Calls of a material from compiled loops, by address: one loop serves every material."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import njit, objmode, types
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

from supple._kernels import by_address
from supple._kernels.compiling import Function

_ARGUMENTS: Any = (
    types.float64[:, :, :, ::1],  # F
    types.float64[::1],  # λ
    types.float64[::1],  # μ
    types.float64[:, ::1],  # ψ
    types.float64[:, :, :, ::1],  # P
    types.float64[:, :, :, :, ::1],  # A
    types.int64,  # order
)


def _evaluate_at(typing_context, address, F, lam, mu, psi, P, A, order):
    """``Material.evaluate`` of the material with this address; what it raises is raised here."""
    return types.none(types.intp, *_ARGUMENTS), by_address.call_of(_ARGUMENTS)


evaluate_at: Any = intrinsic(_evaluate_at)


def address_of(evaluate: Function) -> int:
    """Where the machine code of a material's ``evaluate`` is, for ``evaluate_at``."""
    return by_address.address_of(_compiled(evaluate), _ARGUMENTS)


@cache  # keeps the machine code in memory
def _compiled(evaluate: Function) -> Any:
    if isinstance(evaluate, Dispatcher):
        return evaluate

    @njit
    def in_python(F, lam, mu, psi, P, A, order):
        with objmode():
            evaluate(F, lam, mu, psi, P, A, order)

    return in_python
