"""Steps of a reduced model whose damping is designed by example, in one compiled loop."""

import numpy as np

from supple._kernels.compiling import inlined_kernel, reordering_kernel
from supple._kernels.reduction.example_newton import correct_with_examples
from supple._kernels.reduction.polynomial import ONE, THREE, evaluate_nested, evaluate_paired
from supple._kernels.reduction.stepping import (
    DONE,
    NOT_CONVERGED,
    NOT_DEFINITE,
    NOT_FINITE,
    NOW,
    STAGES,
    begin_stage,
    begin_step,
    end_stage,
    end_step,
    force_at,
    is_small,
    remaining_error,
    shorten,
    undo_step,
)


@inlined_kernel
def keep(K, K_before):
    """Copies a lower triangle."""
    for i in range(np.uint64(len(K))):
        for j in range(i + ONE):
            K_before[i, j] = K[i, j]


@reordering_kernel
def run_steps_with_examples(
    dt, steps, sampled, forces, pushed, times, c_v, c_a, w_v, w_a, w_guess,
    diagonal, M, W, C0, beta, P, Q, S, starts, rows,
    max_iterations, tolerance,
    history, qq, F, G2, G3, K, R, A, x, x_v, x_a, v, a, delta, jump, force, record, ex,
):  # fmt: skip
    """As ``stepping.run_steps``, in steps of ``dt`` [s] and with the examples ``ex``."""
    K_before, is_known = ex.K_before, ex.is_known
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
            past = dt * (times[s] - (times[s - ONE] if s > NOW else 0.0))
            for _ in range(max_iterations):
                if len(rows) > 0:
                    evaluate_paired(x, P, rows, qq, G2, G3, K, R)
                else:
                    evaluate_nested(x, P, Q, S, starts, qq, F, G2, K, R)
                if not is_known[0]:
                    keep(K, K_before)
                    is_known[0] = True
                size = correct_with_examples(
                    K, R, force, diagonal, M, C0, beta, ex, past, c_v[s], c_a[s],
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
            keep(K, K_before)
            u += THREE
        if reason != DONE:
            undo_step(times[0], jump, history)
            return step, reason
        end_step(end, forces[row], pushed, history, step, record)
        if row + ONE < np.uint64(len(forces)):
            row += ONE
    return steps, DONE
