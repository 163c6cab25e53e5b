"""Rails: the prescribed motion of a rigid obstacle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.supports import check_paths, checked_keyframes, resting
from supple.core.checks import number, numbers, vector
from supple.core.errors import InputError
from supple.core.parameters import Kind
from supple.core.types import Floats

Path = Callable[[float], ArrayLike]
"""A vector (3,) as a function of time [s]."""

Turning = Callable[[float], Any]
"""A rotation as a function of time [s]: matrix (3, 3), rotation vector (3,) [rad], or SciPy's."""

_ORTHOGONAL = 1e-6  # how far the entries of RᵀR may be from those of the identity


@dataclass(frozen=True, eq=False)
class Pose:
    """Where a rigid obstacle is at one time, x = R X + c, and how it moves.

    ``rotation`` R (3, 3); ``translation`` c (3,) [m]; ``spin`` ω (3,) [rad/s], in the world;
    ``drift`` (3,) [m/s], the velocity of the material that is at the world's origin.
    """

    rotation: Floats
    translation: Floats
    spin: Floats
    drift: Floats

    def to_world(self, points: Floats) -> Floats:
        """Points (k, 3) [m] of the obstacle as described, where they are now."""
        return points @ self.rotation.T + self.translation

    def to_rest(self, points: Floats) -> Floats:
        """Points (k, 3) [m] in the world, in the frame of the obstacle as described."""
        return (points - self.translation) @ self.rotation

    def velocity_at(self, points: Floats) -> Floats:
        """Velocity (k, 3) [m/s] of the material that is at ``points`` (k, 3) [m] in the world."""
        return self.drift + np.cross(self.spin, points)


@dataclass(frozen=True, eq=False, kw_only=True)
class Rails:
    """A rigid motion: at time t [s] the material point X is at

        x = centre + position(t) + R(t) (X − centre).

    ``position(t)`` (3,) [m] is a displacement; ``rotation(t)`` gives R as a matrix (3, 3), a
    rotation vector (3,) [rad] or a SciPy Rotation; ``centre`` (3,) [m] stays put but for the
    displacement. ``velocity(t)`` (3,) [m/s] and ``spin(t)``, the angular velocity (3,) [rad/s] in
    the world, are their derivatives; where they are not given, differences over ``resolution`` [s]
    stand in, so the motion should be smooth at that scale.
    """

    position: Path | None = None
    rotation: Turning | None = None
    centre: ArrayLike = (0.0, 0.0, 0.0)
    velocity: Path | None = None
    spin: Path | None = None
    resolution: float = 1e-3

    def __post_init__(self) -> None:
        check_paths(self, "position", "rotation", "velocity", "spin", optional=True)
        for derivative, of in (("velocity", "position"), ("spin", "rotation")):
            if getattr(self, derivative) is not None and getattr(self, of) is None:
                raise InputError(f"{derivative} is the derivative of {of}; give {of}= as well")
        object.__setattr__(self, "centre", vector("centre", self.centre))
        number("resolution", self.resolution, above=0, unit="s")

    @classmethod
    def path(
        cls, *, position: Path, velocity: Path | None = None, resolution: float = 1e-3
    ) -> Rails:
        """Shifted by ``position(t)`` (3,) [m], without turning."""
        return cls(position=position, velocity=velocity, resolution=resolution)

    @classmethod
    def turning(cls, *, centre: ArrayLike = (0.0, 0.0, 0.0), rate: ArrayLike) -> Rails:
        """Turning about ``centre`` (3,) [m] at ``rate``, the angular velocity (3,) [rad/s]."""
        w = vector("rate", rate)
        return cls(rotation=lambda t: w * t, centre=centre, spin=lambda t: w)

    @classmethod
    def keyframes(
        cls,
        times: ArrayLike,
        positions: ArrayLike,
        rotations: Any = None,
        *,
        centre: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Rails:
        """Through displacements ``positions`` (T, 3) [m] at ``times`` (T,) [s], without overshoot.

        ``rotations`` about ``centre``, if any, are matrices (T, 3, 3), rotation vectors (T, 3)
        [rad] or SciPy Rotations, each less than half a turn from the one before. The motion
        starts and ends at rest, and stays where it is before and after.
        """
        from scipy.spatial.transform import Rotation, RotationSpline  # slow to import

        t, p = checked_keyframes(times, "positions", positions)
        way = resting(t, p)
        if rotations is None:
            return cls(position=way(0), velocity=way(1))
        turns = RotationSpline(
            t, Rotation.from_matrix(rotation_matrices("rotations", rotations, (len(t),)))
        )
        # A clock that runs on time in between, and comes to rest at both ends.
        clock = resting(t, t)
        ticks, pace = clock(0), clock(1)

        def spin(now: float) -> Floats:
            at = ticks(now)
            world: Floats = turns(at).apply(turns(at, 1)) * pace(now)
            return world

        return cls(
            position=way(0),
            rotation=lambda now: turns(ticks(now)),
            centre=centre,
            velocity=way(1),
            spin=spin,
        )

    def pose(self, time: float) -> Pose:
        """Where everything is at ``time`` [s], and how it moves."""
        R, p = self._rotation(time), self._vector("position", time)
        centre = np.asarray(self.centre)
        velocity, spin = self._velocity(time), self._spin(time, R)
        return Pose(
            rotation=R,
            translation=centre + p - R @ centre,
            spin=spin,
            drift=velocity - _cross(spin, centre + p),
        )

    def _velocity(self, time: float) -> Floats:
        if self.velocity is not None or self.position is None:
            return self._vector("velocity", time)
        return self._difference([self._vector("position", now) for now in self._stencil(time)])

    def _spin(self, time: float, R: Floats) -> Floats:
        if self.spin is not None or self.rotation is None:
            return self._vector("spin", time)
        W = self._difference([self._rotation(now) for now in self._stencil(time)]) @ R.T
        return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])

    def _stencil(self, time: float) -> list[float]:
        return [time + k * self.resolution for k in (-2, -1, 1, 2)]

    def _difference(self, values: list[Floats]) -> Floats:
        a, b, d, e = values
        # Differences first: what stands still has no velocity at all.
        return (8 * (d - b) - (e - a)) / (12 * self.resolution)

    def _vector(self, name: str, time: float) -> Floats:
        path: Path | None = getattr(self, name)
        return np.zeros(3) if path is None else vector(f"{name}({time:g}) of Rails", path(time))

    def _rotation(self, time: float) -> Floats:
        if self.rotation is None:
            return np.eye(3)
        return rotation_matrix(f"rotation({time:g}) of Rails", self.rotation(time))


def _cross(a: Floats, b: Floats) -> Floats:
    """Of two vectors; NumPy's takes ten times as long for so few numbers."""
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


# -- rotations as people give them -------------------------------------------------------


def rotation_matrix(name: str, given: Any) -> Floats:
    """A rotation matrix (3, 3).

    From one, from a rotation vector (3,) [rad], or from a scipy.spatial.transform.Rotation.
    """
    return rotation_matrices(name, given, ())


def rotation_matrices(name: str, given: Any, lead: tuple[int, ...]) -> Floats:
    """The same for several: matrices (*lead, 3, 3), or vectors (*lead, 3)."""
    from scipy.spatial.transform import Rotation  # slow to import

    if isinstance(given, Rotation):
        return numbers(name, given.as_matrix(), ((*lead, 3, 3),))
    array = numbers(name, given, ((*lead, 3, 3), (*lead, 3)))
    if array.ndim == len(lead) + 1:
        turned: Floats = Rotation.from_rotvec(array).as_matrix()
        return turned
    off = np.abs(np.swapaxes(array, -1, -2) @ array - np.eye(3)).max(initial=0.0)
    if off > _ORTHOGONAL or (np.linalg.det(array) < 0).any():
        raise InputError(
            f"{name} is not a rotation: its columns must be orthogonal, of length 1 and "
            "right-handed; or give rotation vectors [rad], e.g. (0, 0, 1.57)"
        )
    # To rounding, so that normals keep their length.
    exact: Floats = Rotation.from_matrix(array).as_matrix()
    return exact


ROTATION = Kind("rotation vector, or matrix", lambda of, value: rotation_matrix(of.name, value))
