"""What hangs together."""

from __future__ import annotations

import numpy as np

from supple.core.types import Ints


def linked(a: Ints, b: Ints, count: int) -> Ints:
    """The group of each of ``count`` things, where those in ``a`` and ``b`` hang together, (k,)."""
    from scipy import sparse  # slow to import
    from scipy.sparse import csgraph

    graph = sparse.coo_array((np.ones(len(a), np.int8), (a, b)), shape=(count, count))
    return np.asarray(csgraph.connected_components(graph, directed=False)[1].astype(np.int64))
