"""What may be near what: a tree of boxes round primitives, and continuous collision detection.

A tree has 2^l leaves, in which primitives stand in the order of a curve through space; node i has
the children 2 i + 1 and 2 i + 2. Boxes are (…, 6): least x, y, z, then most.
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.contact.closest import EDGE_EDGE, VERTEX_FACE, apart, closest, nearing, place

FREE, HELD, ALONE = -1, -2, 0
"""Groups of vertices: on their own, at rest for ever, or from 0 on of one that cannot bend."""
_DEPTH = 64
_ADVANCES = 10_000
NEAR_ENOUGH = 0.1
"""Share by which sides may be farther apart at an impact than they are meant to be."""
_LOWEST = 0.02
"""Share of what rounding cannot close, below which nothing comes nearer."""
_CURVE_BITS = 10


@kernel
def curve_codes(centres, low, scale, codes):
    """Fills the places (k,) of centres (k, 3) along a Morton curve."""
    most = (1 << _CURVE_BITS) - 1
    for k in range(len(centres)):
        code = 0
        for i in range(3):
            cell = min(max(int((centres[k, i] - low[i]) * scale), 0), most)
            for bit in range(_CURVE_BITS):
                code |= ((cell >> bit) & 1) << (3 * bit + i)
        codes[k] = code


@kernel
def swept_boxes(x, y, prims, room, boxes):
    """Fills the boxes (k, 6) of primitives (k, nodes) on the way from x to y (m, 3), and more."""
    for k in range(len(prims)):
        for i in range(3):
            low, high = np.inf, -np.inf
            for a in range(prims.shape[1]):
                p, q = x[prims[k, a], i], y[prims[k, a], i]
                low, high = min(low, p, q), max(high, p, q)
            boxes[k, i], boxes[k, 3 + i] = low - room[k], high + room[k]


@kernel
def fill_tree(order, boxes, nodes):
    """Fills the boxes of a tree's nodes (2 · leaves − 1, 6)."""
    leaves = (len(nodes) + 1) // 2
    n = len(order)
    for node in range(len(nodes) - 1, -1, -1):
        for i in range(3):
            nodes[node, i], nodes[node, 3 + i] = np.inf, -np.inf
        if node >= leaves - 1:
            leaf = node - leaves + 1
            for at in range(leaf * n // leaves, (leaf + 1) * n // leaves):
                for i in range(3):
                    nodes[node, i] = min(nodes[node, i], boxes[order[at], i])
                    nodes[node, 3 + i] = max(nodes[node, 3 + i], boxes[order[at], 3 + i])
        else:
            for i in range(3):
                left, right = 2 * node + 1, 2 * node + 2
                nodes[node, i] = min(nodes[left, i], nodes[right, i])
                nodes[node, 3 + i] = max(nodes[left, 3 + i], nodes[right, 3 + i])


@pointwise
def overlap(p, q):
    """Whether two boxes (6,) overlap."""
    return (
        p[0] <= q[3]
        and q[0] <= p[3]
        and p[1] <= q[4]
        and q[1] <= p[4]
        and p[2] <= q[5]
        and q[2] <= p[5]
    )


@pointwise
def can_meet(first, second, groups):
    """Whether two primitives share no vertex, and are neither of one group nor both held."""
    group = groups[first[0]]
    if group >= ALONE and group == groups[second[0]]:
        return False
    all_held = True
    for a in range(len(first)):
        all_held = all_held and groups[first[a]] == HELD
        for b in range(len(second)):
            if first[a] == second[b]:
                return False
    for b in range(len(second)):
        all_held = all_held and groups[second[b]] == HELD
    return not all_held


@kernel
def overlapping(
    prims, boxes, others, other_boxes, order, nodes, groups, one_kind, first, last, found
):
    """Pairs (k, 2) of primitives first to last and others whose boxes overlap; returns how many.

    Pairs of ``one_kind`` are found once, the first before the second. Where there are more than
    ``found`` has room for, those that do not fit are counted alone.
    """
    count, leaves, n = 0, (len(nodes) + 1) // 2, len(order)
    stack = np.empty(_DEPTH, dtype=np.int64)
    for k in range(first, last):
        begin = count
        stack[0], height = 0, 1
        while height:
            height -= 1
            node = stack[height]
            if not overlap(boxes[k], nodes[node]):
                continue
            if node < leaves - 1:
                stack[height], stack[height + 1] = 2 * node + 2, 2 * node + 1
                height += 2
                continue
            leaf = node - leaves + 1
            for at in range(leaf * n // leaves, (leaf + 1) * n // leaves):
                j = order[at]
                if (one_kind and j <= k) or not overlap(boxes[k], other_boxes[j]):
                    continue
                if can_meet(prims[k], others[j], groups):
                    if count < len(found):
                        found[count, 0], found[count, 1] = k, j
                    count += 1
        end = min(count, len(found))
        for p in range(begin + 1, end):  # in order, whatever the tree
            j, q = found[p, 1], p
            while q > begin and found[q - 1, 1] > j:
                found[q, 1] = found[q - 1, 1]
                q -= 1
            found[q, 1] = j
    return count


@pointwise
def _normal(kind, parameters, y, r):
    """Turns r, from the second side to the first, into a unit vector across both.

    Between a vertex and a face, and between edges, that is the normal of these: r is mostly
    rounding where they nearly touch.
    """
    if parameters == 2:
        p, q = (1, 2) if kind == VERTEX_FACE else (0, 1)
        s = 1 if kind == VERTEX_FACE else 2
        n = np.empty(3)
        along = 0.0
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            n[i] = (y[q, j] - y[p, j]) * (y[3, k] - y[s, k])
            n[i] -= (y[q, k] - y[p, k]) * (y[3, j] - y[s, j])
            along += n[i] * r[i]
        if along != 0.0:
            for i in range(3):
                r[i] = n[i] if along > 0.0 else -n[i]
    length = math.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2)
    for i in range(3):
        r[i] /= length


@pointwise
def _time_apart(y, way, split, n, least):
    """How much of their way points (4, 3) can go until their sides are ``least`` apart along n.

    All of the first side are then on one side of a plane, and all of the second on the other.
    """
    found = np.inf
    for a in range(split):
        for b in range(split, 4):
            gap, nearing = 0.0, 0.0
            for i in range(3):
                gap += n[i] * (y[a, i] - y[b, i])
                nearing -= n[i] * (way[a, i] - way[b, i])
            if gap < 0.5 * least:
                return 0.0
            if nearing > 0.0:
                found = min(found, max(gap - least, 0.0) / nearing)
    return found


@pointwise
def time_of_impact(kind, y, way, slowness, floor, latest, c, e, r, at):
    """How much of their way (4, 3) the points of a stencil can go, infinite if ``latest`` or more.

    By conservative advancement (Li et al., Codimensional Incremental Potential Contact, 2021,
    Alg. 1): in each advance no point goes further than the sides are apart, or as far as a plane
    stays between them. It ends where they are about as near as a share ``slowness`` of where they
    began, counted from the ``floor`` [m], below which rounding could carry one through the other.
    What is there goes slowly, and does not come nearer at all where it is far below. y is moved to
    where its first point is at nothing; places (4, 3) on the way, ``at``, are found from there, so
    that rounding does not add up over many small advances.
    """
    longest = 0.0
    side, split = 0.0, 1 if kind == VERTEX_FACE else 2
    for i in range(3):
        mean = 0.25 * (way[0, i] + way[1, i] + way[2, i] + way[3, i])
        origin = y[0, i]
        for a in range(4):
            way[a, i] -= mean
            y[a, i] -= origin
            at[a, i] = y[a, i]
    for a in range(4):
        if a == split:
            longest, side = side, 0.0
        side = max(side, math.sqrt(way[a, 0] ** 2 + way[a, 1] ** 2 + way[a, 2] ** 2))
    longest += side
    if longest == 0.0:
        return np.inf
    parameters = closest(kind, at, c, e)
    d = math.sqrt(apart(at, c, r))
    if d == 0.0:
        return 0.0
    floor = d if d < _LOWEST * floor else min(floor, 0.9 * d)
    enough = slowness * (d - floor)
    if d - floor - enough >= longest * latest:
        return np.inf
    time = 0.0
    for _ in range(_ADVANCES):
        left = d - floor - enough
        if time > 0.0 and left <= NEAR_ENOUGH * enough:
            break
        _normal(kind, parameters, at, r)
        advance = max(left / longest, _time_apart(at, way, split, r, floor + enough))
        if time + advance >= latest:
            return np.inf
        if advance == 0.0:
            break
        time += advance
        for a in range(4):
            for i in range(3):
                at[a, i] = y[a, i] + time * way[a, i]
        parameters = closest(kind, at, c, e)
        d = math.sqrt(apart(at, c, r))
    return time


@kernel
def earliest_impact(
    kind,
    x,
    step,
    prims,
    boxes,
    others,
    other_boxes,
    order,
    nodes,
    groups,
    slowness,
    floor,
    first,
    last,
):
    """The least share of a step (m, 3) from x that primitives first to last can go, up to 1."""
    latest, leaves, n = 1.0, (len(nodes) + 1) // 2, len(order)
    split = prims.shape[1]
    stack = np.empty(_DEPTH, dtype=np.int64)
    y, way, at_y = np.empty((4, 3)), np.empty((4, 3)), np.empty((4, 3))
    c, e, r = np.empty(4), np.empty((2, 4)), np.empty(3)
    for k in range(first, last):
        stack[0], height = 0, 1
        while height:
            height -= 1
            node = stack[height]
            if not overlap(boxes[k], nodes[node]):
                continue
            if node < leaves - 1:
                stack[height], stack[height + 1] = 2 * node + 2, 2 * node + 1
                height += 2
                continue
            leaf = node - leaves + 1
            for at in range(leaf * n // leaves, (leaf + 1) * n // leaves):
                j = order[at]
                if (kind == EDGE_EDGE and j <= k) or not overlap(boxes[k], other_boxes[j]):
                    continue
                if not can_meet(prims[k], others[j], groups):
                    continue
                for a in range(4):
                    vertex = prims[k, a] if a < split else others[j, a - split]
                    for i in range(3):
                        y[a, i], way[a, i] = x[vertex, i], step[vertex, i]
                time = time_of_impact(kind, y, way, slowness, floor, latest, c, e, r, at_y)
                latest = min(latest, time)
    return latest


@kernel
def earliest_of_pairs(kinds, quads, x, step, distances, moved, ways, slowness, floor, first, last):
    """The same for the stencils first to last, whose points are ``quads`` (k, 4).

    They had ``distances`` (k,) [m] before vertices ``moved`` (m,) to x. Those that are far enough
    apart for the ``ways`` (m,) [m] of vertices, but for what all have in common, are not looked at.
    """
    latest, share = 1.0, 1.0 - (1.0 + NEAR_ENOUGH) * slowness
    y, way, at = np.empty((4, 3)), np.empty((4, 3)), np.empty((4, 3))
    c, e, r = np.empty(4), np.empty((2, 4)), np.empty(3)
    for k in range(first, last):
        left = distances[k] - nearing(kinds[k], quads[k], moved) - floor
        if left > 0.0 and share * left >= latest * nearing(kinds[k], quads[k], ways):
            continue
        place(x, quads[k], y)
        place(step, quads[k], way)
        time = time_of_impact(kinds[k], y, way, slowness, floor, latest, c, e, r, at)
        latest = min(latest, time)
    return latest


@kernel
def pair_reach(
    quads, split, X, parts, wanted, close, values, starts, nexts, share, first, last, reach
):
    """Fills the reach d̂ (k,) of stencils first to last; first sides have ``split`` vertices.

    It is what both parts of the surface want, or what the sorted pairs of parts ``close`` are to
    have instead. Sides that are neighbours in the mesh, joined by an edge of the graph ``starts``,
    ``nexts``, do not push while they are as far apart as at rest, in X.
    """
    y, c, e, r = np.empty((4, 3)), np.empty(4), np.empty((2, 4)), np.empty(3)
    for k in range(first, last):
        p, q = parts[quads[k, 0]], parts[quads[k, 3]]
        found = min(wanted[p], wanted[q])
        if len(close):
            key = min(p, q) * len(wanted) + max(p, q)
            at = np.searchsorted(close, key)
            if at < len(close) and close[at] == key:
                found = min(found, values[at])
        if p == q and joined(quads[k], split, starts, nexts):
            place(X, quads[k], y)
            closest(VERTEX_FACE if split == 1 else EDGE_EDGE, y, c, e)
            found = min(found, share * math.sqrt(apart(y, c, r)))
        reach[k] = found


@pointwise
def joined(quad, split, starts, nexts):
    """Whether an edge of a graph goes from one side of a stencil to the other."""
    for a in range(split):
        for at in range(starts[quad[a]], starts[quad[a] + 1]):
            for b in range(split, 4):
                if nexts[at] == quad[b]:
                    return True
    return False


@kernel
def joined_sides(quads, split, starts, nexts, found):
    """Fills whether the sides of stencils (k,) are neighbours in the mesh."""
    for k in range(len(quads)):
        found[k] = joined(quads[k], split, starts, nexts)
