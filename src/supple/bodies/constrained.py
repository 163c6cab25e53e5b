"""Bodies of which few shapes count: rigid ones, and reduced ones that are free."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.core.types import Floats
from supple.mesh.points import CarriedPoint

_SWING = 2 * np.pi * 500.0  # rad/s: of a body that swings on a pin
_PIN = 30.0  # times the stiffness that a body has at a point, of what is pinned there


class ConstrainedBody(ElasticBody):
    """A body whose vertices a stiff energy keeps near few shapes; they have equal masses.

    How it moves within these is told by its momenta, which ``RigidMotion`` sees to: what is
    stiff takes no part in it.
    """

    @abstractmethod
    def nearest(self, u: Floats) -> Floats:
        """The shape that counts at displacements u, (n, 3)."""

    @abstractmethod
    def motions(self, u: Floats) -> Floats:
        """Velocities that a shape near u may have, orthonormal, (k, n, 3); rigid ones with them."""

    @abstractmethod
    def curving(self, u: Floats, v: Floats) -> Floats:
        """The acceleration (n, 3) that a shape with velocities v has though no rate changes."""

    def point_stiffness(self, point: CarriedPoint) -> float:
        return self.total_mass * max(_SWING, self._fastest) ** 2 / _PIN

    @property
    def _fastest(self) -> float:
        """Of its vibrations [rad/s], those of its ties not among them."""
        return 0.0

    def left_by_impacts(self, before: Floats, after: Floats) -> float:
        """Kinetic energy [J] that was lost between velocities v, which nothing gives back."""
        return 0.0


def orthonormal(fields: Floats) -> Floats:
    """Fields (k, n, 3) that span the same as these."""
    flat = fields.reshape(len(fields), -1)
    return np.ascontiguousarray(np.linalg.qr(flat.T)[0].T).reshape(fields.shape)


def rigid_motions(x: Floats) -> Floats:
    """Three shifts of places x (n, 3), and three turns about their mean, (6, n, 3)."""
    axes, arms = np.eye(3), x - x.mean(axis=0)
    shifts = [np.broadcast_to(axis, x.shape) for axis in axes]
    turns = [np.cross(axis, arms) for axis in axes]
    return np.array([*shifts, *turns])


def spin_of(x: Floats, v: Floats) -> Floats:
    """ω (3,) of the rigid motion of equal masses at x with the angular momentum of v, (n, 3)."""
    arms = x - x.mean(axis=0)
    spread = arms.T @ arms
    inertia = np.trace(spread) * np.eye(3) - spread
    return np.asarray(np.linalg.solve(inertia, np.cross(arms, v).sum(axis=0)))
