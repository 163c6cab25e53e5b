"""Where a free reduced body is, how it moves, and what it looks like."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.reduction.frame import OMEGA, OMEGA_RATE, R_NOW, V_RATE, L, P, V
from supple.core.checks import numbers, vector
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.reduction.coordinates import expand, output_array
from supple.reduction.runtime.contact.among import AmongObstacles
from supple.reduction.runtime.floating import FloatingInertia
from supple.reduction.runtime.stepper import skin_shape, still


class FloatingState(AmongObstacles):
    """A body in a frame that moves with it: q, q̇, q̈ there, and the frame in the world."""

    _inertia: FloatingInertia
    _rigid: Floats
    """Of the frame now and after each stage: P, V, L and more, (points, …, 3)."""
    _frame: Floats
    """Rotations of the frame, the one now among them."""

    # -- where it is and how it moves ------------------------------------------------------

    def _assign(self, row: int, name: str, value: ArrayLike) -> None:
        spin = self.spin
        super()._assign(row, name, value)
        self.spin = spin

    @property
    def position(self) -> Floats:
        """Where the centre of mass is [m], (3,)."""
        return still(self._rigid[0, P])

    @position.setter
    def position(self, value: ArrayLike) -> None:
        self._rigid[0, P] = vector("position", value)
        self._settled = False

    @property
    def rotation(self) -> Floats:
        """The rotation R of the body's frame, (3, 3)."""
        return still(self._frame[R_NOW])

    @rotation.setter
    def rotation(self, value: ArrayLike) -> None:
        R = numbers("rotation", value, ((3, 3),))
        if np.abs(R.T @ R - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
            raise InputError(
                f"rotation={R.tolist()} is not a rotation; give an orthonormal matrix with "
                "determinant 1, e.g. scipy.spatial.transform.Rotation.as_matrix()"
            )
        spin = self.spin
        left, _, right = np.linalg.svd(R)
        self._frame[R_NOW] = left @ right
        self.spin = spin

    @property
    def velocity(self) -> Floats:
        """Of the centre of mass [m/s], (3,)."""
        return still(self._rigid[0, V])

    @velocity.setter
    def velocity(self, value: ArrayLike) -> None:
        self._rigid[0, V] = vector("velocity", value)
        self._settled = False

    @property
    def spin(self) -> Floats:
        """Angular velocity of the body's frame in the world [1/s], (3,)."""
        return still(self._frame[R_NOW] @ self._body_spin())

    @spin.setter
    def spin(self, value: ArrayLike) -> None:
        R, (q, v) = self._frame[R_NOW], self._history[:2]
        omega = R.T @ vector("spin", value)
        h = self._inertia.inner_momentum(q, v)
        self._rigid[0, L] = R @ (self._inertia.inertia(q) @ omega + h)
        self._settled = False

    def _body_spin(self) -> Floats:
        """ω, from Jω + h = RᵀL."""
        R, (q, v) = self._frame[R_NOW], self._history[:2]
        h = self._inertia.inner_momentum(q, v)
        return np.linalg.solve(self._inertia.inertia(q), R.T @ self._rigid[0, L] - h)

    # -- what it looks like ----------------------------------------------------------------

    def displacements(self, *, out: Floats | None = None) -> Floats:
        """Displacements of the volume mesh in the world, from rest [m], (n, 3)."""
        return self._placed(self._arms(), self._rigid[0, P] - self.model.mesh.vertices, out)

    def velocities(self, *, out: Floats | None = None) -> Floats:
        """Velocities of the volume mesh in the world [m/s], (n, 3)."""
        relative = expand(self._history[1], self.model.vectors)
        relative += np.cross(self._body_spin(), self._arms())
        return self._placed(relative, self._rigid[0, V], out)

    def accelerations(self, *, out: Floats | None = None) -> Floats:
        """Accelerations of the volume mesh in the world at the end of the last step, (n, 3)."""
        vectors, (_, v, a), arms = self.model.vectors, self._history[:3], self._arms()
        omega, rate = self._body_spin(), self._rigid[0, OMEGA_RATE]
        # q̈ + 2 ω × q̇ + ω̇ × y + ω × (ω × y)
        relative = expand(a, vectors)
        relative += np.cross(omega, 2 * expand(v, vectors) + np.cross(omega, arms))
        relative += np.cross(rate, arms)
        return self._placed(relative, self._rigid[0, V_RATE], out)

    def skin_vertices(self, *, out: Floats | None = None) -> Floats:
        """Where the vertices of the model's skin are in the world [m], (s, 3)."""
        arms = skin_shape(self.model, self._history[0], None)
        return self._placed(arms - self._inertia.centre, self._rigid[0, P], out)

    def _arms(self) -> Floats:
        """Vertices as seen from the centre of mass, in the body's frame [m], (n, 3)."""
        arms = expand(self._history[0], self.model.vectors)
        arms += self._inertia.arms
        return arms

    def _placed(self, arms: Floats, shift: Floats, out: Floats | None) -> Floats:
        if out is not None:
            output_array("out", out, arms.shape)
        result = np.matmul(arms, self._frame[R_NOW].T, out=out)
        result += shift
        return result

    # -- energy and momentum ---------------------------------------------------------------

    @property
    def kinetic(self) -> float:
        """Kinetic energy [J]."""
        return self._kinetic_at(0)

    def _kinetic_at(self, point: int) -> float:
        """Now, at 0, or at the end of a stage of the last step, from 2 on."""
        (q, v), V_ = self._history[3 * point : 3 * point + 2], self._rigid[point, V]
        omega = self._rigid[point, OMEGA] if point else self._body_spin()
        h = self._inertia.inner_momentum(q, v)
        turning = omega @ self._inertia.inertia(q) @ omega + 2 * omega @ h
        deforming = v @ self._inertia.reduced_mass @ v
        return 0.5 * float(self._inertia.mass * V_ @ V_ + turning + deforming)

    @property
    def inertia(self) -> Floats:
        """Moments of inertia about the centre of mass, in the world [kg m²], (3, 3)."""
        R = self._frame[R_NOW]
        return np.asarray(R @ self._inertia.inertia(self._history[0]) @ R.T)

    @property
    def linear_momentum(self) -> Floats:
        """[kg m/s], (3,)."""
        return still(self._inertia.mass * self._rigid[0, V])

    @property
    def spin_momentum(self) -> Floats:
        """About the centre of mass [kg m²/s], (3,)."""
        return still(self._rigid[0, L])

    @property
    def angular_momentum(self) -> Floats:
        """About the origin of the world [kg m²/s], (3,)."""
        orbit = np.cross(self._rigid[0, P], self._inertia.mass * self._rigid[0, V])
        return still(orbit + self._rigid[0, L])

    def _weight_and_momenta(self) -> tuple[float, Floats, Floats]:
        height = float(self._rigid[0, P] @ self._gravity)
        return -self._inertia.mass * height, self.linear_momentum, self.angular_momentum
