"""Sharing loops over segments, triples or corners among threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.core.threads import run_all, thread_count
from supple.core.types import Ints

_WORTH_A_THREAD = 2000  # nodes


class ColoredCells:
    """Groups of cells (m, k) that have no node in common, so that each can have a thread.

    Nodes are shared out in ranges. A cell goes with the range that has all of its nodes; those with
    nodes in several wait until all others are done. Cells are sorted, by group and then by node, so
    that what one adds to is still at hand for the next, and what is known of each along with them.
    """

    def __init__(self, n_nodes: int, cells: Ints, *known: NDArray[Any]) -> None:
        parts = max(1, min(thread_count(), n_nodes // _WORTH_A_THREAD))
        first, last = cells.min(axis=1), cells.max(axis=1)
        low, high = first * parts // n_nodes, last * parts // n_nodes
        group = np.where(low == high, low, parts)
        order = np.lexsort((first, group))
        self.arrays = tuple(array[order] for array in (cells, *known))
        ends = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=parts + 1))])
        self._slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @property
    def nodes(self) -> Ints:
        """Of each cell, (m, k)."""
        return self.arrays[0]

    def at(self, part: slice) -> tuple[NDArray[Any], ...]:
        """The arrays of some of the cells, such as a share below."""
        return tuple(array[part] for array in self.arrays)

    def run(self, work: Callable[[slice], object]) -> None:
        """Call ``work`` with slices of the sorted cells, in threads."""
        *apart, across = self._slices
        run_all([partial(work, each) for each in apart])
        work(across)

    def total(self, work: Callable[[slice], float]) -> float:
        """The sum of what ``work`` returns for the slices, always in the same order."""
        found: dict[tuple[int, int], float] = {}
        self.run(lambda part: found.update({(part.start, part.stop): work(part)}))
        return float(sum(found[ends] for ends in sorted(found)))
