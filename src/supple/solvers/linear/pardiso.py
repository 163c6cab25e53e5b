"""Sparse Cholesky by MKL PARDISO, called in the library that the ``mkl`` package installs."""

from __future__ import annotations

import ctypes
import sys
import weakref
from functools import lru_cache
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.core.errors import InputError
from supple.core.threads import thread_count
from supple.core.types import Floats, Ints
from supple.solvers.interface import NotPositiveDefinite

_ANALYSE, _FACTORIZE, _SOLVE, _RELEASE = 11, 22, 33, -1
_POSITIVE_DEFINITE = 2  # PARDISO's matrix type: real, symmetric, upper triangle


@lru_cache(maxsize=1)
def library() -> Any | None:
    """MKL's runtime library, or None where it is not installed."""
    try:
        files = metadata.files("mkl") or []
    except metadata.PackageNotFoundError:
        return None
    for file in sorted(files, key=lambda f: len(f.name)):
        if file.name.startswith(("libmkl_rt.", "mkl_rt.")) and not file.name.endswith(".lib"):
            try:
                return ctypes.CDLL(str(file.locate()))
            except OSError:
                continue
    return None


def _pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class Pardiso:
    """Factorizations of matrices with one pattern: analysed once, factorized and solved often.

    ``indptr`` and ``columns`` are the upper triangle by rows, columns ascending, diagonals all
    there. ``order`` lists the rows in the order of elimination; without it PARDISO finds one. In
    single precision a factorization takes about half the time and memory, and serves as a
    preconditioner.
    """

    def __init__(
        self,
        indptr: Ints,
        columns: Ints,
        *,
        order: Ints | None = None,
        single: bool = False,
        threads: int | None = None,
    ) -> None:
        mkl = library()
        if mkl is None:
            raise ImportError("MKL PARDISO is not installed; run: pip install mkl")
        self._call, self._set_threads = mkl.pardiso, mkl.MKL_Set_Num_Threads_Local
        self._dtype = np.float32 if single else np.float64
        # The same number in all phases, or PARDISO writes out of bounds.
        self._threads = thread_count() if threads is None else threads
        self._n = len(indptr) - 1
        if len(columns) >= np.iinfo(np.int32).max:
            raise InputError(
                f"a matrix with {len(columns):,} entries is too large to factorize; use "
                "Newton(linear=ConjugateGradients())"
            )
        self._indptr = (indptr + 1).astype(np.int32)
        self._columns = (columns + 1).astype(np.int32)
        self._values = np.zeros(len(columns), dtype=self._dtype)
        self._handle = np.zeros(64, dtype=np.int64)
        self._order = np.zeros(self._n, dtype=np.int32)
        self._options = np.zeros(64, dtype=np.int32)
        self._options[0] = 1  # the options below replace all defaults
        self._options[1] = 2  # nested dissection
        self._options[4] = 2 if order is None else 1  # tell the order found, or take ours
        self._options[17] = self._options[18] = -1  # count non-zeros and operations
        self._options[27] = single
        if order is not None:
            self._order[:] = order + 1
        weakref.finalize(self, _release, self._call, self._handle, self._n)
        self._run(_ANALYSE)
        self.order = self._order.astype(np.int64) - 1

    @property
    def factor_nonzeros(self) -> int:
        """Non-zeros of the Cholesky factor."""
        return int(self._options[17])

    @property
    def factor_operations(self) -> float:
        """Floating point operations of a factorization."""
        return 1e6 * float(self._options[18])

    def factorize(self, values: Floats) -> None:
        """Factorize the matrix with these upper-triangle values."""
        self._values = np.ascontiguousarray(values, dtype=self._dtype)
        self._run(_FACTORIZE)

    def solve(self, rhs: Floats) -> Floats:
        """x with A x = rhs, for rhs (n,) or (n, k)."""
        b = np.ascontiguousarray(rhs.T, dtype=self._dtype)  # column by column
        x = np.empty_like(b)
        self._run(_SOLVE, b, x)
        return np.ascontiguousarray(x.T, dtype=np.float64)

    def _run(
        self, phase: int, b: NDArray[Any] | None = None, x: NDArray[Any] | None = None
    ) -> None:
        one = ctypes.c_int32(1)
        columns = 1 if b is None or b.ndim == 1 else len(b)
        error = ctypes.c_int32(0)
        empty = np.zeros(1, dtype=self._dtype)
        before = self._set_threads(self._threads)
        self._call(
            _pointer(self._handle), ctypes.byref(one), ctypes.byref(one),
            ctypes.byref(ctypes.c_int32(_POSITIVE_DEFINITE)), ctypes.byref(ctypes.c_int32(phase)),
            ctypes.byref(ctypes.c_int32(self._n)), _pointer(self._values), _pointer(self._indptr),
            _pointer(self._columns), _pointer(self._order),
            ctypes.byref(ctypes.c_int32(columns)), _pointer(self._options),
            ctypes.byref(ctypes.c_int32(0)), _pointer(empty if b is None else b),
            _pointer(empty if x is None else x), ctypes.byref(error),
        )  # fmt: skip
        self._set_threads(before)
        if error.value == -4:
            raise NotPositiveDefinite("PARDISO met a pivot that is not positive")
        if error.value == -2:
            raise MemoryError(f"not enough memory to factorize a matrix of {self._n} rows")
        if error.value:
            raise RuntimeError(f"PARDISO failed with code {error.value} in phase {phase}")


def _release(call: Any, handle: NDArray[np.int64], n: int) -> None:
    if sys.is_finalizing():
        return
    integer = [ctypes.c_int32(value) for value in (1, 1, _POSITIVE_DEFINITE, _RELEASE, n, 1, 0, 0)]
    maxfct, mnum, kind, phase, size, columns, quiet, error = (ctypes.byref(i) for i in integer)
    empty, options = _pointer(np.zeros(1)), np.zeros(64, dtype=np.int32)
    call(
        _pointer(handle), maxfct, mnum, kind, phase, size, empty, empty, empty, empty, columns,
        _pointer(options), quiet, empty, empty, error,
    )  # fmt: skip
