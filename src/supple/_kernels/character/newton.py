"""Newton's method on a stage of a step of a character."""

import numpy as np

from supple._kernels.character.stage import enter_stage, find_forces, leave_stage, strain, take_pose
from supple._kernels.compiling import LARGEST, inlined_kernel, inner_kernel
from supple._kernels.reduction.example_newton import correct_with_examples
from supple._kernels.reduction.stepping import (
    DONE,
    NOT_CONVERGED,
    NOT_DEFINITE,
    NOT_FINITE,
    correct,
    is_small,
    shorten,
    still_to_come,
)

HALVINGS = 12


@inlined_kernel
def take_back(share, options, model, room):
    """Halves the last correction until no cell is about to turn inside out."""
    x, delta = room.x, room.delta
    part = share
    for _ in range(HALVINGS):
        part *= 0.5
        for i in range(len(x)):
            x[i] -= part * delta[i]
        if strain(x, model, room) >= options.thinnest:
            break


@inlined_kernel
def withdraw(options, model, room):
    """From a guess with cells inside out to the start of the step, or part of the way to rest.

    At q = 0 no cell is strained.
    """
    x = room.x
    part = 1.0
    for _ in range(HALVINGS):
        for i in range(len(x)):
            x[i] = part * room.history[0, i]
        if strain(x, model, room) >= options.thinnest:
            break
        part *= 0.5


@inner_kernel
def correct_stage(K, R, f, M, C, beta, examples, c_v, c_a, x_v, x_a, x, v, a, A, delta):
    """One Newton iteration on the force balance, as ``stepping.correct``.

    The change of the stiffness in the damping by examples is left out: K was K_before long ago.
    """
    if examples is None:
        return correct(K, R, f, False, M, C, beta, c_v, c_a, x_v, x_a, x, v, a, A, delta)
    return correct_with_examples(
        K, R, f, False, M, C, beta, examples, np.inf, c_v, c_a, x_v, x_a, x, v, a, A, delta
    )


@inlined_kernel
def iterate(c_v, c_a, options, examples, model, room):
    """Newton's method, from strained cells on; says how it went."""
    most, guards = options.max_iterations, options.thinnest > -LARGEST
    x, history, delta = room.x, room.history, room.delta
    size_before, share = -1.0, 1.0
    reason = DONE if most == 1 else NOT_CONVERGED
    for n in range(most):
        find_forces(x, options, model, room)
        size = correct_stage(
            room.K, room.R, room.f, room.M, room.C, options.beta, examples, c_v, c_a,
            room.x_v, room.x_a, x, room.v, room.a, room.matrix, delta,
        )  # fmt: skip
        if size < 0.0:
            reason = NOT_DEFINITE
            break
        if not size <= LARGEST:
            reason = NOT_FINITE
            break
        if most > 1:
            left = still_to_come(size, size_before, share)
            if left <= options.nothing or is_small(left, options.tolerance, x, history):
                reason = DONE
                break
            share = shorten(size, size_before, share, delta, x)
            size_before = size
        if guards or n + 1 < most:
            smallest = strain(x, model, room)
            if smallest < options.thinnest:
                take_back(share, options, model, room)
    return reason


@inlined_kernel
def solve_stage(s, stages, x, frames, features, force, options, examples, model, room):
    """Stage s with the rig at x (k, 3); says how it went."""
    take_pose(x, frames, features, options, examples, model, room)
    smallest = enter_stage(s, stages, x, frames, force, options, model, room)
    if smallest < options.thinnest:
        withdraw(options, model, room)
    c_v, c_a = stages.c_v[s], stages.c_a[s]
    reason = iterate(c_v, c_a, options, examples, model, room)
    if reason == DONE:
        finite = leave_stage(s, c_v, c_a, room)
        if not finite:
            reason = NOT_FINITE
    return reason
