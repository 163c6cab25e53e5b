"""A character on to the next frame of its rig, in one call: all substeps and all their stages."""

from supple._kernels.character.contact import begin_contacts, carry_on
from supple._kernels.character.energy import (
    add_work,
    begin_account,
    carry_over_cut,
    forget_balance,
    settle_account,
)
from supple._kernels.character.newton import solve_stage
from supple._kernels.character.rig_path import (
    absorb_velocity_jump,
    between,
    effective_motion,
    excess_velocity,
    move,
    prediction_error,
    rest_rig,
)
from supple._kernels.character.stage import end_step
from supple._kernels.compiling import inner_kernel, reordering_kernel
from supple._kernels.linear_algebra.dense import solve_symmetric
from supple._kernels.reduction.newton import DONE, GAINS, NOT_DEFINITE, TOO_FAR

ON_TIME = 1e-9  # of a frame


@inner_kernel
def copy(rows, to):
    """Of a matrix."""
    for k in range(len(rows)):
        for i in range(rows.shape[1]):
            to[k, i] = rows[k, i]


@inner_kernel
def solve_mass(M, A, b):
    """b = M⁻¹ b; returns whether that was possible. A is scratch."""
    copy(M, A)
    return solve_symmetric(A, b)


@inner_kernel
def norm_square(x):
    """x·x"""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


@reordering_kernel
def run_frame(
    path, moving, stage_samples, count, start, later, has_past, jumps, force, pushed, context
):  # fmt: skip
    """``take_frame`` of a character that nothing touches."""
    rule = count, start, later, has_past
    return take_frame(path, moving, stage_samples, rule, jumps, force, pushed, context, None)


@reordering_kernel
def run_contact_frame(
    path, moving, stage_samples, count, start, later, has_past, jumps, force, pushed, context,
    contacts,
):  # fmt: skip
    """``take_frame`` of one among obstacles."""
    rule = count, start, later, has_past
    return take_frame(path, moving, stage_samples, rule, jumps, force, pushed, context, contacts)


@inner_kernel
def take_frame(path, moving, stage_samples, rule, jumps, force, pushed, context, contacts):
    """On to the last frame of the path in ``count`` substeps.

    ``moving`` says whether the speed before this frame is known; ``stage_samples`` holds the rig at
    every stage, if it is not to be taken from the path. ``start`` are the stages of a substep
    without a past and ``later`` those of one that has it. The force was ``pushed`` before, and
    ``jumps`` if it is another. Returns how it went, at which share of the frame that was, and
    whether the frame is a cut. If it fails, the state is as it was.
    """
    model, workspace = context.model, context.workspace
    options = context.options
    count, start, later, has_past = rule
    balance, excess = workspace.balance, workspace.excess
    history, rig_history, places = workspace.history, workspace.rig_history, model.places
    before, now, new = path.samples[1], path.samples[2], path.samples[3]
    span = path.spans[2]
    h = span / count
    copy(history, workspace.saved)
    copy(rig_history, workspace.rig_saved)
    workspace.account_saved[:] = workspace.account
    workspace.external_saved[:] = workspace.external
    cut = False
    excess[:] = 0.0
    if not moving:
        workspace.lag[:] = 0.0
        move(now.x, new.x, span, h, places, rig_history)
    else:
        ratio = span / path.spans[1]
        apart, uneven = prediction_error(new.x, now.x, before.x, ratio, places, model.masses)
        cut = apart > options.cut_distance or uneven > options.cut_speed * span
        if not cut:
            most = max(options.max_acceleration * span, options.max_jump)
            excess_velocity(path, most, places, excess)
            absorb_velocity_jump(excess, h, rig_history)
    if cut:
        workspace.effective[:] = 0.0
        rest_rig(new.x, places, rig_history)
        has_past = False
        carry_over_cut(new.x, new.frames, new.features, context, model, workspace)
    reason, share = DONE, 0.0
    if jumps:  # the acceleration jumps with the force
        for i in range(len(force)):
            balance.delta[i] = force[i] - pushed[i]
        reason = DONE if solve_mass(balance.M, balance.A, balance.delta) else NOT_DEFINITE
        for i in range(len(force)):
            history[2, i] += balance.delta[i]
    stage = 0
    if contacts is not None:
        begin_contacts(contacts, workspace)
    for k in range(count):
        stages = later if has_past else start
        begin_account(workspace)
        for s in range(len(stages.times)):
            if reason != DONE:
                break
            share = (k + stages.times[s] / h) / count
            x, frames, features = new.x, new.frames, new.features
            if not cut and share <= 1.0 - ON_TIME:
                if len(stage_samples.x) > 0:
                    x, frames = stage_samples.x[stage], stage_samples.frames[stage]
                    features = stage_samples.features[stage]
                else:
                    x, features = workspace.interpolated_x, workspace.interpolated_features
                    frames = workspace.interpolated_frames[: len(new.frames)]
                    between(path, share, x, frames, features)
            if not cut:
                by_path, effective = options.path_acceleration, workspace.effective
                effective_motion(path, share, by_path, places, excess, workspace.lag, effective)
            at = 1.0 if cut or share > 1.0 - ON_TIME else share
            reason = solve_stage(
                s,
                stages,
                x,
                frames,
                features,
                force,
                context,
                model,
                workspace,
                stage,
                at,
                contacts,
            )
            stage += 1
            if reason == DONE:
                add_work(s, workspace)
        if reason != DONE:
            break
        last = 3 + 3 * len(stages.times)
        end_step(last, history)
        end_step(last, rig_history)
        if contacts is not None:
            carry_on(contacts, workspace)
        has_past = True
        if not norm_square(history[0]) <= options.max_norm_square:
            reason = TOO_FAR
        elif contacts is None:
            if not settle_account(h, options, model, workspace):
                reason = GAINS
        else:  # what contacts put in is not known
            forget_balance(options, model, workspace)
        if reason != DONE:
            break
    if reason == DONE:
        for i in range(len(workspace.lag)):
            workspace.lag[i] = -path.spans[1] * excess[i]
    else:
        copy(workspace.saved, history)
        copy(workspace.rig_saved, rig_history)
        workspace.account[:] = workspace.account_saved
        workspace.external[:] = workspace.external_saved
    return reason, share, cut
