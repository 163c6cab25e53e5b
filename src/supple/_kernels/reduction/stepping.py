"""Steps of a reduced model in one compiled loop.

The motion obeys M a + (C₀ + β K(q)) v + R(q) = f, with R = ∇U and K = ∇²U of a quartic energy. An
integrator comes as a table: in stage s, velocity and acceleration are

    v(q) = c_v (q − q̂_v)        a(q) = c_a (q − q̂_a)

with q̂_v, q̂_a and the first guess weighted sums of the vectors in ``history``: displacement,
velocity and acceleration now, one step ago, and at the end of each stage of this step.
"""

import numpy as np

from supple._kernels.compiling import LARGEST, inlined_kernel, reordering_kernel
from supple._kernels.linear_algebra.dense import solve_symmetric
from supple._kernels.reduction.polynomial import ONE, THREE, TWO, evaluate_nested, evaluate_paired

NOW = np.uint64(0)
BEFORE = np.uint64(3)
STAGES = np.uint64(6)

AT_REST = 1e-250  # corrections below this come from numbers too small to be exact

DONE = 0
NOT_FINITE = 1
NOT_CONVERGED = 2
NOT_DEFINITE = 3
TOO_FAR = 4


@inlined_kernel
def begin_stage(s, w_v, w_a, w_guess, history, x_v, x_a, x):
    """q̂_v, q̂_a and the first guess of stage s.

    The weights of displacements add up to one: differences to the one now are summed, or the
    rounding of the weights would move a body at rest.
    """
    n = np.uint64(len(x))
    for i in range(n):
        x_v[i] = x_a[i] = x[i] = history[NOW, i]
    for k in range(ONE, np.uint64(w_v.shape[1])):
        v, a, g = w_v[s, k], w_a[s, k], w_guess[s, k]
        if v != 0.0 or a != 0.0 or g != 0.0:
            is_displacement = 1.0 if k % THREE == NOW else 0.0
            for i in range(n):
                h = history[k, i] - is_displacement * history[NOW, i]
                x_v[i] += v * h
                x_a[i] += a * h
                x[i] += g * h


@inlined_kernel
def correct(K, R, f, diagonal, M, C0, beta, c_v, c_a, x_v, x_a, x, v, a, A, delta):
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
            force = f[i] - R[i] - beta * e - k * vi
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


@inlined_kernel
def is_small(size, tolerance, x, now):
    """Whether a correction is small beside the coordinates, or the way since ``now``."""
    scale = 0.0
    for i in range(np.uint64(len(x))):
        scale = max(scale, abs(x[i]), abs(x[i] - now[NOW, i]))
    return size <= tolerance * scale + AT_REST


@inlined_kernel
def remaining_error(size, size_before, share):
    """How large the corrections after this one will be, from the last two, on the safe side.

    Where each is less than a tenth of the one before, the ratio shrinks further or stays.
    """
    left = size
    if share == 1.0 and size < 0.1 * size_before:
        left = size * min(1.0, 3.0 * size / size_before)
    return left


@inlined_kernel
def shorten(size, size_before, share, delta, x):
    """Damps Newton's method: where corrections do not get smaller, take less of each.

    x has just been moved by ``delta``; returns the share of it that was kept.
    """
    if size_before >= 0.0:
        share = max(0.5 * share, 0.03125) if size > 0.7 * size_before else min(2.0 * share, 1.0)
    if share < 1.0:
        for i in range(np.uint64(len(x))):
            x[i] -= (1.0 - share) * delta[i]
    return share


@inlined_kernel
def begin_step(force, pushed, sampled, diagonal, W, history, delta, jump):
    """Lets the acceleration jump by W = M⁻¹ times the change of the force; keeps it in ``jump``."""
    r = np.uint64(len(force))
    jumps = False
    for i in range(r):
        delta[i] = force[i] - pushed[i]
        jumps = jumps or delta[i] != 0.0
        jump[i] = history[NOW + TWO, i]
    if jumps and not sampled:
        for i in range(r):
            if diagonal:
                history[NOW + TWO, i] += W[i, i] * delta[i]
            else:
                for j in range(r):
                    history[NOW + TWO, i] += W[i, j] * delta[j]


@inlined_kernel
def force_at(time, sampled, full, pushed, force):
    """The force at a share ``time`` of the step."""
    rest = 1.0 - time if sampled else 0.0
    for i in range(np.uint64(len(force))):
        force[i] = full[i] - rest * (full[i] - pushed[i])


@inlined_kernel
def end_stage(u, c_v, c_a, x_v, x_a, x, v, a, history):
    """Keeps the state of a stage from row u on; returns whether it is finite."""
    total = 0.0
    for i in range(np.uint64(len(x))):
        v[i] = c_v * (x[i] - x_v[i])
        a[i] = c_a * (x[i] - x_a[i])
        history[u, i] = x[i]
        history[u + ONE, i] = v[i]
        history[u + TWO, i] = a[i]
        total += x[i] + v[i] + a[i]
    return abs(total) <= LARGEST


@inlined_kernel
def undo_step(time, jump, history):
    """Takes back the jump of the acceleration, and puts the first stage on a straight path."""
    for i in range(np.uint64(len(jump))):
        history[NOW + TWO, i] = jump[i]
        now, before = history[NOW, i], history[BEFORE, i]
        history[STAGES, i] = before + time * (now - before)


@inlined_kernel
def end_step(end, force, pushed, history, step, record):
    """The state from row ``end`` on is that of now; ``record`` (steps, 2, r) takes it if long."""
    r = np.uint64(len(force))
    for i in range(r):
        pushed[i] = force[i]
    for k in range(THREE):
        for i in range(r):
            history[BEFORE + k, i] = history[NOW + k, i]
            history[NOW + k, i] = history[end + k, i]
    if step < len(record):
        for k in range(TWO):
            for i in range(r):
                record[step, k, i] = history[NOW + k, i]


@reordering_kernel
def run_steps(
    steps, sampled, forces, pushed, times, c_v, c_a, w_v, w_a, w_guess,
    diagonal, M, W, C0, beta, P, Q, S, starts, rows,
    max_iterations, tolerance,
    history, qq, F, G2, G3, K, R, A, x, x_v, x_a, v, a, delta, jump, force, record,
):  # fmt: skip
    """Takes ``steps`` steps, or fewer where one fails; returns how many, and why it stopped.

    Step n has the force forces[min(n, last)]. If ``sampled``, that is the force at its end, and it
    changes evenly from ``pushed``, that of the step before; ``times`` are those of the stages as
    shares of the step. If not, it acts from the start of the step, where the acceleration jumps by
    W = M⁻¹ times the change. ``history`` holds the state now and one step ago; a step that fails
    leaves it as it was. ``record`` (steps, 2, r) takes the state after each step, unless empty.
    """
    end = STAGES + THREE * np.uint64(len(c_v) - 1)
    row = np.uint64(0)
    for step in range(steps):
        begin_step(forces[row], pushed, sampled, diagonal, W, history, delta, jump)
        u = STAGES
        reason = DONE
        for s in range(np.uint64(len(c_v))):
            begin_stage(s, w_v, w_a, w_guess, history, x_v, x_a, x)
            force_at(times[s], sampled, forces[row], pushed, force)
            reason = DONE if max_iterations == 1 else NOT_CONVERGED
            size_before, share = -1.0, 1.0
            for _ in range(max_iterations):
                if len(rows) > 0:
                    evaluate_paired(x, P, rows, qq, G2, G3, K, R)
                else:
                    evaluate_nested(x, P, Q, S, starts, qq, F, G2, K, R)
                size = correct(
                    K, R, force, diagonal, M, C0, beta, c_v[s], c_a[s],
                    x_v, x_a, x, v, a, A, delta
                )  # fmt: skip
                if size < 0.0:
                    reason = NOT_DEFINITE
                    break
                if size == np.inf:
                    reason = NOT_FINITE
                    break
                if max_iterations > 1:
                    left = remaining_error(size, size_before, share)
                    if is_small(left, tolerance, x, history):
                        reason = DONE
                        break
                    share = shorten(size, size_before, share, delta, x)
                    size_before = size
            if reason != DONE:
                break
            if not end_stage(u, c_v[s], c_a[s], x_v, x_a, x, v, a, history):
                reason = NOT_FINITE
                break
            u += THREE
        if reason != DONE:
            undo_step(times[0], jump, history)
            return step, reason
        end_step(end, forces[row], pushed, history, step, record)
        if row + ONE < np.uint64(len(forces)):
            row += ONE
    return steps, DONE
