"""Steps of a reduced model whose forces come from points, in one compiled loop.

As ``stepping``, with ``Points`` in place of a polynomial and matrices that are kept.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref

from supple._kernels.compiling import inner_kernel, kernel, reordering_kernel
from supple._kernels.reduction.newton import (
    DONE,
    GO_ON,
    NOT_CONVERGED,
    NOT_DEFINITE,
    NOT_FINITE,
    apply_correction,
    begin_line,
    goes_too_far,
    is_finite,
    is_small,
)
from supple._kernels.reduction.point_newton import (
    SAFETY,
    VERSION,
    count_step,
    factorize_tangent,
    find_residual,
    has_factors,
    is_due,
    learn,
    make_tangent,
    remember,
    solve_kept,
)
from supple._kernels.reduction.points import begin_points
from supple._kernels.reduction.polynomial import ONE, THREE
from supple._kernels.reduction.stepping import (
    BACKTRACKS,
    ITERATIONS,
    STAGES,
    STOPPED,
    UNSOLVED,
    begin_stage,
    begin_step,
    end_stage,
    end_step,
    force_at,
    stop,
    undo_step,
)


class PointOptions(NamedTuple):
    """How a reduced model is moved by forces at points."""

    dt: float  # [s]
    max_iterations: int  # of Newton's method
    best_effort: bool  # take what there is after so many
    tolerance: float  # of a correction, as a share of the largest coordinate
    matrix_cost: int  # of a matrix, in forces


@structref.register
class PointContextType(types.StructRef):
    """For Numba."""


class PointContext(structref.StructRefProxy):
    """All that steps need, behind one pointer."""


_define: Any = structref.define_proxy
_FIELDS = ["stages", "points", "rate", "laws", "balance", "state", "options", "kept", "secants"]
_FIELDS += ["examples"]
_define(PointContext, PointContextType, _FIELDS)
_make: Any = PointContext


@kernel
def point_context(stages, points, rate, laws, balance, state, options, kept, secants, examples):
    """All ten behind one pointer; ``laws`` and ``examples`` may be None."""
    return _make(stages, points, rate, laws, balance, state, options, kept, secants, examples)


@inner_kernel
def solve_stage(
    s, c_v, c_a, wanted, points, rate, laws, balance, state, options, kept, secants, ex
):  # fmt: skip
    """Iterates on stage s, with a new tangent at once if it is ``wanted``; says how it went."""
    x, delta = balance.x, balance.delta
    most, counts = options.max_iterations, state.counts
    balance.line[0] = 0.0  # no correction to search along yet
    if options.best_effort or not has_factors(s, c_v, c_a, kept):
        wanted = True
    older = kept.made[s + 1, VERSION] < kept.made[0, VERSION]
    begin_points(balance.x_v, points)
    size_before, learned = -1.0, 0
    for n in range(most):
        g = find_residual(c_v, c_a, balance, points, rate, laws, ex, secants)
        counts[ITERATIONS] += 1
        if goes_too_far(balance):
            counts[BACKTRACKS] += 1
            wanted, learned, size_before = True, 0, -1.0
            continue
        if not is_finite(balance.force):
            return NOT_FINITE
        if wanted:
            make_tangent(c_v, g, points, laws, kept, secants, n >= most // 2)
        if wanted or older:
            if not factorize_tangent(
                s, c_v, c_a, g, balance, points, rate, laws, kept, ex, secants
            ):
                return NOT_DEFINITE
            learned, wanted, older = 0, options.best_effort, False
        solve_kept(s, c_v * g, balance, kept, ex, secants)
        learned = learn(learned, secants, delta)
        begin_line(balance)
        size = apply_correction(delta, x)
        if not size < np.inf:
            return NOT_FINITE
        learned = remember(learned, secants, delta)
        left = size
        if size < size_before:
            left *= min(1.0, SAFETY * size / size_before)
        if is_small(left, options.tolerance, x, state.history):
            return DONE
        if n + 1 >= most // 2 or 0.0 < size_before <= size:
            wanted = True
        size_before = size
    return GO_ON


@reordering_kernel
def run_point_steps(context, steps, sampled, forces, record):
    """As ``stepping.run_steps``."""
    stages, points, rate = context.stages, context.points, context.rate
    balance, state, options = context.balance, context.state, context.options
    kept, secants, laws, ex = context.kept, context.secants, context.laws, context.examples
    c_v, c_a, times = stages.c_v, stages.c_a, stages.times
    history = state.history
    end = STAGES + THREE * np.uint64(len(c_v) - 1)
    row = np.uint64(0)
    for step in range(steps):
        begin_step(forces[row], sampled, False, state, balance.delta)
        before = state.counts[ITERATIONS]
        wanted = kept.made[0, VERSION] == 0.0 or is_due(options.matrix_cost, kept)
        began_anew = wanted
        u = STAGES
        reason = DONE
        for s in range(len(c_v)):
            begin_stage(np.uint64(s), stages, history, balance.x_v, balance.x_a, balance.x)
            force_at(times[s] / options.dt, sampled, forces[row], state.pushed, balance.f)
            reason = solve_stage(
                s, c_v[s], c_a[s], wanted, points, rate, laws, balance, state, options, kept,
                secants, ex,
            )  # fmt: skip
            wanted = False
            if reason == GO_ON:
                reason = DONE if options.best_effort else NOT_CONVERGED
                state.counts[UNSOLVED] += options.best_effort
            if reason != DONE:
                break
            if not end_stage(u, c_v[s], c_a[s], balance, history):
                reason = NOT_FINITE
                break
            u += THREE
        if reason != DONE:
            if not options.best_effort:
                undo_step(times[0] / options.dt, state)
                return step, reason
            stop(forces[row], state, step, record)
            state.counts[STOPPED] += 1
        else:
            end_step(end, forces[row], state, step, record)
            taken = state.counts[ITERATIONS] - before
            count_step(taken, began_anew, options.matrix_cost, kept)
        if row + ONE < np.uint64(len(forces)):
            row += ONE
    return steps, DONE


@reordering_kernel
def evaluate_points(context, c_v, c_a):
    """The residual at ``balance.x`` for these rates, and the tangent; returns g."""
    balance, points, laws = context.balance, context.points, context.laws
    begin_points(balance.x_v, points)
    g = find_residual(
        c_v, c_a, balance, points, context.rate, laws, context.examples, context.secants
    )
    make_tangent(c_v, g, points, laws, context.kept, context.secants, True)
    return g
