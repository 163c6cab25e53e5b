"""Contact of yarns: pressure and friction where they cross, and distance of parallel neighbours."""

import numpy as np

from supple._kernels.compiling import kernel
from supple._kernels.linear_algebra.tensors import cross


@kernel
def neighbours_apart(q, nodes, family, slots, distance, stiffness, gradient, values):
    """Σ ½ k (d − Δs)²/d over segments shorter than d: the yarns at its ends touch."""
    total = 0.0
    for e in range(nodes.shape[0]):
        i, j, f = nodes[e, 0], nodes[e, 1], family[e]
        s = 3 + f
        d = distance[f]
        overlap = d - (q[j, s] - q[i, s])
        if overlap <= 0.0:
            continue
        total += 0.5 * stiffness * overlap * overlap / d
        if len(gradient) > 0:
            gradient[i, s] += stiffness * overlap / d
            gradient[j, s] -= stiffness * overlap / d
        if len(values) > 0:
            values[slots[e, 0], s, s] += stiffness / d
            values[slots[e, 2], s, s] += stiffness / d
            between = slots[e, 1] if slots[e, 1] >= 0 else ~slots[e, 1]
            values[between, s, s] -= stiffness / d
    return total


@kernel
def slopes(q, along, out):
    """out[i, f] = ∂x/∂s of family f at node i, the mean over the segments that meet there."""
    for i in range(q.shape[0]):
        for f in range(2):
            before, after = along[i, f, 0], along[i, f, 1]
            first = i if before < 0 else before
            last = i if after < 0 else after
            for r in range(3):
                out[i, f, r] = 0.0
            if first != last:
                D = q[last, 3 + f] - q[first, 3 + f]
                for r in range(3):
                    out[i, f, r] = (q[last, r] - q[first, r]) / D


@kernel
def pressure(q, along, slope, on_top, heights, stretch, bending, normal, angles, out):
    """The force that presses the two yarns of each crossing together.

    The centre line of a yarn passes at the height h = ±(its radius) over the node, along the
    normal of the cloth. Its tension pulls it towards the lines of its neighbours, and so does
    its stiffness by the crimp angle. Half the difference of the pulls on warp and weft is what
    each exerts on the other.
    """
    n = q.shape[0]
    for i in range(n):
        cross(slope[i, 0], slope[i, 1], normal[i])
        size = np.sqrt(normal[i, 0] ** 2 + normal[i, 1] ** 2 + normal[i, 2] ** 2)
        for r in range(3):
            normal[i, r] = normal[i, r] / size if size > 0.0 else 0.0
        for f in range(2):
            side = on_top[i] if f == 0 else -on_top[i]
            angles[i, f] = 0.0
            if along[i, f, 0] >= 0 and along[i, f, 1] >= 0:
                for end in range(2):
                    j = along[i, f, end]
                    other = on_top[j] if f == 0 else -on_top[j]
                    D = abs(q[j, 3 + f] - q[i, 3 + f])
                    angles[i, f] += heights[f] * (side - other) / D
    for i in range(n):
        out[i] = 0.0
        for f in range(2):
            side = on_top[i] if f == 0 else -on_top[i]
            pull = 0.0
            reach, turn = 0.0, 0.0
            for end in range(2):
                j = along[i, f, end]
                if j < 0:
                    continue
                other = on_top[j] if f == 0 else -on_top[j]
                D = abs(q[j, 3 + f] - q[i, 3 + f])
                length, rise = 0.0, heights[f] * side
                for r in range(3):
                    d = q[j, r] - q[i, r]
                    length += d * d
                    rise -= normal[i, r] * (d + heights[f] * other * normal[j, r])
                length = np.sqrt(length)
                pull += stretch[f] * max(length / D - 1.0, 0.0) * rise / length
                reach += D
                turn += 1.0 / D
                pull -= bending[f] * 2.0 * angles[j, f] / (2.0 * D) / D
            if reach > 0.0:
                pull += bending[f] * 2.0 * angles[i, f] / reach * turn
            out[i] += 0.5 * side * pull
        out[i] = max(out[i], 0.0)


@kernel
def friction(q, before, slope, limit, speed, h, diagonal, majorized, gradient, values):
    """h Σ μN (√(|c|² + ε²) − ε) with c the slip velocity x′_v v̇ − x′_u u̇ of weft against warp.

    ``limit`` is μN, ``speed`` is ε, both of the start of the step; rates are (q − before)/h.
    A careful matrix is that of the paraboloid which touches from above: steps along it do not
    overshoot the kink at rest.
    """
    total = 0.0
    for i in range(q.shape[0]):
        if limit[i] == 0.0:
            continue
        uu, uv, vv = 0.0, 0.0, 0.0
        for r in range(3):
            uu += slope[i, 0, r] * slope[i, 0, r]
            uv -= slope[i, 0, r] * slope[i, 1, r]
            vv += slope[i, 1, r] * slope[i, 1, r]
        u, v = (q[i, 3] - before[i, 3]) / h, (q[i, 4] - before[i, 4]) / h
        gu, gv = uu * u + uv * v, uv * u + vv * v
        root = np.sqrt(u * gu + v * gv + speed * speed)
        total += h * limit[i] * (root - speed)
        if len(gradient) > 0:
            gradient[i, 3] += limit[i] * gu / root
            gradient[i, 4] += limit[i] * gv / root
        if len(values) > 0:
            s = diagonal[i]
            scale = limit[i] / (h * root)
            fall = 0.0 if majorized else 1.0 / (root * root)
            values[s, 3, 3] += scale * (uu - fall * gu * gu)
            values[s, 3, 4] += scale * (uv - fall * gu * gv)
            values[s, 4, 3] += scale * (uv - fall * gu * gv)
            values[s, 4, 4] += scale * (vv - fall * gv * gv)
    return total
