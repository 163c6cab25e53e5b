"""Calls of a material from compiled loops, by address: one loop serves every material."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import njit, objmode, types
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

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

    def call(context, builder, signature, arguments):
        convention = context.call_conv
        kind = convention.get_function_type(types.none, _ARGUMENTS)
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        status, _ = convention.call_function(
            builder, function, types.none, _ARGUMENTS, arguments[1:]
        )
        with builder.if_then(status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(types.intp, *_ARGUMENTS), call


evaluate_at: Any = intrinsic(_evaluate_at)


def address_of(evaluate: Function) -> int:
    """Where the machine code of a material's ``evaluate`` is, for ``evaluate_at``."""
    found = _compiled(evaluate).get_compile_result(types.none(*_ARGUMENTS))
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


@cache  # keeps the machine code in memory
def _compiled(evaluate: Function) -> Any:
    if isinstance(evaluate, Dispatcher):
        return evaluate

    @njit
    def in_python(F, lam, mu, psi, P, A, order):
        with objmode():
            evaluate(F, lam, mu, psi, P, A, order)

    return in_python
