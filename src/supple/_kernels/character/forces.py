"""Reduced forces of a pose: elastic ones from cubature cells, inertia and weight from vertices.

Pose space, Eqs. 21–24.
"""

from typing import NamedTuple

import numpy as np

from supple._kernels.character.basis import NINE, interpolate_rows
from supple._kernels.compiling import reordering_kernel
from supple._kernels.linear_algebra.dense import add_symmetric_product, multiply_nine, padded
from supple._kernels.linear_algebra.svd3 import det3
from supple._kernels.linear_algebra.tensors import expand, row_times
from supple._kernels.reduction.polynomial import FOUR, ONE, THREE, TWO, ZERO

BLOCK = 8  # cells whose product with the stress derivative stays in the innermost cache


class Room(NamedTuple):
    """To add up the cells of a group with s columns; rows of T and S are ``padded``."""

    T: np.ndarray  # products of a few cells
    S: np.ndarray  # stiffness
    columns: np.ndarray  # (s,) force


@reordering_kernel
def strain_cells(q, scale, groups, G, scaled, F):
    """F = I + Σ_k Υ_k q_k ∂U_k/∂X in each cell; returns the smallest determinant."""
    at = ZERO
    smallest = np.inf
    for g in range(len(groups.starts) - 1):
        first = groups.column_starts[g]
        s = np.uint64(groups.column_starts[g + 1] - first)
        for b in range(s):
            k = groups.columns[first + b]
            scaled[b] = scale[k] * q[k]
        for e in range(groups.starts[g], groups.starts[g + 1]):
            H = F[e, 0]
            for i in range(THREE):
                h0, h1, h2 = 0.0, 0.0, 0.0
                for b in range(s):
                    z = scaled[b]
                    h0 += G[at + b] * z
                    h1 += G[at + s + b] * z
                    h2 += G[at + TWO * s + b] * z
                H[i, ZERO], H[i, ONE], H[i, TWO] = h0, h1, h2
                H[i, i] += 1.0
                at += THREE * s
            smallest = min(smallest, det3(H))
    return smallest


@reordering_kernel
def assemble(P, A, volumes, scale, groups, G, room, gap, q, K, R):
    """R = Υ Σ_e v_e G_eᵀ P_e + D q and K = Υ Σ_e v_e G_eᵀ (∂P/∂F)_e G_e Υ + D.

    ``volumes`` v hold the cubature weights, ``gap`` is D. Of K both triangles are filled.
    """
    T, S, gathered = room
    r = np.uint64(len(R))
    for i in range(r):
        total = 0.0
        for j in range(r):
            total += gap[i, j] * q[j]
            K[i, j] = gap[i, j]
        R[i] = total
    D = np.empty((9, 9))
    at = ZERO
    for g in range(len(groups.starts) - 1):
        first = groups.column_starts[g]
        s = np.uint64(groups.column_starts[g + 1] - first)
        wide = padded(s)
        sums = S[: s * wide].reshape((s, wide))
        gathered[:s] = 0.0
        sums[:] = 0.0
        for start in range(groups.starts[g], groups.starts[g + 1], BLOCK):
            stop = min(start + BLOCK, groups.starts[g + 1])
            begin = at
            for e in range(start, stop):
                volume = volumes[e]
                expand(volume, A[e, 0], D)
                to = (at - begin) // s * wide
                multiply_nine(D, G, at, s, T, to, wide)  # T = v (∂P/∂F) G
                p = P[e, 0]
                p0, p1, p2 = volume * p[0, 0], volume * p[0, 1], volume * p[0, 2]
                p3, p4, p5 = volume * p[1, 0], volume * p[1, 1], volume * p[1, 2]
                p6, p7, p8 = volume * p[2, 0], volume * p[2, 1], volume * p[2, 2]
                for b in range(s):
                    t = at + b
                    u = t + np.uint64(5) * s
                    gathered[b] += (
                        (p0 * G[t] + p1 * G[t + s] + p2 * G[t + TWO * s])
                        + (p3 * G[t + THREE * s] + p4 * G[t + FOUR * s] + p5 * G[u])
                        + (p6 * G[u + s] + p7 * G[u + TWO * s] + p8 * G[u + THREE * s])
                    )
                at += NINE * s
            rows = (at - begin) // s
            left = G[begin:at].reshape((rows, s))
            add_symmetric_product(left, T[: rows * wide].reshape((rows, wide)), sums)
        for i in range(s):
            k = groups.columns[first + i]
            R[k] += scale[k] * gathered[i]
            for j in range(i + ONE):
                l = groups.columns[first + j]
                K[k, l] += scale[k] * scale[l] * sums[i, j]
    for i in range(r):
        for j in range(i):
            K[j, i] = K[i, j]


@reordering_kernel
def gather(P, volumes, scale, groups, G, gathered, R):
    """R += Υ Σ_e v_e G_eᵀ P_e."""
    at = ZERO
    for g in range(len(groups.starts) - 1):
        first = groups.column_starts[g]
        s = np.uint64(groups.column_starts[g + 1] - first)
        gathered[:s] = 0.0
        for e in range(groups.starts[g], groups.starts[g + 1]):
            p, volume = P[e, 0], volumes[e]
            for i in range(THREE):
                for j in range(THREE):
                    share = volume * p[i, j]
                    for b in range(s):
                        gathered[b] += share * G[at + b]
                    at += s
        for i in range(s):
            k = groups.columns[first + i]
            R[k] += scale[k] * gathered[i]


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
            z0, z1 = share * (x[o] - x_a[o]), share * (x[o + 1] - x_a[o + 1])
            z2 = share * (x[o + 2] - x_a[o + 2])
            if turned:
                z0 += masses[v] * gravity[0]
                z1 += masses[v] * gravity[1]
                z2 += masses[v] * gravity[2]
                F = frames[places[v]]
                z0, z1, z2 = row_times((z0, z1, z2), F)
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
