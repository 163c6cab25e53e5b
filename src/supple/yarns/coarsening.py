"""Coarser nets, for multigrid methods: every other yarn is left out."""

from __future__ import annotations

from collections import deque

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

from supple.core.types import Bools, Floats, Ints

_WORTHWHILE = 0.8  # of the nodes may be left after a round


def interpolations(along: Ints, arc_lengths: Floats, most: int) -> list[sparse.csr_array]:
    """How values at the nodes of ever coarser nets are interpolated at those of the net before.

    The last net has at most ``most`` nodes, unless leaving out yarns no longer helps. ``along`` and
    ``arc_lengths`` are those of a ``YarnNet``.
    """
    found: list[sparse.csr_array] = []
    while len(along) > most:
        n = len(along)
        wide, along, arc_lengths = _without_every_other(along, arc_lengths, 0)
        high, along, arc_lengths = _without_every_other(along, arc_lengths, 1)
        if len(along) > _WORTHWHILE * n:
            break
        found.append(sparse.csr_array(wide @ high))
    return found


def _without_every_other(
    along: Ints, arc_lengths: Floats, family: int
) -> tuple[sparse.csr_array, Ints, Floats]:
    """Leave out every other crossing along the yarns of one family, and so yarns of the other.

    Returned are the interpolation, linear in the arc length, and the coarser net.
    """
    n, other = len(along), 1 - family
    yarn = _yarns(along[:, other, 1])
    before, after = along[:, family, 0], along[:, family, 1]
    out = _every_other(yarn, after)[yarn] & ((before >= 0) | (after >= 0))
    (kept,), (left_out,) = np.nonzero(~out), np.nonzero(out)
    number = np.full(n + 1, -1)  # the last entry stands for no node
    number[kept] = np.arange(len(kept))

    # Between two kept nodes, or beyond two of them where a yarn ends.
    at_start, at_end = before[left_out] < 0, after[left_out] < 0
    first = np.where(at_start, after[left_out], before[left_out])
    beyond = _next_kept(along[:, family], out, first, at_start)
    second = np.where(at_start | at_end, beyond, after[left_out])
    alone = second < 0
    second = np.where(alone, first, second)
    s = arc_lengths[:, family]
    reach = np.where(alone, 1.0, s[second] - s[first])
    share = np.where(alone, 0.0, (s[left_out] - s[first]) / reach)
    rows = np.concatenate([kept, left_out, left_out])
    cols = number[np.concatenate([kept, first, second])]
    weights = np.concatenate([np.ones(len(kept)), 1 - share, share])
    P = sparse.csr_array((weights, (rows, cols)), shape=(n, len(kept)))

    coarser = np.empty((len(kept), 2, 2), dtype=along.dtype)
    for end in (0, 1):
        towards = np.full(len(kept), bool(end))
        coarser[:, family, end] = number[_next_kept(along[:, family], out, kept, towards)]
        coarser[:, other, end] = number[along[kept, other, end]]
    return P, coarser, arc_lengths[kept]


def _next_kept(along: Ints, out: Bools, node: Ints, forwards: Bools) -> Ints:
    """The kept node next to a kept one, on the way forwards or back; −1 where the yarn ends."""
    end = forwards.astype(int)
    following = along[node, end]
    skip = (following >= 0) & out[following]
    found: Ints = np.where(skip, along[following, end], following)
    return found


def _yarns(after: Ints) -> Ints:
    """The yarn of each node, given the node after it."""
    labels: Ints = connected_components(_links(np.arange(len(after)), after), directed=False)[1]
    return labels


def _links(yarn: Ints, after: Ints) -> sparse.csr_array:
    """From the yarn of each node to that of the node after it, where there is one."""
    count = int(yarn.max()) + 1
    (start,) = np.nonzero(after >= 0)
    ends = yarn[start], yarn[after[start]]
    return sparse.csr_array((np.ones(len(start), bool), ends), shape=(count, count))


def _every_other(yarn: Ints, after: Ints) -> Bools:
    """Yarns no two of which are neighbours; ``after`` leads from nodes of one to those of the next.

    Where possible they alternate with the rest.
    """
    links = _links(yarn, after)
    links, count = sparse.csr_array(links + links.T), links.shape[0]
    neighbours = np.split(links.indices, links.indptr[1:-1])
    chosen, seen = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    for seed in range(count):
        queue = deque() if seen[seed] else deque([(seed, False)])
        seen[seed] = True
        while queue:
            at, wanted = queue.popleft()
            near = neighbours[at]
            chosen[at] = wanted and not chosen[near].any()
            for each in near[~seen[near]]:
                seen[each] = True
                queue.append((int(each), not chosen[at]))
    return chosen
