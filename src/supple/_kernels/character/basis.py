"""The reduced model of a pose, interpolated where it is needed (pose space, Eqs. 14–16, 20, 36).

Cells and vertices stand in groups that share their columns of the basis: those of the regions that
they are in. What belongs to a cell of a group with s columns is stored one cell after the other,
(poses, 12, s) for the basis at its corners and (9, s) for the gradient of that.
"""

import math
from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import inlined_kernel, pointwise, reordering_kernel
from supple._kernels.linear_algebra.svd3 import det3, svd3
from supple._kernels.linear_algebra.tensors import row_times
from supple._kernels.reduction.polynomial import FOUR, ONE, THREE, TWO, ZERO

NINE = np.uint64(9)
THIN = 0.1  # of the larger stretches: below this the smaller ones of a cell count as more
CLEAR = 0.36 * THIN  # of |J|³: where det J is above, no stretch is that small
SMALL = 0.2  # of its neutral size: a cell that the rig makes smaller counts as more


class Groups(NamedTuple):
    """Cells or vertices, group after group, with the columns that each group has."""

    columns: np.ndarray  # columns of the basis, group after group
    column_starts: np.ndarray  # (groups + 1,)
    starts: np.ndarray  # (groups + 1,) the first cell, or vertex, of each group
    basis: np.ndarray  # U_i, in the neutral frames
    basis_starts: np.ndarray  # (cells,) where the basis of each begins


class Known(NamedTuple):
    """Poses between which is interpolated (Eq. 2)."""

    features: np.ndarray  # (m, f)
    coefficients: np.ndarray  # (m, m)
    rounding: float


class PoseArrays(NamedTuple):
    """What a step takes from a model with m poses, c cubature cells and s inertial vertices."""

    poses: Known
    gram: np.ndarray  # (m (m + 1) / 2, entries) lower triangle of U_iᵀ M U_j + U_jᵀ M U_i
    gap_poses: Known  # g, in which D is known
    gaps: np.ndarray  # (g, entries) what the stiffness of the cells lacks at rest
    rows: np.ndarray  # (entries,) those of the lower triangle that are not always zero
    columns: np.ndarray  # (entries,)
    cells: Groups
    corners: np.ndarray  # (c, 4) among the vertices that are needed
    back: np.ndarray  # (c, 3, 3) from edges of a cell in the neutral pose to the unit tet [1/m]
    cell_weights: np.ndarray  # (m, c)
    lame: np.ndarray  # (m, c, 2)
    vertices: Groups
    places: np.ndarray  # (s,) among the vertices that are needed
    masses: np.ndarray  # (s,) times their cubature weights [kg]
    sums: np.ndarray  # (m, 3, r) Σ_k m_k U_i,k [kg]


@reordering_kernel
def interpolation_weights(features, poses, distances, w):
    """w_i(p), of m known poses, that add up to one (Eq. 2)."""
    known, coefficients, rounding = poses
    m = len(known)
    if m == 1:
        w[0] = 1.0
        return
    for i in range(m):
        e = rounding * rounding
        for k in range(known.shape[1]):
            d = known[i, k] - features[k]
            e += d * d
        distances[i] = np.sqrt(e)
    total = 0.0
    for i in range(m):
        e = 0.0
        for j in range(m):
            e += coefficients[i, j] * distances[j]
        w[i] = e
        total += e
    for i in range(m):
        w[i] /= total


@reordering_kernel
def interpolate_mass(w, model, entries, M, scale):
    """M̃ and Υ, the diagonal ``scale`` (r,) (Eqs. 15–16)."""
    gram, rows, columns = model.gram, model.rows, model.columns
    count = np.uint64(len(rows))
    for k in range(count):
        entries[k] = 0.0
    pair = ZERO
    for i in range(np.uint64(len(w))):
        for j in range(i + ONE):
            share = w[i] * w[j]
            for k in range(count):
                entries[k] += share * gram[pair, k]
            pair += ONE
    for k in range(count):
        if rows[k] == columns[k]:
            scale[rows[k]] = 1.0 / np.sqrt(entries[k])
    for k in range(count):
        i, j = rows[k], columns[k]
        M[i, j] = M[j, i] = entries[k] * scale[i] * scale[j]


@reordering_kernel
def interpolate_gap(w, scale, model, entries, D):
    """D = Υ Σ_i w_i D_i Υ for weights w (g,) of the poses in which it is known."""
    gaps, rows, columns = model.gaps, model.rows, model.columns
    count = np.uint64(len(rows))
    for k in range(count):
        entries[k] = 0.0
    for i in range(np.uint64(len(w))):
        for k in range(count):
            entries[k] += w[i] * gaps[i, k]
    for k in range(count):
        i, j = rows[k], columns[k]
        D[i, j] = D[j, i] = entries[k] * scale[i] * scale[j]


@inlined_kernel
def interpolate_rows(basis, start, size, w, U):
    """U[:size] = Σ_i w_i U_i, stored from ``start`` on, pose after pose (Eq. 14)."""
    m = np.uint64(len(w))
    if m % TWO == ONE:
        for b in range(size):
            U[b] = w[ZERO] * basis[start + b]
    else:
        for b in range(size):
            U[b] = w[ZERO] * basis[start + b] + w[ONE] * basis[start + size + b]
    i = ONE if m % TWO == ONE else TWO
    while i < m:  # two at a time
        one, two = w[i], w[i + ONE]
        o = start + i * size
        for b in range(size):
            U[b] += one * basis[o + b] + two * basis[o + size + b]
        i += TWO


@pointwise
def _thickened(stretch, least):
    """The stretch where it is above ``least``; below, smoothly on to half of that."""
    if stretch >= least:
        return stretch
    return 0.5 * least * (1.0 + math.exp(2.0 * (stretch / least - 1.0)))


@pointwise
def thicken(J, inverse):
    """J⁻¹ and det J, where a rig stretches a cell by J; as if it were thicker where it is flat.

    A cell that is pressed flat has no volume and resists without bounds, and one inside out is as
    wrong as it is far from flat; one that shrinks to nothing resists nothing. So a cell that is too
    small is made larger, and the smaller of its stretches σ₀ ≥ σ₁ ≥ |σ₂| are raised to a share of
    the larger ones, while it turns as before: smoothly in J, and not at all where it is sound.
    """
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    svd3(J, U, sigma, V)
    s0 = _thickened(sigma[0], SMALL)
    one, two = 1.0, 1.0  # of the largest
    if sigma[0] > 0.0:
        one, two = sigma[1] / sigma[0], sigma[2] / sigma[0]
    s1 = _thickened(s0 * one, THIN * s0)
    s2 = _thickened(s0 * two, THIN * math.sqrt(s0 * s1))
    for i in range(3):
        for j in range(3):
            inverse[i, j] = V[i, 0] * U[j, 0] / s0 + V[i, 1] * U[j, 1] / s1 + V[i, 2] * U[j, 2] / s2
    return s0 * s1 * s2


@reordering_kernel
def shape_cells(x, frames, w, model, U, G, volumes, lam, mu):
    """Gradients G = ∂u/∂X of the basis in each cubature cell, before Υ, for its rest shape at x.

    ``volumes`` are those of the rest shape times the weights of Eq. 20, λ and μ those of Eq. 36.
    Cells that the rig flattens are thickened.
    """
    groups, corners, back = model.cells, model.corners, model.back
    cell_weights, lame = model.cell_weights, model.lame
    basis, basis_starts = groups.basis, groups.basis_starts
    turned = len(frames) > 0
    J, inverse = np.empty((3, 3)), np.empty((3, 3))
    at = ZERO
    for g in range(len(groups.starts) - 1):
        s = np.uint64(groups.column_starts[g + 1] - groups.column_starts[g])
        for e in range(groups.starts[g], groups.starts[g + 1]):
            interpolate_rows(basis, np.uint64(basis_starts[e]), np.uint64(12) * s, w, U)
            if turned:
                for k in range(FOUR):
                    n = corners[e, k]
                    f00, f01, f02 = frames[n, 0, 0], frames[n, 0, 1], frames[n, 0, 2]
                    f10, f11, f12 = frames[n, 1, 0], frames[n, 1, 1], frames[n, 1, 2]
                    f20, f21, f22 = frames[n, 2, 0], frames[n, 2, 1], frames[n, 2, 2]
                    o = THREE * k * s
                    for b in range(o, o + s):
                        u0, u1, u2 = U[b], U[b + s], U[b + TWO * s]
                        U[b] = f00 * u0 + f01 * u1 + f02 * u2
                        U[b + s] = f10 * u0 + f11 * u1 + f12 * u2
                        U[b + TWO * s] = f20 * u0 + f21 * u1 + f22 * u2
            n0, n1, n2, n3 = corners[e, 0], corners[e, 1], corners[e, 2], corners[e, 3]
            a0, a1, a2 = x[n1, 0] - x[n0, 0], x[n1, 1] - x[n0, 1], x[n1, 2] - x[n0, 2]
            b0, b1, b2 = x[n2, 0] - x[n0, 0], x[n2, 1] - x[n0, 1], x[n2, 2] - x[n0, 2]
            c0, c1, c2 = x[n3, 0] - x[n0, 0], x[n3, 1] - x[n0, 1], x[n3, 2] - x[n0, 2]
            # gradients of the shape functions of corners 1, 2, 3: rows of (a b c)⁻¹
            g10, g11, g12 = b1 * c2 - b2 * c1, b2 * c0 - b0 * c2, b0 * c1 - b1 * c0
            g20, g21, g22 = c1 * a2 - c2 * a1, c2 * a0 - c0 * a2, c0 * a1 - c1 * a0
            g30, g31, g32 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
            six = a0 * g10 + a1 * g11 + a2 * g12  # volumes
            B = back[e]
            square = 0.0
            for j in range(3):
                J[0, j] = a0 * B[0, j] + b0 * B[1, j] + c0 * B[2, j]
                J[1, j] = a1 * B[0, j] + b1 * B[1, j] + c1 * B[2, j]
                J[2, j] = a2 * B[0, j] + b2 * B[1, j] + c2 * B[2, j]
                square += J[0, j] * J[0, j] + J[1, j] * J[1, j] + J[2, j] * J[2, j]
            unit = det3(B)
            if six * unit > CLEAR * square * np.sqrt(square) and square > 3.0 * SMALL * SMALL:
                g10, g11, g12 = g10 / six, g11 / six, g12 / six
                g20, g21, g22 = g20 / six, g21 / six, g22 / six
                g30, g31, g32 = g30 / six, g31 / six, g32 / six
            else:
                six = thicken(J, inverse) / unit
                g10, g11, g12 = row_times(B[0], inverse)
                g20, g21, g22 = row_times(B[1], inverse)
                g30, g31, g32 = row_times(B[2], inverse)
            size = six / 6.0
            for i in range(THREE):
                o, t = i * s, at + THREE * i * s
                for b in range(s):
                    u = U[o + b]
                    d1 = U[o + b + THREE * s] - u
                    d2 = U[o + b + np.uint64(6) * s] - u
                    d3 = U[o + b + NINE * s] - u
                    G[t + b] = g10 * d1 + g20 * d2 + g30 * d3
                    G[t + b + s] = g11 * d1 + g21 * d2 + g31 * d3
                    G[t + b + TWO * s] = g12 * d1 + g22 * d2 + g32 * d3
            at += NINE * s
            xi, l, m = 0.0, 0.0, 0.0
            for i in range(len(w)):
                xi += w[i] * cell_weights[i, e]
                l += w[i] * lame[i, e, 0]
                m += w[i] * lame[i, e, 1]
            volumes[e], lam[e], mu[e] = max(xi, 0.0) * size, max(l, 0.0), max(m, 0.0)
