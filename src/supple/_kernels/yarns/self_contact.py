"""Contact of woven cloth with itself: crossings against triangles between crossings.

Crossing i at the distance d from the triangle (a, b, c) of another part of the cloth stores

    b(d) = −κ/D (d − D)² ln(d/D)    for d < D,

which grows without bound as d falls to 0, so that nothing passes.
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise

_BITS = 21  # of a cell's index along each axis
_KEPT = 0.1  # of a distance: what a step leaves of it
_ADVANCES = 60


@kernel
def within_steps(indptr, neighbours, steps, counts, found):
    """Nodes at most so many steps away in a graph, ascending; counts (n,) alone if none fit."""
    n = len(indptr) - 1
    seen = np.full(n, -1, dtype=np.int64)
    queue = np.empty(4096, dtype=np.int64)
    at = 0
    for i in range(n):
        queue[0], seen[i] = i, i
        first, last = 0, 1
        for _ in range(steps):
            end = last
            for k in range(first, end):
                node = queue[k]
                for e in range(indptr[node], indptr[node + 1]):
                    j = neighbours[e]
                    if seen[j] != i and last < 4096:
                        seen[j] = i
                        queue[last] = j
                        last += 1
            first = end
        counts[i] = last
        if len(found) > 0:
            found[at : at + last] = np.sort(queue[:last])
        at += last


@pointwise
def _holds(values, first, last, sought):
    """Whether an ascending run of values has the one sought."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] < sought:
            first = middle + 1
        else:
            last = middle
    return first, last


@kernel
def cell_keys(x, low, size, keys):
    """One number for the cell of a uniform grid that each point is in."""
    for i in range(x.shape[0]):
        key = np.int64(0)
        for r in range(3):
            key = (key << _BITS) | (np.int64((x[i, r] - low[r]) / size) + 1)
        keys[i] = key


@pointwise
def closest(p, a, b, c, shares, offset):
    """Distance of p from a triangle, with the shares of its corners in the nearest point.

    ``offset`` is p minus that point.
    """
    ab0, ab1, ab2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    ac0, ac1, ac2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    ap0, ap1, ap2 = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    aa = ab0 * ab0 + ab1 * ab1 + ab2 * ab2
    bb = ac0 * ac0 + ac1 * ac1 + ac2 * ac2
    mixed = ab0 * ac0 + ab1 * ac1 + ab2 * ac2
    pa = ap0 * ab0 + ap1 * ab1 + ap2 * ab2
    pb = ap0 * ac0 + ap1 * ac1 + ap2 * ac2
    det = aa * bb - mixed * mixed
    v = w = -1.0
    if det > 1e-12 * aa * bb:
        v, w = (bb * pa - mixed * pb) / det, (aa * pb - mixed * pa) / det
    if v < 0.0 or w < 0.0 or v + w > 1.0:
        # On one of the sides: the nearest of the three.
        best = np.inf
        t = min(max(pa / aa, 0.0), 1.0) if aa > 0.0 else 0.0
        s = pa * pa - (pa - t * aa) ** 2 if aa > 0.0 else 0.0
        gain = s / aa if aa > 0.0 else 0.0
        best, v, w = -gain, t, 0.0
        t = min(max(pb / bb, 0.0), 1.0) if bb > 0.0 else 0.0
        gain = (pb * pb - (pb - t * bb) ** 2) / bb if bb > 0.0 else 0.0
        if -gain < best:
            best, v, w = -gain, 0.0, t
        side = aa - 2.0 * mixed + bb
        along = pb - pa + aa - mixed
        t = min(max(along / side, 0.0), 1.0) if side > 0.0 else 0.0
        q0 = ap0 - ab0 - t * (ac0 - ab0)
        q1 = ap1 - ab1 - t * (ac1 - ab1)
        q2 = ap2 - ab2 - t * (ac2 - ab2)
        gain = ap0 * ap0 + ap1 * ap1 + ap2 * ap2 - (q0 * q0 + q1 * q1 + q2 * q2)
        if -gain < best:
            v, w = 1.0 - t, t
    shares[0], shares[1], shares[2] = 1.0 - v - w, v, w
    offset[0] = ap0 - v * ab0 - w * ac0
    offset[1] = ap1 - v * ab1 - w * ac1
    offset[2] = ap2 - v * ab2 - w * ac2
    return np.sqrt(offset[0] ** 2 + offset[1] ** 2 + offset[2] ** 2)


@kernel
def find(x, keys, order, reach, within, near_at, near, tri_at, tri, triangles, pairs):
    """Pairs of a crossing and a triangle elsewhere that are at most ``within`` apart.

    ``keys`` are those of cells of the size ``reach``, ascending along ``order``. A triangle is
    elsewhere if none of its corners is among the crossings near in the cloth. Each is found from
    the first of its corners that is in reach. Returns how many there are; those that fit are
    written.
    """
    count = 0
    shares, offset = np.empty(3), np.empty(3)
    square = reach * reach
    beside = np.empty(9, dtype=np.int64)
    for di in range(3):
        for dj in range(3):
            beside[3 * di + dj] = ((di - 1) << (2 * _BITS)) + ((dj - 1) << _BITS)
    inverse = np.empty(len(order), dtype=np.int64)
    sorted_keys = np.empty(len(order), dtype=np.int64)
    for k in range(len(order)):
        inverse[order[k]] = k
        sorted_keys[k] = keys[order[k]]
    for i in range(x.shape[0]):
        begun = count
        for m in range(9):
            low = keys[i] + beside[m] - 1
            k, _ = _holds(sorted_keys, 0, len(order), low)
            while k < len(order) and sorted_keys[k] <= low + 2:
                j = order[k]
                k += 1
                far = 0.0
                for r in range(3):
                    far += (x[i, r] - x[j, r]) ** 2
                if far > square:
                    continue
                at, _ = _holds(near, near_at[i], near_at[i + 1], j)
                if at < near_at[i + 1] and near[at] == j:
                    continue
                for e in range(tri_at[j], tri_at[j + 1]):
                    t = tri[e]
                    own, first = False, True
                    for c in range(3):
                        node = triangles[t, c]
                        at, _ = _holds(near, near_at[i], near_at[i + 1], node)
                        if at < near_at[i + 1] and near[at] == node:
                            own = True
                        if node < j:
                            far = 0.0
                            for r in range(3):
                                far += (x[i, r] - x[node, r]) ** 2
                            if far <= square:
                                first = False
                    if own or not first:
                        continue
                    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
                    if closest(x[i], x[a], x[b], x[c], shares, offset) <= within:
                        if count < pairs.shape[0]:
                            pairs[count, 0], pairs[count, 1] = i, t
                        count += 1
        if begun < count <= pairs.shape[0]:
            pairs[begun:count, 1] = np.sort(pairs[begun:count, 1])
    return count


@pointwise
def barrier(d, D, k):
    """b(d), b′ and b″."""
    log, gap, ratio = np.log(d / D), d - D, k / D
    first = -ratio * (2.0 * gap * log + gap * gap / d)
    second = -ratio * (2.0 * log + 4.0 * gap / d - gap * gap / (d * d))
    return -ratio * gap * gap * log, first, second


@kernel
def potential(x, pairs, triangles, D, k, gradient, active, blocks):
    """Σ b(d), with its gradient added, and what the pairs in contact are.

    ``active`` (pairs,) gets the indices of these, ``blocks`` the ten 3 × 3 blocks b″ g gᵀ of each
    over (crossing, a, b, c), upper triangle; either may be empty. Returns the sum and their count.
    """
    total, count = 0.0, 0
    shares, n = np.empty(3), np.empty(3)
    weights, nodes = np.empty(4), np.empty(4, dtype=np.int64)
    for e in range(pairs.shape[0]):
        i, t = pairs[e, 0], pairs[e, 1]
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        d = closest(x[i], x[a], x[b], x[c], shares, n)
        if d >= D:
            continue
        if not d > 0.0:
            return np.inf, 0
        energy, first, second = barrier(d, D, k)
        total += energy
        weights[0], nodes[0] = 1.0 / d, i
        nodes[1], nodes[2], nodes[3] = a, b, c
        for m in range(3):
            weights[m + 1] = -shares[m] / d
        if len(gradient) > 0:
            for m in range(4):
                for r in range(3):
                    gradient[nodes[m], r] += first * weights[m] * n[r]
        if len(active) > 0:
            active[count] = e
        if len(blocks) > 0:
            slot = 0
            for m in range(4):
                for o in range(m, 4):
                    scale = second * weights[m] * weights[o]
                    for r in range(3):
                        for s in range(3):
                            blocks[count, slot, r, s] = scale * n[r] * n[s]
                    slot += 1
        count += 1
    return total, count


@kernel
def distances(x, pairs, triangles, out):
    """out[e] = the distance of each pair."""
    shares, offset = np.empty(3), np.empty(3)
    for e in range(pairs.shape[0]):
        a, b, c = triangles[pairs[e, 1]]
        out[e] = closest(x[pairs[e, 0]], x[a], x[b], x[c], shares, offset)


@kernel
def frames(x, pairs, triangles, D, k, chosen, pressed, shares, normals):
    """Of the pairs in contact: which they are, the force, shares of the corners, the normal."""
    count = 0
    offset, share = np.empty(3), np.empty(3)
    for e in range(pairs.shape[0]):
        i, t = pairs[e, 0], pairs[e, 1]
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        d = closest(x[i], x[a], x[b], x[c], share, offset)
        if not 0.0 < d < D:
            continue
        _, first, _ = barrier(d, D, k)
        chosen[count], pressed[count] = e, -first
        for r in range(3):
            shares[count, r] = share[r]
            normals[count, r] = offset[r] / d
        count += 1
    return count


@kernel
def friction(way, nodes, shares, normals, limit, speed, h, majorized, gradient, blocks):
    """h Σ μN (√(|c|² + ε²) − ε) with c the slip of each crossing over its triangle.

    ``way`` is q − q̂ of all crossings (n, 3), h c the slip of it; N, shares and normals are those of
    the start of the step. Blocks as in ``potential``.
    """
    total = 0.0
    weights, c = np.empty(4), np.empty(3)
    for e in range(nodes.shape[0]):
        weights[0] = 1.0
        for m in range(3):
            weights[m + 1] = -shares[e, m]
        normal = 0.0
        for r in range(3):
            c[r] = 0.0
            for m in range(4):
                c[r] += weights[m] * way[nodes[e, m], r] / h
            normal += c[r] * normals[e, r]
        square = speed * speed
        for r in range(3):
            c[r] -= normal * normals[e, r]
            square += c[r] * c[r]
        root = np.sqrt(square)
        total += h * limit[e] * (root - speed)
        if len(gradient) > 0:
            for m in range(4):
                for r in range(3):
                    gradient[nodes[e, m], r] += limit[e] * weights[m] * c[r] / root
        if len(blocks) > 0:
            fall = 0.0 if majorized else 1.0 / square
            slot = 0
            for m in range(4):
                for o in range(m, 4):
                    scale = limit[e] * weights[m] * weights[o] / (h * root)
                    for r in range(3):
                        for s in range(3):
                            value = -normals[e, r] * normals[e, s] - fall * c[r] * c[s]
                            if r == s:
                                value += 1.0
                            blocks[e, slot, r, s] += scale * value
                    slot += 1
    return total


@kernel
def free_share(x, step, pairs, triangles, longest):
    """The share of a step, up to ``longest``, after which every pair keeps some of its distance.

    By conservative advancement: no pair comes nearer than its fastest points move.
    """
    share = longest
    shares, offset, mean = np.empty(3), np.empty(3), np.empty(3)
    at, way = np.empty((4, 3)), np.empty((4, 3))
    nodes = np.empty(4, dtype=np.int64)
    for e in range(pairs.shape[0]):
        nodes[0] = pairs[e, 0]
        for m in range(3):
            nodes[m + 1] = triangles[pairs[e, 1], m]
        for r in range(3):
            mean[r] = 0.0
            for m in range(4):
                at[m, r] = x[nodes[m], r]
                way[m, r] = step[nodes[m], r]
                mean[r] += 0.25 * way[m, r]
        fastest, own = 0.0, 0.0
        for m in range(4):
            speed = 0.0
            for r in range(3):
                way[m, r] -= mean[r]
                speed += way[m, r] * way[m, r]
            if m == 0:
                own = np.sqrt(speed)
            else:
                fastest = max(fastest, np.sqrt(speed))
        nearing = own + fastest
        d = closest(at[0], at[1], at[2], at[3], shares, offset)
        left = _KEPT * d
        if nearing * share <= d - left:
            continue
        t, enough = 0.0, 0.05 * (d - left)
        for _ in range(_ADVANCES):
            ahead = (d - left) / nearing
            if t > 0.0 and d - left <= enough:
                break
            for m in range(4):
                for r in range(3):
                    at[m, r] += ahead * way[m, r]
            t += ahead
            if t >= share:
                break
            d = closest(at[0], at[1], at[2], at[3], shares, offset)
        share = min(share, t)
    return share
