"""A posed body in full: its cells with a pose as rest shape, and the force balance of a step."""

import numpy as np

from supple._kernels.compiling import kernel


@kernel
def shape_cells(x, nodes, gradients, volumes):
    """Gradients (c, 1, 4, 3) and volumes (c, 1) of tets with nodes (c, 4) at x (n, 3).

    Returns how many are inside out, and the first of them.
    """
    turned, first = 0, -1
    for e in range(len(nodes)):
        o, i, j, k = nodes[e, 0], nodes[e, 1], nodes[e, 2], nodes[e, 3]
        a0, a1, a2 = x[i, 0] - x[o, 0], x[i, 1] - x[o, 1], x[i, 2] - x[o, 2]
        b0, b1, b2 = x[j, 0] - x[o, 0], x[j, 1] - x[o, 1], x[j, 2] - x[o, 2]
        c0, c1, c2 = x[k, 0] - x[o, 0], x[k, 1] - x[o, 1], x[k, 2] - x[o, 2]
        # each gradient is normal to the opposite face: (b × c) / 6V for corner 1, and so on
        p0, p1, p2 = b1 * c2 - b2 * c1, b2 * c0 - b0 * c2, b0 * c1 - b1 * c0
        q0, q1, q2 = c1 * a2 - c2 * a1, c2 * a0 - c0 * a2, c0 * a1 - c1 * a0
        r0, r1, r2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
        six = a0 * p0 + a1 * p1 + a2 * p2
        volumes[e, 0] = six / 6.0
        if not six > 0.0:
            first = e if turned == 0 else first
            turned += 1
        G = gradients[e, 0]
        G[1, 0], G[1, 1], G[1, 2] = p0 / six, p1 / six, p2 / six
        G[2, 0], G[2, 1], G[2, 2] = q0 / six, q1 / six, q2 / six
        G[3, 0], G[3, 1], G[3, 2] = r0 / six, r1 / six, r2 / six
        for l in range(3):
            G[0, l] = -(G[1, l] + G[2, l] + G[3, l])
    return turned, first


@kernel
def balance(u, stage, masses, f, R, damping, diagonal, matrix, free, rest):
    """rest = f − R − M a − the damping force on free components, a = c_a (u − û_a).

    ``stage`` is (û_a, c_a), ``matrix`` is of all but the mass, which is added; its block
    ``diagonal[i]`` is that of vertex i. Returns the largest component of the rest, and that of the
    forces it is made of. All vectors are (n, 3), masses (n,).
    """
    u_a, c_a = stage
    left, largest = 0.0, 0.0
    for i in range(len(u)):
        for k in range(3):
            rest[i, k] = 0.0
            matrix[diagonal[i], k, k] += c_a * masses[i]
            if free[i, k]:
                inertia = masses[i] * c_a * (u[i, k] - u_a[i, k])
                rest[i, k] = f[i, k] - R[i, k] - inertia - damping[i, k]
                size = max(abs(f[i, k]), abs(R[i, k]), abs(inertia), abs(damping[i, k]))
                largest = max(largest, size)
                left = max(left, abs(rest[i, k])) if np.isfinite(rest[i, k]) else np.inf
    return left, largest
