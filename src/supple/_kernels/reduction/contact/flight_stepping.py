"""Steps of a body that floats among obstacles, in one compiled loop.

As ``floating.take_steps``, with the contacts of each stage: what is compiled for bodies without
obstacles stays as it is.
"""

from typing import Any

from numba import types
from numba.experimental import structref

from supple._kernels.compiling import borrowing_kernel, kernel, reordering_kernel
from supple._kernels.reduction.contact.energy import (
    is_without_gain,
    looks_on,
    pushed_in,
    stored_energy,
)
from supple._kernels.reduction.contact.flight import (
    NOW,
    THEN,
    energy_in_flight,
    fill_mass,
    find_forces,
    follow_given_planes,
    keep_in_world,
    push_on,
    rest_in_flight,
    see_given_planes,
    see_obstacles,
    see_velocities,
    start_in_world,
    sum_forces,
    turn_forces,
    widen_rows,
    work_of_load,
)
from supple._kernels.reduction.contact.pairs import (
    EXACT,
    GIVEN_PAIRS,
    KEPT,
    MOST_MOVED,
    PAIRS,
    add_missing,
    find_pairs,
    keep_forces,
    recall_kept,
    remember_kept,
    turn_planes,
)
from supple._kernels.reduction.floating import (
    accept,
    add_laws_in_flight,
    begin,
    correct_stage,
    fill_damping,
    keep_stage,
)
from supple._kernels.reduction.floating_newton import fill_moments, move
from supple._kernels.reduction.frame import R_NOW, R_STAGE
from supple._kernels.reduction.newton import (
    DONE,
    GAINS,
    GO_ON,
    NO_ROOM,
    NOT_CONVERGED,
    NOT_FINITE,
)
from supple._kernels.reduction.polynomial import evaluate, mirror
from supple._kernels.reduction.stepping import UNSOLVED

SETTLED = 0.1  # of what may be off: that by which forces that are found move a body again


@structref.register
class FlightContextType(types.StructRef):
    """For Numba."""


class FlightContext(structref.StructRefProxy):
    """Balls, Shapes, Pairs and FlightRoom, behind one pointer."""


_define: Any = structref.define_proxy
_define(FlightContext, FlightContextType, ["balls", "shapes", "pairs", "room"])
_make: Any = FlightContext


@kernel
def flight_context(balls, shapes, pairs, room):
    """All four behind one pointer."""
    return _make(balls, shapes, pairs, room)


@borrowing_kernel
def begin_flight(s, stages, flight, w, options, push, space, poses, first):
    """The guess of stage s with the pairs of it; −1 if there is no room, or the first given one."""
    balls, shapes, pairs, room = space
    begin(s, stages, flight, w, options, push)
    for i in range(3):
        room.by[i] = push[i]
    R, now, last = flight.frame[R_NOW], flight.rigid[0], len(stages.times) - 1
    see_obstacles(first, poses, R, now, NOW, room.poses)
    left = stages.times[last] - stages.times[s]
    # planes at the end of the step; those of the stage follow with the first iteration
    see_given_planes(R, now, 0.0, balls, room, pairs)
    q, x = flight.history[0], w.X[0]
    for i in range(len(q)):
        w.delta[i] = q[i]
    start_in_world(room)
    if not find_pairs(w.delta, x, 0, stages.times[s], left, balls, shapes, room.poses, pairs):
        return -1
    return pairs.counts[PAIRS] - pairs.counts[GIVEN_PAIRS]


@borrowing_kernel
def move_among(s, stages, moments, flight, w, options, load, push, space):
    """The motion of stage s at the coordinates as they are, with the forces of contacts."""
    balls, _, pairs, room = space
    c_v, c_a, now = stages.c_v[s], stages.c_a[s], flight.rigid[s + 2]
    sum_forces(load, push, balls, room, pairs)
    push_on(c_v, c_a, options.alpha, room.push, room.by, now)
    return move(c_v, c_a, options.alpha, room.load, moments, now, flight.frame, w)


@borrowing_kernel
def look_around(s, stages, flight, w, space, poses, at, given):
    """Planes, gaps and rows of all pairs, as the frame of stage s sees them."""
    balls, shapes, pairs, room = space
    R, now = flight.frame[R_STAGE], flight.rigid[s + 2]
    see_obstacles(at, poses, R, now, THEN, room.poses)
    left = stages.times[len(stages.times) - 1] - stages.times[s]
    see_given_planes(R, now, left, balls, room, pairs)
    turn_forces(R, room, pairs)
    x = w.X[0]
    follow_given_planes(x, given, balls, now, pairs)
    turn_planes(x, w.x_v, stages.c_v[s], THEN, balls, shapes, room.poses, pairs)
    widen_rows(x, balls, room, pairs)


@borrowing_kernel
def correct_among(s, stages, moments, flight, w, options, space, poses, at, given):
    """One Newton iteration of stage s, with forces evaluated: why to stop, or GO_ON."""
    _, _, pairs, room = space
    look_around(s, stages, flight, w, space, poses, at, given)
    if pairs.counts[PAIRS] == 0:
        room.error[0] = 0.0
        return correct_stage(s, stages, moments, flight, w, options, room.load)
    fill_mass(moments.D, flight.frame, w, room)
    reason = correct_stage(s, stages, moments, flight, w, options, room.load)
    if reason != DONE and reason != GO_ON:
        return reason
    c_v, c_a = stages.c_v[s], stages.c_a[s]
    found = find_forces(c_v, c_a, options.alpha, options.best_effort, w, room, pairs)
    size = room.error[0]
    if not size * pairs.options[MOST_MOVED] <= SETTLED * pairs.options[EXACT]:
        reason = GO_ON
    elif found:
        reason = DONE
    if not found and reason == DONE and not options.best_effort:
        reason = GO_ON
    return reason


@borrowing_kernel
def is_complete(s, flight, w, options, space, poses, at):
    """Whether nothing is inside an obstacle that is in no pair: 1; 0 if now it is; −1: no room."""
    balls, shapes, pairs, room = space
    if options.best_effort:
        return 1
    see_obstacles(at, poses, flight.frame[R_STAGE], flight.rigid[s + 2], THEN, room.poses)
    added = add_missing(w.X[0], room.still, THEN, balls, shapes, room.poses, pairs)
    if added == 0:
        return 1
    if added < 0:
        return -1
    start = pairs.counts[PAIRS] - added  # their frames are those of the world, as forces are none
    for p in range(start, pairs.counts[PAIRS]):
        for i in range(3):
            for j in range(3):
                pairs.frame[p, i, j] = 1.0 if i == j else 0.0
    return 0


@borrowing_kernel
def leave_flight(s, stages, moments, flight, w, space, poses, at, given):
    """Keeps the end of stage s with its forces, and brings what presses to rest; is it finite?"""
    balls, _, pairs, room = space
    if not keep_stage(s, flight, w):
        return False
    R = flight.frame[R_STAGE]
    if pairs.counts[PAIRS] > 0:
        look_around(s, stages, flight, w, space, poses, at, given)
        fill_mass(moments.D, flight.frame, w, room)
    keep_forces(pairs)
    keep_in_world(R, pairs)
    if pairs.counts[KEPT] > 0:
        rest_in_flight(s, balls, flight, w, room, pairs)
    return True


@borrowing_kernel
def energy_of(point, elastic, moments, flight, w, room):
    """Kinetic and stored energy of the state now, at 0, or of a stage [J], ``elastic`` known."""
    for k in range(3):
        for i in range(w.X.shape[1]):
            w.X[k, i] = flight.history[3 * point + k, i]
    fill_moments(w.X, moments, flight.frame, w)
    fill_mass(moments.D, flight.frame, w, room)
    return energy_in_flight(point, elastic, room.M, flight, room)


@borrowing_kernel
def gains(stages, elastic, load, push, moments, flight, w, space, moves):
    """Whether the step that was just solved has gained energy; ``elastic`` before it and after."""
    balls, _, pairs, room = space
    last = len(stages.times) - 1
    dt, now = stages.times[last], flight.rigid[last + 2]
    see_velocities(w.X[0], w.X[1], balls, now, flight.frame[R_STAGE], pairs)
    work, uncertain = pushed_in(dt, moves, pairs)
    work += work_of_load(last, load, push, flight, room)
    end = energy_of(last + 2, elastic[1], moments, flight, w, room)
    start = energy_of(0, elastic[0], moments, flight, w, room)
    return not is_without_gain(start, end, work, uncertain, pairs)


@borrowing_kernel
def take_stages(
    stages, polynomial, rate, laws, moments, flight, w, options, space, load, push, poses, first
):  # fmt: skip
    """All stages of a step; DONE, or why it failed."""
    c_v = stages.c_v
    x = w.X[0]
    for s in range(len(c_v)):
        at = first + 1 + s
        given = begin_flight(s, stages, flight, w, options, push, space, poses, first)
        if given < 0:
            return NO_ROOM
        reason = GO_ON
        iteration = 0
        while True:
            if not move_among(s, stages, moments, flight, w, options, load, push, space):
                return NOT_CONVERGED
            if reason == DONE:
                complete = is_complete(s, flight, w, options, space, poses, at)
                if complete < 0:
                    return NO_ROOM
                if complete > 0:
                    break
            if iteration == options.max_iterations:
                if options.best_effort:
                    w.counts[UNSOLVED] += 1
                    break
                return NOT_CONVERGED
            iteration += 1
            evaluate(x, polynomial, w.K, w.R)
            if laws is not None:
                add_laws_in_flight(c_v[s], laws, w)
            mirror(w.K)
            fill_damping(x, rate, w)
            reason = correct_among(s, stages, moments, flight, w, options, space, poses, at, given)
            if reason != DONE and reason != GO_ON:
                return reason
        if not leave_flight(s, stages, moments, flight, w, space, poses, at, given):
            return NOT_FINITE
    return DONE


@borrowing_kernel
def take_flight_steps(
    stages, polynomial, rate, laws, moments, flight, w, options, space, work
):  # fmt: skip
    """``run_flight_steps`` with all arrays at hand."""
    steps, load, push, poses, moves = work
    pairs = space[2]
    count = 1 + len(stages.c_v)
    for step in range(steps):
        first = step * count if len(poses) > count else 0
        remember_kept(pairs)
        reason = take_stages(
            stages, polynomial, rate, laws, moments, flight, w, options, space, load, push, poses,
            first,
        )  # fmt: skip
        if reason == DONE and not options.best_effort and looks_on(pairs):
            history = flight.history
            before = stored_energy(history[0], polynomial, w.K, w.R)
            after = stored_energy(history[3 * count], polynomial, w.K, w.R)
            if gains(stages, (before, after), load, push, moments, flight, w, space, moves):
                reason = GAINS
        if reason != DONE:
            recall_kept(pairs)
            return step, reason
        accept(len(stages.c_v) - 1, flight)
    return steps, DONE


@reordering_kernel
def run_flight_steps(context, law_context, contacts, steps, load, push, poses, moves):
    """As ``floating.run_floating_steps``, among obstacles that are where ``poses`` say.

    These are (steps (1 + stages), k, 19), as in ``stepping.run_contact_steps``; ``moves`` says
    whether any obstacle does.
    """
    stages, polynomial, rate = context.stages, context.polynomial, context.rate
    moments, flight, w, options = (
        context.moments,
        context.flight,
        context.workspace,
        context.options,
    )
    space = contacts.balls, contacts.shapes, contacts.pairs, contacts.room
    work = steps, load, push, poses, moves
    if law_context is None:
        return take_flight_steps(
            stages, polynomial, rate, None, moments, flight, w, options, space, work
        )
    laws = law_context.laws
    return take_flight_steps(
        stages, polynomial, rate, laws, moments, flight, w, options, space, work
    )


# -- the same, piece by piece, for forces that are found in Python -------------------------


@reordering_kernel
def enter_flight_stage(context, contacts, s, push, poses):
    """As ``floating.enter_stage``, with the pairs: −1 if there is no room for them."""
    space = contacts.balls, contacts.shapes, contacts.pairs, contacts.room
    if s == 0:
        remember_kept(contacts.pairs)
    stages, flight = context.stages, context.flight
    return begin_flight(
        s, stages, flight, context.workspace, context.options, push, space, poses, 0
    )


@reordering_kernel
def move_flight_stage(context, contacts, s, load, push):
    """As ``floating.move_stage``."""
    space = contacts.balls, contacts.shapes, contacts.pairs, contacts.room
    flight, w = context.flight, context.workspace
    return move_among(
        s, context.stages, context.moments, flight, w, context.options, load, push, space
    )


@reordering_kernel
def iterate_in_flight(context, contacts, s, poses, given, ends):
    """As ``floating.iterate``; or, where that ``ends``, 1 if nothing is inside an obstacle unseen.

    It is 0 if what was is now among the pairs, and −1 if there is no room for it.
    """
    space = contacts.balls, contacts.shapes, contacts.pairs, contacts.room
    stages, flight, w, options = context.stages, context.flight, context.workspace, context.options
    if ends:
        return is_complete(s, flight, w, options, space, poses, 1 + s)
    return correct_among(s, stages, context.moments, flight, w, options, space, poses, 1 + s, given)


@reordering_kernel
def leave_flight_stage(context, contacts, s, poses, given):
    """As ``floating.leave_stage``."""
    space = contacts.balls, contacts.shapes, contacts.pairs, contacts.room
    flight, w = context.flight, context.workspace
    return leave_flight(s, context.stages, context.moments, flight, w, space, poses, 1 + s, given)


@reordering_kernel
def gains_in_flight(context, contacts, elastic, load, push, moves):
    """Whether the step that was just solved has gained energy."""
    space = contacts.balls, contacts.shapes, contacts.pairs, contacts.room
    if context.options.best_effort or not looks_on(contacts.pairs):
        return False
    flight, w = context.flight, context.workspace
    return gains(context.stages, elastic, load, push, context.moments, flight, w, space, moves)
