"""Blocks between points as blocks between the vertices that carry them, Bᵀ H B.

Vertices in a row that carry the same points are a *carrier*, told by the first of them. A matrix
has for every two carriers that are coupled a rectangle of blocks.
"""

from supple._kernels.compiling import kernel, pointwise

FREE = -1


@kernel
def couples(rows, cols, first, n, table, slots, keys):
    """Fills the number (k,) of the two carriers of each pair of points, and their keys.

    ``table`` (2^l,) is all FREE, with more room than there are pairs. Numbers count up from where a
    pair is met first; returns how many there are.
    """
    count, mask = 0, len(table) - 1
    for k in range(len(rows)):
        a, b = first[rows[k]], first[cols[k]]
        key = min(a, b) * n + max(a, b)
        at = (key * 0x9E3779B1 >> 8) & mask
        while table[at] != FREE and keys[table[at]] != key:
            at = (at + 1) & mask
        if table[at] == FREE:
            table[at], keys[count] = count, key
            count += 1
        slots[k] = table[at]
    return count


@kernel
def fill_keys(couple_keys, starts, widths, n, keys):
    """Fills the keys of all blocks of couples, whose blocks begin at ``starts`` (c + 1,).

    ``widths`` (n,) are those of the carriers, by their first vertex. Of a carrier with itself there
    are the blocks of row ≤ column.
    """
    for c in range(len(couple_keys)):
        a, b = couple_keys[c] // n, couple_keys[c] % n
        at = starts[c]
        for k in range(widths[a]):
            for l in range(k if a == b else 0, widths[b]):
                keys[at] = (a + k) * n + b + l
                at += 1


@kernel
def add_carried(
    order, rows, cols, blocks, slots, starts, first, widths, begins, maps, are_means, total, room
):
    """Adds blocks (k, 3, 3) between points, each two of them once, to those of their carriers.

    ``order`` (k,) has pairs of the same carriers and the same point of the lower one in a row: of
    means, Σ_q w_q H is made of these before it is spread. ``total`` is (blocks, 3, 3), ``room``
    (widest, 3, 3) to work in.
    """
    for at in range(len(order)):
        k = order[at]
        p, q = rows[k], cols[k]
        turned = first[p] > first[q]
        if turned:
            p, q = q, p
        m, n, P, Q = widths[p], widths[q], begins[p], begins[q]
        to = total[starts[slots[k]] :]
        if not (are_means[p] and are_means[q]):
            _add_mapped(blocks[k], turned, maps[P:], m, maps[Q:], n, room, to, first[p] == first[q])
            if first[p] == first[q] and p != q:
                _add_mapped(blocks[k], True, maps[Q:], n, maps[P:], m, room, to, True)
            continue
        before, after = order[max(at - 1, 0)], order[min(at + 1, len(order) - 1)]
        if at == 0 or slots[before] != slots[k] or _lower(rows, cols, first, before) != p:
            room[:n] = 0.0
        _gather_means(blocks[k], turned, 0.5 if p == q else 1.0, maps[Q:], n, room)
        is_last = at + 1 == len(order) or slots[after] != slots[k]
        if is_last or _lower(rows, cols, first, after) != p:
            if first[p] != first[q]:
                _add_means(maps[P:], m, room, n, to)
            else:
                _add_own_means(maps[P:], room, n, to)


@pointwise
def _lower(rows, cols, first, k):
    """The point of a pair whose carrier comes first."""
    return cols[k] if first[rows[k]] > first[cols[k]] else rows[k]


@pointwise
def _gather_means(block, turned, share, C, n, room):
    """Adds w_b H to the room."""
    for b in range(n):
        w = share * C[b, 0, 0]
        for i in range(3):
            for j in range(3):
                room[b, i, j] += w * (block[j, i] if turned else block[i, j])


@pointwise
def _add_mapped(block, turned, B, m, C, n, room, to, own):
    """Adds Bᵀ H C, or of a carrier with itself the blocks of row ≤ column of that."""
    for b in range(n):
        for i in range(3):
            for j in range(3):
                value = 0.0
                for l in range(3):
                    value += (block[l, i] if turned else block[i, l]) * C[b, l, j]
                room[b, i, j] = value
    at = 0
    for a in range(m):
        for b in range(a if own else 0, n):
            for i in range(3):
                for j in range(3):
                    value = 0.0
                    for l in range(3):
                        value += B[a, l, i] * room[b, l, j]
                    to[at, i, j] += value
            at += 1


@pointwise
def _add_own_means(B, room, n, to):
    """Adds w_a R_b of a carrier with itself, and what mirrors it."""
    at = 0
    for a in range(n):
        for b in range(a, n):
            one, other = B[a, 0, 0], B[b, 0, 0]
            for i in range(3):
                for j in range(3):
                    to[at, i, j] += one * room[b, i, j] + other * room[a, j, i]
            at += 1


@pointwise
def _add_means(B, m, room, n, to):
    """Adds w_a R_b for two carriers of means."""
    at = 0
    for a in range(m):
        w = B[a, 0, 0]
        for b in range(n):
            for i in range(3):
                for j in range(3):
                    to[at, i, j] += w * room[b, i, j]
            at += 1
