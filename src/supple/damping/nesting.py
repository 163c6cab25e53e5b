"""Dampings of cells that call others, each with scratch of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_calls = threading.local()


@contextmanager
def nested_call() -> Iterator[int]:
    """How many callers of this kind a thread is in, to tell their scratch arrays apart."""
    depth: int = getattr(_calls, "depth", 0) + 1
    _calls.depth = depth
    try:
        yield depth
    finally:
        _calls.depth = depth - 1
