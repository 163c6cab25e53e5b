"""Fewer nodes for multigrid methods, where a body says nothing but which of them are coupled."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

from supple._kernels.linear_algebra import multigrid
from supple.core.sparse import BlockPattern

_WORTHWHILE = 0.8  # of the nodes may be left after a round


def interpolations(pattern: BlockPattern, most: int) -> list[sparse.csr_array]:
    """How values at ever fewer nodes are interpolated at those before.

    Kept are nodes with at least three links between any two of them. The others are within two
    links of some, and weigh these by the number of ways that lead there.
    """
    upper = pattern.graph().astype(np.float32)
    coupled = sparse.csr_array(upper + upper.T)
    found: list[sparse.csr_array] = []
    while coupled.shape[0] > most:
        coupled.data[:] = 1.0
        ways = sparse.csr_array(coupled @ coupled)
        kept = multigrid.independent(ways.indptr, ways.indices)
        if len(kept) > _WORTHWHILE * coupled.shape[0]:
            break
        near = sparse.csr_array(ways[:, kept])
        P = sparse.csr_array(sparse.diags_array(1 / near.sum(axis=1)) @ near)
        found.append(P)
        coupled = sparse.csr_array(P.T @ (coupled @ P))
    return found
