"""How many threads BLAS uses: the libraries that NumPy, SciPy and MKL bring along.

Each has threads of its own, one for every core, and wakes them for products that take a few
microseconds, after which they spin for a while. threadpoolctl knows how to tell each library; where
it is not installed, as where finished models run with NumPy and Numba alone, they stay as they are,
and OPENBLAS_NUM_THREADS has to be set before the program starts.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What libraries that are not loaded yet will look at."""

_own_variables: set[str] = set()
_counts_before: dict[str, int] = {}


def _loaded() -> list[Any]:
    """The libraries that are loaded by now; looking for them takes a millisecond."""
    try:
        from threadpoolctl import ThreadpoolController
    except ModuleNotFoundError:
        return []
    found: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found


def bind_blas(count: int) -> None:
    """Have BLAS use ``count`` threads, in libraries that are loaded later too; 0 as it was."""
    for name in _VARIABLES:
        if name in _own_variables or name not in os.environ:
            _own_variables.add(name)
            if count:
                os.environ[name] = str(count)
            else:
                os.environ.pop(name, None)
    for library in _loaded():
        before = _counts_before.setdefault(library.filepath, library.get_num_threads())
        library.set_num_threads(count or before)


class _Serial:
    """Within it, BLAS works on the thread that calls it; in the whole process, while it lasts.

    For loops over products too small to share, or that share their work otherwise. It may be
    entered again, also from other threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._libraries: list[Any] = []
        self._modules = 0  # as many were imported when libraries were last looked for
        self._counts: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                if self._modules != len(sys.modules):  # some may have brought a library
                    self._libraries, self._modules = _loaded(), len(sys.modules)
                self._counts = [library.get_num_threads() for library in self._libraries]
                for library in self._libraries:
                    library.set_num_threads(1)
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                for library, count in zip(self._libraries, self._counts, strict=True):
                    library.set_num_threads(count)


SERIAL_BLAS = _Serial()
