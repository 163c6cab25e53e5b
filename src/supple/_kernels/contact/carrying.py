"""Blocks between points as blocks between the vertices that carry them, Bᵀ H B.

Vertices in a row that carry the same points are a *carrier*, told by the first of them. A matrix
has for every two carriers that are coupled a rectangle of blocks.
"""

import numpy as np

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
    rows, cols, blocks, slots, starts, first, widths, begins, maps, are_means, total, room
):
    """Adds blocks (k, 3, 3) between points, each two of them once, to those of their carriers.

    ``total`` is (blocks, 3, 3), ``room`` (widest, 3, 3) to work in.
    """
    for k in range(len(rows)):
        p, q = rows[k], cols[k]
        turned = first[p] > first[q]
        if turned:
            p, q = q, p
        mirrored = first[p] == first[q] and p != q
        simple = are_means[p] and are_means[q]
        if not simple:
            _times_maps(blocks[k], turned, maps, begins[q], widths[q], room)
        at = starts[slots[k]]
        width = widths[q]
        for a in range(widths[p]):
            B = maps[begins[p] + a]
            for b in range(width):
                if first[p] == first[q]:
                    low, high = min(a, b), max(a, b)
                    place = at + low * width - low * (low - 1) // 2 + high - low
                    if a > b and not mirrored:
                        continue
                else:
                    low = a
                    place = at + a * width + b
                flipped = first[p] == first[q] and a > b
                both = mirrored and a == b
                for i in range(3):
                    for j in range(3):
                        if simple:
                            w = B[0, 0] * maps[begins[q] + b, 0, 0]
                            value = w * (blocks[k, j, i] if turned else blocks[k, i, j])
                        else:
                            value = 0.0
                            for l in range(3):
                                value += B[l, i] * room[b, l, j]
                        if flipped:
                            total[place, j, i] += value
                        else:
                            total[place, i, j] += value
                        if both:
                            total[place, j, i] += value


@pointwise
def _times_maps(block, turned, maps, begin, width, room):
    """Fills H B_b of all maps of the second point."""
    for b in range(width):
        for i in range(3):
            for j in range(3):
                value = 0.0
                for l in range(3):
                    value += (block[l, i] if turned else block[i, l]) * maps[begin + b, l, j]
                room[b, i, j] = value
