"""Many points shared among threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from supple.core.threads import run_all, thread_count

_FEW = 500  # points that are not worth a thread of their own


def in_parts(count: int, work: Callable[[slice], Any]) -> None:
    """Call ``work`` on slices that cover range(count), in threads where there is enough to do."""
    parts = max(1, min(thread_count(), count // _FEW))
    ends = [count * k // parts for k in range(parts + 1)]
    run_all([partial(work, slice(a, b)) for a, b in pairwise(ends)])
