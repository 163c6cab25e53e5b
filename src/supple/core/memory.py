"""Room for arrays that begin where a cache line does, used again when nobody looks at it any more.

Fresh memory costs a page fault every four kilobytes, which takes longer than to fill it. What is
made anew again and again, such as the numbers of a reduced model at every edit of its material,
takes the room of what it replaces, once the last array in it is gone: never sooner.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import Any

import numpy as np

from supple.core.types import Floats

_LINE = 64  # bytes
_PER_LINE = _LINE // 8
_SMALL = 64 * 1024  # bytes; below, the allocator does as much
_LARGE = 16 * 1024 * 1024  # bytes; above, memory goes back
_SPARE = 4  # blocks of a size that wait to be used

_waiting: defaultdict[int, list[Floats]] = defaultdict(list)


class _Lease:
    """Lends a block to arrays; all that are views of it keep this alive, and it the block."""

    def __init__(self, block: Floats) -> None:
        self._block = block
        self.__array_interface__: dict[str, Any] = block.__array_interface__

    def __del__(self, waiting_by_size: Any = _waiting) -> None:  # bound: Python may be ending
        waiting = waiting_by_size[len(self._block)]
        if len(waiting) < _SPARE:
            waiting.append(self._block)


def aligned_room(count: int) -> Floats:
    """Room for so many numbers that begins where a cache line does; what is in it is not said."""
    if not _SMALL <= 8 * count <= _LARGE:
        return _fresh(count)
    waiting = _waiting[count]
    try:
        block = waiting.pop()
    except IndexError:
        block = _fresh(count)
    return np.asarray(_Lease(block))


def aligned(values: Floats) -> Floats:
    """A copy that begins where a cache line does: half of the reads would else touch two."""
    copy = aligned_room(len(values))
    copy[:] = values
    return copy


def aligned_zeros(*counts: int) -> list[Floats]:
    """Arrays of zeros, each of which begins where a cache line does."""
    lengths = [-(-count // _PER_LINE) * _PER_LINE for count in counts]
    room = aligned_room(sum(lengths))
    room[:] = 0.0
    ends = accumulate(lengths)
    return [room[end - n :][:count] for end, n, count in zip(ends, lengths, counts, strict=True)]


def _fresh(count: int) -> Floats:
    room = np.empty(8 * count + _LINE, dtype=np.uint8)
    start = -room.__array_interface__["data"][0] % _LINE  # ``ctypes`` takes ten times as long
    numbers: Floats = room[start : start + 8 * count].view(np.float64)
    return numbers
