"""Work on many pairs or primitives, in parts that threads share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from supple.core.threads import run_all, thread_count
from supple.core.types import Ints

_WORTH_A_THREAD = 500
"""Primitives or pairs."""


def in_parts(fill: Callable[..., Any], count: int, *arrays: Any) -> None:
    """Run ``fill(first, last, *arrays)``, which fills rows of arrays, on all rows."""
    ends = _ends(count)
    run_all([partial(fill, first, last, *arrays) for first, last in pairwise(ends)])


def least_of(find: Callable[[int, int], float], count: int) -> float:
    """The least that ``find(first, last)`` finds of rows."""
    ends = _ends(count)
    found = np.ones(len(ends) - 1)

    def task(n: int) -> None:
        found[n] = find(ends[n], ends[n + 1])

    run_all([partial(task, n) for n in range(len(found))])
    return float(found.min())


def _ends(count: int) -> Ints:
    parts = max(1, min(thread_count(), count // _WORTH_A_THREAD))
    return np.linspace(0, count, parts + 1).astype(np.int64)


def all_of(find: Callable[[int, int, Ints], int], count: int, each: float) -> list[Ints]:
    """What ``find(first, last, found)`` finds of rows in order, about so much of each."""
    ends = _ends(count)
    found: list[Ints] = [np.zeros((0, 2), dtype=np.int64)] * (len(ends) - 1)

    def task(n: int) -> None:
        first, last = ends[n], ends[n + 1]
        room = np.empty((int(each * (last - first)) + 64, 2), dtype=np.int64)
        many = find(first, last, room)
        if many > len(room):
            room = np.empty((many, 2), dtype=np.int64)
            find(first, last, room)
        found[n] = room[:many]

    run_all([partial(task, n) for n in range(len(found))])
    return found
