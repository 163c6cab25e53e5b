"""Obstacles as numbers for compiled loops, and planes of those that are not made of a few."""

from __future__ import annotations

from typing import NamedTuple

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

REACH = 2.0  # times the way that vertices are about to go
_SAME_SIDE = 0.5  # cosine of the turn up to which a plane follows its vertex
_NUMBERS = 16

Times = tuple[float, float]


class Place(NamedTuple):
    """Where a body is: coordinates, and a frame at a rotation and a shift [m]."""

    q: Floats
    rotation: Floats
    shift: Floats

    def of(self, places: Floats, rows: Floats) -> Floats:
        """In the world [m], (k, 3)."""
        return np.asarray((places + rows @ self.q) @ self.rotation.T + self.shift)


Path = tuple[Place, Place]


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
    """Vertices (g,) near any obstacle on the way from a place to another, between two times [s].

    With a plane for each (g, 7): n and b [m] at the end, so that a vertex is out while n·x ≥ b, and
    the velocity there [m/s]. It is where the vertex is about to go, on the side of the obstacle on
    which it is at the start.
    """
    start, end = times
    near = _near(obstacle, balls, path, times, margin)
    places, rows, lasts = balls.places[near], balls.rows[near], end - start
    x, later = (place.of(places, rows) for place in path)
    touch = obstacle.at(x, start)
    reach = margin + REACH * np.linalg.norm(later - x, axis=1)
    reach += REACH * lasts * np.linalg.norm(touch.velocity, axis=1)
    close = touch.distance <= reach
    near, x, later = near[close], x[close], later[close]
    normal, gap, velocity = touch.normal[close], touch.distance[close], touch.velocity[close]
    planes = np.empty((len(near), 7))
    offset = np.einsum("ki,ki->k", normal, x + lasts * velocity) - gap
    there = obstacle.at(later, end)
    same = np.einsum("ki,ki->k", normal, there.normal) > _SAME_SIDE
    turned = np.einsum("ki,ki->k", there.normal, later) - there.distance
    planes[:, :3] = np.where(same[:, None], there.normal, normal)
    planes[:, 3] = np.where(same, turned, offset)
    planes[:, 4:] = np.where(same[:, None], there.velocity, velocity)
    return near, planes


def _near(obstacle: Obstacle, balls: Balls, path: Path, times: Times, margin: float) -> Ints:
    """Vertices in the leaves that may come near, level by level."""
    (start, end), (now, later) = times, path
    way = np.abs(later.q - now.q)
    turned = float(np.linalg.norm(later.rotation - now.rotation))  # at least the angle
    nodes = np.zeros(1, dtype=np.int64)
    found = [nodes[:0]]
    while len(nodes):
        centre = now.of(balls.centre[nodes], balls.mean[nodes])
        ahead = later.of(balls.centre[nodes], balls.mean[nodes]) - centre
        size = balls.radius[nodes] + balls.spread[nodes] @ np.abs(now.q)
        reach = margin + REACH * np.linalg.norm(ahead, axis=1)
        reach += REACH * (balls.spread[nodes] @ way + turned * size)
        touch = obstacle.at(centre, start)
        if obstacle.moves:
            speed = np.linalg.norm(touch.velocity, axis=1)
            if obstacle.motion is not None:
                turn = float(np.linalg.norm(obstacle.motion.pose(start).spin))
                speed += turn * (size + np.abs(touch.distance))
                reach += REACH * (end - start) * speed
            else:  # it changes shape, in a way that one place tells little of
                reach += np.inf
        nodes = nodes[touch.distance - size <= reach]
        leaf = balls.is_leaf[nodes]
        for node in nodes[leaf]:
            found.append(np.arange(balls.first[node], balls.last[node]))
        inner = nodes[~leaf] + 1
        nodes = np.concatenate([inner, balls.after[inner]])
    return np.sort(np.concatenate(found))
