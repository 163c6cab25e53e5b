"""How Supple compiles: cached on disk, and free of the GIL so that threads can share work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast

from numba import njit

from supple._kernels.once import SharedCache
from supple._kernels.stamps import stamp_of

Function = Callable[..., Any]

LARGEST = sys.float_info.max
"""Where sums may be reordered, isfinite cannot be trusted: compare with this."""

_OPTIONS: Any = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # nobody calls them from C
    "fastmath": {"contract", "arcp"},  # fused multiply-add; keeps NaN, infinities and signed zeros
}
_REORDERING: Any = {**_OPTIONS, "fastmath": _OPTIONS["fastmath"] | {"reassoc", "nsz"}}


def kernel(function: Function) -> Function:
    """Compile a loop over arrays; the machine code is cached beside the source."""
    return _cached(function, _OPTIONS)


def reordering_kernel(function: Function) -> Function:
    """The same for loops full of sums, whose terms may be added in any order, several at once."""
    return _cached(function, _REORDERING)


def inner_kernel(function: Function) -> Function:
    """The same for a part of other kernels that has no way in for Python, where it would crash.

    Taking a hundred arrays out of tuples is most of what a small kernel has to compile.
    """
    return _cached(function, {**_REORDERING, "no_cpython_wrapper": True})


def borrowing_kernel(function: Function) -> Function:
    """The same for a loop that is handed all its arrays, and makes none.

    It counts no references to them, which else takes longer than the arithmetic of a small step.
    """
    return _cached(function, {**_REORDERING, "no_cpython_wrapper": True, "_nrt": False})


def inlined_kernel(function: Function) -> Function:
    """The same for a part of other kernels, copied into them: a call with many arrays is slow."""
    return _cached(function, {**_REORDERING, "inline": "always"})


def _cached(function: Function, options: Any) -> Function:
    try:
        compiled: Any = njit(**options)(function)
    except RuntimeError:  # there is no folder on this machine that could hold a cache
        return cast(Function, njit(**{**options, "cache": False})(function))
    if hasattr(compiled, "enable_caching"):  # not so where NUMBA_DISABLE_JIT asks for plain Python
        # Numba takes a cached kernel for fresh while its own file is the same. Ours call formulas
        # of other files too, so a cached kernel is tied to the text of all that it can call.
        stamp = stamp_of(function.__code__.co_filename)
        compiled._cache = compiled.shared_cache = SharedCache(function, stamp)
        compiled.compile = compiled.shared_cache.guard(compiled.compile)
    return cast(Function, compiled)


def pointwise(function: Function) -> Function:
    """Compile the formula of one point, to be inlined in kernels."""
    compiled: Function = njit(inline="never", **{**_OPTIONS, "cache": False})(function)
    return compiled
