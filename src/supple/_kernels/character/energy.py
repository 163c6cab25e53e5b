"""The energy of flesh from step to step: no more than the rig, the weight and pulls put in.

In the coordinates of the pose that a step ends in, a step from (q₀, v₀) to (q₁, v₁) has

    gain = ½ v₁ᵀM̃v₁ + V(q₁) − ½ v₀ᵀM̃v₀ − V(q₀) − Σ f·Δq

with f the forces from outside, inertia among them. Damping only takes, so that what is gained comes
from nowhere. Backward Euler gains nothing where V is convex and forces balance. Where they do not,
as after a single iteration that went too far, the gain is all that throws flesh away.
"""

import numpy as np

from supple._kernels.character.stage import evaluate_energy, strain, take_pose
from supple._kernels.compiling import LARGEST, inlined_kernel, inner_kernel, reordering_kernel

# places in ``Workspace.account``
ELASTIC = 0  # energy where the last step ended [J]
GAINED = 1  # out of nothing, less what was lost since [J]
WORK = 2  # of the forces from outside in this step, as they are at the ends of stages [J]
MEAN_WORK = 3  # the same by the mean of the forces at both ends [J]
KINETIC = 4  # energy where the last step ended [J]
MIXED_WORK = 5  # by the mean on the way to the first stage alone, that of the trapezoidal rule [J]
SINCE = 6  # steps since the elastic energy was looked at

SELDOM = 3.0  # of these at most

LESSENINGS = 12  # of flesh that has more energy after a cut than before


@inlined_kernel
def kinetic_energy(v, workspace):
    """½ vᵀM̃v [J]"""
    M = workspace.balance.M
    total = 0.0
    for i in range(len(v)):
        e = 0.0
        for j in range(len(v)):
            e += M[i, j] * v[j]
        total += v[i] * e
    return 0.5 * total


@inner_kernel
def elastic_energy(q, options, model, workspace):
    """V(q) in the pose that was taken [J]."""
    strain(q, model, workspace)
    evaluate_energy(options, workspace)
    psi, volumes, gap = workspace.cells.psi, workspace.volumes, workspace.gap
    total = 0.0
    for e in range(len(volumes)):
        total += volumes[e] * psi[e, 0]
    beside = 0.0
    for i in range(len(q)):
        row = 0.0
        for j in range(len(q)):
            row += gap[i, j] * q[j]
        beside += q[i] * row
    return total + 0.5 * beside


@inlined_kernel
def begin_account(workspace):
    """Nothing has worked yet in this step."""
    account = workspace.account
    account[WORK] = account[MEAN_WORK] = account[MIXED_WORK] = 0.0


@inlined_kernel
def add_work(s, workspace):
    """Of the forces from outside on the way to stage s."""
    account, history = workspace.account, workspace.history
    f, before = workspace.balance.f, workspace.external
    row = 6 + 3 * s
    start = 0 if s == 0 else row - 3
    now, mean = 0.0, 0.0
    for i in range(len(f)):
        d = history[row, i] - history[start, i]
        now += f[i] * d
        mean += 0.5 * (f[i] + before[i]) * d
        before[i] = f[i]
    account[WORK] += now
    account[MEAN_WORK] += mean
    account[MIXED_WORK] += mean if s == 0 else now


@inlined_kernel
def carried_over(before, start, end, order):
    """An energy as a step begins, in the pose that it ends in, as the balance of a rule needs it.

    ``before`` is that in the pose where it begins; ``start`` and ``end`` are those of both states
    in the pose where it ends. Backward Euler changes the pose first, and ``start`` is what it
    needs. A rule of second order changes it along with the state: half of the change is that of the
    energy at the end, of which it is the same share as at the start.
    """
    if order == 1 or start <= 0.0:
        return start
    return before + 0.5 * (start - before) * (1.0 + min(max(end / start, 0.0), 4.0))


@inner_kernel
def settle_account(h, options, model, workspace):
    """Whether a step of h [s] has not gained more than a rule may; keeps the account.

    Where all that is known is small, the elastic energy is looked at in every fourth step. That
    before the step, in the pose in which it ends, is worked out only where the one in the pose
    before does not settle it. Forces that jump from stage to stage, as where a rig starts at once,
    do work that is known half as well as its sums differ.
    """
    account, history, order = workspace.account, workspace.history, options.order
    moving = kinetic_energy(history[1], workspace)
    work, uncertain = account[WORK], 0.0
    if order > 1:
        work = max(work, account[MEAN_WORK], account[MIXED_WORK])
        uncertain = 0.5 * abs(account[WORK] - account[MEAN_WORK])
    largest = max(account[ELASTIC], account[KINETIC], moving, abs(work))
    if h <= options.short and account[SINCE] < SELDOM and largest <= options.small:
        account[KINETIC] = moving
        account[SINCE] += 1.0
        return True
    stored = elastic_energy(history[0], options, model, workspace)
    end = stored + moving
    is_known = account[SINCE] == 0.0
    gain = end - account[ELASTIC] - account[KINETIC] - work
    sound = is_known and gain <= 0.0
    if not sound:
        at_start = elastic_energy(history[3], options, model, workspace)
        start = at_start
        if is_known:
            start = carried_over(account[ELASTIC], at_start, stored, order)
        at_start = kinetic_energy(history[4], workspace)
        start += carried_over(account[KINETIC], at_start, moving, order)
        gain = end - start - work
        gain -= min(max(gain, 0.0), uncertain)
        sound = account[GAINED] + gain <= options.may_gain * (start + abs(work)) + options.unseen
    if sound:
        account[ELASTIC], account[KINETIC], account[SINCE] = stored, moving, 0.0
        account[GAINED] = max(account[GAINED] + gain, 0.0)
    return sound and end <= LARGEST


@inner_kernel
def lessen(most, options, model, workspace):
    """Scales displacements and rates until their energy, in the pose taken, is ``most`` or less.

    Returns by how much. At q = 0 there is none.
    """
    history, account, q = workspace.history, workspace.account, workspace.balance.x
    moved = kinetic_energy(history[1], workspace)
    share = 1.0
    for n in range(LESSENINGS + 1):
        for i in range(len(q)):
            q[i] = share * history[0, i]
        stored = elastic_energy(q, options, model, workspace)
        energy = stored + share * share * moved
        if energy <= most + options.unseen or share == 0.0:
            break
        # about a quadratic form
        shorter = np.sqrt(max(most, 0.0) / energy) if energy > 0.0 else 0.5
        share *= min(max(shorter, 0.1), 0.9)
        if n >= LESSENINGS - 1:
            share = 0.0
    account[ELASTIC] = stored if share > 0.0 else 0.0
    account[KINETIC] = share * share * moved
    account[GAINED] = account[SINCE] = 0.0
    if share < 1.0:
        for k in range(len(history)):
            for i in range(history.shape[1]):
                history[k, i] *= share
    return share


@inlined_kernel
def known_energy(options, model, workspace):
    """Where the last step ended, in the pose that it ended in [J]."""
    account = workspace.account
    if account[SINCE] > 0.0:
        account[ELASTIC] = elastic_energy(workspace.history[0], options, model, workspace)
    return account[ELASTIC] + account[KINETIC]


@inner_kernel
def carry_over_cut(x, frames, features, context, model, workspace):
    """Flesh into another pose at once, with no more energy than it had: nothing has moved it."""
    had = known_energy(context.options, model, workspace)
    take_pose(x, frames, features, context, model, workspace)
    lessen(had, context.options, model, workspace)


@reordering_kernel
def jump_to_pose(x, frames, features, context):
    """The same between two steps."""
    carry_over_cut(x, frames, features, context, context.model, context.workspace)


@reordering_kernel
def rest_in_pose(x, frames, features, context):
    """Into a pose at half of its way from the rig and at rest, with no more energy than it had."""
    model, workspace = context.model, context.workspace
    history = workspace.history
    had = known_energy(context.options, model, workspace)
    for k in range(len(history)):
        for i in range(history.shape[1]):
            history[k, i] *= 0.5 if k % 3 == 0 else 0.0
    take_pose(x, frames, features, context, model, workspace)
    lessen(had, context.options, model, workspace)


@inlined_kernel
def forget_balance(options, model, workspace):
    """The account begins anew with the state as it is, in the pose that was taken."""
    account, history = workspace.account, workspace.history
    account[ELASTIC] = elastic_energy(history[0], options, model, workspace)
    account[KINETIC] = kinetic_energy(history[1], workspace)
    account[GAINED] = account[SINCE] = 0.0


@reordering_kernel
def open_account(context):
    """The same, between two steps."""
    forget_balance(context.options, context.model, context.workspace)
