"""Newton's method on a stage of a step of a character."""

import numpy as np

from supple._kernels.character.contact import (
    correct_touching,
    enter_contacts,
    rest_on_contacts,
)
from supple._kernels.character.exact_newton import iterate_exactly
from supple._kernels.character.stage import (
    enter_stage,
    find_damped_forces,
    leave_stage,
    strain,
    take_pose,
)
from supple._kernels.compiling import LARGEST, inlined_kernel, inner_kernel
from supple._kernels.reduction.example_newton import correct_with_examples
from supple._kernels.reduction.newton import (
    DONE,
    NOT_CONVERGED,
    NOT_DEFINITE,
    NOT_FINITE,
    SHORTENED,
    correct,
    is_small,
    remaining_error,
)

HALVINGS = 12


@inlined_kernel
def take_back(options, model, workspace):
    """Halves the last correction until no cell is about to turn inside out."""
    x, delta, line = workspace.balance.x, workspace.balance.delta, workspace.balance.line
    part = 1.0
    for _ in range(HALVINGS):
        part *= 0.5
        for i in range(len(x)):
            x[i] -= part * delta[i]
        line[1] = part  # of it is left to search along
        if strain(x, model, workspace) >= options.min_det_F:
            break


@inlined_kernel
def withdraw(options, model, workspace):
    """From a guess with cells inside out to the start of the step, or part of the way to rest.

    At q = 0 no cell is strained.
    """
    x = workspace.balance.x
    part = 1.0
    for _ in range(HALVINGS):
        for i in range(len(x)):
            x[i] = part * workspace.history[0, i]
        if strain(x, model, workspace) >= options.min_det_F:
            break
        part *= 0.5


@inner_kernel
def correct_stage(balance, c_v, c_a, examples):
    """One Newton iteration on the force balance; damping in cells is among the forces already."""
    if examples is None:
        return correct(balance, c_v, c_a, False, False)
    return correct_with_examples(balance, c_v, c_a, False, False, examples)


@inlined_kernel
def iterate(number, c_v, c_a, context, model, workspace, contacts):
    """Newton's method, from strained cells on; says how it went.

    ``contacts`` are those of stage ``number`` of the frame, or None.
    """
    options, examples = context.options, context.examples
    most, guards = options.max_iterations, options.min_det_F > -LARGEST
    balance, history = workspace.balance, workspace.history
    x = balance.x
    balance.line[0] = 0.0  # no correction to search along yet
    balance.line[3] = 0.0  # how damping follows the shape is in the matrix already
    size_before = -1.0
    reason = DONE if options.best_effort else NOT_CONVERGED
    for n in range(most):
        workspace.counts[0] += 1.0
        find_damped_forces(c_v, context, model, workspace)
        found = True
        if contacts is None:
            size = correct_stage(balance, c_v, c_a, examples)
        else:
            size, found = correct_touching(
                number, c_v, c_a, options.best_effort, examples, contacts, balance
            )
        if size == -1.0:
            reason = NOT_DEFINITE
            break
        if size == np.inf:
            reason = NOT_FINITE
            break
        if size >= 0.0:
            left = remaining_error(size, size_before)
            if (found and most > 1) and (
                left <= options.rounding or is_small(left, options.tolerance, x, history)
            ):
                reason = DONE
                break
        size_before = size
        inverted = (guards or n + 1 < most) and strain(x, model, workspace) < options.min_det_F
        if inverted and size != SHORTENED:
            take_back(options, model, workspace)
    return reason


@inlined_kernel
def solve_stage(
    s, stages, x, frames, features, force, context, model, workspace, number, share, contacts
):
    """Stage s with the rig at x (k, 3); says how it went.

    With ``contacts``, or None, it is that of this ``number`` in the frame, at a share of it.
    """
    options = context.options
    take_pose(x, frames, features, context, model, workspace)
    if contacts is not None:
        enter_contacts(number, share, stages.times[s], contacts, workspace)
    if enter_stage(s, stages, x, frames, force, options, model, workspace) < options.min_det_F:
        withdraw(options, model, workspace)
    c_v, c_a = stages.c_v[s], stages.c_a[s]
    guess = workspace.exact.start
    guess[:] = workspace.balance.x
    reason = iterate(number, c_v, c_a, context, model, workspace, contacts)
    if contacts is None and reason != DONE and not options.best_effort:
        workspace.balance.x[:] = guess
        if iterate_exactly(c_v, c_a, context, model, workspace) == DONE:
            reason = DONE
    if reason == DONE and not leave_stage(s, c_v, c_a, workspace):
        reason = NOT_FINITE
    if contacts is not None and reason == DONE:
        rest_on_contacts(number, np.uint64(6 + 3 * s), c_v, contacts, workspace)
    return reason
