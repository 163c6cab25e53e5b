"""One Newton iteration of a floating body; the equations and names are those of floating.py."""

from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import LARGEST, borrowing_kernel
from supple._kernels.reduction.frame import (
    J_INVERSE,
    J_RATE,
    N_INVERSE,
    OMEGA,
    OMEGA_RATE,
    R_STAGE,
    along,
    fill_axes,
    fill_inertia,
    find_spin,
    find_spin_rate,
    inertia_times,
    sum_moments,
    times3,
)
from supple._kernels.reduction.newton import ATTEMPTS
from supple._kernels.reduction.polynomial import ONE

OF_Q, OF_V, OF_A = range(3)  # whose moments


class FloatingOptions(NamedTuple):
    """How a floating body is moved."""

    alpha: float  # drag on all motion, in proportion to mass [1/s]
    max_iterations: int  # of Newton's method
    best_effort: bool  # take what there is after so many
    tolerance: float  # of a correction, as a share of the largest coordinate


@borrowing_kernel
def fill_moments(X, moments, frame, w):
    """Moments of q, q̇ and q̈ in X, with the inertia J, J⁻¹ and J̇."""
    sum_moments(X, moments.D0, moments.D, w.Z)
    fill_axes(w.Z, w.H)
    fill_inertia(X, moments.A0, moments.D0, w.Z[OF_Q], frame)


@borrowing_kernel
def move(c_v, c_a, alpha, load, moments, now, frame, w):
    """The motion of a stage at the coordinates X[0]: their rates, and how the frame moves.

    Returns whether a spin was found.
    """
    X, x_v, x_a = w.X, w.x_v, w.x_a
    for i in range(np.uint64(X.shape[1])):
        X[1, i] = c_v * (X[0, i] - x_v[i])
        X[2, i] = c_a * (X[0, i] - x_a[i])
    fill_moments(X, moments, frame, w)
    along(w.H[OF_Q], X[1], w.h)
    if not find_spin(load, alpha, c_v, c_a, now, frame, w):
        return False
    along(w.H[OF_Q], X[2], w.h)
    find_spin_rate(now, frame, frame[R_STAGE], w)
    return True


@borrowing_kernel
def inertial_force(load, alpha, now, R, Z, H, force):
    """Everything in the balance of the coordinates but elastic forces and their damping."""
    w, wd = now[OMEGA], now[OMEGA_RATE]
    w0, w1, w2 = w[0], w[1], w[2]
    for j in range(np.uint64(len(force))):
        e = Z[OF_A, 0, j] + Z[OF_A, 4, j] + Z[OF_A, 8, j]  # M̃ q̈
        e += alpha * (Z[OF_V, 0, j] + Z[OF_V, 4, j] + Z[OF_V, 8, j])
        for i in range(3):
            e += (wd[i] + alpha * w[i]) * H[OF_Q, i, j] + 2.0 * w[i] * H[OF_V, i, j]
            for a in range(3):
                e -= R[i, a] * load[j + ONE, a, i]
        c0, c1, c2 = inertia_times(Z[OF_Q], j, w0, w1, w2)
        force[j] = e - 0.5 * (w0 * c0 + w1 * c1 + w2 * c2)


@borrowing_kernel
def fill_changes(alpha, c_v, c_a, now, frame, workspace):
    """How the spin follows the coordinates: ∂ω/∂q_k, ∂ω̇/∂q_k, and what ∂ω/∂q_k acts on."""
    w, wd = now[OMEGA], now[OMEGA_RATE]
    ell, driven, change = workspace.ell, workspace.driven, workspace.scratch
    Z, H, W = workspace.Z, workspace.H, workspace.W
    for k in range(np.uint64(W.shape[2])):
        c = inertia_times(Z[OF_Q], k, w[0], w[1], w[2])
        for i in range(3):
            change[i] = c_v * H[OF_Q, i, k] + c[i] - H[OF_V, i, k]
            # 2 H(q̇) + α H − (∂J/∂q) ω
            W[2, i, k] = 2.0 * H[OF_V, i, k] + alpha * H[OF_Q, i, k] - c[i]
        e = times3(frame[N_INVERSE], change)
        for i in range(3):
            W[0, i, k] = -e[i]
        d = inertia_times(Z[OF_Q], k, wd[0], wd[1], wd[2])
        f = inertia_times(Z[OF_V], k, w[0], w[1], w[2])
        for i in range(3):
            left = H[OF_A, i, k] - c_a * H[OF_Q, i, k] - d[i] - c_v * c[i] - f[i]
            for a in range(3):
                left -= frame[J_RATE, i, a] * W[0, a, k]
            change[i] = left
        dw0, dw1, dw2 = W[0, 0, k], W[0, 1, k], W[0, 2, k]
        # dℓ = ℓ × dω/c_v, the same for RᵀL̇;  − dω × ℓ − ω × dℓ + d(RᵀL̇)
        l0 = (ell[1] * dw2 - ell[2] * dw1) / c_v
        l1 = (ell[2] * dw0 - ell[0] * dw2) / c_v
        l2 = (ell[0] * dw1 - ell[1] * dw0) / c_v
        change[0] += c_v * l0 - (w[1] * l2 - w[2] * l1)
        change[1] += c_v * l1 - (w[2] * l0 - w[0] * l2)
        change[2] += c_v * l2 - (w[0] * l1 - w[1] * l0)
        change[0] += (driven[1] * dw2 - driven[2] * dw1) / c_v
        change[1] += (driven[2] * dw0 - driven[0] * dw2) / c_v
        change[2] += (driven[0] * dw1 - driven[1] * dw0) / c_v
        e = times3(frame[J_INVERSE], change)
        for i in range(3):
            W[1, i, k] = e[i]


@borrowing_kernel
def solve(A, b):
    """Overwrites b with A⁻¹ b and A with its factors; returns False at a pivot not above zero.

    No rows are exchanged, which a matrix with a positive definite symmetric part does not need.
    """
    r = np.uint64(len(b))
    for k in range(r):
        pivot = A[k, k]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / pivot
        A[k, k] = inverse
        for i in range(k + ONE, r):
            factor = A[i, k] * inverse
            for j in range(k + ONE, r):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    for back in range(r):
        row = r - ONE - back
        x = b[row]
        for i in range(row + ONE, r):
            x -= A[row, i] * b[i]
        b[row] = x * A[row, row]
    return True


@borrowing_kernel
def correct_floating(c_v, c_a, options, load, D, now, frame, w):
    """One Newton iteration on the force balance after ``move``: q += δ. Returns the largest |δ|.

    Returns infinity if the forces are not finite, −1 if no matrix with positive pivots was found.
    """
    R, C, X, A, delta = w.R, w.C, w.X, w.A, w.delta
    alpha = options.alpha
    r = np.uint64(len(R))
    fill_changes(alpha, c_v, c_a, now, frame, w)
    shift = 0.0
    for _attempt in range(ATTEMPTS):
        inertial_force(load, alpha, now, frame[R_STAGE], w.Z, w.H, delta)
        total = 0.0
        for i in range(r):
            force = R[i]
            for j in range(r):
                force += C[i, j] * X[1, j]
            delta[i] = -delta[i] - force
            total += delta[i]
        if not abs(total) <= LARGEST:
            return np.inf
        largest = fill_matrix(c_v, c_a, options, D, now, w)
        for i in range(r):
            A[i, i] += shift
        if solve(A, delta):
            size = 0.0
            for i in range(r):
                X[0, i] += delta[i]
                size = max(size, abs(delta[i]))
            return size
        shift = max(10.0 * shift, 1e-3 * largest)
    return -1.0


@borrowing_kernel
def fill_matrix(c_v, c_a, options, D, now, workspace):
    """The derivative of the balance by the coordinates; returns its largest diagonal entry."""
    K, C, H = workspace.K, workspace.C, workspace.H
    W, A, alpha = workspace.W, workspace.A, options.alpha
    r = np.uint64(len(A))
    w, wd = now[OMEGA], now[OMEGA_RATE]
    w0, w1, w2 = w[0], w[1], w[2]
    spin = 2.0 * c_v + alpha
    # M̃_jk, h_kj and ∂²J/∂q_j∂q_k are all in the nine moments of φ_j and φ_k
    g0, g1, g2 = spin * w0 + wd[0], spin * w1 + wd[1], spin * w2 + wd[2]
    m = c_a + alpha * c_v - (w0 * w0 + w1 * w1 + w2 * w2)
    y00, y11, y22 = m + w0 * w0, m + w1 * w1, m + w2 * w2
    y01, y10 = w0 * w1 - g2, w0 * w1 + g2
    y12, y21 = w1 * w2 - g0, w1 * w2 + g0
    y20, y02 = w2 * w0 - g1, w2 * w0 + g1
    largest = 0.0
    for j in range(r):
        h0, h1, h2 = H[OF_Q, 0, j], H[OF_Q, 1, j], H[OF_Q, 2, j]
        e0, e1, e2 = W[2, 0, j], W[2, 1, j], W[2, 2, j]
        for k in range(r):
            A[j, k] = (
                K[j, k] + c_v * C[j, k]
                + y00 * D[j, 0, k] + y01 * D[j, 1, k] + y02 * D[j, 2, k]
                + y10 * D[j, 3, k] + y11 * D[j, 4, k] + y12 * D[j, 5, k]
                + y20 * D[j, 6, k] + y21 * D[j, 7, k] + y22 * D[j, 8, k]
                + e0 * W[0, 0, k] + e1 * W[0, 1, k] + e2 * W[0, 2, k]
                + h0 * W[1, 0, k] + h1 * W[1, 1, k] + h2 * W[1, 2, k]
            )  # fmt: skip
        largest = max(largest, abs(A[j, j]))
    return largest
