"""Bending of yarns between two segments a, b of added arc length L.

Large angles: ε_θ = θ/L (Eq. 20). Small angles, for damping only: ε_k = k/L with k = a × b/(a·b)
(Eq. 22), whose gradient is defined at θ = 0 too. The weight is L, and the energy L ½ k ε_θ².
"""

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.tensors import cross
from supple._kernels.yarns.local import (
    add_three_nodes,
    angle,
    angle_hessian,
    positive_part,
    reduced,
)


@pointwise
def segments(q, nodes, t, a, b):
    """a, b and a·b of a triple of nodes."""
    i, j, k = nodes[t, 0], nodes[t, 1], nodes[t, 2]
    cosine = 0.0
    for r in range(3):
        a[r] = q[j, r] - q[i, r]
        b[r] = q[k, r] - q[j, r]
        cosine += a[r] * b[r]
    return cosine


@pointwise
def share_of_vector(theta, switch):
    """χ: 1 where angles are small, 0 beyond the switch, smooth between half of it and all."""
    x = min(max(2.0 * theta / switch - 1.0, 0.0), 1.0)
    return 1.0 - x * x * (3.0 - 2.0 * x)


@kernel
def strain(q, nodes, family, switch, out):
    """out[t] = (ε_θ, L, χ, ε_k) of each triple, (triples, 6)."""
    a, b, n = np.empty(3), np.empty(3), np.empty(3)
    for t in range(nodes.shape[0]):
        s = 3 + family[t]
        cosine = segments(q, nodes, t, a, b)
        cross(a, b, n)
        theta = np.arctan2(np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), cosine)
        L = q[nodes[t, 2], s] - q[nodes[t, 0], s]
        share = share_of_vector(theta, switch)
        out[t, 0], out[t, 1], out[t, 2] = theta / L, L, share
        for r in range(3):
            out[t, 3 + r] = n[r] / (cosine * L) if share > 0.0 else 0.0


@pointwise
def vector_gradient(a, b, k, r, cosine, ga, gb):
    """∂(r·k)/∂a and ∂(r·k)/∂b for k = a × b/(a·b) and a fixed r."""
    along = (r[0] * k[0] + r[1] * k[1] + r[2] * k[2]) / cosine
    cross(r, b, ga)
    cross(r, a, gb)
    for i in range(3):
        ga[i] = -ga[i] / cosine - along * b[i]
        gb[i] = gb[i] / cosine - along * a[i]


@kernel
def potential(q, nodes, family, slots, k, before, rate, definite, gradient, values):
    """Σ L ½ k ε_θ² + ½ k w_n (β/h) [(1 − χ)(ε_θ − ε_θn)² + χ |ε_k − ε_kn|²].

    ``before`` has (ε_θ, w, χ, ε_k) at the start of the step, ``rate`` is β/h. The part
    with ε_k enters the matrix by its gradients alone (Gauss–Newton).
    """
    total = 0.0
    a, b, n, da, db = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    rest, k_vector = np.empty(3), np.empty(3)
    ga, gb, axis = np.empty(3), np.empty(3), np.empty(3)
    H, block, J = np.zeros((7, 7)), np.empty((4, 4)), np.empty((3, 7))
    first, second = np.array([-1.0, 1.0, 0.0]), np.array([0.0, -1.0, 1.0])
    third = np.array([-1.0, 0.0, 1.0])
    for t in range(nodes.shape[0]):
        f = family[t]
        s = 3 + f
        cosine = segments(q, nodes, t, a, b)
        L = q[nodes[t, 2], s] - q[nodes[t, 0], s]
        if not L > 0.0:
            return np.inf
        theta, la, lb = angle(a, b, da, db, n)
        strain = theta / L
        share = before[t, 2]
        w_theta = before[t, 1] * rate * (1.0 - share)
        w_vector = k[f] * before[t, 1] * rate * share
        change = strain - before[t, 0]
        total += 0.5 * k[f] * (L * strain * strain + w_theta * change * change)
        if w_vector > 0.0:
            if not cosine > 0.0:
                return np.inf
            cross(a, b, k_vector)
            for r in range(3):
                k_vector[r] /= cosine
                rest[r] = k_vector[r] / L - before[t, 3 + r]
                total += 0.5 * w_vector * rest[r] * rest[r]
        if len(gradient) == 0:
            continue
        y1, d1, yy, yd, dd = reduced(theta, L, strain, k[f], before[t, 0], w_theta)
        for r in range(3):
            ga[r], gb[r] = y1 * da[r], y1 * db[r]
        if w_vector > 0.0:
            vector_gradient(a, b, k_vector, rest, cosine, axis, J[0])
            for r in range(3):
                ga[r] += w_vector / L * axis[r]
                gb[r] += w_vector / L * J[0, r]
                d1 -= w_vector * rest[r] * k_vector[r] / (L * L)
        for p in range(3):
            node = nodes[t, p]
            for r in range(3):
                gradient[node, r] += first[p] * ga[r] + second[p] * gb[r]
            gradient[node, s] += third[p] * d1
        if len(values) == 0:
            continue
        if definite:
            yy, yd, dd = positive_part(yy, yd, dd)
        angle_hessian(a, b, la, lb, da, db, n, theta, y1, yy, definite, H)
        for r in range(3):
            H[r, 6] = yd * da[r]
            H[3 + r, 6] = yd * db[r]
        H[6, 6] = dd
        if w_vector > 0.0:
            for r in range(3):
                for c in range(3):
                    axis[c] = 1.0 if c == r else 0.0
                vector_gradient(a, b, k_vector, axis, cosine, ga, gb)
                for c in range(3):
                    J[r, c] = ga[c] / L
                    J[r, 3 + c] = gb[c] / L
                J[r, 6] = -k_vector[r] / (L * L)
            for r in range(7):
                for c in range(r, 7):
                    for m in range(3):
                        H[r, c] += w_vector * J[m, r] * J[m, c]
            for r in range(3):
                for c in range(3):
                    H[3 + c, r] = H[r, 3 + c]
                    if c < r:
                        H[r, c] = H[c, r]
                        H[3 + r, 3 + c] = H[3 + c, 3 + r]
        add_three_nodes(values, slots[t], H, 4, f, block, first, second, third)
    return total


@kernel
def dissipation(q, v, nodes, family, viscosity, switch, force):
    """Σ L ½ kβ [(1 − χ) ε̇_θ² + χ |ε̇_k|²] (Eqs. 21 and 24), and its force added to ``force``."""
    total = 0.0
    a, b, n, da, db = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    k_vector, rate = np.empty(3), np.empty(3)
    va, vb, ga, gb = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for t in range(nodes.shape[0]):
        s = 3 + family[t]
        cosine = segments(q, nodes, t, a, b)
        segments(v, nodes, t, va, vb)
        L = q[nodes[t, 2], s] - q[nodes[t, 0], s]
        L_rate = v[nodes[t, 2], s] - v[nodes[t, 0], s]
        theta, _, _ = angle(a, b, da, db, n)
        share = share_of_vector(theta, switch)
        turning = 0.0
        for r in range(3):
            turning += da[r] * va[r] + db[r] * vb[r]
        theta_rate = turning / L - theta * L_rate / (L * L)
        stress = (1.0 - share) * L * viscosity[family[t]] * theta_rate
        total += 0.5 * stress * theta_rate
        for r in range(3):
            ga[r], gb[r] = stress / L * da[r], stress / L * db[r]
        along_L = -stress * theta / (L * L)
        if share > 0.0:
            cross(a, b, k_vector)
            cross(a, vb, rate)
            cross(va, b, n)
            growth = 0.0
            for r in range(3):
                k_vector[r] /= cosine
                growth += a[r] * vb[r] + b[r] * va[r]
            weight = share * L * viscosity[family[t]]
            for r in range(3):
                rate[r] = (rate[r] + n[r] - growth * k_vector[r]) / (cosine * L)
                rate[r] -= k_vector[r] * L_rate / (L * L)
                total += 0.5 * weight * rate[r] * rate[r]
                along_L -= weight * rate[r] * k_vector[r] / (L * L)
            vector_gradient(a, b, k_vector, rate, cosine, va, vb)
            for r in range(3):
                ga[r] += weight / L * va[r]
                gb[r] += weight / L * vb[r]
        for r in range(3):
            force[nodes[t, 0], r] += ga[r]
            force[nodes[t, 1], r] += gb[r] - ga[r]
            force[nodes[t, 2], r] -= gb[r]
        force[nodes[t, 0], s] += along_L
        force[nodes[t, 2], s] -= along_L
    return total
