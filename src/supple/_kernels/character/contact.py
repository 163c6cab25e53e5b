"""Contacts of a character's surface during a frame: where it is, how it can give way, what presses.

A vertex of the surface is at x̄(p) + Σ_c s_c F_c(p) Σ_i w_i(p) U_i,c Υ q: the rig has it at x̄, and
four vertices c of the tet mesh carry it. In a pose this is a place and rows of a basis, as of a
reduced body that is held, and so are its contacts.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref

from supple._kernels.character.rig_path import between
from supple._kernels.compiling import inlined_kernel, inner_kernel, kernel
from supple._kernels.reduction.contact.pairs import PAIRS, turn_planes
from supple._kernels.reduction.contact.shapes import FRICTION, GIVEN, moved_by
from supple._kernels.reduction.contact.solve import bring_to_rest, correct_with_contacts


class Touching(NamedTuple):
    """c vertices of the surface that may touch something in a frame, and the planes that they meet.

    u vertices of the tet mesh carry them.
    """

    corners: np.ndarray  # (c, 4) those that carry each, among the u
    shares: np.ndarray  # (c, 4) of these
    carriers: np.ndarray  # (u,) which vertices of the tet mesh they are
    bases: np.ndarray  # (m, n, 3, r) of the model [1/√kg]
    planes: np.ndarray  # (p, 7) n and b [m] as the frame begins, and the velocity [m/s]
    given_x: np.ndarray  # (stages, c, 3) the rig where a function tells it, or none
    given_frames: np.ndarray  # (stages, u, 3, 3)
    frames: np.ndarray  # (u, 3, 3) in the stage at hand, or none
    no_features: np.ndarray  # (0,)
    own: np.ndarray  # (u, 3, r) rows of the carriers
    carried: np.ndarray  # (c, 3) where each was as the step began [m]
    speed: np.ndarray  # (c, 3) at which the rig takes it along [m/s]


@structref.register
class PoseContactsType(types.StructRef):
    """For Numba."""


class PoseContacts(structref.StructRefProxy):
    """Touching, the path of its vertices, Balls, Shapes, Pairs and poses of the obstacles."""


_define: Any = structref.define_proxy
_make: Any = PoseContacts
_define(PoseContacts, PoseContactsType, ["touching", "path", "balls", "shapes", "pairs", "poses"])


@kernel
def pose_contacts(touching, path, balls, shapes, pairs, poses):
    """All six behind one pointer."""
    return _make(touching, path, balls, shapes, pairs, poses)


@inlined_kernel
def show_rows(w, scale, touching, rows):
    """``rows`` (c, 3, r) of the basis in the pose with these weights, the frames known."""
    bases, own, carriers, frames = touching.bases, touching.own, touching.carriers, touching.frames
    corners, shares = touching.corners, touching.shares
    r = np.uint64(len(scale))
    for k in range(len(carriers)):
        for i in range(3):
            for n in range(r):
                own[k, i, n] = 0.0
        for m in range(len(w)):
            if w[m] != 0.0:
                for i in range(3):
                    for n in range(r):
                        own[k, i, n] += w[m] * bases[m, carriers[k], i, n]
        if len(frames) > 0:
            F = frames[k]
            for n in range(r):
                a, b, c = own[k, 0, n], own[k, 1, n], own[k, 2, n]
                for i in range(3):
                    own[k, i, n] = F[i, 0] * a + F[i, 1] * b + F[i, 2] * c
    for v in range(len(corners)):
        for i in range(3):
            for n in range(r):
                e = 0.0
                for c in range(4):
                    e += shares[v, c] * own[corners[v, c], i, n]
                rows[v, i, n] = scale[n] * e


@inlined_kernel
def begin_contacts(contacts, workspace):
    """Where vertices are as the frame begins."""
    touching, balls = contacts.touching, contacts.balls
    here = contacts.path.samples[2]
    for v in range(len(balls.places)):
        for i in range(3):
            balls.places[v, i] = here.x[v, i]
    for k in range(len(touching.frames)):
        for i in range(3):
            for j in range(3):
                touching.frames[k, i, j] = here.frames[k, i, j]
    show_rows(workspace.w, workspace.scale, touching, balls.rows)
    carry_on(contacts, workspace)


@inlined_kernel
def carry_on(contacts, workspace):
    """Where vertices are as the next step begins."""
    balls, carried = contacts.balls, contacts.touching.carried
    for v in range(len(carried)):
        a, b, c = moved_by(balls.rows, v, workspace.history[0])
        carried[v, 0] = balls.places[v, 0] + a
        carried[v, 1] = balls.places[v, 1] + b
        carried[v, 2] = balls.places[v, 2] + c


@inlined_kernel
def enter_contacts(number, share, since, contacts, workspace):
    """Places, rows and planes of the stage with that number, at a share of the frame.

    That is ``since`` [s] after the step began. The pose has been taken.
    """
    touching, balls, path = contacts.touching, contacts.balls, contacts.path
    new, at_end = path.samples[3], share >= 1.0
    if not at_end and len(touching.given_x) > 0:
        balls.places[:] = touching.given_x[number]
        touching.frames[:] = touching.given_frames[number]
    elif not at_end:
        between(path, share, balls.places, touching.frames, touching.no_features)
    else:
        balls.places[:] = new.x
        touching.frames[:] = new.frames
    show_rows(workspace.w, workspace.scale, touching, balls.rows)
    place_planes(number, share * path.spans[2], since, contacts, workspace.history[0])


@inner_kernel
def place_planes(number, time, since, contacts, q):
    """The planes of all pairs ``time`` [s] after the frame began, and how the rig moves them."""
    touching, balls, pairs = contacts.touching, contacts.balls, contacts.pairs
    speed, carried, planes, poses = (
        touching.speed,
        touching.carried,
        touching.planes,
        contacts.poses,
    )
    for v in range(len(speed)):
        a, b, c = moved_by(balls.rows, v, q)
        speed[v, 0] = (balls.places[v, 0] + a - carried[v, 0]) / since
        speed[v, 1] = (balls.places[v, 1] + b - carried[v, 1]) / since
        speed[v, 2] = (balls.places[v, 2] + c - carried[v, 2]) / since
    for p in range(pairs.counts[PAIRS]):
        v, offset = pairs.vertex[p], planes[p, 3]
        for i in range(3):
            pairs.side[p, i] = planes[p, i]
            offset += planes[p, i] * (time * planes[p, 4 + i] - balls.places[v, i])
        pairs.side[p, 3] = offset
        pairs.friction[p] = poses[number, pairs.obstacle[p], FRICTION]


@inner_kernel
def see_planes(number, c_v, x, x_v, contacts):
    """Turns the planes to where vertices are at x, and adds what the rig moves to their slip."""
    touching, balls, pairs, shapes = (
        contacts.touching,
        contacts.balls,
        contacts.pairs,
        contacts.shapes,
    )
    for p in range(pairs.counts[PAIRS]):
        if shapes.kind[pairs.obstacle[p]] == GIVEN:
            for i in range(3):
                pairs.velocity[p, i] = touching.planes[p, 4 + i]
    turn_planes(x, x_v, c_v, number, balls, shapes, contacts.poses, pairs)
    for p in range(pairs.counts[PAIRS]):
        v = pairs.vertex[p]
        for i in range(3):
            along = touching.speed[v, i]
            pairs.velocity[p, i] -= along
            pairs.gap[p, 1] += pairs.frame[p, 1, i] * along / c_v
            pairs.gap[p, 2] += pairs.frame[p, 2, i] * along / c_v


@inner_kernel
def correct_touching(number, c_v, c_a, best_effort, examples, contacts, balance):
    """One Newton iteration with the forces of contacts; and whether these were found."""
    see_planes(number, c_v, balance.x, balance.x_v, contacts)
    pairs = contacts.pairs
    return correct_with_contacts(balance, c_v, c_a, False, False, best_effort, examples, pairs)


@inlined_kernel
def rest_on_contacts(number, row, c_v, contacts, workspace):
    """What presses comes to rest, in the state of a stage from that row of the history on."""
    balance = workspace.balance
    see_planes(number, c_v, balance.x, balance.x_v, contacts)
    bring_to_rest(balance.M, contacts.pairs, row, workspace.history)
