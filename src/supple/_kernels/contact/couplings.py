"""Sums of the blocks that stencils add to a matrix, row by row.

An *entry* is a block of one stencil, of the vertices in its slots a and b, of which a has the lower
number in the body; its code is (k · 6 + a) · 6 + b. Entries stand row after row, in the order of
stencils in each, so that sums have one order whoever adds them up.
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.contact.rubbing import NONE, SLOTS


@kernel
def couple(stencils, ids, n, starts, codes, cols, places, keys):
    """Fills entries (e,) and the keys of the blocks (b,) that they are summed in; returns b.

    ``stencils`` (k, s) are vertices of a surface, whose numbers in a body of n are ``ids``. Row i
    has the entries ``starts[i]`` to ``starts[i + 1]``, in columns ``cols`` and blocks ``places``.
    """
    slots = stencils.shape[1]
    starts[:] = 0
    for k in range(len(stencils)):
        for a in range(slots):
            if stencils[k, a] == NONE:
                break
            for b in range(a, slots):
                if stencils[k, b] == NONE:
                    break
                starts[min(ids[stencils[k, a]], ids[stencils[k, b]]) + 1] += 1
    for i in range(n):
        starts[i + 1] += starts[i]
    next_in = starts[:n].copy()
    for k in range(len(stencils)):
        for a in range(slots):
            if stencils[k, a] == NONE:
                break
            for b in range(a, slots):
                if stencils[k, b] == NONE:
                    break
                first, second = ids[stencils[k, a]], ids[stencils[k, b]]
                at = next_in[min(first, second)]
                next_in[min(first, second)] += 1
                codes[at] = _code(k, a, b) if first <= second else _code(k, b, a)
                cols[at] = max(first, second)
    count = 0
    block_of = np.full(n, -1)
    for i in range(n):
        begin = count
        for at in range(starts[i], starts[i + 1]):
            if block_of[cols[at]] < begin:
                block_of[cols[at]] = count
                keys[count] = cols[at]
                count += 1
        keys[begin:count].sort()
        for s in range(begin, count):
            block_of[keys[s]] = s
            keys[s] += i * n
        for at in range(starts[i], starts[i + 1]):
            places[at] = block_of[cols[at]]
    return count


@pointwise
def _code(k, a, b):
    return (k * SLOTS + a) * SLOTS + b


@kernel
def sum_blocks(codes, places, blocks, first, last, total):
    """Adds entries first to last, of blocks (k, 10, 3, 3) over the slots a ≤ b of four."""
    for at in range(first, last):
        b = codes[at] % SLOTS
        a = codes[at] // SLOTS % SLOTS
        k, place = codes[at] // (SLOTS * SLOTS), places[at]
        if a <= b:
            s = a * (7 - a) // 2 + b
            for i in range(3):
                for j in range(3):
                    total[place, i, j] += blocks[k, s, i, j]
        else:
            s = b * (7 - b) // 2 + a
            for i in range(3):
                for j in range(3):
                    total[place, i, j] += blocks[k, s, j, i]


@kernel
def sum_products(codes, places, J, H, first, last, total):
    """Adds entries first to last, J_aᵀ H J_b with J (k, 6, 2, 3) and H (k, 2, 2)."""
    for at in range(first, last):
        b = codes[at] % SLOTS
        a = codes[at] // SLOTS % SLOTS
        k, place = codes[at] // (SLOTS * SLOTS), places[at]
        for i in range(3):
            left = J[k, a, 0, i] * H[k, 0, 0] + J[k, a, 1, i] * H[k, 1, 0]
            right = J[k, a, 0, i] * H[k, 0, 1] + J[k, a, 1, i] * H[k, 1, 1]
            for j in range(3):
                total[place, i, j] += left * J[k, b, 0, j] + right * J[k, b, 1, j]
