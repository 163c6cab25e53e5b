"""Contacts of a body that floats, as its own frame sees them.

In the frame of the body a vertex is at y = Y + Σ q_i φ_i, as if the body were held, and obstacles
move: with x = p + R y and ẋ = V + R (ω × y + Σ q̇_i φ_i), one that has the rotation Q, the shift s
and the velocity d + w × x is there seen at RᵀQ and Rᵀ(s − p), with Rᵀw − ω and Rᵀ(d + w × p − V).
So pairs are found and turned as for held bodies. A contact moves all of the body,

    z = (q, √m Rᵀδp, √j δθ)        J = (n·φ_i, n/√m, y × n/√j)

by the symmetric matrix of its masses and stiffness at its shape; what else is in the balance of a
body that turns comes with the next iteration.
"""

from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import LARGEST, borrowing_kernel
from supple._kernels.linear_algebra.dense import factorize_symmetric, solve_factorized
from supple._kernels.reduction.contact.energy import kinetic_energy
from supple._kernels.reduction.contact.pairs import GIVEN_PAIRS, KEPT, PAIRS
from supple._kernels.reduction.contact.shapes import DRIFT, FRICTION, SHIFT, SPIN, moved_by
from supple._kernels.reduction.contact.solve import STOPPED, change_contact_forces
from supple._kernels.reduction.floating_newton import OF_Q
from supple._kernels.reduction.frame import (
    L_RATE,
    OMEGA,
    OMEGA_RATE,
    R_NOW,
    R_STAGE,
    V_RATE,
    J,
    L,
    P,
    V,
)
from supple._kernels.reduction.newton import ATTEMPTS
from supple._kernels.reduction.polynomial import ONE

NOW, THEN = range(2)  # rows of ``poses``: as the step begins, and at the end of the stage
MASS, PER_SHIFT, PER_TURN = range(3)  # places in ``scales``


class FlightRoom(NamedTuple):
    """Room for the contacts of a body that floats in r coordinates, n = r + 6 with its frame."""

    scales: np.ndarray  # (3,) m [kg], 1/√m and 1/√j with j = tr J/3 at rest
    poses: np.ndarray  # (2, k, 19) of the obstacles as the body's frame sees them
    turned: np.ndarray  # (3, 3) rotation of the frame that pairs were last seen in
    load: np.ndarray  # (r + 1, 3, 3) moments of all forces, those of contacts too
    push: np.ndarray  # (3,) their sum per mass
    by: np.ndarray  # (3,) the same as the centre of mass has felt it
    given: np.ndarray  # (g, 7) planes from outside in the world: n, b [m], velocity
    A: np.ndarray  # (n, n) matrix of the contacts, then its factors
    M: np.ndarray  # (n, n) mass
    delta: np.ndarray  # (n,) correction of z
    own: np.ndarray  # (n,) the same with forces as they were
    still: np.ndarray  # (r,) zero
    rates: np.ndarray  # (2, n) velocity and acceleration
    error: np.ndarray  # (1,) the size of the last correction, as it moves vertices [m]


@borrowing_kernel
def see_obstacles(row, poses, R, now, to, seen):
    """Row ``row`` of ``poses`` as a frame sees it that is at R, moving as ``now`` says."""
    p0, p1, p2 = now[P, 0], now[P, 1], now[P, 2]
    for o in range(poses.shape[1]):
        a = poses[row, o]
        x0, x1, x2 = a[SHIFT] - p0, a[SHIFT + 1] - p1, a[SHIFT + 2] - p2
        w0, w1, w2 = a[SPIN], a[SPIN + 1], a[SPIN + 2]
        d0 = a[DRIFT] + w1 * p2 - w2 * p1 - now[V, 0]
        d1 = a[DRIFT + 1] + w2 * p0 - w0 * p2 - now[V, 1]
        d2 = a[DRIFT + 2] + w0 * p1 - w1 * p0 - now[V, 2]
        for i in range(3):
            r0, r1, r2 = R[0, i], R[1, i], R[2, i]
            for j in range(3):
                seen[to, o, 3 * i + j] = r0 * a[j] + r1 * a[3 + j] + r2 * a[6 + j]
            seen[to, o, SHIFT + i] = r0 * x0 + r1 * x1 + r2 * x2
            seen[to, o, SPIN + i] = r0 * w0 + r1 * w1 + r2 * w2 - now[OMEGA, i]
            seen[to, o, DRIFT + i] = r0 * d0 + r1 * d1 + r2 * d2
        seen[to, o, FRICTION] = a[FRICTION]


@borrowing_kernel
def see_given_planes(R, now, left, balls, room, pairs):
    """The planes from outside in the body's frame, ``left`` [s] before the end of the step."""
    count = pairs.counts[GIVEN_PAIRS]
    for n in range(count):
        g, plane, v = room.given[n], pairs.given_plane[n], pairs.given_vertex[n]
        offset = g[3]
        for i in range(3):
            offset -= g[i] * (now[P, i] + left * g[4 + i])
        for i in range(3):
            plane[i] = R[0, i] * g[0] + R[1, i] * g[1] + R[2, i] * g[2]
            plane[4 + i] = 0.0
            for j in range(3):
                plane[4 + i] += R[j, i] * (g[4 + j] - now[V, j])
            offset -= plane[i] * balls.places[v, i]
        plane[3] = offset


@borrowing_kernel
def follow_given_planes(x, first, balls, now, pairs):
    """The same for the pairs from ``first`` on, whose planes those are."""
    w = now[OMEGA]
    for n in range(pairs.counts[GIVEN_PAIRS]):
        p, plane, v = first + n, pairs.given_plane[n], pairs.given_vertex[n]
        a, b, c = moved_by(balls.rows, v, x)
        y0, y1, y2 = balls.places[v, 0] + a, balls.places[v, 1] + b, balls.places[v, 2] + c
        for i in range(4):
            pairs.side[p, i] = plane[i]
        pairs.velocity[p, 0] = plane[4] - (w[1] * y2 - w[2] * y1)
        pairs.velocity[p, 1] = plane[5] - (w[2] * y0 - w[0] * y2)
        pairs.velocity[p, 2] = plane[6] - (w[0] * y1 - w[1] * y0)


@borrowing_kernel
def start_in_world(room):
    """Pairs that were just found have their forces in the frame of the world."""
    for i in range(3):
        for j in range(3):
            room.turned[i, j] = 1.0 if i == j else 0.0


@borrowing_kernel
def turn_forces(R, room, pairs):
    """The frames of forces as a frame at R sees them; in the world they stay."""
    turned, frame = room.turned, pairs.frame
    for p in range(pairs.counts[PAIRS]):
        for i in range(3):
            a, b, c = frame[p, i, 0], frame[p, i, 1], frame[p, i, 2]
            w0 = turned[0, 0] * a + turned[0, 1] * b + turned[0, 2] * c
            w1 = turned[1, 0] * a + turned[1, 1] * b + turned[1, 2] * c
            w2 = turned[2, 0] * a + turned[2, 1] * b + turned[2, 2] * c
            for j in range(3):
                frame[p, i, j] = R[0, j] * w0 + R[1, j] * w1 + R[2, j] * w2
    for i in range(3):
        for j in range(3):
            turned[i, j] = R[i, j]


@borrowing_kernel
def sum_forces(load, push, balls, room, pairs):
    """All forces in the world: ``load`` and ``push`` from outside, and those of the contacts."""
    turned, frame, rows = room.turned, pairs.frame, balls.rows
    total = room.load
    r = np.uint64(len(load) - 1)
    for j in range(r + ONE):
        for a in range(3):
            for b in range(3):
                total[j, a, b] = load[j, a, b]
    for i in range(3):
        room.push[i] = push[i]
    per_mass = 1.0 / room.scales[MASS]
    for p in range(pairs.counts[PAIRS]):
        if not pairs.force[p, 0] > 0.0:
            continue
        f0 = f1 = f2 = 0.0
        for i in range(3):
            f0 += pairs.force[p, i] * frame[p, i, 0]
            f1 += pairs.force[p, i] * frame[p, i, 1]
            f2 += pairs.force[p, i] * frame[p, i, 2]
        v = pairs.vertex[p]
        for i in range(3):
            f = turned[i, 0] * f0 + turned[i, 1] * f1 + turned[i, 2] * f2
            room.push[i] += per_mass * f
            for k in range(3):
                total[0, k, i] += balls.places[v, k] * f
                for j in range(r):
                    total[j + ONE, k, i] += rows[v, k, j] * f


@borrowing_kernel
def push_on(c_v, c_a, alpha, push, by, now):
    """The centre of mass with the ``push`` in place of the one that it has, ``by``."""
    g = c_v / c_a
    for i in range(3):
        change = g * (push[i] - by[i]) / (1.0 + g * alpha)
        now[V, i] += change
        now[V_RATE, i] = push[i] - alpha * now[V, i]
        now[P, i] += change / c_v
        by[i] = push[i]


@borrowing_kernel
def widen_rows(x, balls, room, pairs):
    """How the body as a whole moves what presses: six more columns of J."""
    rows, frame = pairs.J, pairs.frame
    r = np.uint64(len(x))
    shift, turn = room.scales[PER_SHIFT], room.scales[PER_TURN]
    for p in range(pairs.counts[PAIRS]):
        v = pairs.vertex[p]
        a, b, c = moved_by(balls.rows, v, x)
        y0, y1, y2 = balls.places[v, 0] + a, balls.places[v, 1] + b, balls.places[v, 2] + c
        for i in range(3):
            d0, d1, d2 = frame[p, i, 0], frame[p, i, 1], frame[p, i, 2]
            row = rows[p, i]
            row[r], row[r + 1], row[r + 2] = shift * d0, shift * d1, shift * d2
            row[r + 3] = turn * (y1 * d2 - y2 * d1)
            row[r + 4] = turn * (y2 * d0 - y0 * d2)
            row[r + 5] = turn * (y0 * d1 - y1 * d0)


@borrowing_kernel
def fill_mass(D, frame, w, room):
    """M of all coordinates z, as the body is."""
    M, H, turn = room.M, w.H, room.scales[PER_TURN]
    r = np.uint64(len(D))
    for i in range(r):
        for j in range(r):
            M[i, j] = D[i, 0, j] + D[i, 4, j] + D[i, 8, j]
        for k in range(3):
            M[r + k, i] = M[i, r + k] = 0.0
            M[r + 3 + k, i] = M[i, r + 3 + k] = turn * H[OF_Q, k, i]
    for i in range(3):
        for j in range(3):
            M[r + i, r + j] = 1.0 if i == j else 0.0
            M[r + i, r + 3 + j] = M[r + 3 + j, r + i] = 0.0
            M[r + 3 + i, r + 3 + j] = turn * turn * frame[J, i, j]


@borrowing_kernel
def find_forces(c_v, c_a, alpha, best_effort, w, room, pairs):
    """Forces of the pairs after a correction of q, and what they add to it.

    Returns whether they were found. The size of what vertices move is left in ``error``.
    """
    A, M, delta, own, K, C = room.A, room.M, room.delta, room.own, w.K, w.C
    r, n = np.uint64(len(w.R)), np.uint64(len(M))
    inertia = c_a + alpha * c_v
    turn = room.scales[PER_TURN]
    for i in range(r):
        own[i] = w.delta[i]
    for i in range(3):
        e = 0.0
        for j in range(r):
            e += w.W[0, i, j] * own[j]
        own[r + i], own[r + 3 + i] = 0.0, e / (c_v * turn)
    shift = 0.0
    found = False
    for _ in range(ATTEMPTS):
        largest = 0.0
        for i in range(n):
            for j in range(i + ONE):
                A[i, j] = inertia * M[i, j]
                if i < r:
                    A[i, j] += K[i, j] + 0.5 * c_v * (C[i, j] + C[j, i])
            largest = max(largest, abs(A[i, i]))
            A[i, i] += shift
            delta[i] = own[i]
        if factorize_symmetric(A):
            found = change_contact_forces(A, pairs, best_effort, delta)
            break
        shift = max(10.0 * shift, 1e-3 * largest)
    size = 0.0
    for i in range(n):
        size += abs(delta[i])
    room.error[0] = size
    x = w.X[0]
    for i in range(r):
        x[i] += delta[i] - own[i]
    return found and size <= LARGEST


@borrowing_kernel
def see_velocities(x, v, balls, now, R, pairs):
    """Velocities of the obstacles at the pairs beside those of the frame, without its motion.

    ``velocity`` becomes what it is in the world, as the frame sees it.
    """
    w = now[OMEGA]
    for p in range(pairs.counts[PAIRS]):
        n = pairs.vertex[p]
        a, b, c = moved_by(balls.rows, n, x)
        y0, y1, y2 = balls.places[n, 0] + a, balls.places[n, 1] + b, balls.places[n, 2] + c
        e0, e1, e2 = w[1] * y2 - w[2] * y1, w[2] * y0 - w[0] * y2, w[0] * y1 - w[1] * y0
        for i in range(3):
            pairs.velocity[p, i] += R[0, i] * now[V, 0] + R[1, i] * now[V, 1] + R[2, i] * now[V, 2]
        pairs.velocity[p, 0] += e0
        pairs.velocity[p, 1] += e1
        pairs.velocity[p, 2] += e2


@borrowing_kernel
def rest_in_flight(s, balls, flight, w, room, pairs):
    """Velocities and accelerations of stage s after an impact, by Moreau's law, as for held bodies.

    What presses comes to rest along its normals, and stays so: n·ẍ = 0 with what the turning of
    the frame has in ẍ, 2 ω × Σ q̇ φ + ω × (ω × y).
    """
    history, now, R = flight.history, flight.rigid[s + 2], flight.frame[R_STAGE]
    rates, A, M, rows = room.rates, room.A, room.M, pairs.J
    r, n = np.uint64(len(w.R)), np.uint64(len(M))
    row = np.uint64(6 + 3 * s)
    size = 0.0
    for p in range(pairs.counts[PAIRS]):
        if pairs.force[p, 0] > 0.0:
            for i in range(n):
                size = max(size, rows[p, 0, i] * rows[p, 0, i])
    if size == 0.0:
        return
    per_shift, per_turn = room.scales[PER_SHIFT], room.scales[PER_TURN]
    own = room.own  # changes of the velocity are found, so that nothing is lost on the rest
    least = 0.0
    for i in range(n):
        for j in range(i + ONE):
            A[i, j] = M[i, j]
        rates[0, i] = rates[1, i] = 0.0
        least = max(least, M[i, i])
    for i in range(r):
        own[i] = history[row + 2, i]
    for i in range(3):
        e = 0.0
        for j in range(3):
            e += R[j, i] * now[V_RATE, j]
        own[r + i] = e / per_shift
        own[r + 3 + i] = now[OMEGA_RATE, i] / per_turn
    weight = least / (STOPPED * size)
    o = now[OMEGA]
    for p in range(pairs.counts[PAIRS]):
        if not pairs.force[p, 0] > 0.0:
            continue
        a, b, c = moved_by(balls.rows, pairs.vertex[p], history[row + 1])
        d, e, f = moved_by(balls.rows, pairs.vertex[p], history[row])
        v = pairs.vertex[p]
        y0, y1, y2 = balls.places[v, 0] + d, balls.places[v, 1] + e, balls.places[v, 2] + f
        u0, u1, u2 = o[1] * y2 - o[2] * y1, o[2] * y0 - o[0] * y2, o[0] * y1 - o[1] * y0
        normal = pairs.frame[p, 0]
        # velocities of obstacles are those beside the frame, so that only q̇ moves the vertex
        off = normal[0] * (pairs.velocity[p, 0] - a)
        off += normal[1] * (pairs.velocity[p, 1] - b)
        off += normal[2] * (pairs.velocity[p, 2] - c)
        g0, g1, g2 = u0 + 2.0 * a, u1 + 2.0 * b, u2 + 2.0 * c
        late = -normal[0] * (o[1] * g2 - o[2] * g1)
        late -= normal[1] * (o[2] * g0 - o[0] * g2)
        late -= normal[2] * (o[0] * g1 - o[1] * g0)
        for i in range(n):
            late -= rows[p, 0, i] * own[i]
        for i in range(n):
            e = weight * rows[p, 0, i]
            rates[0, i] += e * off
            rates[1, i] += e * late
            for j in range(i + ONE):
                A[i, j] += e * rows[p, 0, j]
    if not factorize_symmetric(A):
        return
    solve_factorized(A, rates)
    for i in range(r):
        history[row + 1, i] += rates[0, i]
        history[row + 2, i] += rates[1, i]
    inertia, H = flight.frame[J], w.H
    for i in range(3):
        for j in range(3):
            now[V, i] += R[i, j] * per_shift * rates[0, r + j]
            now[V_RATE, i] += R[i, j] * per_shift * rates[1, r + j]
            spun = driven = 0.0
            for k in range(3):
                spun += inertia[j, k] * per_turn * rates[0, r + 3 + k]
                driven += inertia[j, k] * per_turn * rates[1, r + 3 + k]
            for k in range(r):
                spun += H[OF_Q, j, k] * rates[0, k]
                driven += H[OF_Q, j, k] * rates[1, k]
            now[L, i] += R[i, j] * spun
            now[L_RATE, i] += R[i, j] * driven
    for i in range(3):
        now[OMEGA, i] += per_turn * rates[0, r + 3 + i]
        now[OMEGA_RATE, i] += per_turn * rates[1, r + 3 + i]


@borrowing_kernel
def keep_in_world(R, pairs):
    """The forces that ``keep_forces`` has kept, in the frame of the world."""
    force = pairs.kept_force
    for n in range(pairs.counts[KEPT]):
        a, b, c = force[n, 0], force[n, 1], force[n, 2]
        for i in range(3):
            force[n, i] = R[i, 0] * a + R[i, 1] * b + R[i, 2] * c


@borrowing_kernel
def energy_in_flight(point, elastic, M, flight, room):
    """Kinetic and stored energy [J]; M is that at the point, of ``z``."""
    history, now, R = flight.history, flight.rigid[point], flight.frame[R_NOW]
    if point > 0:
        R = flight.frame[R_STAGE]
    r = np.uint64(history.shape[1])
    own = room.own
    for i in range(r):
        own[i] = history[3 * point + 1, i]
    for i in range(3):
        e = 0.0
        for j in range(3):
            e += R[j, i] * now[V, j]
        own[r + i] = e / room.scales[PER_SHIFT]
        own[r + 3 + i] = now[OMEGA, i] / room.scales[PER_TURN]
    return elastic + kinetic_energy(own, M)


@borrowing_kernel
def work_of_load(last, load, push, flight, room):
    """What the forces from outside put in until the end of stage ``last`` [J]."""
    work = 0.0
    for point in (0, last + 2):
        history, now, R = flight.history, flight.rigid[point], flight.frame[R_NOW]
        if point > 0:
            R = flight.frame[R_STAGE]
        sign = 1.0 if point > 0 else -1.0
        for i in range(3):
            work += sign * room.scales[MASS] * push[i] * now[P, i]
            for a in range(3):
                e = load[0, a, i]
                for j in range(np.uint64(history.shape[1])):
                    e += history[3 * point, j] * load[j + ONE, a, i]
                work += sign * R[i, a] * e
    return work
