"""Pairs of a vertex and the plane of an obstacle near it, during a stage of a reduced model."""

import math
from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import borrowing_kernel
from supple._kernels.reduction.contact.shapes import (
    FRICTION,
    GIVEN,
    distance_in_world,
    moved_by,
    next_near,
    velocity_in_world,
)

SAME_SIDE = 0.5  # cosine of the turn up to which a plane follows its vertex

# places in ``Pairs.counts``
PAIRS, KEPT, FORMER, GIVEN_PAIRS, SWEEPS, MOST_PAIRS = range(6)

# places in ``Pairs.options``
MARGIN, EXACT, MOST_MOVED, MOVES, SOFT = range(5)


class Pairs(NamedTuple):
    """Pairs of the stage at hand, in room for p of them, and what is kept from stage to stage."""

    counts: np.ndarray  # (6,) pairs; kept; kept before; given; sweeps and most pairs so far
    options: np.ndarray  # (5,) margin, what may be off [m]; most of U; 1 if they move; give [m/N]
    vertex: np.ndarray  # (p,)
    obstacle: np.ndarray  # (p,)
    side: np.ndarray  # (p, 4) n and b [m] of the plane where the step began
    frame: np.ndarray  # (p, 3, 3) normal, and two directions along the plane, in rows
    offset: np.ndarray  # (p,) b [m]: the vertex stays out while n·u ≥ b
    origin: np.ndarray  # (p, 3) displacement with which it moves with the obstacle [m]
    velocity: np.ndarray  # (p, 3) of the obstacle there [m/s]
    friction: np.ndarray  # (p,) μ
    force: np.ndarray  # (p, 3) by the frame [N]
    swept: np.ndarray  # (p, 3) force before a sweep [N]
    along: np.ndarray  # (p, 3) direction in which sweeps go on [N]
    gap: np.ndarray  # (p, 3) n·u − b, and how far the vertex has slipped, at the last x [m]
    start: np.ndarray  # (p,) how far out the vertex was as the step began [m]
    J: np.ndarray  # (p, 3, r) the frame times the rows of the vertex [1/√kg]
    Y: np.ndarray  # (p, 3, r) A⁻¹ of these [√kg m/N]; made where ``known``
    T: np.ndarray  # (p, 4) normal compliance, compliances along the plane, their coupling [m/N]
    known: np.ndarray  # (p,) 1 where Y and T are those of the matrix at hand
    place: np.ndarray  # (k, m) of a vertex and an obstacle among the pairs; −1 for none
    kept_vertex: np.ndarray  # (m k,) what pressed in the last stage
    kept_obstacle: np.ndarray  # (m k,)
    kept_force: np.ndarray  # (m k, 3) on these, in the world [N]
    kept_place: np.ndarray  # (k, m) of a vertex and an obstacle among these; −1 for none
    former_vertex: np.ndarray  # (m k,) the same as the step began, to go back to
    former_obstacle: np.ndarray  # (m k,)
    former_force: np.ndarray  # (m k, 3)
    given_vertex: np.ndarray  # (g,) planes from outside
    given_obstacle: np.ndarray  # (g,)
    given_plane: np.ndarray  # (g, 7) n, b [m] at the end of the step, velocity [m/s]
    energy: np.ndarray  # (4,) gained in contact [J]; steps to look on; at the start; noise [J]
    H: np.ndarray  # (r, r) scratch
    rates: np.ndarray  # (2, r) scratch
    way: np.ndarray  # (r,) scratch


@borrowing_kernel
def copy_kept(vertex, obstacle, force, count, to_vertex, to_obstacle, to_force):
    """Copies a list of what pressed."""
    for n in range(count):
        to_vertex[n], to_obstacle[n] = vertex[n], obstacle[n]
        for i in range(3):
            to_force[n, i] = force[n, i]


@borrowing_kernel
def remember_kept(pairs):
    """Keeps what pressed as a step begins, to go back to."""
    count = pairs.counts[KEPT]
    pairs.counts[FORMER] = count
    copy_kept(
        pairs.kept_vertex, pairs.kept_obstacle, pairs.kept_force, count,
        pairs.former_vertex, pairs.former_obstacle, pairs.former_force,
    )  # fmt: skip


@borrowing_kernel
def forget_kept(pairs):
    """Nothing has pressed."""
    for n in range(pairs.counts[KEPT]):
        pairs.kept_place[pairs.kept_obstacle[n], pairs.kept_vertex[n]] = -1
    pairs.counts[KEPT] = 0


@borrowing_kernel
def recall_kept(pairs):
    """Goes back to what pressed as the step began."""
    forget_kept(pairs)
    count = pairs.counts[FORMER]
    copy_kept(
        pairs.former_vertex, pairs.former_obstacle, pairs.former_force, count,
        pairs.kept_vertex, pairs.kept_obstacle, pairs.kept_force,
    )  # fmt: skip
    for n in range(count):
        pairs.kept_place[pairs.kept_obstacle[n], pairs.kept_vertex[n]] = n
    pairs.counts[KEPT] = count


@borrowing_kernel
def keep_forces(pairs):
    """Keeps the forces of the pairs that press."""
    forget_kept(pairs)
    count = 0
    for c in range(pairs.counts[PAIRS]):
        if pairs.force[c, 0] > 0.0:
            v, o = pairs.vertex[c], pairs.obstacle[c]
            pairs.kept_vertex[count], pairs.kept_obstacle[count] = v, o
            for i in range(3):
                pairs.kept_force[count, i] = (
                    pairs.force[c, 0] * pairs.frame[c, 0, i]
                    + pairs.force[c, 1] * pairs.frame[c, 1, i]
                    + pairs.force[c, 2] * pairs.frame[c, 2, i]
                )
            pairs.kept_place[o, v] = count
            count += 1
    pairs.counts[KEPT] = count


@borrowing_kernel
def add_pair(v, o, n0, n1, n2, b, friction, pairs):
    """One more pair, on this side, with the force that it had; False if there is no room."""
    c = pairs.counts[PAIRS]
    if c >= len(pairs.vertex):
        return False
    pairs.counts[PAIRS] = c + 1
    pairs.counts[MOST_PAIRS] = max(pairs.counts[MOST_PAIRS], c + 1)
    pairs.place[o, v] = c
    pairs.vertex[c], pairs.obstacle[c], pairs.friction[c] = v, o, friction
    pairs.side[c, 0], pairs.side[c, 1], pairs.side[c, 2], pairs.side[c, 3] = n0, n1, n2, b
    pairs.start[c] = 0.0
    kept = pairs.kept_place[o, v]
    for i in range(3):  # in the frame of the world until ``turn_planes``
        pairs.force[c, i] = pairs.kept_force[kept, i] if kept >= 0 else 0.0
        for j in range(3):
            pairs.frame[c, i, j] = 1.0 if i == j else 0.0
    return True


@borrowing_kernel
def clear_pairs(pairs):
    """No pairs."""
    for c in range(pairs.counts[PAIRS]):
        pairs.place[pairs.obstacle[c], pairs.vertex[c]] = -1
    pairs.counts[PAIRS] = 0


@borrowing_kernel
def find_pairs(q, x, at, lasts, left, balls, shapes, poses, pairs):
    """Finds what may touch on the way from q to x, in ``lasts`` [s] from row ``at`` of the poses.

    The side of an obstacle that a vertex is on at q is the one it stays on. Planes from outside are
    those at the end of the step, in ``left`` [s] from the end of the stage. Returns whether there
    was room.
    """
    margin, way = pairs.options[MARGIN], pairs.way
    for i in range(np.uint64(len(q))):
        way[i] = x[i] - q[i]
    clear_pairs(pairs)
    for o in range(len(shapes.kind)):
        kind = shapes.kind[o]
        if kind == GIVEN:
            continue
        node = next_near(0, o, balls, shapes, poses, at, lasts, margin, q, way)
        while node >= 0:
            for v in range(balls.first[node], balls.last[node]):
                a, b, c = moved_by(balls.rows, v, q)
                e, f, g = moved_by(balls.rows, v, way)
                px, py, pz = balls.places[v, 0] + a, balls.places[v, 1] + b, balls.places[v, 2] + c
                d, n0, n1, n2 = distance_in_world(kind, o, shapes.numbers, poses, at, px, py, pz)
                i, j, k = velocity_in_world(o, poses, at, px - d * n0, py - d * n1, pz - d * n2)
                reach = margin + 2.0 * math.sqrt(e * e + f * f + g * g)
                reach += 2.0 * lasts * math.sqrt(i * i + j * j + k * k)
                if d <= reach:
                    offset = n0 * (a + lasts * i) + n1 * (b + lasts * j) + n2 * (c + lasts * k) - d
                    friction = poses[at, o, FRICTION]
                    if not add_pair(v, o, n0, n1, n2, offset, friction, pairs):
                        return False
                    pairs.start[pairs.counts[PAIRS] - 1] = d
            node = balls.after[node]
            node = next_near(node, o, balls, shapes, poses, at, lasts, margin, q, way)
    for n in range(pairs.counts[GIVEN_PAIRS]):
        plane = pairs.given_plane
        n0, n1, n2 = plane[n, 0], plane[n, 1], plane[n, 2]
        along = n0 * plane[n, 4] + n1 * plane[n, 5] + n2 * plane[n, 6]
        v, o = pairs.given_vertex[n], pairs.given_obstacle[n]
        friction = poses[at, o, FRICTION]
        if not add_pair(v, o, n0, n1, n2, plane[n, 3] - left * along, friction, pairs):
            return False
        c = pairs.counts[PAIRS] - 1
        a, b, e = moved_by(balls.rows, v, q)
        pairs.start[c] = n0 * a + n1 * b + n2 * e - plane[n, 3] + (left + lasts) * along
        for i in range(3):
            pairs.velocity[c, i] = plane[n, 4 + i]
    return True


@borrowing_kernel
def add_missing(x, still, at, balls, shapes, poses, pairs):
    """Adds what is inside an obstacle at x and in no pair; how many, or −1 if there is no room.

    ``still`` (r,) is zero.
    """
    exact = pairs.options[EXACT]
    added = 0
    for o in range(len(shapes.kind)):
        kind = shapes.kind[o]
        if kind == GIVEN:
            continue
        node = next_near(0, o, balls, shapes, poses, at, 0.0, 0.0, x, still)
        while node >= 0:
            for v in range(balls.first[node], balls.last[node]):
                if pairs.place[o, v] >= 0:
                    continue
                a, b, c = moved_by(balls.rows, v, x)
                px, py, pz = balls.places[v, 0] + a, balls.places[v, 1] + b, balls.places[v, 2] + c
                d, n0, n1, n2 = distance_in_world(kind, o, shapes.numbers, poses, at, px, py, pz)
                if d < -exact:
                    offset = n0 * a + n1 * b + n2 * c - d
                    if not add_pair(v, o, n0, n1, n2, offset, poses[at, o, FRICTION], pairs):
                        return -1
                    added += 1
            node = balls.after[node]
            node = next_near(node, o, balls, shapes, poses, at, 0.0, 0.0, x, still)
    return added


@borrowing_kernel
def turn_planes(x, x_v, c_v, at, balls, shapes, poses, pairs):
    """Turns every plane to where its vertex is at x, with its force, and makes J and gaps."""
    frame, J, rows = pairs.frame, pairs.J, balls.rows
    r = np.uint64(len(x))
    for p in range(pairs.counts[PAIRS]):
        v, o = pairs.vertex[p], pairs.obstacle[p]
        a, b, c = moved_by(rows, v, x)
        n0, n1, n2, offset = pairs.side[p, 0], pairs.side[p, 1], pairs.side[p, 2], pairs.side[p, 3]
        if shapes.kind[o] != GIVEN:
            px, py, pz = balls.places[v, 0] + a, balls.places[v, 1] + b, balls.places[v, 2] + c
            d, m0, m1, m2 = distance_in_world(
                shapes.kind[o], o, shapes.numbers, poses, at, px, py, pz
            )
            if m0 * n0 + m1 * n1 + m2 * n2 > SAME_SIDE:  # else it is through something thin
                n0, n1, n2, offset = m0, m1, m2, m0 * a + m1 * b + m2 * c - d
            i, j, k = velocity_in_world(o, poses, at, px - d * m0, py - d * m1, pz - d * m2)
            pairs.velocity[p, 0], pairs.velocity[p, 1], pairs.velocity[p, 2] = i, j, k
        # the force by the new frame; what it has along the normal stays so
        f0 = f1 = f2 = 0.0
        for i in range(3):
            f0 += pairs.force[p, i] * frame[p, i, 0]
            f1 += pairs.force[p, i] * frame[p, i, 1]
            f2 += pairs.force[p, i] * frame[p, i, 2]
        if abs(n0) <= abs(n1) and abs(n0) <= abs(n2):
            size = math.sqrt(n1 * n1 + n2 * n2)
            t0, t1, t2 = 0.0, n2 / size, -n1 / size
        elif abs(n1) <= abs(n2):
            size = math.sqrt(n0 * n0 + n2 * n2)
            t0, t1, t2 = -n2 / size, 0.0, n0 / size
        else:
            size = math.sqrt(n0 * n0 + n1 * n1)
            t0, t1, t2 = n1 / size, -n0 / size, 0.0
        s0, s1, s2 = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2, n0 * t1 - n1 * t0
        frame[p, 0, 0], frame[p, 0, 1], frame[p, 0, 2] = n0, n1, n2
        frame[p, 1, 0], frame[p, 1, 1], frame[p, 1, 2] = t0, t1, t2
        frame[p, 2, 0], frame[p, 2, 1], frame[p, 2, 2] = s0, s1, s2
        normal = max(n0 * f0 + n1 * f1 + n2 * f2, 0.0)
        g1, g2 = t0 * f0 + t1 * f1 + t2 * f2, s0 * f0 + s1 * f1 + s2 * f2
        if pairs.friction[p] == 0.0 or normal == 0.0:
            g1 = g2 = 0.0
        pairs.force[p, 0], pairs.force[p, 1], pairs.force[p, 2] = normal, g1, g2
        pairs.offset[p] = offset
        pairs.known[p] = 0
        a0, b0, c0 = moved_by(rows, v, x_v)
        held = 1.0 / c_v if c_v > 0.0 else 0.0
        pairs.origin[p, 0] = a0 + held * pairs.velocity[p, 0]
        pairs.origin[p, 1] = b0 + held * pairs.velocity[p, 1]
        pairs.origin[p, 2] = c0 + held * pairs.velocity[p, 2]
        e, f, g = a - pairs.origin[p, 0], b - pairs.origin[p, 1], c - pairs.origin[p, 2]
        pairs.gap[p, 0] = n0 * a + n1 * b + n2 * c - offset
        pairs.gap[p, 1] = t0 * e + t1 * f + t2 * g
        pairs.gap[p, 2] = s0 * e + s1 * f + s2 * g
        for i in range(3):
            d0, d1, d2 = frame[p, i, 0], frame[p, i, 1], frame[p, i, 2]
            for n in range(r):
                J[p, i, n] = d0 * rows[v, 0, n] + d1 * rows[v, 1, n] + d2 * rows[v, 2, n]
