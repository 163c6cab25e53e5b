"""Steps of a reduced body that floats: x = p + R y, y = Y + Σ q_i φ_i, in one compiled loop.

With ω the angular velocity in the frame of the body, and moments of its masses

    Z_j(q) = Σ m y ⊗ φ_j        H_j(q) = Σ m y × φ_j        J = tr(A) I − A,  A = Σ m y ⊗ y

the kinetic energy is ½ m V² + ½ ω·Jω + ω·h + ½ q̇·M̃q̇ with h = Σ H_j q̇_j, and

    M̃ q̈ + ω̇·H_j(q) + 2 ω·H_j(q̇) − ½ ω·(∂J/∂q_j)ω + α (M̃ q̇ + ω·H_j) + C q̇ + R̃ = φ_j · Rᵀf
    Jω + h = RᵀL        L̇ = torque − α L

Of rotation, the angular momentum L in the world is what is stepped: nothing but torque changes it.
The rotation vector θ from the start of a step, with the rates ω and ω̇, goes through the
integrator's table like a displacement, and so does p.

``rigid`` holds eight vectors for each point in time (now, one step ago, the end of each stage), and
``frame`` seven matrices; both are named in frame.py.
"""

import numpy as np

from supple._kernels.compiling import LARGEST, reordering_kernel
from supple._kernels.reduction.floating_newton import (
    DRIVEN,
    ELL,
    OF_A,
    OF_Q,
    correct_floating,
    fill_moments,
    inertial_force,
    move,
    solve,
)
from supple._kernels.reduction.frame import (
    J_INVERSE,
    L_RATE,
    OMEGA,
    OMEGA_RATE,
    R_NOW,
    R_STAGE,
    SCRATCH,
    THETA,
    V_RATE,
    L,
    V,
    along,
    begin_rigid,
    find_spin_rate,
    orthonormalize,
    torque_of,
    turn,
)
from supple._kernels.reduction.polynomial import evaluate_nested, evaluate_paired, mirror
from supple._kernels.reduction.stepping import (
    DONE,
    NOT_CONVERGED,
    NOT_DEFINITE,
    NOT_FINITE,
    begin_stage,
    is_small,
)


@reordering_kernel
def end_stage(s, X, history, rigid):
    """Store the end of stage s; returns whether it is finite."""
    total = 0.0
    for k in range(3):
        for i in range(X.shape[1]):
            history[6 + 3 * s + k, i] = X[k, i]
            total += X[k, i]
    for k in range(8):
        for i in range(3):
            total += rigid[s + 2, k, i]
    return abs(total) <= LARGEST


@reordering_kernel
def end_step(last, history, rigid, frame):
    """Stage ``last`` becomes the state now, and the state now that of one step ago."""
    for k in range(3):
        for i in range(history.shape[1]):
            history[3 + k, i] = history[k, i]
            history[k, i] = history[6 + 3 * last + k, i]
    for k in range(8):
        for i in range(3):
            rigid[1, k, i] = rigid[0, k, i]
            rigid[0, k, i] = rigid[last + 2, k, i]
    turn(frame[R_NOW], rigid[0, THETA], frame[R_STAGE])
    for a in range(3):
        rigid[1, THETA, a] = -rigid[0, THETA, a]  # seen from the new pose
        rigid[0, THETA, a] = 0.0
        for b in range(3):
            frame[R_NOW, a, b] = frame[R_STAGE, a, b]
    orthonormalize(frame[R_NOW], frame[SCRATCH])


@reordering_kernel
def run_floating_steps(
    steps, load, push, c_v, c_a, w_v, w_a, w_guess,
    A0, D0, D, C0, beta, alpha, P, Q, S, starts, rows,
    max_iterations, tolerance,
    history, rigid, frame, qq, F, G2, G3, K, R, A, X, x_v, x_a, delta, hats, Z, H, small, W,
):  # fmt: skip
    """Takes ``steps`` steps, or fewer where one fails; returns how many, and why it stopped.

    ``load`` are the moments of the forces, ``push`` their sum per mass with gravity. A step that
    fails leaves the state in ``history``, ``rigid`` and ``frame`` as it was.
    """
    x = X[0]
    stages = len(c_v)
    for step in range(steps):
        for s in range(stages):
            begin_stage(s, w_v, w_a, w_guess, history, x_v, x_a, x)
            begin_rigid(s, c_v, c_a, w_v, w_a, push, alpha, rigid, hats)
            converged = False
            iteration = 0
            while True:
                if not move(
                    X, x_v, x_a, load, alpha, c_v[s], c_a[s], A0, D0, D,
                    hats, rigid[s + 2], frame, Z, H, small,
                ):  # fmt: skip
                    return step, NOT_CONVERGED
                if converged:
                    break
                if iteration == max_iterations:
                    return step, NOT_CONVERGED
                iteration += 1
                if len(rows) > 0:
                    evaluate_paired(x, P, rows, qq, G2, G3, K, R)
                else:
                    evaluate_nested(x, P, Q, S, starts, qq, F, G2, K, R)
                mirror(K)
                size = correct_floating(
                    K, R, C0, beta, alpha, c_v[s], c_a[s], load, D, X,
                    rigid[s + 2], frame, Z, H, small, W, A, delta,
                )  # fmt: skip
                if size < 0.0:
                    return step, NOT_DEFINITE
                if size == np.inf:
                    return step, NOT_FINITE
                converged = max_iterations == 1 or is_small(size, tolerance, x, history)
            if not end_stage(s, X, history, rigid):
                return step, NOT_FINITE
        end_step(stages - 1, history, rigid, frame)
    return steps, DONE


@reordering_kernel
def find_accelerations(
    inner, load, push, alpha, A0, D0, D, history, rigid, frame, Z, H, small, A, delta
):  # fmt: skip
    """q̈, ω̇, V̇ and L̇ of the state now, where elastic forces and their damping are ``inner`` (r,).

    Returns whether they are finite.
    """
    q, v, a, now = history[0], history[1], history[2], rigid[0]
    ell, h, driven, scratch = small[ELL], small[1], small[DRIVEN], small[3]
    R = frame[R_NOW]
    for j in range(len(q)):
        a[j] = 0.0
    fill_moments(history, A0, D0, D, Z, H, frame)
    along(H[OF_Q], v, h)
    torque_of(load, q, R, frame[SCRATCH], now[L_RATE])
    for i in range(3):
        ell[i] = R[0, i] * now[L, 0] + R[1, i] * now[L, 1] + R[2, i] * now[L, 2]
        now[L_RATE, i] -= alpha * now[L, i]
        now[V_RATE, i] = push[i] - alpha * now[V, i]
    for i in range(3):
        e = 0.0
        for j in range(3):
            e += frame[J_INVERSE, i, j] * (ell[j] - h[j])
        now[OMEGA, i] = e
    for i in range(3):
        h[i] = 0.0  # q̈ comes below
    find_spin_rate(now, frame, R, ell, h, driven, scratch)
    inertial_force(load, alpha, now, R, Z, H, delta)  # without q̈
    if not accelerate(inner, D, now, frame, H, small, A, delta):
        return False
    total = 0.0
    for j in range(len(q)):
        a[j] = delta[j]
        total += a[j]
    return abs(total) <= LARGEST


@reordering_kernel
def find_inner_force(load, alpha, A0, D0, D, history, rigid, frame, Z, H, inner):
    """The elastic and damping forces (r,) that belong to the accelerations now."""
    fill_moments(history, A0, D0, D, Z, H, frame)
    inertial_force(load, alpha, rigid[0], frame[R_NOW], Z, H, inner)
    for j in range(len(inner)):
        inner[j] = -inner[j]


@reordering_kernel
def accelerate(inner, D, now, frame, H, small, A, delta):
    """Solves (M̃ − Hᵀ J⁻¹ H) q̈ = −δ − inner into δ and adds −J⁻¹ H q̈ to ω̇; whether it could."""
    r, h = len(delta), small[1]
    G = H[OF_A]  # J⁻¹ H
    for j in range(r):
        for i in range(3):
            e = 0.0
            for k in range(3):
                e += frame[J_INVERSE, i, k] * H[OF_Q, k, j]
            G[i, j] = e
    for j in range(r):
        delta[j] = -delta[j] - inner[j]
        for k in range(r):
            e = D[j, 0, k] + D[j, 4, k] + D[j, 8, k]
            for i in range(3):
                e -= H[OF_Q, i, j] * G[i, k]
            A[j, k] = e
    if not solve(A, delta):
        return False
    along(G, delta, h)
    for i in range(3):
        now[OMEGA_RATE, i] -= h[i]
    return True
