"""Layers that rub, pair by pair: a matrix for their friction that does not overshoot.

Friction R = Σ L f₀(|τ|), with the limit L = μ N of a pair and its slip τ, is level along the slip
once it slides. Newton's step then takes no notice of where it would stick, and goes past. The
matrix here is that of a parabola that touches f₀ at |τ| and lies above it elsewhere: f₁(|τ|)/|τ|,
f₁ = f₀', in all directions along the surface. Steps with it do not turn the slip round.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from supple._kernels.contact.vertices import friction_blocks
from supple.core.types import Floats, Ints

_FIRST, _SECOND = np.triu_indices(4)


@dataclass(frozen=True, eq=False)
class SelfContactFriction:
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
    def of(cls, pressed: Any, mesh: Any, x: Floats, friction: float) -> SelfContactFriction:
        """From the toolkit's pairs with friction on a surface at x (m, 3)."""
        parts = [
            part
            for part in (
                _of_points(pressed.vv_collisions),
                _of_edge(pressed.ev_collisions, mesh.edges),
                _of_edges(pressed.ee_collisions, mesh.edges),
                _of_triangle(pressed.fv_collisions, mesh.faces),
            )
            if len(part[0])
        ]
        vertices = np.concatenate([part[0] for part in parts]).astype(np.int64)
        c, N = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        apart = np.einsum("ka,kai->ki", c, x[vertices])
        n = apart / np.linalg.norm(apart, axis=1, keepdims=True)
        return cls(vertices, c, np.eye(3) - n[:, :, None] * n[:, None, :], friction * N)

    def matrix(self, v: Floats, sticking: float) -> tuple[Ints, Ints, Floats]:
        """Rows (m,), columns (m,) and blocks (m, 3, 3) at velocities v, each pair of vertices once.

        ``sticking`` [m/s] is the slip speed ε below which f₁ rises to 1: 2 y/ε − y²/ε².
        """
        blocks = np.empty((len(self.limits), 10, 3, 3))
        friction_blocks(self.vertices, self.shares, self.along, self.limits, v, sticking, blocks)
        there = (self.shares[:, _FIRST] * self.shares[:, _SECOND] != 0).ravel()
        rows, cols = (self.vertices[:, side].ravel()[there] for side in (_FIRST, _SECOND))
        return rows, cols, blocks.reshape(-1, 3, 3)[there]


_Part = tuple[Ints, Floats, Floats]
"""Vertices (k, 4), c (k, 4) and forces N [N], (k,)."""


def _of_points(pairs: Any) -> _Part:
    ids = _ids(pairs, "vertex0_id", "vertex1_id")
    none = np.zeros_like(ids)
    return np.hstack([ids, none]), np.tile([1.0, -1.0, 0.0, 0.0], (len(ids), 1)), _forces(pairs)


def _of_edge(pairs: Any, edges: Ints) -> _Part:
    ids = _ids(pairs, "vertex_id", "edge_id")
    a = _closest(pairs, 1)[:, 0]
    shares = np.stack([np.ones_like(a), a - 1, -a, np.zeros_like(a)], axis=1)
    return np.hstack([ids[:, :1], edges[ids[:, 1]], 0 * ids[:, :1]]), shares, _forces(pairs)


def _of_edges(pairs: Any, edges: Ints) -> _Part:
    ids = _ids(pairs, "edge0_id", "edge1_id")
    a, b = _closest(pairs, 2).T
    return edges[ids].reshape(-1, 4), np.stack([1 - a, a, b - 1, -b], axis=1), _forces(pairs)


def _of_triangle(pairs: Any, faces: Ints) -> _Part:
    ids = _ids(pairs, "vertex_id", "face_id")
    b, c = _closest(pairs, 2).T
    shares = np.stack([np.ones_like(b), b + c - 1, -b, -c], axis=1)
    return np.hstack([ids[:, :1], faces[ids[:, 1]]]), shares, _forces(pairs)


def _ids(pairs: Any, *names: str) -> Ints:
    read = attrgetter(*names)
    return np.array([read(pair) for pair in pairs], dtype=np.int64).reshape(-1, len(names))


def _closest(pairs: Any, size: int) -> Floats:
    return np.array([pair.closest_point for pair in pairs], dtype=float).reshape(-1, size)


def _forces(pairs: Any) -> Floats:
    """N, each with its share of the area."""
    return np.array([pair.normal_force_magnitude * pair.weight for pair in pairs], dtype=float)
