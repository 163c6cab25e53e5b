"""Room for arrays: where cache lines begin, far from each other, and used again.

Fresh memory costs a page fault every four kilobytes, which takes longer than to fill it. What is
made anew again and again, such as the numbers of a reduced model at every edit of its material,
takes the room of what it replaces, once the last array in it is gone: never sooner.

Loops that the compiler vectorises may ask, as they begin, whether what they write is near what they
read, by less than a few vectors, and then take one number at a time instead. Where sums may be
reordered the last bits of a result then depend on where the allocator happened to put two small
arrays. What such kernels write is therefore kept ``apart`` from everything else.
"""

from __future__ import annotations

from collections import defaultdict
from math import prod
from typing import Any, TypeVar, cast

import numpy as np

from supple.core.types import Floats

Moved = TypeVar("Moved")

_LINE = 64  # bytes
_APART = 1024  # bytes; vectors of 64, up to eight at once, and as much again
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


def zeros_apart(*shape: int, dtype: Any = float) -> Any:
    """An array of zeros, far from every other array that it is not a view of."""
    return rooms_apart(shape, dtype=dtype)[0]


def rooms_apart(*shapes: tuple[int, ...], dtype: Any = float) -> list[Any]:
    """Arrays of zeros, one for each shape, far from each other and from every other array.

    All are parts of one block, which takes less time than a block for each.
    """
    kind = np.dtype(dtype)
    sizes = [prod(shape) * kind.itemsize for shape in shapes]
    steps = [_APART + -size % _LINE + size for size in sizes]  # each begins where a cache line does
    block = np.zeros(sum(steps) + _APART + _LINE, dtype=np.uint8)
    start = _APART + -block.__array_interface__["data"][0] % _LINE
    rooms = []
    for shape, size, step in zip(shapes, sizes, steps, strict=True):
        rooms.append(block[start : start + size].view(kind).reshape(shape))
        start += step
    return rooms


def apart(value: Moved) -> Moved:
    """A copy of an array that is far from every other; of named tuples, with all that they hold."""
    moved: Any = value
    if isinstance(value, np.ndarray):
        moved = zeros_apart(*value.shape, dtype=value.dtype)
        moved[...] = value
    elif hasattr(value, "_fields"):
        moved = type(value)(*map(apart, cast(Any, value)))
    return cast(Moved, moved)


def _fresh(count: int) -> Floats:
    room = np.empty(8 * count + _LINE, dtype=np.uint8)
    start = -room.__array_interface__["data"][0] % _LINE  # ``ctypes`` takes ten times as long
    numbers: Floats = room[start : start + 8 * count].view(np.float64)
    return numbers
