"""Threads: how many, and that they survive what processes go through."""

from __future__ import annotations

import os
import signal

import pytest
from tests.refusals import refused

import supple as sp
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
