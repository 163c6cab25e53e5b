"""Calls from compiled loops to functions known by their address: one loop serves all of them."""

from __future__ import annotations

from typing import Any

from numba import types

from supple._kernels.compiling import Function


def call_of(arguments: tuple[Any, ...]) -> Any:
    """How an intrinsic calls a function at an address, its first value, with these arguments.

    They return nothing; what they raise is raised by the kernel.
    """

    def call(context, builder, signature, values):
        convention = context.call_conv
        kind = convention.get_function_type(types.none, arguments)
        function = builder.inttoptr(values[0], kind.as_pointer())
        status, _ = convention.call_function(builder, function, types.none, arguments, values[1:])
        with builder.if_then(status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return call


def address_of(compiled: Function, arguments: tuple[Any, ...]) -> int:
    """Where the machine code of a compiled function is, for arguments of these types."""
    dispatcher: Any = compiled
    found = dispatcher.get_compile_result(types.none(*arguments))
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))
