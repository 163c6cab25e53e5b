"""Loops over the hinges of a sheet: the angle θ between two triangles, and its derivatives.

A hinge has the vertices 0 and 1 at the ends of its edge, and 2 and 3 opposite to it. θ is zero
where the triangles lie flat, and grows as both fold towards the side that (x₁ − x₀) × (x₂ − x₀)
points away from. ∇θ is a sum over the two triangles of c_p a for each corner p, with a = N/‖N‖²,
N the normal as long as twice the area, and c_p lengths along the edge; so is ∇²θ.
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.blocks import add_entry
from supple._kernels.linear_algebra.tensors import cross

_COLLAPSED = 1e-20  # of the edge to the fourth: a triangle of less area squared has no normal


@pointwise
def _triangle(x, i0, i1, i2, e, m, N, c, a):
    """Fill ê, the height m of corner 2 over the edge, N, c and a; whether there is a normal."""
    length = 0.0
    for k in range(3):
        e[k] = x[i1, k] - x[i0, k]
        m[k] = x[i2, k] - x[i0, k]
        length += e[k] * e[k]
    cross(e, m, N)
    size = N[0] * N[0] + N[1] * N[1] + N[2] * N[2]
    if size <= _COLLAPSED * length * length:
        return 0.0, 0.0
    length = np.sqrt(length)
    along = (m[0] * e[0] + m[1] * e[1] + m[2] * e[2]) / length
    for k in range(3):
        e[k] /= length
        m[k] -= along * e[k]
        a[k] = N[k] / size
    c[0], c[1], c[2] = along - length, -along, length  # (x₂ − x₁)·ê, −(x₂ − x₀)·ê, ‖e‖
    return length, size


@pointwise
def _angle(x, i0, i1, i2, i3):
    """θ of one hinge."""
    e0, e1, e2 = x[i1, 0] - x[i0, 0], x[i1, 1] - x[i0, 1], x[i1, 2] - x[i0, 2]
    p0, p1, p2 = x[i2, 0] - x[i0, 0], x[i2, 1] - x[i0, 1], x[i2, 2] - x[i0, 2]
    q0, q1, q2 = x[i3, 0] - x[i0, 0], x[i3, 1] - x[i0, 1], x[i3, 2] - x[i0, 2]
    n0, n1, n2 = e1 * p2 - e2 * p1, e2 * p0 - e0 * p2, e0 * p1 - e1 * p0
    m0, m1, m2 = q1 * e2 - q2 * e1, q2 * e0 - q0 * e2, q0 * e1 - q1 * e0
    cosine = n0 * m0 + n1 * m1 + n2 * m2
    volume = n0 * q0 + n1 * q1 + n2 * q2  # (N₁ × N₂)·ê = −‖e‖ N₁·(x₃ − x₀)
    return np.arctan2(-np.sqrt(e0 * e0 + e1 * e1 + e2 * e2) * volume, cosine)


@kernel
def angles(x, hinges, theta):
    """θ of every hinge at positions x (n, 3)."""
    for h in range(hinges.shape[0]):
        theta[h] = _angle(x, hinges[h, 0], hinges[h, 1], hinges[h, 2], hinges[h, 3])


@kernel
def angle_gradients(x, hinges, G):
    """G[h, p] = ∂θ/∂x_p; zero for a triangle that has collapsed."""
    e, m, N, c, a = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for h in range(hinges.shape[0]):
        G[h] = 0.0
        for half in range(2):
            # The second triangle is seen from its own side: the edge goes the other way.
            v0, v1, v2 = (0, 1, 2) if half == 0 else (1, 0, 3)
            i0, i1, i2 = hinges[h, v0], hinges[h, v1], hinges[h, v2]
            length, _ = _triangle(x, i0, i1, i2, e, m, N, c, a)
            if length > 0.0:
                for k in range(3):
                    G[h, v0, k] -= c[0] * a[k]
                    G[h, v1, k] -= c[1] * a[k]
                    G[h, v2, k] -= c[2] * a[k]


@pointwise
def _second(x, corners, H, e, m, N, c, a, spans, dc):
    """Fill H (4, 4, 3, 3) with ∇²θ of one hinge."""
    H[:] = 0.0
    for half in range(2):
        v = (0, 1, 2) if half == 0 else (1, 0, 3)
        i0, i1, i2 = corners[v[0]], corners[v[1]], corners[v[2]]
        length, size = _triangle(x, i0, i1, i2, e, m, N, c, a)
        if length == 0.0:
            continue
        for k in range(3):
            # ∂N/∂x_q d = span_q × d, the edge opposite to corner q
            spans[0, k] = x[i2, k] - x[i1, k]
            spans[1, k] = x[i0, k] - x[i2, k]
            spans[2, k] = x[i1, k] - x[i0, k]
            # dc[p, q] = ∂c_p/∂x_q
            lever = m[k] / length
            dc[0, 0, k], dc[0, 1, k], dc[0, 2, k] = -lever, lever - e[k], e[k]
            dc[1, 0, k], dc[1, 1, k], dc[1, 2, k] = lever + e[k], -lever, -e[k]
            dc[2, 0, k], dc[2, 1, k], dc[2, 2, k] = -e[k], e[k], 0.0
        for q in range(3):
            s0, s1, s2 = spans[q, 0], spans[q, 1], spans[q, 2]
            for l in range(3):
                # Column l of ∂N/∂x_q, then of ∂a/∂x_q = (I − 2 N Nᵀ/‖N‖²) ∂N/∂x_q /‖N‖²
                d0, d1, d2 = 1.0 * (l == 0), 1.0 * (l == 1), 1.0 * (l == 2)
                n0, n1, n2 = s1 * d2 - s2 * d1, s2 * d0 - s0 * d2, s0 * d1 - s1 * d0
                along = 2.0 * (N[0] * n0 + N[1] * n1 + N[2] * n2) / size
                b0, b1, b2 = n0 - along * N[0], n1 - along * N[1], n2 - along * N[2]
                for p in range(3):
                    H[v[p], v[q], 0, l] -= a[0] * dc[p, q, l] + c[p] * b0 / size
                    H[v[p], v[q], 1, l] -= a[1] * dc[p, q, l] + c[p] * b1 / size
                    H[v[p], v[q], 2, l] -= a[2] * dc[p, q, l] + c[p] * b2 / size


@kernel
def add_angle_forces(hinges, G, moments, force):
    """force_p += moment · ∂θ/∂x_p."""
    for h in range(hinges.shape[0]):
        for p in range(4):
            for k in range(3):
                force[hinges[h, p], k] += moments[h] * G[h, p, k]


@kernel
def angle_rates(hinges, G, v, rates):
    """θ̇ = ∇θ·v, of every hinge."""
    for h in range(hinges.shape[0]):
        rates[h] = 0.0
        for p in range(4):
            for k in range(3):
                rates[h] += G[h, p, k] * v[hinges[h, p], k]


@kernel
def add_angle_blocks(G, stiffness, slots, values):
    """values[block(p, q)] += k ∂θ/∂x_p ⊗ ∂θ/∂x_q; slots as for membranes."""
    for h in range(G.shape[0]):
        s = 0
        for p in range(4):
            for q in range(p, 4):
                slot = slots[h, s]
                s += 1
                for i in range(3):
                    for k in range(3):
                        add_entry(values, slot, i, k, stiffness[h] * G[h, p, i] * G[h, q, k])


@kernel
def add_angle_curvature(x, hinges, moments, slots, values):
    """values[block(p, q)] += moment · ∂²θ/∂x_p∂x_q."""
    H = np.empty((4, 4, 3, 3))
    e, m, N, c, a = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    spans, dc = np.empty((3, 3)), np.empty((3, 3, 3))
    for h in range(hinges.shape[0]):
        _second(x, hinges[h], H, e, m, N, c, a, spans, dc)
        s = 0
        for p in range(4):
            for q in range(p, 4):
                slot = slots[h, s]
                s += 1
                for i in range(3):
                    for k in range(3):
                        add_entry(values, slot, i, k, moments[h] * H[p, q, i, k])


@kernel
def add_angle_curvature_times(x, hinges, moments, field, force):
    """force_p += moment · Σ_q ∂²θ/∂x_p∂x_q field_q."""
    H = np.empty((4, 4, 3, 3))
    e, m, N, c, a = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    spans, dc = np.empty((3, 3)), np.empty((3, 3, 3))
    for h in range(hinges.shape[0]):
        _second(x, hinges[h], H, e, m, N, c, a, spans, dc)
        for p in range(4):
            for q in range(4):
                for i in range(3):
                    for k in range(3):
                        moment = moments[h] * H[p, q, i, k]
                        force[hinges[h, p], i] += moment * field[hinges[h, q], k]
