"""Signed distances of obstacles made of a few numbers, and vertices near them, by a tree of balls.

A ball of the tree holds its vertices wherever the coordinates q lead: around c + Ū q, with the mean
rows Ū of the basis, its radius grows by no more than Σ |q_i| Δ_i, where Δ_i is the most by which a
vertex moves otherwise than Ū_i (James and Pai 2004). What a search costs goes with what it finds.
"""

import math
from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import borrowing_kernel, pointwise

PLANE, SPHERE, BOX, CAPSULE, GIVEN = range(5)

# where the columns of a pose begin; the rotation is in the first nine
SHIFT, SPIN, DRIFT, FRICTION, POSE = 9, 12, 15, 18, 19


class Balls(NamedTuple):
    """The vertices that may touch something, in m places, and a tree of b balls around them."""

    places: np.ndarray  # (m, 3) at rest [m]
    rows: np.ndarray  # (m, 3, r) of the basis [1/√kg]
    centre: np.ndarray  # (b, 3) at rest [m]
    mean: np.ndarray  # (b, 3, r) mean rows of the vertices in a ball [1/√kg]
    radius: np.ndarray  # (b,) at rest [m]
    spread: np.ndarray  # (b, r) how far rows are from the mean, at most [1/√kg]
    first: np.ndarray  # (b,) of the vertices in a ball
    last: np.ndarray  # (b,) after the last of them
    after: np.ndarray  # (b,) the ball to go on with if this one is left out; b at the end
    is_leaf: np.ndarray  # (b,)


class Shapes(NamedTuple):
    """The obstacles."""

    kind: np.ndarray  # (k,) PLANE, SPHERE, BOX, CAPSULE; or GIVEN, whose planes come from outside
    numbers: np.ndarray  # (k, 16) of that kind, as ``distance_to`` reads them


@pointwise
def distance_to(kind, o, numbers, x, y, z):
    """Signed distance [m] of a point in the obstacle's own frame, and its gradient."""
    if kind == PLANE:  # normal, offset
        a, b, c = numbers[o, 0], numbers[o, 1], numbers[o, 2]
        return a * x + b * y + c * z - numbers[o, 3], a, b, c
    if kind == BOX:  # centre, half of the sides, rotation
        x, y, z = x - numbers[o, 0], y - numbers[o, 1], z - numbers[o, 2]
        u = numbers[o, 6] * x + numbers[o, 9] * y + numbers[o, 12] * z
        v = numbers[o, 7] * x + numbers[o, 10] * y + numbers[o, 13] * z
        w = numbers[o, 8] * x + numbers[o, 11] * y + numbers[o, 14] * z
        du, dv, dw = abs(u) - numbers[o, 3], abs(v) - numbers[o, 4], abs(w) - numbers[o, 5]
        most = max(du, dv, dw)
        if most > 0.0:
            eu, ev, ew = max(du, 0.0), max(dv, 0.0), max(dw, 0.0)
            d = math.sqrt(eu * eu + ev * ev + ew * ew)
            eu, ev, ew = eu / d, ev / d, ew / d
        else:
            d = most
            eu = 1.0 if du == most else 0.0
            ev = 1.0 if dv == most and eu == 0.0 else 0.0
            ew = 1.0 if eu == 0.0 and ev == 0.0 else 0.0
        eu, ev, ew = math.copysign(eu, u), math.copysign(ev, v), math.copysign(ew, w)
        a = numbers[o, 6] * eu + numbers[o, 7] * ev + numbers[o, 8] * ew
        b = numbers[o, 9] * eu + numbers[o, 10] * ev + numbers[o, 11] * ew
        c = numbers[o, 12] * eu + numbers[o, 13] * ev + numbers[o, 14] * ew
        return d, a, b, c
    # a ball: centre, radius, 1 or −1 if hollow; a capsule: the same of its start, axis, sideways
    x, y, z = x - numbers[o, 0], y - numbers[o, 1], z - numbers[o, 2]
    side = numbers[o, 4]
    a, b, c = 0.0, 0.0, 1.0
    if kind == CAPSULE:
        i, j, k = numbers[o, 5], numbers[o, 6], numbers[o, 7]
        share = (x * i + y * j + z * k) / (i * i + j * j + k * k)
        share = min(max(share, 0.0), 1.0)
        x, y, z = x - share * i, y - share * j, z - share * k
        a, b, c = numbers[o, 8], numbers[o, 9], numbers[o, 10]
    d = math.sqrt(x * x + y * y + z * z)
    if d > 0.0:
        a, b, c = x / d, y / d, z / d
    return side * (d - numbers[o, 3]), side * a, side * b, side * c


@pointwise
def distance_in_world(kind, o, numbers, poses, at, x, y, z):
    """The same for a point in the world, where row ``at`` of ``poses`` (rows, k, 19) has it."""
    x, y, z = x - poses[at, o, 9], y - poses[at, o, 10], z - poses[at, o, 11]
    u = poses[at, o, 0] * x + poses[at, o, 3] * y + poses[at, o, 6] * z
    v = poses[at, o, 1] * x + poses[at, o, 4] * y + poses[at, o, 7] * z
    w = poses[at, o, 2] * x + poses[at, o, 5] * y + poses[at, o, 8] * z
    d, a, b, c = distance_to(kind, o, numbers, u, v, w)
    return (
        d,
        poses[at, o, 0] * a + poses[at, o, 1] * b + poses[at, o, 2] * c,
        poses[at, o, 3] * a + poses[at, o, 4] * b + poses[at, o, 5] * c,
        poses[at, o, 6] * a + poses[at, o, 7] * b + poses[at, o, 8] * c,
    )


@pointwise
def velocity_in_world(o, poses, at, x, y, z):
    """Velocity [m/s] of the obstacle's material at a point in the world."""
    p, q, r = poses[at, o, 12], poses[at, o, 13], poses[at, o, 14]
    return (
        poses[at, o, 15] + q * z - r * y,
        poses[at, o, 16] + r * x - p * z,
        poses[at, o, 17] + p * y - q * x,
    )


@pointwise
def moved_by(rows, v, x):
    """Σ x_i U_i of one vertex or ball [m]."""
    a = b = c = 0.0
    for i in range(np.uint64(len(x))):
        a += rows[v, 0, i] * x[i]
        b += rows[v, 1, i] * x[i]
        c += rows[v, 2, i] * x[i]
    return a, b, c


@borrowing_kernel
def next_near(node, o, balls, shapes, poses, at, lasts, margin, q, way):
    """The next leaf from ``node`` on whose vertices may come near obstacle o; −1 if there is none.

    Vertices are at q and about to go by ``way`` (r,); the obstacle moves for ``lasts`` [s].
    """
    centre, kind, numbers = balls.centre, shapes.kind[o], shapes.numbers
    count = len(balls.radius)
    while node < count:
        a, b, c = moved_by(balls.mean, node, q)
        i, j, k = moved_by(balls.mean, node, way)
        x, y, z = centre[node, 0] + a, centre[node, 1] + b, centre[node, 2] + c
        reach = margin + 2.0 * math.sqrt(i * i + j * j + k * k)
        size = balls.radius[node]
        for n in range(np.uint64(len(q))):
            size += balls.spread[node, n] * abs(q[n])
            reach += 2.0 * balls.spread[node, n] * abs(way[n])
        d, _, _, _ = distance_in_world(kind, o, numbers, poses, at, x, y, z)
        if lasts > 0.0:
            i, j, k = velocity_in_world(o, poses, at, x, y, z)
            p, s, t = poses[at, o, 12], poses[at, o, 13], poses[at, o, 14]
            speed = math.sqrt(i * i + j * j + k * k)
            turn = math.sqrt(p * p + s * s + t * t)
            reach += 2.0 * lasts * (speed + turn * (size + abs(d)))
        if d - size > reach:
            node = balls.after[node]
        elif balls.is_leaf[node]:
            return node
        else:
            node += 1
    return -1
