"""Forces of a reduced model from the quadrature points of a cubature.

At each of m points F = I + Σ_i q_i ∇φ_i and Ḟ = Σ_i v_i ∇φ_i, and with volumes w that hold the
weights of the cubature

    R = Σ_p w Gᵀ P(F)        C v = Σ_p w Gᵀ (D : Ḟ)        K = Σ_p w Gᵀ (∂P/∂F) G

where D : Ḟ is the viscous stress of a damping that is linear in the velocity: that of the strain
rate, 2ψ Ė + φ tr(Ė) I, or of the strain rate matched to any isotropic material (β).

A force takes two readings of G. A matrix takes r/4 times as many operations, so it is made as
seldom as Newton's method allows (``point_newton``), and in single precision, in half the time:
where corrections converge to depends on forces alone. Examples have the gradients G X beforehand:
what couples them is summed over points, and Ĉ v costs no third reading, unless they bend.

Fields at points come in two layouts: point by point (m, 9), as materials want them, and in blocks
of ``WIDTH`` points, (blocks, 9, WIDTH), whose loops are vectorised.
"""

from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import inlined_kernel, inner_kernel
from supple._kernels.damping.matched import add_matched
from supple._kernels.damping.principal import Sums
from supple._kernels.damping.strain_rate import add_strain_rate
from supple._kernels.elasticity.material_call import evaluate_at
from supple._kernels.linear_algebra.dense import (
    add_single_product,
    add_symmetric_product,
    multiply_nine,
)
from supple._kernels.linear_algebra.tensors import expand
from supple._kernels.reduction.polynomial import ONE, TWO, ZERO

WIDTH = 16
"""Points of a block."""
AT_ONCE = np.uint64(8)  # points whose product with ∂P/∂F stays in the innermost cache
_L = np.uint64(WIDTH)
_ROWS = np.uint64(9)


class Points(NamedTuple):
    """m points in r coordinates with k examples, and room to evaluate them.

    Moduli of damping that is not there are empty. Volumes [m³], stresses [Pa]; G and all that is
    made of it are of a mass-orthonormal basis.
    """

    G: np.ndarray  # (9 m, r) ∂φ_i/∂X_j, rows in the order of F
    volumes: np.ndarray  # (m,) times weights
    lam: np.ndarray  # (m,)
    mu: np.ndarray  # (m,)
    materials: np.ndarray  # (groups,) their addresses
    starts: np.ndarray  # (groups + 1,) where their points begin
    shear: np.ndarray  # (m,) ψ [Pa s]; or empty
    bulk: np.ndarray  # (m,) φ [Pa s]; or empty
    beta: np.ndarray  # (m,) β [s]; or empty
    GX: np.ndarray  # (k, m, 1, 3, 3) gradients of the examples
    X_blocks: np.ndarray  # (k, blocks · 9 · WIDTH) the same in blocks
    of_blocks: np.ndarray  # (3, blocks · WIDTH) volumes, ψ and φ; zero beyond m
    F: np.ndarray  # (m, 1, 3, 3)
    rate: np.ndarray  # (m, 1, 3, 3) Ḟ [1/s]
    resting: np.ndarray  # (9 m,) G q̂_v of the stage
    psi: np.ndarray  # (m, 1)
    P: np.ndarray  # (m, 1, 3, 3)
    A: np.ndarray  # (m, 1, 6, 3, 3)
    stress: np.ndarray  # (m, 1, 3, 3) scratch
    axis: np.ndarray  # (m, 3) zeros: there are no fibres
    none: np.ndarray  # (m,) zeros
    F_blocks: np.ndarray  # (blocks · 9 · WIDTH,)
    D_blocks: np.ndarray  # (blocks · 9 · WIDTH,)
    viscous: np.ndarray  # (k + 1, blocks · 9 · WIDTH) w D : Ḟ, and w D : G X
    G_single: np.ndarray  # (9 m, r) G in single precision
    T_single: np.ndarray  # (9 AT_ONCE, padded r) products of a few points
    sum_single: np.ndarray  # (r, padded r)
    T: np.ndarray  # (9 AT_ONCE, padded r) the same in double precision
    D: np.ndarray  # (9, 9) scratch
    tangent: np.ndarray  # (r, padded r) Σ_p w Gᵀ (∂P/∂F + c_v g D) G, lower triangle


@inlined_kernel
def multiply_rows(G, x, y):
    """y = G x, three rows at a time."""
    r = np.uint64(G.shape[1])
    for i in range(ZERO, np.uint64(len(G)), np.uint64(3)):
        y0, y1, y2 = 0.0, 0.0, 0.0
        for j in range(r):
            z = x[j]
            y0 += G[i, j] * z
            y1 += G[i + ONE, j] * z
            y2 += G[i + TWO, j] * z
        y[i], y[i + ONE], y[i + TWO] = y0, y1, y2


@inlined_kernel
def add_columns(G, P, R):
    """R += GᵀP, nine rows at a time."""
    r = np.uint64(G.shape[1])
    for i in range(ZERO, np.uint64(len(G)), _ROWS):
        p0, p1, p2 = P[i], P[i + ONE], P[i + TWO]
        a, b = i + np.uint64(3), i + np.uint64(6)
        p3, p4, p5 = P[a], P[a + ONE], P[a + TWO]
        p6, p7, p8 = P[b], P[b + ONE], P[b + TWO]
        for j in range(r):
            R[j] += (
                (p0 * G[i, j] + p1 * G[i + ONE, j] + p2 * G[i + TWO, j])
                + (p3 * G[a, j] + p4 * G[a + ONE, j] + p5 * G[a + TWO, j])
                + (p6 * G[b, j] + p7 * G[b + ONE, j] + p8 * G[b + TWO, j])
            )


@inlined_kernel
def into_blocks(field, blocks):
    """A field (9 m,) point by point, in blocks."""
    at, lane = ZERO, ZERO
    for p in range(ZERO, np.uint64(len(field)), _ROWS):
        for i in range(_ROWS):
            blocks[at + i * _L + lane] = field[p + i]
        lane += ONE
        if lane == _L:
            lane = ZERO
            at += _ROWS * _L


@inlined_kernel
def out_of_blocks(blocks, field):
    """The reverse."""
    at, lane = ZERO, ZERO
    for p in range(ZERO, np.uint64(len(field)), _ROWS):
        for i in range(_ROWS):
            field[p + i] = blocks[at + i * _L + lane]
        lane += ONE
        if lane == _L:
            lane = ZERO
            at += _ROWS * _L


@inner_kernel
def strain_rate_stress(of_blocks, F, D, V):
    """V = w F S with S = 2ψ Ė + φ tr(Ė) I and Ė = sym(FᵀD), all in blocks."""
    at = ZERO
    for block in range(ZERO, np.uint64(of_blocks.shape[1]), _L):
        for p in range(_L):
            t = at + p
            f0, f1, f2 = F[t], F[t + _L], F[t + np.uint64(2 * WIDTH)]
            f3, f4, f5 = (
                F[t + np.uint64(3 * WIDTH)],
                F[t + np.uint64(4 * WIDTH)],
                F[t + np.uint64(5 * WIDTH)],
            )
            f6, f7, f8 = (
                F[t + np.uint64(6 * WIDTH)],
                F[t + np.uint64(7 * WIDTH)],
                F[t + np.uint64(8 * WIDTH)],
            )
            d0, d1, d2 = D[t], D[t + _L], D[t + np.uint64(2 * WIDTH)]
            d3, d4, d5 = (
                D[t + np.uint64(3 * WIDTH)],
                D[t + np.uint64(4 * WIDTH)],
                D[t + np.uint64(5 * WIDTH)],
            )
            d6, d7, d8 = (
                D[t + np.uint64(6 * WIDTH)],
                D[t + np.uint64(7 * WIDTH)],
                D[t + np.uint64(8 * WIDTH)],
            )
            w = of_blocks[0, block + p]
            shear, bulk = w * of_blocks[1, block + p], w * of_blocks[2, block + p]
            e00, e11 = f0 * d0 + f3 * d3 + f6 * d6, f1 * d1 + f4 * d4 + f7 * d7
            e22 = f2 * d2 + f5 * d5 + f8 * d8
            trace = bulk * (e00 + e11 + e22)
            s00, s11, s22 = (
                2.0 * shear * e00 + trace,
                2.0 * shear * e11 + trace,
                2.0 * shear * e22 + trace,
            )
            s01 = shear * ((f0 * d1 + f3 * d4 + f6 * d7) + (f1 * d0 + f4 * d3 + f7 * d6))
            s02 = shear * ((f0 * d2 + f3 * d5 + f6 * d8) + (f2 * d0 + f5 * d3 + f8 * d6))
            s12 = shear * ((f1 * d2 + f4 * d5 + f7 * d8) + (f2 * d1 + f5 * d4 + f8 * d7))
            V[t] = f0 * s00 + f1 * s01 + f2 * s02
            V[t + _L] = f0 * s01 + f1 * s11 + f2 * s12
            V[t + np.uint64(2 * WIDTH)] = f0 * s02 + f1 * s12 + f2 * s22
            V[t + np.uint64(3 * WIDTH)] = f3 * s00 + f4 * s01 + f5 * s02
            V[t + np.uint64(4 * WIDTH)] = f3 * s01 + f4 * s11 + f5 * s12
            V[t + np.uint64(5 * WIDTH)] = f3 * s02 + f4 * s12 + f5 * s22
            V[t + np.uint64(6 * WIDTH)] = f6 * s00 + f7 * s01 + f8 * s02
            V[t + np.uint64(7 * WIDTH)] = f6 * s01 + f7 * s11 + f8 * s12
            V[t + np.uint64(8 * WIDTH)] = f6 * s02 + f7 * s12 + f8 * s22
        at += _ROWS * _L


@inner_kernel
def matched_stress(points, D, V):
    """V = w D : Ḟ of the strain rate matched to the material, in blocks, for rates D."""
    stress, volumes = points.stress, points.volumes
    stress[:] = 0.0
    sums = Sums(points.psi, stress, points.A, 1, 1.0)
    add_matched(points.F, D, points.P, points.A, points.beta, sums, False)
    for p in range(len(volumes)):
        for i in range(3):
            for j in range(3):
                stress[p, 0, i, j] *= volumes[p]
    into_blocks(stress.reshape(-1), V)


@inner_kernel
def evaluate_materials(points, order):
    """P, and ∂P/∂F if ``order`` is two, at the points as they are strained."""
    F, lam, mu, psi = points.F, points.lam, points.mu, points.psi
    P, A, starts = points.P, points.A, points.starts
    for g in range(len(points.materials)):
        a, b = starts[g], starts[g + 1]
        address = points.materials[g]
        evaluate_at(address, F[a:b], lam[a:b], mu[a:b], psi[a:b], P[a:b], A[a:b], order)


@inner_kernel
def begin_points(x_v, points):
    """Keeps G q̂_v, from which the rates of a stage follow."""
    multiply_rows(points.G, x_v, points.resting)


@inner_kernel
def strain_points(x, c_v, points):
    """F, Ḟ and P at x in a stage, and the viscous stress V₀ = w D : Ḟ, if there is any."""
    F, rate, resting = points.F.reshape(-1), points.rate.reshape(-1), points.resting
    multiply_rows(points.G, x, F)
    for i in range(np.uint64(len(F))):
        rate[i] = c_v * (F[i] - resting[i])
    for i in range(ZERO, np.uint64(len(F)), _ROWS):
        F[i] += 1.0
        F[i + np.uint64(4)] += 1.0
        F[i + np.uint64(8)] += 1.0
    matched = len(points.beta) > 0
    evaluate_materials(points, 2 if matched else 1)
    if matched:
        matched_stress(points, points.rate, points.viscous[0])
    elif len(points.shear) > 0:
        into_blocks(F, points.F_blocks)
        into_blocks(rate, points.D_blocks)
        strain_rate_stress(points.of_blocks, points.F_blocks, points.D_blocks, points.viscous[0])


@inner_kernel
def strain_examples(points):
    """V_m = w D : G X_m of the examples, after ``strain_points``."""
    viscous = points.viscous
    for m in range(len(points.GX)):
        if len(points.beta) > 0:
            matched_stress(points, points.GX[m], viscous[m + 1])
        else:
            strain_rate_stress(
                points.of_blocks, points.F_blocks, points.X_blocks[m], viscous[m + 1]
            )


@inner_kernel
def use_examples(X, points):
    """G X of examples that have bent, in both layouts."""
    for m in range(len(X)):
        field = points.GX[m].reshape(-1)
        multiply_rows(points.G, X[m], field)
        into_blocks(field, points.X_blocks[m])


@inner_kernel
def add_forces(points, g, amount, damped, R):
    """R += Σ_p Gᵀ (w P + g V₀ + Σ_m amount_m V_m): one reading of G. ``damped``: V is there."""
    viscous, volumes = points.viscous, points.volumes
    P, total = points.P.reshape(-1), points.stress.reshape(-1)
    if damped:
        sums = points.D_blocks
        for t in range(np.uint64(len(sums))):
            sums[t] = g * viscous[0, t]
        for m in range(np.uint64(len(viscous) - 1)):
            share = amount[m]
            for t in range(np.uint64(len(sums))):
                sums[t] += share * viscous[m + ONE, t]
        out_of_blocks(sums, total)
    else:
        for t in range(np.uint64(len(total))):
            total[t] = 0.0
    at = ZERO
    for p in range(np.uint64(len(volumes))):
        w = volumes[p]
        for i in range(_ROWS):
            total[at + i] += w * P[at + i]
        at += _ROWS
    add_columns(points.G, total, R)


@inner_kernel
def add_example_forces(points, CX):
    """CX += what of C X is at points, (k, r), in one reading of G."""
    G, viscous = points.G, points.viscous
    r = np.uint64(G.shape[1])
    at, lane = ZERO, ZERO
    for i in range(ZERO, np.uint64(len(G)), _ROWS):
        for m in range(np.uint64(len(CX))):
            n = m + ONE
            for row in range(ZERO, _ROWS, np.uint64(3)):
                t, g = at + row * _L + lane, i + row
                p0, p1, p2 = viscous[n, t], viscous[n, t + _L], viscous[n, t + _L + _L]
                for j in range(r):
                    CX[m, j] += p0 * G[g, j] + p1 * G[g + ONE, j] + p2 * G[g + TWO, j]
        lane += ONE
        if lane == _L:
            lane = ZERO
            at += _ROWS * _L


@inner_kernel
def assemble_tangent(points, c, g, amount, exactly):
    """``points.tangent`` = Σ_p w Gᵀ (∂P/∂F + c D + δ S⁺) G at the points as they are strained.

    S⁺ is the positive part of the viscous stress, with that of examples (``amount``), which turns
    with the shape as the elastic one does. Single precision does unless it shall be done
    ``exactly``. Returns the trace at the points without c D and with it.
    """
    G, A, rate, volumes = points.G, points.A, points.rate, points.volumes
    m = np.uint64(len(volumes))
    evaluate_materials(points, 2)
    whole = trace_of(A, volumes)
    if len(points.beta) > 0 or len(points.shear) > 0:
        for p in range(m):
            for i in range(3):
                for j in range(3):
                    rate[p, 0, i, j] *= g
                    for n in range(len(points.GX)):
                        rate[p, 0, i, j] += amount[n] * points.GX[n, p, 0, i, j]
        sums = Sums(points.psi, points.stress, A, 2, c)
        if len(points.beta) > 0:
            add_matched(points.F, rate, points.P, A, points.beta, sums, True)
        else:
            shear, bulk, none = points.shear, points.bulk, points.none
            add_strain_rate(points.F, rate, shear, bulk, none, points.axis, sums, True)
    after = trace_of(A, volumes)
    if exactly:
        sum_tangent(G, A, volumes, points.D, points.T, points.tangent)
    else:
        sum_single_tangent(points)
    return whole, after


@inner_kernel
def sum_tangent(G, A, volumes, D, T, S):
    """S = Σ_p w Gᵀ A G, lower triangle; D and T are scratch."""
    m, r, wide = np.uint64(len(volumes)), np.uint64(G.shape[1]), np.uint64(T.shape[1])
    flat = G.reshape(-1)
    S[:] = 0.0
    for start in range(ZERO, m, AT_ONCE):
        stop = min(start + AT_ONCE, m)
        for p in range(start, stop):
            expand(volumes[p], A[p, 0], D)
            to = _ROWS * wide * (p - start)
            multiply_nine(D, flat, _ROWS * r * p, r, T.reshape(-1), to, wide)
        rows = _ROWS * (stop - start)
        add_symmetric_product(G[_ROWS * start : _ROWS * stop], T[:rows], S)


@inner_kernel
def sum_single_tangent(points):
    """The same in single precision."""
    G, A, volumes = points.G_single, points.A, points.volumes
    T, S, out = points.T_single, points.sum_single, points.tangent
    m, r, wide = np.uint64(len(volumes)), np.uint64(G.shape[1]), np.uint64(T.shape[1])
    flat, D = G.reshape(-1), np.empty((9, 9), dtype=np.float32)
    S[:] = np.float32(0.0)
    for start in range(ZERO, m, AT_ONCE):
        stop = min(start + AT_ONCE, m)
        for p in range(start, stop):
            expand(volumes[p], A[p, 0], D)
            to = _ROWS * wide * (p - start)
            multiply_nine(D, flat, _ROWS * r * p, r, T.reshape(-1), to, wide)
        rows = _ROWS * (stop - start)
        add_single_product(G[_ROWS * start : _ROWS * stop], T[:rows], S)
    for i in range(r):
        for j in range(i + ONE):
            out[i, j] = S[i, j]


@inner_kernel
def trace_of(A, volumes):
    """Σ_p w tr(∂P/∂F)."""
    total = 0.0
    for p in range(len(volumes)):
        here = 0.0
        for s in (0, 3, 5):
            here += A[p, 0, s, 0, 0] + A[p, 0, s, 1, 1] + A[p, 0, s, 2, 2]
        total += volumes[p] * here
    return total
