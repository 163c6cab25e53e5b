"""How Supple compiles: cached on disk, and free of the GIL so that threads can share work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

Function = Callable[..., Any]

_OPTIONS: Any = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "arcp"},  # fused multiply-add; keeps NaN, infinities and signed zeros
}


def kernel(function: Function) -> Function:
    """Compile a loop over arrays; the machine code is cached beside the source."""
    compiled: Function = njit(**_OPTIONS)(function)
    return compiled


def pointwise(function: Function) -> Function:
    """Compile the formula of one point, to be inlined in the kernels of the same file."""
    compiled: Function = njit(inline="never", **{**_OPTIONS, "cache": False})(function)
    return compiled
