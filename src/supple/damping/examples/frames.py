"""Frames that go with a body, or with what carries a part of it: the best rigid fit.

A frame is where some vertices have gone as one: x ≈ R (X − X_c) + x_c, in the sense of least
squares. Displacements are seen from there,

    u' = Rᵀ (x − x_c) − (X − X_c),

which no rigid motion of the whole changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.core.types import Bools, Floats, Ints

_TURN = 1e-12  # entries of R − I that count as rounding
_THIN = 1e-8  # share of the longest extent, squared, of vertices that count as on one line


@dataclass(frozen=True, eq=False)
class Pose:
    """Where a frame is: R (3, 3) and x_c (3,) [m]."""

    rotation: Floats
    centre: Floats
    stretch: Floats
    """Rᵀ A (3, 3), A the moments of the vertices that it was fitted to."""

    @cached_property
    def is_turned(self) -> bool:
        return bool(np.abs(self.rotation - np.eye(3)).max() > _TURN)


@dataclass(frozen=True, eq=False)
class Frame:
    """The rigid motion that fits best to that of some vertices."""

    rest: Floats
    """X (n, 3) [m], of all vertices."""
    vertices: Ints
    """(m,), those that are fitted."""
    weights: Floats
    """(m,), of their centre; they add up to 1."""
    arms: Floats
    """(m, 3): the moments are A = Σ x ⊗ arm, and those of one translation vanish."""
    turns: bool
    """Whether they can tell a rotation; those on one line cannot, and only travel."""
    is_of_mass: bool = False
    """Whether it is that of a body itself, or of its part, and not of what carries it."""

    @classmethod
    def of(cls, rest: Floats, vertices: Ints, weights: Floats) -> Frame:
        """The frame of vertices with weights (m,), each on its own."""
        share = weights / weights.sum()
        arms = share[:, None] * (rest[vertices] - share @ rest[vertices])
        return cls(rest, vertices, share, arms, spans_a_plane(rest[vertices]))

    @classmethod
    def of_mass(cls, body: ElasticBody, inside: Bools | None = None) -> Frame:
        """The frame of a body, or of those of its vertices, weighted by the mass matrix.

        u' then has no share in the rigid motions, in the product of the mass.
        """
        chosen = np.ones(body.n_vertices, dtype=bool) if inside is None else inside
        vertices, X = np.flatnonzero(chosen), body.mesh.vertices
        ones = np.repeat(chosen[:, None].astype(float), 3, axis=1)
        masses = body.mass_times(ones)[vertices, 0]
        centre = masses @ X[vertices] / masses.sum()
        around = np.where(chosen[:, None], X - centre, 0.0)
        arms = body.mass_times(around)[vertices] / masses.sum()
        turns = spans_a_plane(X[vertices])
        return cls(X, vertices, masses / masses.sum(), arms, turns, is_of_mass=True)

    @cached_property
    def rest_centre(self) -> Floats:
        """X_c (3,)."""
        found: Floats = self.weights @ self.rest[self.vertices]
        return found

    def centre_of(self, field: Floats) -> Floats:
        """What a field (n, 3) is at the centre, (3,)."""
        found: Floats = self.weights @ field[self.vertices]
        return found

    def pose(self, u: Floats) -> Pose:
        """The best fit at displacements u (n, 3)."""
        shift = self.centre_of(u)
        if not self.turns:
            return Pose(np.eye(3), self.rest_centre + shift, np.eye(3))
        A = (self.rest[self.vertices] + u[self.vertices]).T @ self.arms
        left, _, right = np.linalg.svd(A)
        flip = np.array([1.0, 1.0, np.sign(np.linalg.det(left) * np.linalg.det(right))])
        R = (left * flip) @ right
        return Pose(R, self.rest_centre + shift, R.T @ A)

    def displacements(self, u: Floats, pose: Pose) -> Floats:
        """u' (n, 3), seen from the frame at a pose."""
        if not pose.is_turned:
            return u - (pose.centre - self.rest_centre)
        seen: Floats = (self.rest + u - pose.centre) @ pose.rotation
        seen -= self.rest - self.rest_centre
        return seen

    def velocities(self, u: Floats, v: Floats, pose: Pose) -> Floats:
        """The rate of u' (n, 3) at velocities v (n, 3): without how the frame travels and turns."""
        away = v - self.centre_of(v)
        if not self.turns:
            return away
        R, S = pose.rotation, pose.stretch
        # A = R S with S symmetric: (tr S I − S) ω = the axis of RᵀȦ − ȦᵀR
        B = R.T @ (away[self.vertices].T @ self.arms)
        axis = np.array([B[2, 1] - B[1, 2], B[0, 2] - B[2, 0], B[1, 0] - B[0, 1]])
        omega = np.linalg.lstsq(np.trace(S) * np.eye(3) - S, axis, rcond=1e-12)[0]
        seen: Floats = away @ R
        seen -= np.cross(omega, (self.rest + u - pose.centre) @ R)
        return seen

    def turned(self, shapes: Floats, pose: Pose) -> Floats:
        """Fields (k, n, 3) of the rest shape, turned with the frame."""
        found: Floats = shapes @ pose.rotation.T
        return found


def rigid_fields(body: ElasticBody, inside: Bools) -> Floats:
    """The linearised rigid motions of the vertices inside, (6, n, 3), zero elsewhere."""
    X = body.mesh.vertices
    arm = X - X[inside].mean(axis=0)
    arm /= np.abs(arm[inside]).max(initial=0.0) or 1.0
    shifts = np.broadcast_to(np.eye(3)[:, None, :], (3, *X.shape))
    turns = np.cross(np.eye(3)[:, None, :], arm)
    return np.where(inside[:, None], np.concatenate([shifts, turns]), 0.0)


def spans_a_plane(points: Floats) -> bool:
    """Whether points (m, 3) are three or more, and not on one line."""
    if len(points) < 3:
        return False
    away = points - points.mean(axis=0)
    extents = np.linalg.eigvalsh(away.T @ away)
    return bool(extents[1] > _THIN * extents[2])


def frame_of_body(body: ElasticBody) -> Frame | None:
    """The frame that goes with a body; None where fixed supports keep it in place.

    Moving supports carry it. A body that nothing holds, or that turns about a hinge, has that of
    its mass.
    """
    X, held = body.mesh.vertices, np.flatnonzero(~body.free.any(axis=1))
    firmly = spans_a_plane(X[held])
    if not firmly and body.free_rigid_motions:
        return Frame.of_mass(body)
    if body.held.moving and len(held):
        return Frame.of(X, held, np.ones(len(held)))
    return None


def frame_of_part(body: ElasticBody, inside: Bools) -> Frame | None:
    """The frame that carries a part (n,) of a body; None where fixed supports hold it.

    Supports within the part carry it. Otherwise its surroundings do: the vertices that share a
    cell with it, or more of them where these are on one line. A piece on its own has that of its
    mass.
    """
    X = body.mesh.vertices
    held = np.flatnonzero(~body.free.any(axis=1) & inside)
    if spans_a_plane(X[held]):
        moving = np.concatenate([np.zeros(0, np.int64), *(ids for ids, _ in body.held.moving)])
        if not np.isin(held, moving).any():
            return None
        return Frame.of(X, held, np.ones(len(held)))
    masses = body.mass_times(np.ones_like(X))[:, 0]
    reached = inside
    while True:
        wider = _with_neighbours(body, reached)
        around = np.flatnonzero(wider & ~inside)
        if spans_a_plane(X[around]):
            return Frame.of(X, around, masses[around])
        if (wider == reached).all():
            return Frame.of_mass(body, inside)
        reached = wider


def _with_neighbours(body: ElasticBody, inside: Bools) -> Bools:
    """The vertices inside, and those that share a cell with one of them."""
    rows, cols = body.pattern.rows, body.pattern.cols
    wider = inside.copy()
    wider[cols[inside[rows]]] = True
    wider[rows[inside[cols]]] = True
    return wider
