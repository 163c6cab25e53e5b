"""The frame of a floating body: moments of its masses, its inertia, and how the frame turns.

The names are those of floating.py. Moments of pairs (a, b) of axes are stored as nine rows 3 a + b.
"""

from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import borrowing_kernel
from supple._kernels.reduction.polynomial import ONE

P, V, V_RATE, THETA, OMEGA, OMEGA_RATE, L, L_RATE = range(8)
"""The vectors of ``rigid``."""
R_NOW, R_STAGE, J, J_INVERSE, J_RATE, N_INVERSE, SCRATCH = range(7)
"""The matrices of ``frame``: rotations, inertia, and the inverse of J − [RᵀL]×/c_v."""
SPIN_ITERATIONS = 30


class Moments(NamedTuple):
    """Moments of the masses of a body at rest, with arms Y and r basis vectors φ."""

    A0: np.ndarray  # (3, 3) Σ m Y ⊗ Y [kg m²]
    D0: np.ndarray  # (9, r) Σ m Y ⊗ φ_j [√kg m]
    D: np.ndarray  # (r, 9, r) Σ m φ_i ⊗ φ_j [1]


class Flight(NamedTuple):
    """Where a floating body is: now, one step ago, and at the end of each stage."""

    history: np.ndarray  # (3 points, r) q [√kg m], its velocity and acceleration
    rigid: np.ndarray  # (points, 8, 3) the vectors named above [m], [rad], [kg m²/s] and rates
    frame: np.ndarray  # (7, 3, 3) the matrices named above [1], [kg m²] and rate


class FloatingWorkspace(NamedTuple):
    """The stage at hand of a floating body in r coordinates, and room to solve it.

    Units are those of ``newton.Balance``.
    """

    X: np.ndarray  # (3, r) q, q̇ and q̈
    x_v: np.ndarray  # (r,) q̂_v
    x_a: np.ndarray  # (r,) q̂_a
    C0: np.ndarray  # (r, r) constant part of the damping
    C: np.ndarray  # (r, r) damping at q
    K: np.ndarray  # (r, r) stiffness
    R: np.ndarray  # (r,) elastic force
    A: np.ndarray  # (r, r) matrix of the iteration, then its factors
    delta: np.ndarray  # (r,) correction of q
    theta_hat: np.ndarray  # (3,) θ̂ of θ = θ̂ + ω/c_v [rad]
    L_hat: np.ndarray  # (3,) L̂ of L = L̂ + c_v/c_a L̇ [kg m²/s]
    ell: np.ndarray  # (3,) RᵀL [kg m²/s]
    h: np.ndarray  # (3,) Σ H_j q̇_j [kg m²/s], or of q̈ [kg m²/s²]
    driven: np.ndarray  # (3,) RᵀL̇ [kg m²/s²]
    scratch: np.ndarray  # (3,)
    Z: np.ndarray  # (3, 9, r) moments of q, q̇ and q̈
    H: np.ndarray  # (3, 3, r) the same, as axes
    W: np.ndarray  # (3, 3, r) ∂ω/∂q_k, ∂ω̇/∂q_k, and what ∂ω/∂q_k acts on
    counts: np.ndarray  # (4,) what it took so far, as that of ``stepping.State``


# -- three-vectors and rotations -----------------------------------------------------------


@borrowing_kernel
def invert3(A, B):
    """B = A⁻¹ by cofactors."""
    for a in range(3):
        for b in range(3):
            c, d = (b + 1) % 3, (b + 2) % 3
            e, f = (a + 1) % 3, (a + 2) % 3
            B[a, b] = A[c, e] * A[d, f] - A[c, f] * A[d, e]
    inverse = 1.0 / (A[0, 0] * B[0, 0] + A[0, 1] * B[1, 0] + A[0, 2] * B[2, 0])
    for a in range(3):
        for b in range(3):
            B[a, b] *= inverse


@borrowing_kernel
def times3(A, x):
    """A x."""
    return (
        A[0, 0] * x[0] + A[0, 1] * x[1] + A[0, 2] * x[2],
        A[1, 0] * x[0] + A[1, 1] * x[1] + A[1, 2] * x[2],
        A[2, 0] * x[0] + A[2, 1] * x[1] + A[2, 2] * x[2],
    )


@borrowing_kernel
def turn(R, theta, S):
    """S = R exp(θ×), by Rodrigues' formula."""
    x, y, z = theta[0], theta[1], theta[2]
    square = x * x + y * y + z * z
    if square < 1e-6:  # the series, to rounding
        s = 1.0 - square / 6.0 * (1.0 - square / 20.0)
        c = 0.5 - square / 24.0 * (1.0 - square / 30.0)
    else:
        angle = np.sqrt(square)
        s = np.sin(angle) / angle
        half = np.sin(0.5 * angle)
        c = 2.0 * half * half / square
    for a in range(3):
        r0, r1, r2 = R[a, 0], R[a, 1], R[a, 2]
        # r (I + s θ× + c θ×θ×), with r θ× = −θ × r and θ×θ× = θθᵀ − θ² I
        dot = c * (r0 * x + r1 * y + r2 * z)
        keep = 1.0 - c * square
        S[a, 0] = keep * r0 + dot * x + s * (r1 * z - r2 * y)
        S[a, 1] = keep * r1 + dot * y + s * (r2 * x - r0 * z)
        S[a, 2] = keep * r2 + dot * z + s * (r0 * y - r1 * x)


@borrowing_kernel
def orthonormalize(R, g):
    """R made orthonormal, which it is already but for rounding: R (3 I − RᵀR)/2."""
    for a in range(3):
        for b in range(3):
            g[a, b] = -0.5 * (R[0, a] * R[0, b] + R[1, a] * R[1, b] + R[2, a] * R[2, b])
        g[a, a] += 1.5
    for a in range(3):
        r0, r1, r2 = R[a, 0], R[a, 1], R[a, 2]
        for b in range(3):
            R[a, b] = r0 * g[0, b] + r1 * g[1, b] + r2 * g[2, b]


# -- moments -------------------------------------------------------------------------------


@borrowing_kernel
def sum_moments(X, D0, D, Z):
    """Z_j = Σ_i x_i D_ij for each x of X (3, r): q, q̇ and q̈; for q, also D0_j."""
    r = np.uint64(X.shape[1])
    n = np.uint64(D0.size)
    start, terms = D0.reshape(D0.size), D.reshape(len(D), D0.size)
    sums = Z.reshape(3, D0.size)
    for t in range(n):
        sums[0, t] = start[t]
        sums[1, t] = sums[2, t] = 0.0
    for i in range(r):
        x0, x1, x2 = X[0, i], X[1, i], X[2, i]
        for t in range(n):
            d = terms[i, t]
            sums[0, t] += x0 * d
            sums[1, t] += x1 * d
            sums[2, t] += x2 * d


@borrowing_kernel
def fill_axes(Z, H):
    """H_j = Σ m y × φ_j from Z_j, for each of q, q̇ and q̈."""
    for k in range(3):
        for j in range(np.uint64(H.shape[2])):
            H[k, 0, j] = Z[k, 5, j] - Z[k, 7, j]
            H[k, 1, j] = Z[k, 6, j] - Z[k, 2, j]
            H[k, 2, j] = Z[k, 1, j] - Z[k, 3, j]


@borrowing_kernel
def fill_inertia(X, A0, D0, Z, frame):
    """J, J⁻¹ and J̇ from the moments Z of q, and q and q̇ in X."""
    for a in range(3):
        for b in range(3):
            # A = Σ m y ⊗ Y + Σ q_j Z_j,  Ȧ = Σ q̇_j (Z_j + Z_jᵀ)
            e, rate = A0[a, b], 0.0
            for j in range(np.uint64(X.shape[1])):
                z = Z[3 * a + b, j]
                e += X[0, j] * (D0[3 * b + a, j] + z)
                rate += X[1, j] * (z + Z[3 * b + a, j])
            frame[J, a, b] = e
            frame[J_RATE, a, b] = rate
    for k in (J, J_RATE):  # A becomes tr(A) I − A, symmetric
        A = frame[k]
        trace = A[0, 0] + A[1, 1] + A[2, 2]
        for a in range(3):
            for b in range(a):
                A[a, b] = A[b, a] = -0.5 * (A[a, b] + A[b, a])
            A[a, a] = trace - A[a, a]
    invert3(frame[J], frame[J_INVERSE])


@borrowing_kernel
def along(H, x, h):
    """h = Σ H_j x_j."""
    for a in range(3):
        e = 0.0
        for j in range(np.uint64(len(x))):
            e += H[a, j] * x[j]
        h[a] = e


@borrowing_kernel
def inertia_times(Z, j, w0, w1, w2):
    """(∂J/∂q_j) w, where J has the moments Z: tr(B) w − B w with B = Z_j + Z_jᵀ."""
    b00, b11, b22 = 2.0 * Z[0, j], 2.0 * Z[4, j], 2.0 * Z[8, j]
    b01, b02, b12 = Z[1, j] + Z[3, j], Z[2, j] + Z[6, j], Z[5, j] + Z[7, j]
    return (
        (b11 + b22) * w0 - b01 * w1 - b02 * w2,
        (b00 + b22) * w1 - b01 * w0 - b12 * w2,
        (b00 + b11) * w2 - b02 * w0 - b12 * w1,
    )


# -- rigid motion --------------------------------------------------------------------------


@borrowing_kernel
def torque_of(load, q, R, n, torque):
    """Σ R y × f of a load with the moments Σ Y ⊗ f, Σ φ_i ⊗ f. Overwrites n with Σ y ⊗ f."""
    for a in range(3):
        for b in range(3):
            e = load[0, a, b]
            for i in range(np.uint64(len(q))):
                e += q[i] * load[i + ONE, a, b]
            n[a, b] = e
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        torque[k] = (
            R[a, 0] * n[0, b] + R[a, 1] * n[1, b] + R[a, 2] * n[2, b]
            - R[b, 0] * n[0, a] - R[b, 1] * n[1, a] - R[b, 2] * n[2, a]
        )  # fmt: skip


@borrowing_kernel
def begin_rigid(s, stages, push, alpha, rigid, w):
    """Where stage s takes the centre of mass, and the θ̂ and L̂ of θ = θ̂ + ω/c_v, L = L̂ + g L̇.

    ``push`` is force per mass. Rates follow from v = c_v (x̂_a − x̂_v) + g a, g = c_v/c_a, in which
    displacements cancel and the weights of velocities add up to one: written with differences, what
    is not pushed keeps its momentum to the last bit.
    """
    c_v, c_a, w_v, w_a = stages.c_v, stages.c_a, stages.w_v, stages.w_a
    g = c_v[s] / c_a[s]
    point = s + 2
    before = point - 1 if s > 0 else 0
    for i in range(3):
        p, theta = rigid[0, P, i], 0.0
        u, l = rigid[0, V, i], rigid[0, L, i]
        for k in range(w_v.shape[1] // 3):
            x, v, a = w_v[s, 3 * k], w_v[s, 3 * k + 1], w_v[s, 3 * k + 2]
            if x != 0.0 or v != 0.0 or a != 0.0:
                p += x * (rigid[k, P, i] - rigid[0, P, i])
                p += v * rigid[k, V, i] + a * rigid[k, V_RATE, i]
                theta += x * rigid[k, THETA, i] + v * rigid[k, OMEGA, i]
                theta += a * rigid[k, OMEGA_RATE, i]
            v = c_v[s] * (w_a[s, 3 * k + 1] - w_v[s, 3 * k + 1])
            a = c_v[s] * (w_a[s, 3 * k + 2] - w_v[s, 3 * k + 2])
            if v != 0.0 or a != 0.0:
                u += v * (rigid[k, V, i] - rigid[0, V, i]) + a * rigid[k, V_RATE, i]
                l += v * (rigid[k, L, i] - rigid[0, L, i]) + a * rigid[k, L_RATE, i]
        u = (u + g * push[i]) / (1.0 + g * alpha)
        rigid[point, V, i] = u
        rigid[point, V_RATE, i] = push[i] - alpha * u
        rigid[point, P, i] = p + u / c_v[s]
        rigid[point, OMEGA, i] = rigid[before, OMEGA, i]
        w.theta_hat[i] = theta
        w.L_hat[i] = l


@borrowing_kernel
def find_spin(load, alpha, c_v, c_a, now, frame, w):
    """ω with Jω + h = RᵀL, where R and L at the end of the stage depend on it; and its θ, L, L̇.

    Returns whether the iteration converged.
    """
    q, h, ell, step = w.X[0], w.h, w.ell, w.scratch
    g = c_v / c_a
    theta, omega, l = now[THETA], now[OMEGA], now[L]
    torque = now[L_RATE]
    JJ, N = frame[J], frame[SCRATCH]
    for _iteration in range(SPIN_ITERATIONS):
        for i in range(3):
            theta[i] = w.theta_hat[i] + omega[i] / c_v
        turn(frame[R_NOW], theta, frame[R_STAGE])
        R = frame[R_STAGE]
        torque_of(load, q, R, frame[SCRATCH], torque)
        for i in range(3):
            l[i] = (w.L_hat[i] + g * torque[i]) / (1.0 + g * alpha)
        for i in range(3):
            ell[i] = R[0, i] * l[0] + R[1, i] * l[1] + R[2, i] * l[2]
        # d(RᵀL) = RᵀL × dω/c_v
        for i in range(3):
            for j in range(3):
                N[i, j] = JJ[i, j]
            step[i] = ell[i] - h[i]
            for j in range(3):
                step[i] -= JJ[i, j] * omega[j]
            j, k = (i + 1) % 3, (i + 2) % 3
            N[i, j] += ell[k] / c_v
            N[i, k] -= ell[j] / c_v
        invert3(N, frame[N_INVERSE])
        size, scale, e = 0.0, 0.0, times3(frame[N_INVERSE], step)
        for i in range(3):
            omega[i] += e[i]
            size = max(size, abs(e[i]))
            scale = max(scale, abs(omega[i]))
        if size <= 1e-13 * scale or size <= 1e-16 * c_v:  # or a turn of 1e-16
            break
    for i in range(3):
        torque[i] -= alpha * l[i]
    return size <= 1e-9 * scale or size <= 1e-12 * c_v


@borrowing_kernel
def find_spin_rate(now, frame, R, w):
    """ω̇ = J⁻¹ (RᵀL̇ − ω × RᵀL − J̇ω − Σ H_j q̈_j), and RᵀL̇."""
    omega, ell, h_a, driven, change = now[OMEGA], w.ell, w.h, w.driven, w.scratch
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        e = 0.0
        for a in range(3):
            e += R[a, i] * now[L_RATE, a]
        driven[i] = e
        e -= omega[j] * ell[k] - omega[k] * ell[j] + h_a[i]
        for a in range(3):
            e -= frame[J_RATE, i, a] * omega[a]
        change[i] = e
    rate = times3(frame[J_INVERSE], change)
    for i in range(3):
        now[OMEGA_RATE, i] = rate[i]
