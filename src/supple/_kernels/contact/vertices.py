"""Contact of single vertices with planes: non-penetration and Coulomb friction as a projection.

For a vertex sought at s, the place z minimises, with f_n = w · depth the force that holds it out,

    ½ w ‖z − s‖² + μ f_n ‖T (z − o)‖    subject to    n·z ≥ b

where o is the place at which it would stick and T projects on the plane. Then w (z − s) is the
force of the contact (dissipative optimization, Eqs. 58–60).
"""

import math

from supple._kernels.compiling import kernel

FREE, SLIDING, STICKING = 0, 1, 2


@kernel
def project_contacts(s, normal, offset, origin, friction, limits, z, kind, blocks, majorized):
    """Fills z (k, 3), what each contact does (k,), and I − ∂z/∂s as ``blocks`` (k, 3, 3).

    The most that friction can take back is ``limits`` (k,) [m], or without any, μ times the depth;
    how it grows with depth is left out of the blocks, so that they are symmetric and positive
    semidefinite. ``majorized`` blocks have the whole of friction's pull back along the slip too,
    as a sticking contact has: steps made with them never overshoot the place where it sticks.
    """
    for c in range(len(s)):
        n0, n1, n2 = normal[c, 0], normal[c, 1], normal[c, 2]
        depth = max(offset[c] - (n0 * s[c, 0] + n1 * s[c, 1] + n2 * s[c, 2]), 0.0)
        out = 1.0 if depth > 0.0 else 0.0
        limit = limits[c] if len(limits) else friction[c] * depth
        t0, t1, t2 = s[c, 0] - origin[c, 0], s[c, 1] - origin[c, 1], s[c, 2] - origin[c, 2]
        along = n0 * t0 + n1 * t1 + n2 * t2
        t0, t1, t2 = t0 - along * n0, t1 - along * n1, t2 - along * n2
        slip = math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
        if limit <= 0.0:
            kind[c] = SLIDING if depth > 0.0 else FREE
            back, across = 0.0, 0.0
        elif slip <= limit:
            kind[c] = STICKING
            back, across = 1.0, 0.0
        else:
            kind[c] = SLIDING
            back = limit / slip  # share of the slip that friction takes back
            across = 0.0 if majorized else back / (slip * slip)
        for i in range(3):
            n_i = normal[c, i]
            t_i = t0 if i == 0 else (t1 if i == 1 else t2)
            z[c, i] = s[c, i] + depth * n_i - back * t_i
            for j in range(3):
                n_j = normal[c, j]
                t_j = t0 if j == 0 else (t1 if j == 1 else t2)
                plane = (1.0 if i == j else 0.0) - n_i * n_j
                blocks[c, i, j] = out * n_i * n_j + back * plane - across * t_i * t_j


@kernel
def contact_energy(s, normal, offset, origin, limits, weights):
    """Σ of the minima above [J], friction's limits over w frozen at ``limits`` (k,) [m]."""
    total = 0.0
    for c in range(len(s)):
        n0, n1, n2 = normal[c, 0], normal[c, 1], normal[c, 2]
        depth = offset[c] - (n0 * s[c, 0] + n1 * s[c, 1] + n2 * s[c, 2])
        if depth > 0.0:
            total += 0.5 * weights[c] * depth * depth
        if limits[c] > 0.0:
            t0, t1, t2 = s[c, 0] - origin[c, 0], s[c, 1] - origin[c, 1], s[c, 2] - origin[c, 2]
            along = n0 * t0 + n1 * t1 + n2 * t2
            slip = math.sqrt(max(t0 * t0 + t1 * t1 + t2 * t2 - along * along, 0.0))
            if slip <= limits[c]:
                total += 0.5 * weights[c] * slip * slip
            else:
                total += weights[c] * limits[c] * (slip - 0.5 * limits[c])
    return total
