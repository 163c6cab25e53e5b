"""Steps of a reduced model in one compiled loop, with damping by example or without.

An integrator comes as a table: in stage s, velocity and acceleration are

    v(q) = c_v (q − q̂_v)        a(q) = c_a (q − q̂_a)

with q̂_v, q̂_a and the first guess weighted sums of the vectors in ``history``: displacement,
velocity and acceleration now, one step ago, and at the end of each stage of this step.

``examples`` and ``laws`` are None where there are none; the compiler then leaves out all that is
for them.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref

from supple._kernels.compiling import (
    LARGEST,
    borrowing_kernel,
    inlined_kernel,
    kernel,
    reordering_kernel,
)
from supple._kernels.reduction.example_newton import correct_with_examples
from supple._kernels.reduction.laws import SLOW, add_laws, begin_step_of_laws, end_step_of_laws
from supple._kernels.reduction.newton import (
    DONE,
    GO_ON,
    NOT_CONVERGED,
    NOT_FINITE,
    NOW,
    SHORTENED,
    assess,
    correct,
)
from supple._kernels.reduction.polynomial import ONE, THREE, TWO, evaluate, evaluate_rate

BEFORE = np.uint64(3)
STAGES = np.uint64(6)

# places in ``State.counts``
ITERATIONS, BACKTRACKS, UNSOLVED, STOPPED = range(4)

PLAIN_ITERATIONS = 2  # that do without the derivative of the damping by the shape


class Stages(NamedTuple):
    """The stages of a rule, as ``StageTable`` has them."""

    c_v: np.ndarray  # (stages,) [1/s]
    c_a: np.ndarray  # (stages,) [1/s²]
    w_v: np.ndarray  # (stages, vectors) weights of q̂_v [1], [s], [s²] for each three vectors
    w_a: np.ndarray  # (stages, vectors) weights of q̂_a, the same units
    w_guess: np.ndarray  # (stages, vectors) weights of the first guess, the same units
    times: np.ndarray  # (stages,) after the start of the step [s]


class State(NamedTuple):
    """Where a reduced model is, and what acts on it."""

    history: np.ndarray  # (vectors, r) q [√kg m], v, a now, one step ago, and after each stage
    pushed: np.ndarray  # (r,) the force at the end of the last step [√kg m/s²]
    jump: np.ndarray  # (r,) the acceleration before the force jumped [√kg m/s²]
    inverse_mass: np.ndarray  # (r, r) M⁻¹ [1]
    counts: np.ndarray  # (4,) iterations, backtracks, stages left unsolved, steps not taken


class Options(NamedTuple):
    """How a reduced model is moved."""

    dt: float  # [s]
    diagonal: bool  # whether M and C₀ are
    max_iterations: int  # of Newton's method
    best_effort: bool  # take what there is after so many
    tolerance: float  # of a correction, as a share of the largest coordinate


@structref.register
class StepContextType(types.StructRef):
    """For Numba."""


class StepContext(structref.StructRefProxy):
    """Stages, Polynomial, RateForm, PointLaws or None, Balance, State, Options: one pointer."""


@structref.register
class ExampleContextType(types.StructRef):
    """For Numba."""


class ExampleContext(structref.StructRefProxy):
    """Examples, behind one pointer."""


_define: Any = structref.define_proxy
_define(
    StepContext,
    StepContextType,
    ["stages", "polynomial", "rate", "laws", "balance", "state", "options"],
)
_define(ExampleContext, ExampleContextType, ["examples"])
_make_step: Any = StepContext
_make_examples: Any = ExampleContext


@kernel
def step_context(stages, polynomial, rate, laws, balance, state, options):
    """All seven behind one pointer; ``laws`` may be None."""
    return _make_step(stages, polynomial, rate, laws, balance, state, options)


@kernel
def example_context(examples):
    """The same for examples."""
    return _make_examples(examples)


@inlined_kernel
def begin_stage(s, stages, history, x_v, x_a, x):
    """q̂_v, q̂_a and the first guess of stage s.

    The weights of displacements add up to one: differences to the one now are summed, or the
    rounding of the weights would move a body at rest.
    """
    w_v, w_a, w_guess = stages.w_v, stages.w_a, stages.w_guess
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
def begin_step(force, sampled, diagonal, state, delta):
    """Lets the acceleration jump by M⁻¹ times the change of the force, and notes what it was."""
    pushed, jump, W, history = state.pushed, state.jump, state.inverse_mass, state.history
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
def end_stage(u, c_v, c_a, stage, history):
    """Keeps the state of a stage, such as a Balance has, from row u on; whether it is finite."""
    x_v, x_a, x, v, a = stage.x_v, stage.x_a, stage.x, stage.v, stage.a
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
def undo_step(time, state):
    """Takes back the jump of the acceleration, and puts the first stage on a straight path."""
    jump, history = state.jump, state.history
    for i in range(np.uint64(len(jump))):
        history[NOW + TWO, i] = jump[i]
        now, before = history[NOW, i], history[BEFORE, i]
        history[STAGES, i] = before + time * (now - before)


@inlined_kernel
def end_step(end, force, state, step, record):
    """The state from row ``end`` on is that of now; ``record`` (steps, 2, r) takes it if long."""
    pushed, history = state.pushed, state.history
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


@inlined_kernel
def stop(force, state, step, record):
    """Stays where it is, at rest, in place of a step that cannot be taken."""
    history, pushed = state.history, state.pushed
    for i in range(np.uint64(len(force))):
        pushed[i] = force[i]
        for k in range(np.uint64(len(history))):
            history[k, i] = history[NOW, i] if k % THREE == NOW else 0.0
        if step < len(record):
            record[step, NOW, i], record[step, ONE, i] = history[NOW, i], 0.0


@inlined_kernel
def iterate_once(s, stages, balance, state, options, ex, follows, size_before):
    """One Newton iteration of stage s: why to stop, or GO_ON, and the size of its correction."""
    c_v, c_a = stages.c_v[s], stages.c_a[s]
    if ex is None:
        size = correct(balance, c_v, c_a, follows, options.diagonal)
    else:
        size = correct_with_examples(balance, c_v, c_a, follows, options.diagonal, ex)
    state.counts[ITERATIONS] += 1
    if size == SHORTENED:
        state.counts[BACKTRACKS] += 1
    return assess(size, size_before, options, balance, state.history), size


@reordering_kernel
def run_steps(context, examples, steps, sampled, forces, record):
    """Takes ``steps`` steps, or fewer where one fails; returns how many, and why it stopped.

    Step n has the force forces[min(n, last)]. If ``sampled``, that is the force at its end, and it
    changes evenly from ``pushed``, that of the step before. If not, it acts from the start of the
    step, where the acceleration jumps by M⁻¹ times the change. A step that fails leaves the state
    as it was. ``record`` (steps, 2, r) takes the state after each step, unless empty.
    """
    stages, polynomial, rate = context.stages, context.polynomial, context.rate
    balance, state, options, laws = context.balance, context.state, context.options, context.laws
    work = steps, sampled, forces, record
    if examples is None:
        return take_steps(stages, polynomial, rate, laws, balance, state, options, None, work)
    ex = examples.examples
    return take_steps(stages, polynomial, rate, laws, balance, state, options, ex, work)


@borrowing_kernel
def take_steps(stages, polynomial, rate, laws, balance, state, options, ex, work):
    """``run_steps`` with all arrays at hand."""
    steps, sampled, forces, record = work
    c_v, c_a, times = stages.c_v, stages.c_a, stages.times
    dt, has_rate = options.dt, len(rate.rows) > 0
    follows = has_rate
    if laws is not None:
        follows = has_rate or laws.base > 0
    history = state.history
    end = STAGES + THREE * np.uint64(len(c_v) - 1)
    row = np.uint64(0)
    for step in range(steps):
        begin_step(forces[row], sampled, options.diagonal, state, balance.delta)
        before, renew = state.counts[ITERATIONS], False
        if laws is not None:
            renew = begin_step_of_laws(laws)
        u = STAGES
        reason = DONE
        for s in range(np.uint64(len(c_v))):
            begin_stage(s, stages, history, balance.x_v, balance.x_a, balance.x)
            force_at(times[s] / dt, sampled, forces[row], state.pushed, balance.f)
            balance.line[0] = 0.0  # no correction to search along yet
            reason = GO_ON
            size = -1.0
            for n in range(options.max_iterations):
                evaluate(balance.x, polynomial, balance.K, balance.R)
                if has_rate:
                    evaluate_rate(balance.x, rate, balance.B)
                    balance.line[3] = 1.0 if n >= PLAIN_ITERATIONS else 0.0
                if laws is not None:
                    renew = renew or options.best_effort or 2 * n >= options.max_iterations
                    add_laws(c_v[s], c_a[s], has_rate, renew, laws, balance)
                last = size
                reason, size = iterate_once(s, stages, balance, state, options, ex, follows, last)
                if reason != GO_ON:
                    break
                renew = size < 0.0 or 0.0 < last * SLOW < size
            renew = False
            if reason == GO_ON:
                reason = DONE if options.best_effort else NOT_CONVERGED
                state.counts[UNSOLVED] += options.best_effort
            if reason != DONE:
                break
            if not end_stage(u, c_v[s], c_a[s], balance, history):
                reason = NOT_FINITE
                break
            u += THREE
        if laws is not None:
            end_step_of_laws(state.counts[ITERATIONS] - before, reason == DONE, laws)
        if reason != DONE:
            if not options.best_effort:
                undo_step(times[0] / dt, state)
                return step, reason
            stop(forces[row], state, step, record)
            state.counts[STOPPED] += 1
        else:
            end_step(end, forces[row], state, step, record)
        if row + ONE < np.uint64(len(forces)):
            row += ONE
    return steps, DONE


# -- the same, piece by piece, for forces that are found in Python -------------------------


@reordering_kernel
def enter_stage(context, s):
    """The first guess of stage s, in ``balance.x``."""
    balance = context.balance
    begin_stage(s, context.stages, context.state.history, balance.x_v, balance.x_a, balance.x)
    balance.line[0] = 0.0  # no correction to search along yet
    balance.line[3] = 0.0  # all damping is in C₀


@reordering_kernel
def iterate(context, examples, s, size_before):
    """One Newton iteration of stage s, with all damping in C₀: what follows from it, and its size.

    The size is the ``size_before`` of the next one.
    """
    stages, balance = context.stages, context.balance
    state, options = context.state, context.options
    if examples is None:
        return iterate_once(s, stages, balance, state, options, None, False, size_before)
    return iterate_once(s, stages, balance, state, options, examples.examples, False, size_before)


@reordering_kernel
def leave_stage(context, s):
    """Keeps the state of stage s; returns whether it is finite."""
    c_v, c_a, history = context.stages.c_v[s], context.stages.c_a[s], context.state.history
    return end_stage(STAGES + THREE * np.uint64(s), c_v, c_a, context.balance, history)


@reordering_kernel
def undo(context):
    """Puts the state back to where it was before a step that failed."""
    undo_step(context.stages.times[0] / context.options.dt, context.state)
