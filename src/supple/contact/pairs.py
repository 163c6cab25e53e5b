"""What a contact pairs: a point of a body's surface, and the plane of an obstacle near it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from supple.core.types import Floats, Ints

Key = tuple[int, int]
"""The number of a point, which is that of the vertex if it is one, and of an obstacle."""


@dataclass(eq=False)
class ContactPairs:
    """k points of the surface, each with the plane of an obstacle near it.

    A point is a vertex, or lies between vertices: up to three nodes have shares in it.
    """

    vertex: Ints
    """Numbers of the points (k,): vertices, and from the number of vertices on those between."""
    obstacle: Ints
    nodes: Ints
    """(k, 3)"""
    shares: Floats
    """Of the nodes in the point, (k, 3); those of vertices are 1, 0, 0."""
    target: Floats
    """How far out of the obstacle a point is to stay [m], (k,); 0 for vertices."""
    normal: Floats
    """(k, 3)"""
    offset: Floats
    """b [m], (k,): the point stays out while n·u ≥ b."""
    origin: Floats
    """o [m], (k, 3): the displacement at which it moves with the obstacle."""
    friction: Floats
    """μ, (k,)"""
    limits: Floats
    """The most slip that friction can take back [m], (k,): μ f_n over the weight."""
    scaled_multiplier: Floats
    """The force of each contact over its weight [m], (k, 3), negative: w (z − s)/(−w)."""
    obstacle_velocity: Floats
    """Velocity of the obstacle there [m/s], (k, 3)."""

    @property
    def count(self) -> int:
        return len(self.vertex)

    @classmethod
    def new(
        cls,
        vertex: Ints,
        obstacle: Ints,
        friction: Floats,
        between: tuple[Ints, Floats, Floats] | None = None,
    ) -> ContactPairs:
        """Pairs whose planes and forces are not known yet.

        ``between`` are nodes, shares and targets of points that are no vertices.
        """
        offset, limits = np.zeros((2, len(vertex)))
        normal, origin, multiplier, velocity = np.zeros((4, len(vertex), 3))
        if between is None:
            shares = np.tile((1.0, 0.0, 0.0), (len(vertex), 1))
            between = np.repeat(vertex[:, None], 3, axis=1), shares, np.zeros(len(vertex))
        planes = normal, offset, origin
        return cls(vertex, obstacle, *between, *planes, friction, limits, multiplier, velocity)

    def with_more(self, *others: ContactPairs) -> ContactPairs:
        """These pairs and others, with arrays of their own."""
        names = [each.name for each in fields(self)]
        return ContactPairs(
            *(np.concatenate([getattr(of, name) for of in (self, *others)]) for name in names)
        )

    def of(self, rows: Ints) -> ContactPairs:
        """Some of them."""
        return ContactPairs(*(getattr(self, each.name)[rows] for each in fields(self)))

    @cached_property
    def between(self) -> Ints:
        """Rows of the pairs whose points are no vertices."""
        return np.flatnonzero(self.shares[:, 0] < 1.0)

    def at(self, field: Floats) -> Floats:
        """Values of a field (n, 3) at the points, (k, 3)."""
        found = np.asarray(field[self.nodes[:, 0]])
        rows = self.between
        if len(rows):
            found[rows] = np.einsum("ka,kai->ki", self.shares[rows], field[self.nodes[rows]])
        return found

    def add_to(self, field: Floats, forces: Floats) -> None:
        """Add forces (k, 3) on the points to a field (n, 3), each to its nodes by their shares."""
        rows = self.between
        if not len(rows):
            np.add.at(field, self.vertex, forces)
            return
        alone = np.ones(self.count, dtype=bool)
        alone[rows] = False
        np.add.at(field, self.vertex[alone], forces[alone])
        spread = self.shares[rows, :, None] * forces[rows, None]
        np.add.at(field, self.nodes[rows], spread)

    def moving(self, ways: Floats) -> tuple[Ints, Floats]:
        """Nodes (j,) and how they move (j, 3) so that the points go ``ways`` (k, 3)."""
        rows = self.between
        if not len(rows):
            return self.vertex, ways
        alone = np.ones(self.count, dtype=bool)
        alone[rows] = False
        shares = self.shares[rows]
        each = shares / np.einsum("ka,ka->k", shares, shares)[:, None]
        moved = (each[:, :, None] * ways[rows, None]).reshape(-1, 3)
        nodes = np.concatenate([self.vertex[alone], self.nodes[rows].ravel()])
        return nodes, np.concatenate([ways[alone], moved])

    def stiffness_of(self, stiffness: Floats) -> Floats:
        """Stiffness [N/m] of the points (k,) by that of vertices (n,), springs side by side."""
        found = np.asarray(stiffness[self.nodes[:, 0]])
        rows = self.between
        if len(rows):
            shares = self.shares[rows]
            found[rows] = 1.0 / (shares * shares / stiffness[self.nodes[rows]]).sum(axis=1)
        return found

    def keys(self) -> list[Key]:
        return list(zip(self.vertex.tolist(), self.obstacle.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Projection:
    """Points sought at s, and where non-penetration and friction have them."""

    s: Floats
    """(k, 3)"""
    z: Floats
    """(k, 3)"""
    blocks: Floats
    """I − ∂z/∂s, (k, 3, 3)."""
    kind: Ints
    """Free, sliding or sticking, (k,)."""
