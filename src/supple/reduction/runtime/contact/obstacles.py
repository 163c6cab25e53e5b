"""Obstacles as numbers for compiled loops, and planes of those that are not made of a few."""

from __future__ import annotations

import numpy as np

from supple._kernels.reduction.contact.shapes import (
    BOX,
    CAPSULE,
    FRICTION,
    GIVEN,
    PLANE,
    POSE,
    SPHERE,
    Balls,
)
from supple.contact import Box, Capsule, Obstacle, Plane, Sphere
from supple.core.types import Floats, Ints

_REACH = 2.0  # times the way that vertices are about to go
_SAME_SIDE = 0.5  # cosine of the turn up to which a plane follows its vertex
_NUMBERS = 16

Path = tuple[Floats, Floats]
Times = tuple[float, float]


def numbers_of(obstacle: Obstacle) -> tuple[int, Floats]:
    """The kind of an obstacle and its numbers, as ``shapes.distance_to`` reads them."""
    numbers = np.zeros(_NUMBERS)
    kind = _KINDS.get(type(obstacle), GIVEN)
    if isinstance(obstacle, Plane) and kind == PLANE:
        numbers[:3], numbers[3] = obstacle.normal, obstacle.offset
    elif isinstance(obstacle, Sphere) and kind == SPHERE:
        numbers[:3], numbers[3] = obstacle.centre, obstacle.radius
        numbers[4] = -1.0 if obstacle.hollow else 1.0
    elif isinstance(obstacle, Box) and kind == BOX:
        numbers[:3], numbers[3:6] = obstacle.centre, 0.5 * np.asarray(obstacle.size)
        numbers[6:15] = np.ravel(obstacle.rotation)
    elif isinstance(obstacle, Capsule) and kind == CAPSULE:
        numbers[:3], numbers[3], numbers[4] = obstacle.start, obstacle.radius, 1.0
        numbers[5:8] = np.asarray(obstacle.end) - np.asarray(obstacle.start)
        numbers[8:11] = obstacle.signed_distance(np.atleast_2d(obstacle.start))[1][0]  # on the axis
    return kind, numbers


_KINDS: dict[type, int] = {Plane: PLANE, Sphere: SPHERE, Box: BOX, Capsule: CAPSULE}


def write_pose(obstacle: Obstacle, time: float, row: Floats) -> None:
    """Where an obstacle is at ``time`` [s], how it moves and its friction, into ``row`` (19,)."""
    if obstacle.motion is None:
        row[:] = _AT_REST
    else:
        pose = obstacle.motion.pose(time)
        row[:9], row[9:12] = pose.rotation.ravel(), pose.translation
        row[12:15], row[15:18] = pose.spin, pose.drift
    row[FRICTION] = obstacle.friction_at(time)


_AT_REST = np.zeros(POSE)
_AT_REST[[0, 4, 8]] = 1.0


def given_planes(
    obstacle: Obstacle, balls: Balls, path: Path, times: Times, margin: float
) -> tuple[Ints, Floats]:
    """Vertices (g,) near any obstacle on a path: from q by a way (r,), between two times [s].

    With a plane for each (g, 7): n, b [m] at the end, and the velocity there [m/s]. The plane is
    where the vertex is about to go, on the side of the obstacle on which it is at the start.
    """
    (q, way), (start, end) = path, times
    near = _near(obstacle, balls, path, times, margin)
    rows, lasts = balls.rows[near], end - start
    u, ahead = rows @ q, rows @ way
    touch = obstacle.at(balls.places[near] + u, start)
    reach = margin + _REACH * np.linalg.norm(ahead, axis=1)
    reach += _REACH * lasts * np.linalg.norm(touch.velocity, axis=1)
    close = touch.distance <= reach
    near, u, ahead = near[close], u[close], ahead[close]
    normal, gap, velocity = touch.normal[close], touch.distance[close], touch.velocity[close]
    planes = np.empty((len(near), 7))
    offset = np.einsum("ki,ki->k", normal, u + lasts * velocity) - gap
    later = obstacle.at(balls.places[near] + u + ahead, end)
    same = np.einsum("ki,ki->k", normal, later.normal) > _SAME_SIDE
    turned = np.einsum("ki,ki->k", later.normal, u + ahead) - later.distance
    planes[:, :3] = np.where(same[:, None], later.normal, normal)
    planes[:, 3] = np.where(same, turned, offset)
    planes[:, 4:] = np.where(same[:, None], later.velocity, velocity)
    return near, planes


def _near(obstacle: Obstacle, balls: Balls, path: Path, times: Times, margin: float) -> Ints:
    """Vertices in the leaves that may come near, level by level."""
    (q, way), (start, end) = path, times
    nodes = np.zeros(1, dtype=np.int64)
    found = [nodes[:0]]
    while len(nodes):
        centre = balls.centre[nodes] + balls.mean[nodes] @ q
        size = balls.radius[nodes] + balls.spread[nodes] @ np.abs(q)
        reach = margin + _REACH * np.linalg.norm(balls.mean[nodes] @ way, axis=1)
        reach += _REACH * (balls.spread[nodes] @ np.abs(way))
        touch = obstacle.at(centre, start)
        if obstacle.moves:
            speed = np.linalg.norm(touch.velocity, axis=1)
            if obstacle.motion is not None:
                turn = float(np.linalg.norm(obstacle.motion.pose(start).spin))
                speed += turn * (size + np.abs(touch.distance))
                reach += _REACH * (end - start) * speed
            else:  # it changes shape, in a way that one place tells little of
                reach += np.inf
        nodes = nodes[touch.distance - size <= reach]
        leaf = balls.is_leaf[nodes]
        for node in nodes[leaf]:
            found.append(np.arange(balls.first[node], balls.last[node]))
        inner = nodes[~leaf] + 1
        nodes = np.concatenate([inner, balls.after[inner]])
    return np.sort(np.concatenate(found))
