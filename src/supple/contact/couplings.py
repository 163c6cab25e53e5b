"""Which vertices stencils couple, and the sums of their blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from supple._kernels.contact import couplings, rubbing
from supple.contact.carried import CarriedBlocks
from supple.core.threads import run_all, thread_count
from supple.core.types import Floats, Ints
from supple.mesh.points import CarriedPoints

_WORTH_A_THREAD = 5_000
"""Blocks of stencils."""

Add = Callable[[int, int, Floats], None]


class Couplings:
    """Where the blocks of stencils (k, s) of a surface belong in the matrix of a body.

    Slots that are not used are −1, after those that are. What a block is the sum of is added in
    the order of stencils.
    """

    def __init__(self, points: CarriedPoints, stencils: Ints) -> None:
        alone = bool(points.is_vertex.all())
        ids = points.first if alone else np.arange(points.count)
        n = points.n_vertices if alone else points.count
        slots = (stencils != rubbing.NONE).sum(axis=1)
        count = int((slots * (slots + 1) // 2).sum())
        self._starts = np.empty(n + 1, dtype=np.int64)
        self._codes = np.empty(count, dtype=np.int64)
        cols, self._places = np.empty((2, count), dtype=np.int32)
        keys = np.empty(count, dtype=np.int64)
        into = self._starts, self._codes, cols, self._places, keys
        own = keys[: couplings.couple(stencils, ids, n, *into)].copy()
        self._count = len(own)
        self._carried = None if alone else CarriedBlocks(points, own // n, own % n)
        self.keys: Ints = own if self._carried is None else self._carried.keys
        """Row · n + column of the sums, row ≤ column, each once."""

    def of_blocks(self, blocks: Floats) -> Floats:
        """The sums (b, 3, 3) of blocks (k, 10, 3, 3) over the slots a ≤ b of stencils of four."""
        return self._summed(partial(couplings.sum_blocks, self._codes, self._places, blocks))

    def of_products(self, J: Floats, H: Floats) -> Floats:
        """The sums (b, 3, 3) of J_aᵀ H J_b, J (k, 6, 2, 3) and H (k, 2, 2), over slots a ≤ b."""
        return self._summed(partial(couplings.sum_products, self._codes, self._places, J, H))

    def _summed(self, add: Add) -> Floats:
        total = np.zeros((self._count, 3, 3))
        parts = max(1, min(thread_count(), len(self._codes) // _WORTH_A_THREAD))
        even = np.linspace(0, len(self._codes), parts + 1).astype(np.int64)
        ends = self._starts[np.searchsorted(self._starts, even)]  # of whole rows
        run_all([partial(add, first, last, total) for first, last in pairwise(ends)])
        return total if self._carried is None else self._carried.of(total)
