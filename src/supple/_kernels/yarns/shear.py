"""Shear between crossing yarns: the angle φ between a warp and a weft segment at a crossing."""

import numpy as np

from supple._kernels.compiling import kernel
from supple._kernels.yarns.local import add_three_nodes, angle, angle_hessian


@kernel
def strain(q, nodes, out):
    """out[c] = φ of each corner (crossing, node along warp, node along weft)."""
    a, b, n, da, db = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for t in range(nodes.shape[0]):
        o = nodes[t, 0]
        for r in range(3):
            a[r] = q[nodes[t, 1], r] - q[o, r]
            b[r] = q[nodes[t, 2], r] - q[o, r]
        out[t], _, _ = angle(a, b, da, db, n)


@kernel
def potential(q, nodes, slots, k, rest, before, rate, definite, gradient, values):
    """Σ ½ k (φ − φ₀)² + ½ k (β/h)(φ − φ_n)² over corners."""
    total = 0.0
    a, b, n, da, db = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    H, block = np.empty((6, 6)), np.empty((4, 4))
    first, second = np.array([-1.0, 1.0, 0.0]), np.array([-1.0, 0.0, 1.0])
    for t in range(nodes.shape[0]):
        o = nodes[t, 0]
        for r in range(3):
            a[r] = q[nodes[t, 1], r] - q[o, r]
            b[r] = q[nodes[t, 2], r] - q[o, r]
        phi, la, lb = angle(a, b, da, db, n)
        change = phi - before[t]
        total += 0.5 * k * ((phi - rest[t]) ** 2 + rate * change * change)
        if len(gradient) == 0:
            continue
        slope = k * (phi - rest[t] + rate * change)
        for p in range(3):
            for r in range(3):
                gradient[nodes[t, p], r] += slope * (first[p] * da[r] + second[p] * db[r])
        if len(values) == 0:
            continue
        curvature = k * (1.0 + rate)
        angle_hessian(a, b, la, lb, da, db, n, phi, slope, curvature, definite, H)
        add_three_nodes(values, slots[t], H, 3, 0, block, first, second, first)
    return total


@kernel
def dissipation(q, v, nodes, viscosity, force):
    """Σ ½ kβ φ̇², and its force added to ``force``."""
    total = 0.0
    a, b, n, da, db = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for t in range(nodes.shape[0]):
        o, i, j = nodes[t, 0], nodes[t, 1], nodes[t, 2]
        for r in range(3):
            a[r] = q[i, r] - q[o, r]
            b[r] = q[j, r] - q[o, r]
        angle(a, b, da, db, n)
        turning = 0.0
        for r in range(3):
            turning += da[r] * (v[i, r] - v[o, r]) + db[r] * (v[j, r] - v[o, r])
        total += 0.5 * viscosity * turning * turning
        for r in range(3):
            force[i, r] -= viscosity * turning * da[r]
            force[j, r] -= viscosity * turning * db[r]
            force[o, r] += viscosity * turning * (da[r] + db[r])
    return total
