"""Kernels are compiled once, however many processes want them at the same time.

Numba's cache lets every process that misses a kernel compile it. Here the first one does, under a
lock beside the cached kernel, and the others wait and load what it has saved.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


_LONGEST_WAIT = 300.0  # [s]: whoever compiles for longer has been stopped, and stops nobody else
_PAUSE = 0.02  # [s] between two looks at a lock


class FileLock:
    """Held by one process at a time; the system frees it where that process dies.

    Where there is none to be had (a read-only folder, a file system without locks) or it takes too
    long, the work is done without.
    """

    def __init__(self, path: Path, longest_wait: float = _LONGEST_WAIT) -> None:
        self.path = path
        self._longest_wait = longest_wait
        self._file: int | None = None

    def acquire(self) -> bool:
        """Whether it is held now; at once where it was already."""
        if self._file is not None:
            return True
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return False
        try:
            held = self._wait(file)
        except BaseException:  # an interruption too
            os.close(file)
            raise
        if held:
            self._file = file
        else:
            os.close(file)
        return held

    def _wait(self, file: int) -> bool:
        end = time.monotonic() + self._longest_wait
        while True:
            try:
                _try_lock(file)
            except (BlockingIOError, PermissionError):  # of POSIX, of Windows: another has it
                if time.monotonic() > end:
                    return False
                time.sleep(_PAUSE)
            except OSError:
                return False
            else:
                return True

    def release(self) -> None:
        """Closing the file frees it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class SharedCache(FunctionCache):
    """The cache of one kernel on disk, with the lock under which it is compiled.

    ``stamp`` is what a cached kernel must have been made of to be fresh.
    """

    def __init__(self, function: Callable[..., Any], stamp: str) -> None:
        super().__init__(function)
        name = self._impl.filename_base
        self._cache_file = IndexDataCacheFile(self.cache_path, name, stamp)
        self.stamp = stamp
        self.lock = FileLock(Path(self.cache_path) / f"{name}.lock")
        self._depth = 0

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except (ImportError, AttributeError):  # of an earlier version, with types that are gone
            self.flush()
            found = None
        if found is None and self.lock.acquire():
            found = super().load_overload(sig, target_context)  # another may have saved it by now
        return found

    def guard(self, compile_kernel: Callable[..., Any]) -> Callable[..., Any]:
        """``Dispatcher.compile``, after which the lock is free, whatever came of it.

        Numba's own lock is taken first, so that threads of one process never wait for each other
        in two orders; kernels that call each other do not do so in circles.
        """

        def compile_once(sig: Any) -> Any:
            with global_compiler_lock:
                self._depth += 1
                try:
                    return compile_kernel(sig)
                finally:
                    self._depth -= 1
                    if self._depth == 0:
                        self.lock.release()

        return compile_once
