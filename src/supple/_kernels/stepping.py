"""Steps of a reduced model in one compiled loop.

The motion obeys M a + (C₀ + β K(q)) v + R(q) = f, with R = ∇U and K = ∇²U of a quartic energy. An
integrator comes as a table: in stage s, velocity and acceleration are

    v(q) = c_v (q − q̂_v)        a(q) = c_a (q − q̂_a)

with q̂_v, q̂_a and the first guess weighted sums of the vectors in ``history``: displacement,
velocity and acceleration now, one step ago, and at the end of each stage of this step.
"""

import numpy as np

from .compiling import LARGEST, inlined_kernel, reordering_kernel
from .dense import solve_symmetric
from .polynomial import ONE, evaluate_dense, evaluate_nested

NOW = np.uint64(0)
BEFORE = np.uint64(3)
STAGES = np.uint64(6)

DONE = 0
NOT_FINITE = 1
NOT_CONVERGED = 2
NOT_DEFINITE = 3


@inlined_kernel
def begin_stage(s, w_v, w_a, w_guess, history, x_v, x_a, x):
    """q̂_v, q̂_a and the first guess of stage s."""
    n = np.uint64(len(x))
    for i in range(n):
        x_v[i] = x_a[i] = x[i] = 0.0
    for k in range(np.uint64(w_v.shape[1])):
        v, a, g = w_v[s, k], w_a[s, k], w_guess[s, k]
        if v != 0.0 or a != 0.0 or g != 0.0:
            for i in range(n):
                h = history[k, i]
                x_v[i] += v * h
                x_a[i] += a * h
                x[i] += g * h


@inlined_kernel
def correct(K, R, forces, row, diagonal, M, C0, beta, c_v, c_a, x_v, x_a, x, v, a, A, delta):
    """One Newton iteration on the force balance: x += δ. Returns the largest |δ|.

    Returns infinity if the forces are not finite, −1 if no positive definite matrix was found.
    ``diagonal`` says that M and C₀ are.
    """
    r = np.uint64(len(x))
    for i in range(r):
        v[i] = c_v * (x[i] - x_v[i])
        a[i] = c_a * (x[i] - x_a[i])
    k_factor = 1.0 + c_v * beta
    shift = 0.0
    size = -1.0
    for _ in range(12):
        # A = c_a M + c_v C + K and δ = f − R − C v − M a, with C = C₀ + β K
        largest = 0.0
        for i in range(r):
            vi = beta * v[i]
            e = 0.0
            for j in range(i):
                k = K[i, j]
                A[i, j] = k_factor * k
                e += k * v[j]
                delta[j] -= k * vi
            k = K[i, i]
            force = forces[row, i] - R[i] - beta * e - k * vi
            A[i, i] = k_factor * k
            if diagonal:
                force -= M[i, i] * a[i] + C0[i, i] * v[i]
                A[i, i] += c_a * M[i, i] + c_v * C0[i, i]
            else:
                e = 0.0
                for j in range(r):
                    e += M[i, j] * a[j] + C0[i, j] * v[j]
                force -= e
                for j in range(i + ONE):
                    A[i, j] += c_a * M[i, j] + c_v * C0[i, j]
            delta[i] = force
            largest = max(largest, abs(A[i, i]))
            A[i, i] += shift
        total = 0.0
        for i in range(r):
            total += delta[i]
        if not abs(total) <= LARGEST:
            size = np.inf
            break
        if solve_symmetric(A, delta):
            size = 0.0
            for i in range(r):
                x[i] += delta[i]
                size = max(size, abs(delta[i]))
            break
        shift = max(10.0 * shift, 1e-3 * largest)
    return size


@reordering_kernel
def run_steps(
    steps, forces, c_v, c_a, w_v, w_a, w_guess,
    diagonal, M, C0, beta, P, Q, S, starts, rows,
    max_iterations, tolerance,
    history, qq, F, G2, G3, K, R, A, x, x_v, x_a, v, a, delta,
):  # fmt: skip
    """Takes ``steps`` steps, or fewer where one fails; returns how many, and why it stopped.

    Step n has the force forces[min(n, last)]. ``history`` holds the state now and one step ago; a
    step that fails leaves it as it was.
    """
    r = np.uint64(len(x))
    stages = np.uint64(len(c_v))
    three = np.uint64(3)
    last = STAGES + three * (stages - ONE)
    row = np.uint64(0)
    for step in range(steps):
        u = STAGES
        for s in range(stages):
            begin_stage(s, w_v, w_a, w_guess, history, x_v, x_a, x)
            converged = max_iterations == 1
            for _ in range(max_iterations):
                if len(rows) > 0:
                    evaluate_dense(x, P, rows, qq, G2, G3, K, R)
                else:
                    evaluate_nested(x, P, Q, S, starts, qq, F, G2, K, R)
                size = correct(
                    K, R, forces, row, diagonal, M, C0, beta, c_v[s], c_a[s],
                    x_v, x_a, x, v, a, A, delta
                )  # fmt: skip
                if size < 0.0:
                    return step, NOT_DEFINITE
                if size == np.inf:
                    return step, NOT_FINITE
                if max_iterations > 1:
                    scale = 0.0
                    for i in range(r):
                        scale = max(scale, abs(x[i]), abs(x[i] - history[NOW, i]))
                    if size <= tolerance * scale:
                        converged = True
                        break
            if not converged:
                return step, NOT_CONVERGED
            for i in range(r):
                history[u, i] = x[i]
                history[u + ONE, i] = c_v[s] * (x[i] - x_v[i])
                history[u + ONE + ONE, i] = c_a[s] * (x[i] - x_a[i])
            u += three
        total = 0.0
        for k in range(three):
            for i in range(r):
                total += history[last + k, i]
        if not abs(total) <= LARGEST:
            return step, NOT_FINITE
        for k in range(three):
            for i in range(r):
                history[BEFORE + k, i] = history[NOW + k, i]
                history[NOW + k, i] = history[last + k, i]
        if row + ONE < np.uint64(len(forces)):
            row += ONE
    return steps, DONE
