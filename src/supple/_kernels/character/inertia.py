"""Inertial forces of a rig, and weight, from a few vertices (pose space, Eqs. 23–24)."""

import numpy as np

from supple._kernels.character.basis import interpolate_rows
from supple._kernels.compiling import reordering_kernel
from supple._kernels.reduction.polynomial import THREE, TWO


@reordering_kernel
def add_inertia(c_a, x_a, x, frames, gravity, w, scale, model, U, f):
    """f += −Σ_s v_s U_sᵀ m_s a_s (Eqs. 23–24) and the weight; x and x_a are (s, 3) flat.

    The acceleration of the rig is the integrator's, a = c_a (x − x̂_a). Where the rig has frames,
    the weight is added up over the same vertices; without, it is exact.
    """
    groups, places, masses, sums = model.vertices, model.places, model.masses, model.sums
    basis, basis_starts = groups.basis, groups.basis_starts
    turned = len(frames) > 0
    for g in range(len(groups.starts) - 1):
        first = groups.column_starts[g]
        s = np.uint64(groups.column_starts[g + 1] - first)
        for v in range(groups.starts[g], groups.starts[g + 1]):
            o = 3 * v
            share = -masses[v] * c_a
            z0, z1, z2 = (
                share * (x[o] - x_a[o]),
                share * (x[o + 1] - x_a[o + 1]),
                share * (x[o + 2] - x_a[o + 2]),
            )
            if turned:
                z0 += masses[v] * gravity[0]
                z1 += masses[v] * gravity[1]
                z2 += masses[v] * gravity[2]
                F = frames[places[v]]
                z0, z1, z2 = (
                    F[0, 0] * z0 + F[1, 0] * z1 + F[2, 0] * z2,
                    F[0, 1] * z0 + F[1, 1] * z1 + F[2, 1] * z2,
                    F[0, 2] * z0 + F[1, 2] * z1 + F[2, 2] * z2,
                )
            interpolate_rows(basis, np.uint64(basis_starts[v]), THREE * s, w, U)
            for b in range(s):
                k = groups.columns[first + b]
                f[k] += scale[k] * (z0 * U[b] + z1 * U[s + b] + z2 * U[TWO * s + b])
    if not turned:
        for i in range(len(w)):
            for k in range(len(f)):
                weight = 0.0
                for j in range(3):
                    weight += gravity[j] * sums[i, j, k]
                f[k] += w[i] * scale[k] * weight
