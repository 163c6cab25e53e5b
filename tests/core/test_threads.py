"""Threads: how many, and that they survive what processes go through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from tests.refusals import refused
from threadpoolctl import threadpool_info

import supple as sp
from supple.core.blas import SERIAL_BLAS
from supple.core.threads import run_all


@pytest.fixture(autouse=True)
def every_core_after():
    yield
    sp.set_thread_count(0)


def test_thread_count_set_and_reset():
    before = sp.thread_count()
    sp.set_thread_count(1)
    assert sp.thread_count() == 1
    sp.set_thread_count(0)
    assert sp.thread_count() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_threads_survive_a_fork():
    """A child process has none of its parent's threads, and must make its own."""
    sp.set_thread_count(2)
    done = []
    run_all([lambda: done.append(1), lambda: done.append(2)])
    assert sorted(done) == [1, 2]
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        done.clear()
        run_all([lambda: done.append(1), lambda: done.append(2)])
        os._exit(0 if sorted(done) == [1, 2] else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0


@pytest.mark.parametrize("count", [-1, 1.5, "two", None])
def test_thread_count_refuses_what_is_no_count(count):
    refused(f"count={count!r}", sp.set_thread_count, count)


def test_thread_count_from_environment_is_checked(monkeypatch):
    monkeypatch.setenv("SUPPLE_THREADS", "many")
    refused("SUPPLE_THREADS", sp.thread_count)


def blas_threads() -> set[int]:
    np.dot(np.eye(2), np.eye(2))
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_thread_count_binds_blas():
    before = blas_threads()
    sp.set_thread_count(3)
    assert blas_threads() == {3}
    sp.set_thread_count(0)
    assert blas_threads() == before


def test_thread_count_from_environment_binds_blas_that_is_loaded_later_too():
    code = (
        "import numpy, supple as sp; sp.thread_count(); import scipy.linalg\n"
        "from threadpoolctl import threadpool_info\n"
        "print({x['num_threads'] for x in threadpool_info() if x['user_api'] == 'blas'})"
    )
    bound = {"OPENBLAS_NUM_THREADS": "", "MKL_NUM_THREADS": "", "SUPPLE_THREADS": "1"}
    kept = {name: value for name, value in (os.environ | bound).items() if value}
    told = subprocess.run(
        [sys.executable, "-c", code], check=True, env=kept, capture_output=True, text=True
    )
    assert told.stdout.strip() == "{1}"


def test_serial_blas_ends_with_the_last_who_asked_for_it():
    sp.set_thread_count(2)
    with SERIAL_BLAS:
        with SERIAL_BLAS:
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_tasks_within_tasks_wait_for_nobody():
    """Every thread of the pool runs a task that has tasks itself."""
    sp.set_thread_count(2)
    done = []

    def outer(name: int) -> None:
        run_all([lambda: done.append((name, 0)), lambda: done.append((name, 1))])

    run_all([lambda k=k: outer(k) for k in range(4)])
    assert sorted(done) == [(name, part) for name in range(4) for part in range(2)]


@pytest.mark.parametrize("count", [1, 2])
def test_a_task_that_fails_says_so(count):
    sp.set_thread_count(count)

    def fail() -> None:
        raise ValueError("of a task")

    for tasks in ([fail, list], [list, fail]):
        with pytest.raises(ValueError, match="of a task"):
            run_all(tasks)


def test_a_thread_that_is_done_goes_on_with_tasks_that_none_has_begun():
    """The only other thread has a task that ends when all the rest are done."""
    sp.set_thread_count(2)
    done: list[int] = []
    all_but_one = threading.Event()

    def task(k: int) -> None:
        done.append(k)
        if len(done) == 4:
            all_but_one.set()

    run_all([lambda: all_but_one.wait(20) and task(0), *(lambda k=k: task(k) for k in range(1, 5))])
    assert done == [4, 3, 2, 1, 0]
