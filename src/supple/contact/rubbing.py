"""Layers that rub, pair by pair: a matrix for their friction that does not overshoot.

Friction R = Σ L f₀(|τ|), with the limit L = μ N of a pair and its slip τ, is level along the slip
once it slides. Newton's step then takes no notice of where it would stick, and goes past. The
matrix here is that of a parabola that touches f₀ at |τ| and lies above it elsewhere: f₁(|τ|)/|τ|,
f₁ = f₀', in all directions along the surface. Steps with it do not turn the slip round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Rubbing:
    """k pairs, of two points, point and edge, two edges, or point and triangle."""

    vertices: Ints
    """(k, 4); 0 in place of those that a pair does not have."""
    shares: Floats
    """c, (k, 4): the sides move past each other at Σ c v; 0 in place of those not there."""
    along: Floats
    """P = I − n ⊗ n of the normal n between the sides, (k, 3, 3)."""
    limits: Floats
    """L [N], (k,)."""

    @classmethod
    def of(cls, pressed: Any, mesh: Any, x: Floats, friction: float) -> Rubbing:
        """From the toolkit's pairs with friction on a surface at x (m, 3)."""
        edges, faces = mesh.edges, mesh.faces
        points, ends, sides, corners = (
            pressed.vv_collisions,
            pressed.ev_collisions,
            pressed.ee_collisions,
            pressed.fv_collisions,
        )
        kinds = (
            (points, [(p.vertex0_id, p.vertex1_id) for p in points], _of_points),
            (ends, [(p.vertex_id, *edges[p.edge_id]) for p in ends], _of_edge),
            (sides, [(*edges[p.edge0_id], *edges[p.edge1_id]) for p in sides], _of_edges),
            (corners, [(p.vertex_id, *faces[p.face_id]) for p in corners], _of_triangle),
        )
        vertices, shares, limits = [], [], []
        for pairs, ids, weigh in kinds:
            if pairs:
                four = np.zeros((len(pairs), 4), dtype=np.int64)
                four[:, : len(ids[0])] = ids
                vertices.append(four)
                shares.append(weigh(np.array([p.closest_point for p in pairs])))
                limits.append([p.normal_force_magnitude * p.weight for p in pairs])
        four, c = np.concatenate(vertices), np.concatenate(shares)
        apart = np.einsum("ka,kai->ki", c, x[four])
        n = apart / np.linalg.norm(apart, axis=1, keepdims=True)
        along = np.eye(3) - n[:, :, None] * n[:, None, :]
        return cls(four, c, along, friction * np.concatenate(limits))

    def matrix(self, v: Floats, sticking: float) -> tuple[Ints, Ints, Floats]:
        """Rows (m,), columns (m,) and blocks (m, 3, 3) at velocities v, both triangles of it.

        ``sticking`` [m/s] is the slip speed ε below which f₁ rises to 1: 2 y/ε − y²/ε².
        """
        slip = np.einsum("kij,ka,kaj->ki", self.along, self.shares, v[self.vertices])
        y = np.linalg.norm(slip, axis=1)
        slope = np.where(y < sticking, (2 - y / sticking) / sticking, 1 / np.maximum(y, sticking))
        weights = np.einsum("k,ka,kb->kab", self.limits * slope, self.shares, self.shares)
        rows = np.repeat(self.vertices, 4, axis=1).ravel()
        cols = np.tile(self.vertices, 4).ravel()
        there = weights.ravel() != 0
        blocks = (weights[:, :, :, None, None] * self.along[:, None, None]).reshape(-1, 3, 3)
        return rows[there], cols[there], blocks[there]


def _of_points(at: Floats) -> Floats:
    return np.tile([1.0, -1.0, 0.0, 0.0], (len(at), 1))


def _of_edge(at: Floats) -> Floats:
    a = at.reshape(-1)
    return np.stack([np.ones_like(a), a - 1, -a, np.zeros_like(a)], axis=1)


def _of_edges(at: Floats) -> Floats:
    a, b = at.T
    return np.stack([1 - a, a, b - 1, -b], axis=1)


def _of_triangle(at: Floats) -> Floats:
    b, c = at.T
    return np.stack([np.ones_like(b), b + c - 1, -b, -c], axis=1)
