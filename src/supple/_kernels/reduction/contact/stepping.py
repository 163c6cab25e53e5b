"""Steps of a reduced model among obstacles, in one compiled loop.

As ``stepping.take_steps``, with the contacts of each stage: what is compiled for models without
obstacles stays as it is.
"""

from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from supple._kernels.compiling import borrowing_kernel, kernel, reordering_kernel
from supple._kernels.reduction.contact.energy import (
    is_without_gain,
    kinetic_energy,
    looks_on,
    pushed_in,
    stored_energy,
)
from supple._kernels.reduction.contact.pairs import (
    EXACT,
    MOST_MOVED,
    MOVES,
    add_missing,
    find_pairs,
    keep_forces,
    recall_kept,
    remember_kept,
    turn_planes,
)
from supple._kernels.reduction.contact.solve import CLOSE, bring_to_rest, correct_with_contacts
from supple._kernels.reduction.laws import SLOW, add_laws, begin_step_of_laws, end_step_of_laws
from supple._kernels.reduction.newton import (
    DONE,
    GAINS,
    GO_ON,
    NO_ROOM,
    NOT_CONVERGED,
    NOT_FINITE,
    NOW,
    SHORTENED,
    assess,
)
from supple._kernels.reduction.polynomial import ONE, THREE, evaluate, evaluate_rate
from supple._kernels.reduction.stepping import (
    BACKTRACKS,
    ITERATIONS,
    PLAIN_ITERATIONS,
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


@structref.register
class ContactContextType(types.StructRef):
    """For Numba."""


class ContactContext(structref.StructRefProxy):
    """Balls, Shapes and Pairs, behind one pointer."""


_define: Any = structref.define_proxy
_define(ContactContext, ContactContextType, ["balls", "shapes", "pairs"])
_make_contacts: Any = ContactContext


@kernel
def contact_context(balls, shapes, pairs):
    """All three behind one pointer."""
    return _make_contacts(balls, shapes, pairs)


@borrowing_kernel
def begin_contacts(s, stages, balance, state, balls, shapes, poses, first, pairs):
    """The pairs of stage s of a step that begins at row ``first`` of the poses."""
    history = state.history
    for i in range(np.uint64(len(balance.x))):
        balance.delta[i] = history[NOW, i]
    lasts, left = stages.times[s], stages.times[len(stages.times) - 1] - stages.times[s]
    x = balance.x
    return find_pairs(balance.delta, x, first, lasts, left, balls, shapes, poses, pairs)


@borrowing_kernel
def iterate_among(s, stages, balance, state, options, ex, follows, last, space, poses, at):
    """One Newton iteration of stage s: why to stop, or GO_ON, and the size of its correction."""
    balls, shapes, pairs = space
    c_v, c_a = stages.c_v[s], stages.c_a[s]
    turn_planes(balance.x, balance.x_v, c_v, at, balls, shapes, poses, pairs)
    size, found = correct_with_contacts(
        balance, c_v, c_a, follows, options.diagonal, options.best_effort, ex, pairs
    )
    state.counts[ITERATIONS] += 1
    if size == SHORTENED:
        state.counts[BACKTRACKS] += 1
    reason = assess(size, last, options, balance, state.history)
    if reason == GO_ON and 0.0 <= size * pairs.options[MOST_MOVED] <= CLOSE * pairs.options[EXACT]:
        reason = DONE  # where a body is held still, nothing is small beside its coordinates
    if reason == DONE and not options.best_effort:
        for i in range(np.uint64(len(balance.delta))):
            balance.delta[i] = 0.0
        added = add_missing(balance.x, balance.delta, at, balls, shapes, poses, pairs)
        if added < 0:
            reason = NO_ROOM
        elif added > 0 or not found:
            reason = GO_ON
    return reason, size


@borrowing_kernel
def leave_contacts(u, balance, history, pairs):
    """Keeps the forces of a stage, and brings what presses to rest."""
    keep_forces(pairs)
    bring_to_rest(balance.M, pairs, u, history)


@borrowing_kernel
def gains(dt, end, force, sampled, polynomial, balance, state, pairs):
    """Whether the step that was just solved, to row ``end`` of the history, has gained energy."""
    history, pushed = state.history, state.pushed
    work, uncertain = pushed_in(dt, pairs.options[MOVES] > 0.0, pairs)
    for i in range(np.uint64(len(force))):
        mean = 0.5 * (force[i] + pushed[i]) if sampled else force[i]
        work += mean * (history[end, i] - history[NOW, i])
    before = stored_energy(history[NOW], polynomial, balance.K, balance.R)
    before += kinetic_energy(history[NOW + ONE], balance.M)
    after = stored_energy(history[end], polynomial, balance.K, balance.R)
    after += kinetic_energy(history[end + ONE], balance.M)
    return not is_without_gain(before, after, work, uncertain, pairs)


@reordering_kernel
def run_contact_steps(context, examples, contacts, poses, steps, sampled, forces, record):
    """As ``stepping.run_steps``, among obstacles.

    ``poses`` (steps (1 + stages), k, 19) says where each of these is when a step begins and at the
    end of its stages: rotation, shift [m], spin [rad/s], drift [m/s], friction. Those of a single
    step serve all.
    """
    stages, polynomial, rate = context.stages, context.polynomial, context.rate
    balance, state, options, laws = context.balance, context.state, context.options, context.laws
    space = contacts.balls, contacts.shapes, contacts.pairs
    work = poses, steps, sampled, forces, record
    if examples is None:
        return take_contact_steps(
            stages, polynomial, rate, laws, balance, state, options, None, space, work
        )
    ex = examples.examples
    return take_contact_steps(
        stages, polynomial, rate, laws, balance, state, options, ex, space, work
    )


@borrowing_kernel
def take_contact_steps(stages, polynomial, rate, laws, balance, state, options, ex, space, work):
    """``run_contact_steps`` with all arrays at hand."""
    poses, steps, sampled, forces, record = work
    balls, shapes, pairs = space
    c_v, c_a, times = stages.c_v, stages.c_a, stages.times
    dt, has_rate = options.dt, len(rate.rows) > 0
    follows = has_rate
    if laws is not None:
        follows = has_rate or laws.base > 0
    history = state.history
    end = STAGES + THREE * np.uint64(len(c_v) - 1)
    row = np.uint64(0)
    count = 1 + len(c_v)
    for step in range(steps):
        first = step * count if len(poses) > count else 0
        remember_kept(pairs)
        begin_step(forces[row], sampled, options.diagonal, state, balance.delta)
        before, renew = state.counts[ITERATIONS], False
        if laws is not None:
            renew = begin_step_of_laws(laws)
        u = STAGES
        reason = DONE
        for s in range(len(c_v)):
            begin_stage(np.uint64(s), stages, history, balance.x_v, balance.x_a, balance.x)
            force_at(times[s] / dt, sampled, forces[row], state.pushed, balance.f)
            balance.line[0] = 0.0  # no correction to search along yet
            if not begin_contacts(s, stages, balance, state, balls, shapes, poses, first, pairs):
                reason = NO_ROOM
                break
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
                reason, size = iterate_among(
                    s, stages, balance, state, options, ex, follows, last, space, poses,
                    first + 1 + s,
                )  # fmt: skip
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
            leave_contacts(u, balance, history, pairs)
            u += THREE
        if laws is not None:
            end_step_of_laws(state.counts[ITERATIONS] - before, reason == DONE, laws)
        looks = reason == DONE and not options.best_effort and looks_on(pairs)
        if looks and gains(dt, end, forces[row], sampled, polynomial, balance, state, pairs):
            reason = GAINS
        if reason != DONE:
            recall_kept(pairs)
            if not options.best_effort or reason == NO_ROOM:
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
def enter_contact_stage(context, contacts, poses, s):
    """Finds the pairs of stage s, after ``stepping.enter_stage``; whether there was room."""
    if s == 0:
        remember_kept(contacts.pairs)
    return begin_contacts(
        s, context.stages, context.balance, context.state, contacts.balls, contacts.shapes, poses,
        0, contacts.pairs,
    )  # fmt: skip


@reordering_kernel
def iterate_in_contact(context, examples, contacts, poses, s, last):
    """As ``stepping.iterate``."""
    stages, balance = context.stages, context.balance
    state, options = context.state, context.options
    space = contacts.balls, contacts.shapes, contacts.pairs
    if examples is None:
        return iterate_among(
            s, stages, balance, state, options, None, False, last, space, poses, 1 + s
        )
    ex = examples.examples
    return iterate_among(s, stages, balance, state, options, ex, False, last, space, poses, 1 + s)


@reordering_kernel
def leave_contact_stage(context, contacts, s):
    """After ``stepping.leave_stage``."""
    u = STAGES + THREE * np.uint64(s)
    leave_contacts(u, context.balance, context.state.history, contacts.pairs)


@reordering_kernel
def undo_contacts(contacts):
    """The forces of contacts from before a step that failed."""
    recall_kept(contacts.pairs)


@reordering_kernel
def recall_forces(contacts, count):
    """Takes the first ``count`` of the former forces for those of the last step."""
    contacts.pairs.counts[2] = count
    recall_kept(contacts.pairs)
