"""From reduced coordinates back to vertices of the surface, and forces the other way."""

import numpy as np

from supple._kernels.compiling import kernel, reordering_kernel
from supple._kernels.linear_algebra.tensors import row_times


@reordering_kernel
def displace(q, w, groups, rows, frames, u):
    """u = F Σ_i w_i U_i q at the vertices of ``groups``; u (k, 3) takes them at ``rows``.

    The basis of a group is stored as a matrix (3 vertices, poses × columns). q is before Υ.
    """
    m = len(w)
    turned = len(frames) > 0
    z = np.empty(m * len(q), groups.basis.dtype)
    for g in range(len(groups.starts) - 1):
        first = groups.column_starts[g]
        s = groups.column_starts[g + 1] - first
        start, count = groups.starts[g], groups.starts[g + 1] - groups.starts[g]
        for i in range(m):
            for b in range(s):
                z[i * s + b] = w[i] * q[groups.columns[first + b]]
        o = groups.basis_starts[g]
        matrix = groups.basis[o : o + 3 * count * m * s].reshape((3 * count, m * s))
        for k in range(count):
            n = rows[start + k]
            d0, d1, d2 = 0.0, 0.0, 0.0
            x, y, h = matrix[3 * k], matrix[3 * k + 1], matrix[3 * k + 2]
            for b in range(np.uint64(m * s)):
                d0 += x[b] * z[b]
                d1 += y[b] * z[b]
                d2 += h[b] * z[b]
            if turned:
                for i in range(3):
                    u[n, i] = frames[n, i, 0] * d0 + frames[n, i, 1] * d1 + frames[n, i, 2] * d2
            else:
                u[n, 0], u[n, 1], u[n, 2] = d0, d1, d2


@reordering_kernel
def gather(force, w, groups, rows, frames, f):
    """f = Σ_k Σ_i w_i U_i,kᵀ Fᵀ force_k (r,), before Υ: the transpose of ``displace``."""
    m = len(w)
    turned = len(frames) > 0
    f[:] = 0.0
    z = np.empty(m * len(f))
    for g in range(len(groups.starts) - 1):
        first = groups.column_starts[g]
        s = groups.column_starts[g + 1] - first
        start, count = groups.starts[g], groups.starts[g + 1] - groups.starts[g]
        o = groups.basis_starts[g]
        matrix = groups.basis[o : o + 3 * count * m * s].reshape((3 * count, m * s))
        z[:] = 0.0
        for k in range(count):
            n = rows[start + k]
            d0, d1, d2 = force[n, 0], force[n, 1], force[n, 2]
            if turned:
                d0, d1, d2 = row_times((d0, d1, d2), frames[n])
            x, y, h = matrix[3 * k], matrix[3 * k + 1], matrix[3 * k + 2]
            for b in range(np.uint64(m * s)):
                z[b] += d0 * x[b] + d1 * y[b] + d2 * h[b]
        for i in range(m):
            for b in range(s):
                f[groups.columns[first + b]] += w[i] * z[i * s + b]


@kernel
def carry(u, corners, shares, skin):
    """skin += Σ_k shares_k u_k over the corners of the tet that carries each surface vertex."""
    for n in range(len(skin)):
        for k in range(corners.shape[1]):
            share = shares[n, k]
            if share != 0.0:
                c = corners[n, k]
                skin[n, 0] += share * u[c, 0]
                skin[n, 1] += share * u[c, 1]
                skin[n, 2] += share * u[c, 2]


@kernel
def carry_back(force, corners, shares, u):
    """u = Aᵀ force: forces at surface vertices on the corners that carry them."""
    u[:] = 0.0
    for n in range(len(force)):
        for k in range(corners.shape[1]):
            share = shares[n, k]
            if share != 0.0:
                c = corners[n, k]
                for i in range(3):
                    u[c, i] += share * force[n, i]


@kernel
def blow(x, before, dt, triangles, wind, across, along, force):
    """Drag ½ ρ A C |w| w of the air on triangles, across and along them, shared by their corners.

    w is the wind relative to a triangle on its way from ``before`` to x (n, 3) within dt;
    ``across`` and ``along`` are ½ ρ C [kg/m³].
    """
    force[:] = 0.0
    w = np.empty(3)
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        for i in range(3):
            moved = x[a, i] + x[b, i] + x[c, i] - before[a, i] - before[b, i] - before[c, i]
            w[i] = wind[i] - moved / (3.0 * dt)
        d0, d1, d2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        e0, e1, e2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        n0, n1, n2 = d1 * e2 - d2 * e1, d2 * e0 - d0 * e2, d0 * e1 - d1 * e0
        length = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if length == 0.0:
            continue
        n0, n1, n2 = n0 / length, n1 / length, n2 / length
        facing = w[0] * n0 + w[1] * n1 + w[2] * n2
        t0, t1, t2 = w[0] - facing * n0, w[1] - facing * n1, w[2] - facing * n2
        slip = np.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
        area = 0.5 * length / 3.0
        normal, tangential = area * across * abs(facing) * facing, area * along * slip
        for corner in (a, b, c):
            force[corner, 0] += normal * n0 + tangential * t0
            force[corner, 1] += normal * n1 + tangential * t1
            force[corner, 2] += normal * n2 + tangential * t2
