"""Machine code that does not depend on what a process has compiled or loaded before.

A kernel is compiled together with copies of all that it calls. Numba leaves these copies weak: the
linker may take the code of the same function from another kernel that is there already, where it
was optimised in other surroundings and adds up in another order. So the process that compiles, one
that loads from the cache, and one that has loaded other kernels before would differ in the last
bits. Here every kernel keeps to its own copies.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import TranslateByteCode


class OwnCopies(JITCodeLibrary):
    """The machine code of a kernel, in which what other kernels export is its own."""

    def _finalize_final_module(self) -> None:
        # other kernels are to have their own copies of this one: as Numba shares it
        self._shared_module = self._final_module.clone()
        for function in _defined(self._shared_module, "external"):
            function.linkage = "linkonce_odr"
        for function in _defined(self._final_module, "linkonce_odr"):
            function.linkage = "internal"
        super()._finalize_final_module()


def _defined(module: Any, linkage: str) -> list[Any]:
    return [
        function
        for function in module.functions
        if not function.is_declaration and function.linkage.name == linkage
    ]


@register_pass(mutates_CFG=False, analysis_only=False)
class _WithOwnCopies(FunctionPass):
    _name = "supple_with_own_copies"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Have what comes next compile into such a library."""
        if state.library is None:
            state.library = OwnCopies(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return False


class KernelCompiler(CompilerBase):
    """Numba's compiler, whose kernels keep to their own copies."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_WithOwnCopies, TranslateByteCode)
        passes.finalize()
        return [passes]
