"""Kernels are compiled once: by one of several processes, and not again while sources stay."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from supple._kernels.compiling import kernel
from supple._kernels.linear_algebra import blocks
from supple._kernels.once import FileLock
from supple._kernels.stamps import sources_of, stamp_of
from supple.materials import corotational, stvk

_KERNEL = """
from supple._kernels.compiling import kernel

@kernel
def inner(x):
    return x * x

@kernel
def twice(x):
    total = 0.0
    for i in range(len(x)):
        total += 2.0 * inner(x[i])
    return total
"""

_PROGRAM = """
import os
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import kernels_of_a_test as made
from numba.core import event

print("ready", flush=True)
sys.stdin.readline()
with event.install_recorder("numba:compile") as recorder:
    assert made.twice(np.ones(3)) == float(os.environ.get("EXPECTED", "6.0"))
print(sum(e.is_start for _, e in recorder.buffer))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernels_of_a_test.py").write_text(_KERNEL)
    return tmp_path


def started(folder: Path, **environment: str) -> subprocess.Popen[str]:
    """A process that is about to call the kernel."""
    return running(_PROGRAM, folder, NUMBA_CACHE_DIR=str(folder / "cache"), **environment)


def running(program: str, path: Path, **environment: str) -> subprocess.Popen[str]:
    """A process that has said to be ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def compilations(*processes: subprocess.Popen[str]) -> list[int]:
    """How many kernels each process compiles, all told to begin at once."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [int(process.communicate()[0]) for process in processes]


def test_one_of_two_processes_compiles(folder: Path) -> None:
    assert sorted(compilations(started(folder), started(folder))) == [0, 2]
    assert compilations(started(folder)) == [0]


def test_what_was_cached_with_types_that_are_gone_is_compiled_anew(folder: Path) -> None:
    """As after an update in which a tuple of arrays has moved to another file."""
    assert compilations(started(folder)) == [2]
    for index in (folder / "cache").rglob("*.nbi"):
        with index.open("r+b") as file:
            pickle.load(file)  # the version of Numba
            file.write(b"cno_such_module\nGone\n.")
    assert compilations(started(folder)) == [2]
    assert compilations(started(folder)) == [0]


def test_kernels_run_where_nothing_can_be_cached(folder: Path) -> None:
    (folder / "cache").write_text("a file where the folder should be")
    process = started(folder, NUMBA_CACHE_LOCATOR_CLASSES="UserProvidedCacheLocator")
    assert compilations(process) == [2]


def test_plain_python_stays_plain(folder: Path) -> None:
    assert compilations(started(folder, NUMBA_DISABLE_JIT="1")) == [0]


def test_kernels_are_tied_to_the_sources_that_they_call() -> None:
    """A formula of one file is compiled into kernels of another: these must go stale with it."""
    names = {Path(file).name for file in sources_of(corotational.__file__)}
    assert {"corotational.py", "svd3.py", "compiling.py"} <= names
    assert not names & {"stvk.py", "stepping.py"}  # nor with anything else
    for module, compiled in ((blocks, blocks.multiply), (stvk, stvk.evaluate)):
        assert compiled.shared_cache.stamp == stamp_of(module.__file__)
    assert stamp_of(blocks.__file__) != stamp_of(stvk.__file__)


_FORMULA = """
from supple._kernels.compiling import pointwise

@pointwise
def formula(x):
    return {factor} * x
"""

_CALLER = """
from formula_of_a_test import formula
from supple._kernels.compiling import kernel

@kernel
def twice(x):
    return formula(x[0])
"""


def test_kernels_of_others_go_stale_with_what_they_call(folder: Path) -> None:
    (folder / "kernels_of_a_test.py").write_text(_CALLER)
    for factor, times in ((2.0, 2), (2.0, 0), (3.0, 2)):  # the formula is compiled with its kernel
        (folder / "formula_of_a_test.py").write_text(_FORMULA.format(factor=factor))
        assert compilations(started(folder, EXPECTED=str(factor))) == [times]


def test_threads_share_what_one_of_them_compiles(folder: Path) -> None:
    sys.path.insert(0, str(folder))
    try:
        import kernels_of_a_test as made
    finally:
        sys.path.remove(str(folder))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(made.twice, [np.ones(4)] * 4)) == [8.0] * 4
    assert len(made.twice.signatures) == 1


def test_a_kernel_that_does_not_compile_leaves_its_lock() -> None:
    @kernel
    def wrong(x):
        return x + "text"

    from numba.core.errors import TypingError

    for _ in range(2):
        with pytest.raises(TypingError):
            wrong(1.0)
    lock = FileLock(wrong.shared_cache.lock.path, longest_wait=0.0)
    assert lock.acquire()
    lock.release()


# -- the lock ---------------------------------------------------------------------------------

_HOLDER = """
import sys
from pathlib import Path
from supple._kernels.once import FileLock
from supple._kernels.stamps import sources_of, stamp_of

assert FileLock(Path(sys.argv[1])).acquire()
print("ready", flush=True)
sys.stdin.readline()
"""


def test_lock_is_held_by_one_and_free_when_it_dies(tmp_path: Path) -> None:
    path = tmp_path / "new" / "kernel.lock"
    holder = running(_HOLDER, path)
    lock = FileLock(path, longest_wait=0.05)
    assert not lock.acquire()
    holder.kill()
    holder.communicate()
    assert lock.acquire()
    assert lock.acquire(), "it is held already"
    other = FileLock(path, longest_wait=0.0)
    assert not other.acquire()
    lock.release()
    assert other.acquire()
    other.release()
    other.release()


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="everyone may write there, or this is root"
)
def test_no_lock_in_a_folder_that_is_read_only(tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert not FileLock(tmp_path / "kernel.lock").acquire()
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_no_lock_where_there_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not FileLock(tmp_path / "file" / "kernel.lock").acquire()
